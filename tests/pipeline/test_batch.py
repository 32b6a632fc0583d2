import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from attribution.errors import BadInput, Unavailable
from attribution.pipeline.batch import Analyst, batch
from attribution.pipeline.experiment import Fields, Prepare, Result, local
from attribution.settings import Settings
from attribution.text_files import Row, parse_rows
from tests.pipeline.rows import MANY, ROWS, comparable, done, encoded


@pytest.fixture
def own(settings: Settings) -> Settings:
    return settings.model_copy(update={"sources": ("documents",)})


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the rows that are analysed."""
    ids, real = list[str](), Analyst.__call__
    monkeypatch.setattr(
        Analyst, "__call__", lambda self, row: ids.append(row.fields["id"]) or real(self, row)
    )
    return ids


def test_every_row_has_its_line_and_a_bad_one_an_error(own: Settings, tmp_path: Path) -> None:
    rows = [ROWS[0], "{broken", {"answer": "x", "documents": [3]}, {"answer": " "}, ROWS[1]]
    *_, last = done(rows, own, tmp_path / "out.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    by_row = {line["line"]: line for line in lines}
    assert ["error" in by_row[number] for number in range(1, 6)] == [False, True, True, True, False]
    assert "documents" in by_row[3]["error"]
    assert by_row[1]["id"] == "0"
    assert "documents" not in by_row[1]
    assert by_row[1]["report"]["verdicts"][0]["label"] == "supported"
    assert (last.done, last.failed) == (5, 3)


def test_what_is_finished_is_not_analysed_again(
    own: Settings, tmp_path: Path, analysed: list[str]
) -> None:
    path = tmp_path / "out.jsonl"
    done(ROWS[:3], own, path)
    before = path.read_bytes()
    done(ROWS[:3], own, path)
    assert path.read_bytes() == before
    assert analysed == ["0", "1", "2"]
    path.write_bytes(before[:-40])  # killed while the last line was written
    done([ROWS[2], ROWS[0]], own, path)  # and the rows have changed
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert analysed == ["0", "1", "2", "2"]
    assert [(line["id"], line["line"]) for line in lines] == [("0", 2), ("2", 1)]
    done(ROWS[:1], own.model_copy(update={"top_k": 2}), path)
    assert analysed[-1] == "0"


def test_a_missing_model_ends_the_batch_before_any_row(
    own: Settings, tmp_path: Path, analysed: list[str]
) -> None:
    with pytest.raises(Unavailable):
        done(ROWS, own.model_copy(update={"verifier": "llm"}), tmp_path / "out.jsonl")
    with pytest.raises(BadInput, match="verifier 'none'"):
        done(ROWS, own.model_copy(update={"verifier": "none"}), tmp_path / "out.jsonl")
    with pytest.raises(BadInput):
        done([], own, tmp_path / "out.jsonl")
    assert not analysed


def backwards(rows: Sequence[Row], prepare: Prepare) -> Iterator[tuple[int, Result[Fields]]]:
    """An engine whose results come in another order, as those of several workers do."""
    yield from reversed(list(local(rows, prepare)))


def test_stopped_and_resumed_with_any_engine_it_ends_as_an_undisturbed_one(
    own: Settings, tmp_path: Path
) -> None:
    rows = [*MANY[:6], {"answer": " ", "id": "bad"}]
    whole, stopped = tmp_path / "whole.jsonl", tmp_path / "stopped.jsonl"
    done(rows, own, whole)
    elsewhere = own.model_copy(update={"database_url": f"sqlite:///{tmp_path}/other.sqlite3"})
    parsed = parse_rows(encoded(rows), ["answer"])
    for engine, wanted in ((local, 3), (backwards, 6)):
        steps = batch(parsed, elsewhere, stopped, engine)
        assert any(step.done == wanted for step in steps)
        steps.close()
        with stopped.open("ab") as out:
            out.write(b'{"id": "cut off')
    ids = [json.loads(line)["id"] for line in stopped.read_text().splitlines()[:-1]]
    assert ids == ["0-0", "0-1", "bad", "1-1", "1-0", "0-3"]
    done(rows, elsewhere, stopped, backwards)
    assert comparable(stopped) == comparable(whole)
