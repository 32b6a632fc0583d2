"""Put the analyst's assessments before the model's verdicts, and measure how far they agree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from attribution.types import Report
from attribution.verdicts import agreeing
from attribution.verifiers.calibration import assessments


def wilson(part: int, whole: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share; from 0 to 1 where nothing was counted."""
    from scipy.stats import binomtest

    if not whole:
        return 0.0, 1.0
    interval = binomtest(part, whole).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)


@dataclass(frozen=True)
class AnalystAgreement:
    """The number of assessed claims, and of those that the analyst sees as the model does."""

    agreed: int
    judged: int

    @property
    def words(self) -> str:
        """The agreement in a sentence; empty without assessments."""
        if not self.judged:
            return ""
        low, high = (int(100 * bound) for bound in wilson(self.agreed, self.judged))
        return (
            f"The analyst agrees with {self.agreed} of {self.judged} verdicts "
            f"({100 * self.agreed // self.judged} %; 95 % interval {low} to {high} %)."
        )


def agreement(reports: Iterable[Report]) -> AnalystAgreement:
    """Count agreement over runs. Claims that were not compared with the sources are left out."""
    agreed = judged = 0
    for report in reports:
        own = assessments(report)
        for verdict in report.verdicts:
            label = agreeing(verdict.label)
            if label and verdict.claim_id in own:
                judged += 1
                agreed += own[verdict.claim_id].label == label
    return AnalystAgreement(agreed, judged)


def shown_labels(report: Report) -> dict[str, str]:
    """Return the label of each claim: the analyst's, or else the model's."""
    labels: dict[str, str] = {verdict.claim_id: verdict.label for verdict in report.verdicts}
    return labels | {claim_id: own.label or "" for claim_id, own in assessments(report).items()}
