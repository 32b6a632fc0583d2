import pytest
from streamlit.testing.v1 import AppTest

from attribution.reports.html import el, html
from attribution.store.store import Store
from attribution.studies.annotation.project import Annotations
from pages.ui.lab.annotate.figures import (
    CountedJudgements,
    Number,
    agreement_table,
    behind,
    cell_key,
    figures_node,
    quality_tables,
    share_tables,
)
from tests.pages.jobs import opened
from tests.studies.annotation.made import CONTENT, filled, say


def text(shown: AppTest) -> str:
    return " ".join(block.body for block in shown.get("html"))


def test_a_project_is_made_and_somebody_joins(store: Store) -> None:
    shown = opened("annotate")
    assert not shown.exception and "first whether the answer can be understood" in text(shown)
    shown.text_input[0].input("Rivers")
    next(box for box in shown.text_input if box.label == "Annotators").input("ann, bob")
    next(button for button in shown.button if button.label == "Create the project").click().run()
    assert not shown.exception and "“Rivers” was created" in text(shown)
    saved = Annotations(store.database)
    (project,) = saved.projects()
    assert saved.work(project).annotators == ("ann", "bob") and project.overlap == 5
    next(button for button in shown.button if button.label == "Create the project")
    people = next(box for box in shown.text_input if box.label == "Add people")
    people.input("lea")
    next(button for button in shown.button if button.label == "Add leads").click().run()
    assert saved.work(project).leads == ("lea",) and not shown.exception


def test_every_number_leads_to_its_tasks(store: Store) -> None:
    saved = Annotations(store.database)
    project = filled(saved, 6, names="ann bob cem", overlap=3)
    for number, task in enumerate(saved.task_ids(project.id)):
        for name, answer in zip(
            ("ann", "bob", "cem"), ("attributable", "not_attributable", "flagged"), strict=True
        ):
            say(saved, project, task, name, CONTENT["attributable" if number < 4 else answer])
    found = CountedJudgements(saved, project, saved.work(project))
    tables = [*share_tables(found), agreement_table(found), *quality_tables(found)]
    drawn = html(el("div", *(figures_node(table, place) for place, table in enumerate(tables))))
    cells = [
        (cell_key(t, r, c), cell)
        for t, table in enumerate(tables)
        for r, row in enumerate(table.rows)
        for c, cell in enumerate(row)
    ]
    numbers = {key: cell for key, cell in cells if isinstance(cell, Number)}
    assert len(numbers) > 10
    for key, cell in numbers.items():
        title, tasks = behind(tables, key)
        assert (
            title
            and tasks
            and set(tasks) <= set(saved.task_ids(project.id))
            and f'value="{key}"' in drawn
        )
        if cell.text.isdigit() and not {"Judgements", "Pairs"} & set(title.split(" · ")):
            assert len(tasks) == int(cell.text)
    plain = [cell for _, cell in cells if isinstance(cell, str)]
    assert [
        c for c in plain if any(ch.isdigit() for ch in c) and c != "0"
    ] == []  # no number without its rows
    assert [cell.text if isinstance(cell, Number) else cell for cell in tables[0].rows[0]] == [
        "d",
        "a",
        "6",
        "0.0 %",
        "100.0 %",
        "100.0 %",
        "2",
    ]
    assert behind(tables, "9-9-9") is None


@pytest.mark.parametrize(
    ("form", "heads", "asked"),
    [
        ("property", ["Property", "System", "Tasks", "Flagged", "Yes", "Undecided"], ["Yes"]),
        (
            "relation",
            ["Data set", "System", "Tasks", "Flagged", "Related", "Entailed", "Undecided"],
            ["Related", "Entailed"],
        ),
    ],
)
def test_the_headings_are_those_of_the_form(
    store: Store, form: str, heads: list[str], asked: list[str]
) -> None:
    saved = Annotations(store.database)
    project = filled(saved, 2, form=form, overlap=1)
    for task in saved.task_ids(project.id):
        for name, role in (("ann", "annotation"), ("lea", "audit")):
            say(saved, project, task, name, CONTENT["attributable"], role)
    found = CountedJudgements(saved, project, saved.work(project))
    (shares, audit, _) = [*share_tables(found), *quality_tables(found)]
    assert list(shares.heads) == heads and {len(row) for row in shares.rows} == {len(heads)}
    assert list(audit.heads)[2:-1] == asked and {len(row) for row in audit.rows} == {
        len(audit.heads)
    }
