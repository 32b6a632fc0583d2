import json
from pathlib import Path

import pytest

from attribution.errors import BadInput
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.papers.reproduce import Reproduced, TableInputs, find, reproduce
from pages.ui.background import Job
from pages.ui.research.papers_page import TABLE, TableProgress, read, rows_of, work
from tests.pages.jobs import ended, opened

ANSWERS = "".join(
    json.dumps({"answer": f"Paris has {n} bridges. It is old."}) + "\n" for n in (30, 37)
).encode()


def given(tmp_path: Path) -> TableInputs:
    settings = Settings(database_url=f"sqlite:///{tmp_path}/p.sqlite3")
    return TableInputs(settings, tmp_path / "folder", rows_of(find("V24.T1"), ANSWERS))


def test_a_table_is_computed_saved_and_read_again(tmp_path: Path, store: Store) -> None:
    begun, saved = given(tmp_path), list[Reproduced]()
    job = Job(
        "paper",
        TableProgress(total=2),
        work(begun, lambda _: reproduce("V24.T1", begun), saved.append),
    )
    now = ended(job)
    assert not now.error
    assert now.done == 2
    assert now.result == saved[0]
    assert not begun.folder.exists()
    assert now.result.table.rows[0][:3] == ("spaCy_sentences", "published", "938")
    assert now.result.table.rows[1][:3] == ("spaCy_sentences", "spacy, rules", 4)
    TABLE.save(store, "a" * 16, saved[0])
    assert read(store, "a" * 16) == TableProgress(result=saved[0], running=False)
    assert read(store, "b" * 16) is None


def test_rows_are_those_of_the_table() -> None:
    labelled = b'{"response": "r", "context": "c", "grounded": true}\n'
    assert len(rows_of(find("T24.T3"), labelled)) == 1
    assert len(rows_of(find("V24.T1"), ANSWERS)) == 2
    with pytest.raises(BadInput, match="501 rows"):
        rows_of(find("V24.T1"), b'{"answer": "a"}\n' * 501)


def test_the_page_takes_what_the_command_takes(store: Store) -> None:
    shown = opened("research", study="papers")
    assert not shown.exception
    labels = {box.label for box in (*shown.selectbox, *shown.text_input)}
    assert {"Table", "Language models"} <= labels
    assert any("Sources" in pills.label for pills in shown.get("button_group"))
