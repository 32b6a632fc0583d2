"""Articles of the built-in library are ours: the library is their source, what their facts are from
stands apart.
"""

import csv
import io
import json
from pathlib import Path

import pytest

from attribution.cli.main import main
from attribution.reports import FORMATS, Exported, export
from attribution.review.revision import revise
from attribution.server.mcp import _claims
from attribution.store.store import Store
from attribution.studies.annotation.tasks import tasks_of_run
from attribution.types import Report

OURS = "Attribution explorer, built-in library"
THEIRS = "https://en.wikipedia.org/wiki/Eiffel_Tower"


@pytest.fixture
def report(tmp_path: Path, store: Store) -> Report:
    """A run of the command line on the library."""
    out = tmp_path / "report.json"
    answer = ["--question", "Where?", "--answer", "The Eiffel Tower is in Paris."]
    assert main(["analyze", *answer, "--verifier", "embedded-small", "--out", str(out)]) == 0
    made = store.runs.load(json.loads(out.read_bytes())["id"])
    assert made is not None
    (used,) = {e.page_id for e in made.evidence if e.relation == "entailed"}
    return made.model_copy(
        update={
            "pages": tuple(p for p in made.pages if p.id == used),
            "evidence": tuple(e for e in made.evidence if e.page_id == used),
        }
    )


def test_every_export_names_the_library_and_the_source_of_the_facts_apart(report: Report) -> None:
    texts = {name: export(name, Exported(report)).decode() for name in FORMATS if name != "xlsx"}
    for name, text in texts.items():
        assert OURS in text, name
        assert THEIRS in text, name
    (item,) = json.loads(texts["csl"])
    assert item["type"] == "document"
    assert item["container-title"] == OURS
    assert item["note"] == f"Facts from {THEIRS}"
    assert item["license"] == "Apache-2.0"
    assert not {"URL", "accessed", "issued"} & set(item)
    row = next(csv.DictReader(io.StringIO(texts["csv"])))
    assert row["source"] == f"{OURS}: Eiffel Tower"
    assert row["facts after"] == THEIRS
    assert row["address"] == "library:eiffel-tower.md"
    assert f"{OURS}: Eiffel Tower, facts from <{THEIRS}>." in texts["markdown"]
    assert f"](<{THEIRS}" not in texts["markdown"]
    (page,) = json.loads(texts["json"])["pages"]
    assert page["facts_from"] == THEIRS
    assert page["reference"] == ""


def test_footnotes_tools_and_annotators_are_given_the_same_name(report: Report) -> None:
    assert f"[^1]: {OURS}: Eiffel Tower, facts from <{THEIRS}>: “" in revise(report)
    (claim,) = _claims(report)
    assert {(p.title, p.url) for p in claim.passages} == {
        (f"{OURS}: Eiffel Tower", "library:eiffel-tower.md")
    }
    (task,) = tasks_of_run(report, "p" * 16)
    assert (task.title, task.url) == (f"{OURS}: Eiffel Tower", "library:eiffel-tower.md")
