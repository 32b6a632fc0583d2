"""Measure how far an analyst agrees with the badges, and make a labelled set of their verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from attribution.types import LABELS, AnalystVerdict, Label, Report
from attribution.verdicts import agreeing
from attribution.verifiers.calibration import assessments


def wilson(part: int, whole: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's interval of a share; from 0 to 1 where nothing was counted."""
    from scipy.stats import binomtest

    if not whole:
        return 0.0, 1.0
    interval = binomtest(part, whole).proportion_ci(confidence, "wilson")
    return float(interval.low), float(interval.high)


@dataclass(frozen=True)
class AgreedShare:
    """The number of judged badges, and of those that the analyst agrees with."""

    agreed: int
    judged: int

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson interval of the share."""
        return wilson(self.agreed, self.judged)


@dataclass(frozen=True)
class AnalystAgreement:
    """The agreement of analyst and model by badge, without those that nobody judged."""

    badges: Mapping[Label, AgreedShare]

    @property
    def all(self) -> AgreedShare:
        shares = self.badges.values()
        return AgreedShare(sum(s.agreed for s in shares), sum(s.judged for s in shares))

    @property
    def words(self) -> str:
        """The agreement in a sentence; empty without judgements."""
        share = self.all
        if not share.judged:
            return ""
        low, high = share.interval
        badges = "badge" if share.judged == 1 else "badges"
        return (
            f"The analyst agrees with {share.agreed} of {share.judged} judged {badges} "
            f"({share.agreed / share.judged:.0%}; 95% interval {low:.0%} to {high:.0%})."
        )


def agreement(reports: Iterable[Report]) -> AnalystAgreement:
    """Count agreement over runs. Claims that were not compared with the sources are left out."""
    agreed: Counter[Label] = Counter()
    total: Counter[Label] = Counter()
    for report in reports:
        for badge, own in _pairs(report):
            total[badge] += 1
            agreed[badge] += agreeing(badge) == own.label
    return AnalystAgreement(
        {label: AgreedShare(agreed[label], total[label]) for label in LABELS if total[label]}
    )


def _pairs(report: Report) -> Iterator[tuple[Label, AnalystVerdict]]:
    """Yield the badge and the analyst's verdict of each claim that has both."""
    own = assessments(report)
    for verdict in report.verdicts:
        if verdict.claim_id in own and agreeing(verdict.label):
            yield verdict.label, own[verdict.claim_id]
