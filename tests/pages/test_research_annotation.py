from streamlit.testing.v1 import AppTest

from attribution.store.store import Store
from attribution.studies.annotation.figures import CountedJudgements
from attribution.studies.annotation.project import Annotations
from pages.ui.research.manage import agreement_table, share_table
from tests.pages.jobs import opened
from tests.studies.annotation.made import CONTENT, filled, say


def text(shown: AppTest) -> str:
    return " ".join(block.body for block in shown.get("html"))


def test_a_project_is_made_and_somebody_joins(store: Store) -> None:
    shown = opened("research", study="annotation")
    assert not shown.exception
    shown.text_input[0].input("Rivers")
    next(box for box in shown.text_input if box.label == "Annotators").input("ann, bob")
    next(button for button in shown.button if button.label == "Create the project").click().run()
    assert not shown.exception
    assert "“Rivers” was created" in text(shown)
    saved = Annotations(store.database)
    (project,) = saved.projects()
    assert saved.work(project).annotators == ("ann", "bob")
    assert project.overlap == 5
    next(button for button in shown.button if button.label == "Create the project")
    people = next(box for box in shown.text_input if box.label == "Add people")
    people.input("lea")
    next(button for button in shown.button if button.label == "Add as leads").click().run()
    assert saved.work(project).leads == ("lea",)
    assert not shown.exception


def test_results_count_each_task_once(store: Store) -> None:
    saved = Annotations(store.database)
    project = filled(saved, 6, names="ann bob cem", overlap=3)
    answers = ("attributable", "not_attributable", "flagged")
    for number, task in enumerate(saved.task_ids(project.id)):
        for name, answer in zip(("ann", "bob", "cem"), answers, strict=True):
            say(saved, project, task, name, CONTENT["attributable" if number < 4 else answer])
    counted = CountedJudgements.of(saved, project)
    (row,) = share_table(counted).rows
    assert row[:3] == ("d", "a", 6)
    assert str(row[3]).startswith("0.0 % of 4")
    assert str(row[5]).startswith("100.0 % of 4")
    assert row[6] == 2
    assert agreement_table(counted).rows[0][1] == 6
