"""How often a verifier's badges were right, and how sure a badge is therefore."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict

from attribution.errors import StoreError
from attribution.settings import data_folder
from attribution.types import AnalystVerdict, Frozen, Label, Report, Strength, Verdict

if TYPE_CHECKING:
    Array = NDArray[np.floating]


def softmax(logits: Sequence[float] | Array) -> list[float]:
    shares = np.exp(np.asarray(logits, float) - np.max(logits))
    return list(map(float, shares / shares.sum()))


# --- how often badges were right ---

SHIPPED = Path(__file__).parent / "data"
# Least share of strong badges that must have been right.
GUARANTEES: Mapping[Label, float] = {"supported": 0.9, "contradicted": 0.9}
CAREFUL = 0.9  # probability from which badges of a verifier without a calibration are strong
ENOUGH = 20  # minimum number of judged badges; fewer are not informative
_NUMBERS, _BLANKS = re.compile(r"\[[\d\s.,]+\]"), re.compile(r"\s+")
_OTHERS = re.compile(r"[^A-Za-z0-9_.-]+")
MAX_NAME = 200  # characters of a file's name; a version in an imported report may be anything


class Point(NamedTuple):
    """The badges from a threshold on, or between it and the next."""

    threshold: float
    shown: int
    right: int


class Curve(Frozen):
    """The share of badges of one kind that were right on claims that people judged."""

    model_config = ConfigDict(extra="ignore")  # earlier files have a field that is gone

    claims: int  # of the sets that judge such badges
    guarantee: float
    threshold: (
        float | None
    )  # the least with the lower end of the interval at the guarantee; None: there is none
    points: tuple[Point, ...]  # by rising threshold, which alone moves
    steps: tuple[
        Point, ...
    ]  # isotonic: the share of right badges by probability; none for too few badges

    def step(self, probability: float) -> Point | None:
        """Return the badges of about this probability; None where too few were judged."""
        return next((step for step in reversed(self.steps) if step.threshold <= probability), None)


class Calibration(Frozen):
    """The file of one verifier."""

    verifier: str  # its version
    claims: dict[str, int]  # by set
    supported: Curve
    contradicted: Curve

    def text(self) -> str:
        """Return the text of the file: JSON with each list of numbers on one line."""
        return _NUMBERS.sub(lambda m: _BLANKS.sub(" ", m[0]), self.model_dump_json(indent=1)) + "\n"


def own_file(version: str) -> Path:
    """Return where the calibration by a user's own judgements is kept."""
    return data_folder() / "calibration" / f"{_OTHERS.sub('-', version)[:MAX_NAME]}.json"


def curve(version: str, label: Label) -> Curve | None:
    """Return how often such badges of a verifier were right; None where its version was not
    calibrated.
    """
    shipped = _OTHERS.sub("-", verifier_name(version))[:MAX_NAME]
    for path in (own_file(version), SHIPPED / f"{shipped}.json"):
        if label in GUARANTEES and path.is_file():
            found = _read(path, path.stat().st_mtime_ns)
            if found.verifier == version:
                return found.supported if label == "supported" else found.contradicted
    return None


@lru_cache(maxsize=16)
def _read(path: Path, changed: int) -> Calibration:
    try:
        return Calibration.model_validate_json(path.read_bytes())
    except ValueError as error:
        raise StoreError(
            (
                f"the file {path} is no calibration: make it again with `attribution calibrate`, "
                "or remove it"
            ),
            error,
            f" {path}",
        ) from error


def verifier_name(version: str) -> str:
    """Return the name of the verifier from a version in a report."""
    return version.partition("/")[0]


def strength(version: str, label: Label, probability: float) -> Strength | None:
    """Return how sure a badge is: strong from the verifier's threshold on.

    A badge is weak where no threshold keeps the guarantee, or badges of its probability don't. A
    verifier without a calibration has a careful threshold. None for labels without a guarantee.
    """
    if label not in GUARANTEES:
        return None
    found = curve(version, label)
    if found is None:
        return "strong" if probability >= CAREFUL else "weak"
    if found.threshold is None or probability < found.threshold:
        return "weak"
    step = found.step(probability)
    is_kept = step is None or step.right >= GUARANTEES[label] * step.shown
    return "strong" if is_kept else "weak"


def strength_of(version: str, verdict: Verdict) -> Strength | None:
    """Return how sure a badge is; that of an uncalibrated second verifier is weak."""
    graded = strength(version, verdict.label, verdict.confidence)
    is_second = verdict.other is not None and verdict.other.reader == "first"
    is_unknown = is_second and curve(version, verdict.label) is None
    return "weak" if graded and is_unknown else graded


def share(version: str, verdict: Verdict) -> str:
    """Say how many badges like this were right; empty if too few were judged."""
    found = curve(version, verdict.label)
    step = found.step(verdict.confidence) if found else None
    if step is None:
        return ""
    tenths = 10 * step.right // step.shown
    return (
        f"{'nearly all' if tenths == 10 else f'at least {tenths} in 10'} such verdicts were right"
    )


def verifier_of(claim_id: str, report: Report) -> str:
    """Return the version of the verifier that decided this claim."""
    return report.versions.get(f"verifier:{claim_id}") or report.versions.get("verifier", "")


def graded(verdict: Verdict, version: str) -> Verdict:
    """Return a verdict with its strength, which that of an unknown verifier keeps."""
    if not version:
        return verdict
    return verdict.model_copy(update={"strength": strength_of(version, verdict)})


def graded_report(report: Report) -> Report:
    """Return the report with the strengths and the assessments of its verdicts."""
    own = assessments(report)
    verdicts = []
    for verdict in report.verdicts:
        judged = graded(verdict, verifier_of(verdict.claim_id, report))
        label = own[verdict.claim_id].label if verdict.claim_id in own else None
        verdicts.append(judged.model_copy(update={"assessment": label}))
    return report.model_copy(update={"verdicts": tuple(verdicts)})


def assessments(report: Report) -> dict[str, AnalystVerdict]:
    """Return the analyst's assessments by claim, without those that are a note alone."""
    return {own.claim_id: own for own in report.judgements if own.label}


def model_badge(verdict: Verdict | None, report: Report, without: str = "not_reached") -> str:
    """Return the badge of the model's verdict, by the calibration of today; `without` one if there
    is none.
    """
    return graded(verdict, verifier_of(verdict.claim_id, report)).badge if verdict else without


def badge_of(verdict: Verdict | None, report: Report, without: str = "not_reached") -> str:
    """Return the badge of a claim: the analyst's assessment, or else the model's verdict."""
    own = assessments(report).get(verdict.claim_id) if verdict else None
    return own.label if own and own.label else model_badge(verdict, report, without)


def badges(report: Report, without: str = "not_reached") -> list[str]:
    """Return the badge that each claim is shown with."""
    verdicts = {v.claim_id: v for v in report.verdicts}
    return [badge_of(verdicts.get(claim.id), report, without) for claim in report.claims]
