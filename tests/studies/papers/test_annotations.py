from pathlib import Path

import krippendorff
import pytest

from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.annotation.project import Annotations
from attribution.studies.annotation.records import Annotation, Answer
from attribution.studies.annotation.tasks import TaskTurn, make_task
from attribution.studies.papers.annotations import compute
from attribution.studies.papers.reproduce import Computed, TableInputs
from tests.studies.annotation.made import CONTENT

LABELS: list[tuple[Answer, ...]] = [
    ("attributable", "attributable", "attributable"),
    ("not_attributable", "not_attributable", "attributable"),
    ("not_interpretable", "not_interpretable", "not_interpretable"),
    ("attributable", "attributable", "not_attributable"),
]


def given(tmp_path: Path) -> TableInputs:
    """Four tasks of one system, each judged by three people; the last one is a summary, and the
    first is audited.
    """
    settings = Settings(database_url=f"sqlite:///{tmp_path}/p.sqlite3")
    saved = Annotations(Store.open(settings.database_url).database)
    project = saved.create("study", overlap=3, pilot=0)
    for n, labels in enumerate(LABELS):
        turns = () if n == 3 else (TaskTurn(speaker="user", text=f"Question {n}?"),)
        task = make_task(
            project.id, f"Answer {n}.", f"Source {n}.", turns, system="T5", dataset="QReCC"
        )
        saved.add_tasks([task])
        records = [(f"a{i}", label, "annotation") for i, label in enumerate(labels)]
        records += [("lead", "attributable", "audit")] if n == 0 else []
        saved.put_judgements(
            project.id,
            [
                Annotation(
                    task_id=task.id,
                    annotator=name,
                    role=role,
                    revision=1,
                    origin="o",
                    made_at=f"{n:06}",
                    stage="production",
                    content=CONTENT[label].model_copy(update={"seconds": (10.0 * n, 10.0)}),
                )
                for name, label, role in records
            ],
        )
    return TableInputs(settings, tmp_path, project="study")


def table(number: str, one: TableInputs) -> Computed:
    (found,) = [step for step in compute(number, one) if isinstance(step, Computed)]
    return found


def test_shares_agreement_audit_and_times(tmp_path: Path) -> None:
    one = given(tmp_path)
    # three of four are interpretable, two of these attributable by most
    assert table("T3", one).rows == {"T5": [75.0, 66.7]}
    assert (
        table("T4", one).rows == {"T5": [0.0, 75.0, 66.7]}
        and "no task is of the data set WoW" in table("T4", one).notes[0]
    )
    pairwise, alpha = table("T6", one).rows["QReCC"]
    assert pairwise == pytest.approx((3 + 1 + 3 + 1) / 12)
    names = sorted({label for labels in LABELS for label in labels})
    coded = [[names.index(labels[i]) for labels in LABELS] for i in range(3)]
    assert alpha == pytest.approx(krippendorff.alpha(coded, level_of_measurement="nominal"))
    # nine judgements of conversations, three of them looked at, all equal to the lead's
    assert table("T7", one).rows == {
        "Conversational QA": (9, 33.33, 100.0),
        "Summarization": (3, 0.0, None),
    }
    times = table("T8", one).rows
    assert times["Pilot"] == [0, None, 0, None]
    assert times["Production Start"] == [
        3,
        10.0,
        0,
        None,
    ]  # the first quarter of each: task 0, 0 + 10 seconds
    assert times["Production Finish"] == [0, None, 3, 40.0]  # the last: task 3, 30 + 10 seconds
