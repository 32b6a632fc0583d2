"""Measure how far an analyst agrees with the badges, suggest a threshold, and make a labelled set
of their verdicts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from attribution.claims.enrichment import transcript
from attribution.pipeline.changes import with_claims
from attribution.policy import LOWEST_THRESHOLD, DecisionPolicy
from attribution.types import LABELS, AnalystVerdict, Label, Report, content_id
from attribution.verdicts import agreeing, recolour

SuggestedLabel = Literal["supported", "contradicted"]
SUGGESTED: tuple[SuggestedLabel, ...] = ("supported", "contradicted")
ENOUGH, SHOWN = 30, 10  # judgements, and badges among them, from which on a threshold is suggested
RIGHT = 0.9  # share of the badges


def wilson(part: int, whole: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's interval of a share; from 0 to 1 where nothing was counted."""
    from scipy.stats import binomtest

    if not whole:
        return 0.0, 1.0
    found = binomtest(part, whole).proportion_ci(confidence, "wilson")
    return float(found.low), float(found.high)


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
    """The agreement of analyst and model, by badge in the order of LABELS; badges that nobody
    judged are left out.
    """

    badges: Mapping[Label, AgreedShare]

    @property
    def all(self) -> AgreedShare:
        return AgreedShare(
            sum(s.agreed for s in self.badges.values()), sum(s.judged for s in self.badges.values())
        )

    @property
    def words(self) -> str:
        """The agreement in a sentence; empty without judgements."""
        share = self.all
        if not share.judged:
            return ""
        low, high = share.interval
        return (
            f"The analyst agrees with {share.agreed} of {share.judged} judged "
            f"badge{'s' * (share.judged != 1)} ({share.agreed / share.judged:.0%}; "
            f"95% interval {low:.0%} to {high:.0%})."
        )


def judged(report: Report) -> Report:
    """Reduce a report to the claims with an analyst's verdict."""
    ids = {j.claim_id for j in report.judgements}
    return with_claims(report, [claim for claim in report.claims if claim.id in ids])


def agreement(reports: Iterable[Report]) -> AnalystAgreement:
    """Count agreement over runs. Claims that were not compared with the sources are left out."""
    pairs = Counter(
        (badge, agreeing(badge) == own.label) for report in reports for badge, own in _pairs(report)
    )
    found = {
        badge: AgreedShare(pairs[badge, True], pairs[badge, True] + pairs[badge, False])
        for badge in LABELS
    }
    return AnalystAgreement({badge: share for badge, share in found.items() if share.judged})


def _pairs(report: Report) -> Iterator[tuple[Label, AnalystVerdict]]:
    """Yield the badge and the analyst's verdict of each claim that has both."""
    own = {j.claim_id: j for j in report.judgements}
    for verdict in report.verdicts:
        if verdict.claim_id in own and agreeing(verdict.label):
            yield verdict.label, own[verdict.claim_id]


def suggested_threshold(reports: Iterable[Report], badge: SuggestedLabel) -> float | None:
    """Return the lowest threshold at which the analyst agrees with at least 9 in 10 of these
    badges.

    The other threshold stays that of each run. Returns None for fewer than 30 judgements, and if no
    threshold leaves
    10 such badges of which that many are right.
    """
    own = [judged(report) for report in reports if report.judgements]
    if agreement(own).all.judged < ENOUGH:
        return None
    for hundredths in range(round(100 * LOWEST_THRESHOLD), 100):  # the range of the setting
        least = hundredths / 100
        share = agreement(
            recolour(report, _with(report, badge, least)) for report in own
        ).badges.get(badge)
        if share and share.judged >= SHOWN and share.agreed >= RIGHT * share.judged:
            return least
    return None


def _with(report: Report, badge: SuggestedLabel, least: float) -> DecisionPolicy:
    side = "threshold" if badge == "supported" else "contradiction_threshold"
    return DecisionPolicy.of(report.settings).with_settings({side: least})


def benchmark_rows(reports: Iterable[Report]) -> list[dict[str, object]]:
    """Return the judged claims as rows of a labelled set: grounded if the analyst says supported.

    The context of a claim is its passages. Claims without passages, and those on which sources
    conflict, are left out.
    Of two judgements on the same claim and passages, the later one counts. The runs of one question
    form a group.
    """
    rows: dict[str, dict[str, object]] = {}
    found = [
        (own, report)
        for report in reports
        for own in report.judgements
        if own.label != "conflicting"
    ]
    for own, report in sorted(found, key=lambda one: one[0].at):
        question = transcript(report.question, report.context)
        context = list(
            dict.fromkeys(
                e.text for e in report.evidence if e.claim_id == own.claim_id and e.text.strip()
            )
        )
        if not context:
            continue
        row: dict[str, object] = {"id": content_id(question, *context, own.statement)}
        row |= {
            "group": content_id(question.strip() or report.answer),
            "question": question,
            "context": context,
        }
        row |= {"response": own.statement, "grounded": own.label == "supported", "note": own.note}
        rows[str(row["id"])] = row if own.label == "supported" else row | {"error_type": own.label}
    return list(rows.values())
