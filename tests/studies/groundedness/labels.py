"""Labelled rows and outcomes made for tests."""

from attribution.studies.groundedness.evaluation import Outcome
from attribution.studies.groundedness.labelled_set import LabelledRow, Split


def row(number: int, grounded: bool, split: Split = "test", error_type: str = "") -> LabelledRow:
    return LabelledRow(
        id=str(number),
        line=number,
        question="",
        context=("c",),
        response="r",
        grounded=grounded,
        error_type=error_type,
        group=str(number),
        split=split,
    )


def outcome(
    number: int, score: float | dict[str, float], method: str = "gc", **more: object
) -> Outcome:
    scores = score if isinstance(score, dict) else {"": score}
    return Outcome(method=method, row=str(number), scores=scores, seconds=0.1, **more)
