"""Decide a finished run anew from its stored probabilities, over fewer passages or by another rule.

Pure functions, without a model. Sites, dates and languages are those of the pages; passages that
say the same
can count once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace

from attribution.evidence.near_duplicates import group_evidence
from attribution.policy import LOWEST_THRESHOLD, Counted, DecisionPolicy
from attribution.text.sentences import detect
from attribution.types import Evidence, Page, Report, Verdict
from attribution.verdicts import recolour

LEFT_OUT = "What if: all {} are left out."
SAMPLE = 2000  # characters of a page for detecting its language
VALUES = tuple(
    n / 100 for n in range(round(100 * LOWEST_THRESHOLD), 100)
)  # that a threshold can be set to
Courses = dict[str, list[tuple[float, Verdict]]]


def what_if(
    report: Report, policy: DecisionPolicy, languages: Mapping[str, str] | None = None
) -> Report:
    """Return the run as this policy decides it.

    `languages` are the languages of the pages by id, if known already. Claims that were not
    compared with sources, and
    those for which nothing was found, stay as they are.
    """
    if policy == DecisionPolicy.of(report.settings):
        return report
    found = recolour(report, policy)
    if policy.counted == Counted():
        return found
    pages = {page.id: page for page in report.pages}
    if policy.counted.languages and languages is None:
        languages = page_languages(report.pages)
    page_ids = {
        i for i, page in pages.items() if _fits(page, policy.counted, (languages or {}).get(i, ""))
    }
    before: dict[str, list[Evidence]] = {claim.id: [] for claim in report.claims}
    for piece in found.evidence:
        before[piece.claim_id].append(piece)
    left = tuple(
        e for c in report.claims for e in _chosen(before[c.id], page_ids, pages, policy.counted)
    )
    found = recolour(report.model_copy(update={"evidence": left}), policy)
    missing = {v.claim_id for v in report.verdicts if v.label == "missing"}

    def said(verdict: Verdict) -> Verdict:
        if verdict.label != "missing" or verdict.claim_id in missing:
            return verdict
        count = len(before[verdict.claim_id])
        return verdict.model_copy(
            update={"reason": LEFT_OUT.format(f"{count} passage{'s' * (count != 1)}")}
        )

    return found.model_copy(update={"verdicts": tuple(map(said, found.verdicts))})


def courses(
    report: Report, policy: DecisionPolicy, side: str, languages: Mapping[str, str] | None = None
) -> Courses:
    """Return the verdicts on each claim while one threshold of the policy moves and the rest stays.

    `side` is its name there. Each verdict stands with the first of VALUES that it holds for; it
    holds until the
    next one's.
    """
    made = DecisionPolicy.of(report.settings)
    evidence: dict[str, list[Evidence]] = {claim.id: [] for claim in report.claims}
    for piece in report.evidence:
        evidence[piece.claim_id].append(piece)
    verdicts = {v.claim_id: v for v in report.verdicts}
    pages = {page.id: page for page in report.pages}
    found: Courses = {}
    for claim in report.claims:
        if claim.id not in verdicts:
            continue
        pieces = tuple(evidence[claim.id])
        alone = report.model_copy(
            update={
                "claims": (claim,),
                "evidence": pieces,
                "verdicts": (verdicts[claim.id],),
                "pages": tuple(
                    pages[i] for i in dict.fromkeys(e.page_id for e in pieces) if i in pages
                ),
            }
        )
        course: list[tuple[float, Verdict]] = []
        for value in _turns(pieces, getattr(made, side)):
            (verdict,) = what_if(alone, _moved(policy, side, value), languages).verdicts
            if not course or verdict != course[-1][1]:
                course.append((value, verdict))
        found[claim.id] = course
    return found


def _moved(policy: DecisionPolicy, side: str, value: float) -> DecisionPolicy:
    return (
        replace(policy, support=value)
        if side == "support"
        else replace(policy, contradiction=value)
    )


def _turns(pieces: Sequence[Evidence], made: float) -> list[float]:
    """Return the values at which a verdict can change: the first one, those that pass a
    probability, and the run's.
    """
    judged = [
        p for e in pieces for p in (e.probabilities, *(part.probabilities for part in e.parts))
    ]
    passed = {bisect_right(VALUES, one) for p in judged for one in (p.entailed, p.contradicted)}
    turns = {0, bisect_left(VALUES, made), bisect_right(VALUES, made)} | passed
    return [VALUES[n] for n in sorted(turns) if n < len(VALUES)]


def differing(before: Report, after: Report) -> int:
    """Count the verdicts that differ between two versions of a run."""
    labels = {v.claim_id: v.label for v in before.verdicts}
    return sum(labels.get(v.claim_id) != v.label for v in after.verdicts)


def sites(report: Report) -> list[str]:
    """Return the sites that the evidence comes from."""
    pages = {page.id: page for page in report.pages}
    return sorted(
        {
            pages[e.page_id].site
            for e in report.evidence
            if e.page_id in pages and pages[e.page_id].site
        }
    )


def page_languages(pages: Sequence[Page]) -> dict[str, str]:
    """Detect the languages of the pages, by id; pages whose language is unclear are left out."""
    return {page.id: code for page in pages if page.text and (code := detect(page.text[:SAMPLE]))}


def _fits(page: Page, choices: Counted, language: str) -> bool:
    if page.site in choices.without_sites:
        return False
    if choices.languages and language and language not in choices.languages:
        return False
    if not page.published:
        return not choices.dated
    day = page.published[:10]
    return day >= choices.published_from[:10] and (
        not choices.published_to or day <= choices.published_to[:10]
    )


def _chosen(
    pieces: Sequence[Evidence], page_ids: set[str], pages: Mapping[str, Page], choices: Counted
) -> tuple[Evidence, ...]:
    """Return the passages of a claim that count, in their order."""
    left = [e for e in pieces if e.page_id in page_ids or e.page_id not in pages]
    if choices.duplicates_once:
        best = {id(group.best) for group in group_evidence(left, pages)}
        left = [e for e in left if id(e) in best]
    if choices.top_k is not None and len(left) > choices.top_k:
        nearest = {id(e) for e in sorted(left, key=lambda e: -e.similarity)[: choices.top_k]}
        left = [e for e in left if id(e) in nearest]
    return tuple(left)
