from pathlib import Path

import krippendorff
import pytest

from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.annotation.project import Annotations
from attribution.studies.annotation.records import Answer
from attribution.studies.annotation.tasks import TaskTurn, make_task
from attribution.studies.papers.r23 import compute
from attribution.studies.papers.reproduce import Computed, TableInputs
from tests.studies.annotation.made import CONTENT, say

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
        for name, label, role in records:
            content = CONTENT[label].model_copy(update={"seconds": (10.0 * n, 10.0)})
            say(saved, project, task.id, name, content, role)
    return TableInputs(settings, tmp_path, project="study")


def computed(number: str, inputs: TableInputs) -> Computed:
    steps = compute(number, inputs)
    with pytest.raises(StopIteration) as stop:
        next(steps)
    result: Computed = stop.value.value
    return result


def cells(number: str, inputs: TableInputs) -> dict[str, list[object]]:
    return {row.label: list(row.cells) for row in computed(number, inputs).rows}


def test_shares_are_of_the_majority_of_each_task(tmp_path: Path) -> None:
    # three of four tasks are interpretable, two of these attributable
    assert cells("T3", given(tmp_path)) == {"T5": pytest.approx([75.0, 200 / 3])}


def test_a_table_without_tasks_of_its_data_set_counts_all(tmp_path: Path) -> None:
    found = computed("T4", given(tmp_path))
    assert list(found.rows[0].cells) == pytest.approx([0.0, 75.0, 200 / 3])
    assert "no task is of the data set WoW" in found.notes[0]


def test_agreement_is_pairwise_and_krippendorffs_alpha(tmp_path: Path) -> None:
    pairwise, alpha = cells("T6", given(tmp_path))["QReCC"]
    assert pairwise == pytest.approx((3 + 1 + 3 + 1) / 12)
    names = sorted({label for labels in LABELS for label in labels})
    coded = [[names.index(labels[i]) for labels in LABELS] for i in range(3)]
    assert alpha == pytest.approx(krippendorff.alpha(coded, level_of_measurement="nominal"))


def test_an_audit_counts_judgements_samples_and_right_ones(tmp_path: Path) -> None:
    # nine judgements of conversations, three of them audited, all equal to the lead's
    assert cells("T7", given(tmp_path)) == {
        "Conversational QA": [9, pytest.approx(100 / 3), 100.0],
        "Summarization": [3, 0.0, None],
    }


def test_times_are_means_of_the_first_and_the_last_quarter(tmp_path: Path) -> None:
    assert cells("T8", given(tmp_path)) == {
        "Pilot": [0, None, 0, None],
        "Production Start": [3, 10.0, 3, 40.0],  # task 0: 0 + 10 seconds; task 3: 30 + 10
        "Production Finish": [3, 30.0, 0, None],  # task 2: 20 + 10
    }
