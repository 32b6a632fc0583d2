"""The page without a browser: a project is made, tasks and exports are imported, numbers lead to tasks."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

from attribution.reports.html import html
from attribution.store.store import Store
from attribution.studies.annotation.project import Annotations
from attribution.studies.annotation.records import Content
from pages.ui.annotate.figures import Found, agreement_table, behind, data, quality_tables, share_tables, task_list
from pages.ui.annotate.manage import guidelines
from tests.pages.hostile import TEXTS
from tests.studies.annotation.made import CONTENT, filled, say

PAGE = Path(__file__).parents[3] / "pages" / "annotate.py"


def text(shown: AppTest) -> str:
    return " ".join(block.body for block in shown.get("html"))


def test_a_project_is_made_and_somebody_joins(store: Store) -> None:
    shown = AppTest.from_file(str(PAGE), default_timeout=60).run()
    assert not shown.exception and "first whether the answer can be understood" in text(shown)
    shown.text_input[0].input("Rivers")
    next(box for box in shown.text_input if box.label == "Annotators").input("ann, bob")
    next(button for button in shown.button if button.label == "Create the project").click().run()
    assert not shown.exception and "“Rivers” was created" in text(shown)
    kept = Annotations(store)
    (project,) = kept.projects()
    assert kept.work(project).annotators == ("ann", "bob") and project.overlap == 2
    next(button for button in shown.button if button.label == "Create the project")
    people = next(box for box in shown.text_input if box.label == "Add people")
    people.input("lea")
    next(button for button in shown.button if button.label == "Add leads").click().run()
    assert kept.work(project).leads == ("lea",) and not shown.exception


def test_every_number_leads_to_its_tasks(store: Store) -> None:
    kept = Annotations(store)
    project = filled(kept, 6, names="ann bob cem", overlap=3)
    for number, task in enumerate(kept.task_ids(project.id)):
        for name, answer in zip(("ann", "bob", "cem"), ("attributable", "not_attributable", "flagged"), strict=True):
            say(kept, project, task, name, CONTENT["attributable" if number < 4 else answer])  # type: ignore[index]
    found = Found(kept, project, kept.work(project))
    tables = [*share_tables(found), agreement_table(found), *quality_tables(found)]
    drawn = data(tables, "")
    cells = [cell for table in drawn["tables"] for row in table["rows"] for cell in row if isinstance(cell, dict)]
    assert len(cells) > 10
    for cell in cells:
        title, tasks = behind(tables, cell["key"])  # type: ignore[misc]
        assert title and set(tasks) <= set(kept.task_ids(project.id))
        assert tasks
        if cell["text"].isdigit() and not {"Judgements", "Pairs"} & set(title.split(" · ")):
            assert len(tasks) == int(cell["text"])
    plain = [c for table in drawn["tables"] for row in table["rows"] for c in row if isinstance(c, str)]
    assert [c for c in plain if any(ch.isdigit() for ch in c) and c != "0"] == []  # no number without its rows
    first = drawn["tables"][0]["rows"][0]
    assert [cell["text"] if isinstance(cell, dict) else cell for cell in first] == [
        "d", "a", "6", "0.0 %", "100.0 %", "100.0 %", "2"
    ]  # fmt: skip
    assert behind(tables, "9-9-9") is None


def test_what_people_write_is_escaped(store: Store) -> None:
    kept = Annotations(store)
    project = filled(kept, 1)
    (task,) = kept.task_ids(project.id)
    for hostile in TEXTS:
        said = Content(interpretable=False, justification=hostile, explicature=hostile)
        say(kept, project, task, "ann", said)
        found = Found(kept, project, kept.work(project))
        drawn = html(task_list(found.tasks, [task, task], found.everything(), found.answers))
        assert (
            "<script" not in drawn and "<img" not in drawn and "<iframe" not in drawn and drawn.count("<details") == 1
        )
    assert "According to" in html(guidelines())
