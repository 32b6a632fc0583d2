"""Decide a finished run anew from its stored probabilities, over fewer passages or by another rule.

Pure functions, without a model. Sites, dates and languages are those of the pages; copies of a text can count once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from attribution.evidence.near_duplicates import group_evidence
from attribution.text.sentences import detect
from attribution.types import UNCHECKED, Evidence, Page, Report, Verdict
from attribution.verdicts import (
    LOWEST_THRESHOLD,
    Aggregation,
    Thresholds,
    counted,
    decide,
    recolour,
    thresholds_of,
)

LEFT_OUT = "What if: all {} are left out."
SAMPLE = 2000  # characters of a page for detecting its language
VALUES = tuple(n / 100 for n in range(round(100 * LOWEST_THRESHOLD), 100))  # that a threshold can be set to
Courses = dict[str, list[tuple[float, Verdict]]]


@dataclass(frozen=True)
class WhatIf:
    """Choices for a finished run; the defaults leave it as it is."""

    thresholds: Thresholds | None = None  # None: the run's
    aggregation: Aggregation = "both"
    top_k: int | None = None  # passages of a claim, the nearest first; None: all
    without_sites: frozenset[str] = frozenset()
    published_from: str = ""  # ISO dates; a page without a date is left out only if `dated` is set
    published_to: str = ""
    dated: bool = False  # leave out pages without a date, if a date range is given
    languages: frozenset[str] = field(default=frozenset())  # ISO 639-1; empty: all. Unknown ones stay
    duplicates_once: bool = False  # passages of a claim that say the same count once

    def changes(self, report: Report) -> bool:
        """Return True if these choices can change the run."""
        return self != WhatIf(self.thresholds) or self.thresholds not in (None, thresholds_of(report))


def what_if(report: Report, choices: WhatIf, languages: Mapping[str, str] | None = None) -> Report:
    """Return the run under these choices; equal to `recolour` if only thresholds are chosen.

    `languages` are the languages of the pages by id, if known already. Claims that were not compared with sources, and
    those for which nothing was found, stay as they are.
    """
    thresholds = choices.thresholds or thresholds_of(report)
    if not choices.changes(report):
        return report
    if choices == WhatIf(choices.thresholds):
        return recolour(report, thresholds)
    pages = {page.id: page for page in report.pages}
    if choices.languages and languages is None:
        languages = page_languages(report.pages)
    page_ids = {i for i, page in pages.items() if _fits(page, choices, (languages or {}).get(i, ""))}
    before: dict[str, list[Evidence]] = {claim.id: [] for claim in report.claims}
    for piece in report.evidence:
        moved = counted(piece.probabilities, piece.reservation, thresholds)
        before[piece.claim_id].append(
            piece if moved == piece.relation else piece.model_copy(update={"relation": moved})
        )
    after = {i: _chosen(pieces, page_ids, pages, choices) for i, pieces in before.items()}
    claims = {claim.id: claim for claim in report.claims}

    def verdict(old: Verdict) -> Verdict:
        if old.label in ("missing", *UNCHECKED):
            return old
        new = decide(claims[old.claim_id], after[old.claim_id], thresholds, aggregation=choices.aggregation)
        if new.label != "missing":
            return new
        count = len(before[old.claim_id])
        return new.model_copy(update={"reason": LEFT_OUT.format(f"{count} passage{'s' * (count != 1)}")})

    settings = {"threshold": thresholds.support, "contradiction_threshold": thresholds.contradiction}
    return report.model_copy(
        update={
            "evidence": tuple(e for c in report.claims for e in after[c.id]),
            "verdicts": tuple(verdict(v) for v in report.verdicts if v.claim_id in claims),
            "settings": {**report.settings, **settings},
        }
    )


def courses(report: Report, choices: WhatIf, side: str, languages: Mapping[str, str] | None = None) -> Courses:
    """Return the verdicts on each claim while one threshold moves and all other choices stay.

    `side` is a field of Thresholds. Each verdict stands with the first of VALUES that it holds for; it holds until the
    next one's.
    """
    made = thresholds_of(report)
    fixed = choices.thresholds or made
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
                "claims": (claim,), "evidence": pieces, "verdicts": (verdicts[claim.id],),
                "pages": tuple(pages[i] for i in dict.fromkeys(e.page_id for e in pieces) if i in pages),
            }
        )  # fmt: skip
        course: list[tuple[float, Verdict]] = []
        for value in _turns(pieces, getattr(made, side)):
            moved = replace(choices, thresholds=fixed._replace(**{side: value}))
            (verdict,) = what_if(alone, moved, languages).verdicts
            if not course or verdict != course[-1][1]:
                course.append((value, verdict))
        found[claim.id] = course
    return found


def _turns(pieces: Sequence[Evidence], made: float) -> list[float]:
    """Return the values at which a verdict can change: the first one, those that pass a probability, and the run's."""
    judged = [p for e in pieces for p in (e.probabilities, *(part.probabilities for part in e.parts))]
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
    return sorted({pages[e.page_id].site for e in report.evidence if e.page_id in pages and pages[e.page_id].site})


def page_languages(pages: Sequence[Page]) -> dict[str, str]:
    """Detect the languages of the pages, by id; pages whose language is unclear are left out."""
    return {page.id: code for page in pages if page.text and (code := detect(page.text[:SAMPLE]))}


def _fits(page: Page, choices: WhatIf, language: str) -> bool:
    if page.site in choices.without_sites:
        return False
    if choices.languages and language and language not in choices.languages:
        return False
    if not page.published:
        return not choices.dated
    day = page.published[:10]
    return day >= choices.published_from[:10] and (not choices.published_to or day <= choices.published_to[:10])


def _chosen(
    pieces: Sequence[Evidence], page_ids: set[str], pages: Mapping[str, Page], choices: WhatIf
) -> tuple[Evidence, ...]:
    """Return the passages of a claim that count, in their order."""
    left = [e for e in pieces if e.page_id in page_ids or e.page_id not in pages]
    if choices.duplicates_once:
        best = {id(group.best) for group in group_evidence(left, pages)}
        seen: set[tuple[str, str]] = set()
        once = []
        for piece in (e for e in left if id(e) in best):
            page = pages.get(piece.page_id)
            text = (page.origin if page else "", piece.relation)  # copies of one text on several sites
            if not text[0] or text not in seen:
                once.append(piece)
            seen.add(text)
        left = once
    if choices.top_k is not None and len(left) > choices.top_k:
        nearest = {id(e) for e in sorted(left, key=lambda e: -e.similarity)[: choices.top_k]}
        left = [e for e in left if id(e) in nearest]
    return tuple(left)
