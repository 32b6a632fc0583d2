"""Show the claims of several segmenters, or of two answers, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from attribution.evidence.near_duplicates import nearest_evidence
from attribution.reports import html
from attribution.reports.html import (
    RELATIONS,
    Child,
    Look,
    Node,
    badge,
    el,
    look,
    plural,
    style_class,
)
from attribution.segmenters import SEGMENTERS
from attribution.studies.segmenters.comparison import Comparison, SentenceRow
from attribution.text.passages import visible
from attribution.types import BADGES, Claim, Page, Report, Span, Verdict
from attribution.verifiers.calibration import badge_of

Row = dict[str, object]  # of `claim_rows`
# claims without a verdict, meanwhile and after
WAITING, NOT_REACHED = "Being checked", "Not reached"


def legend(comparison: Comparison, running: bool) -> Node:
    """Explain the verdicts that occur: the columns have room only for icons."""
    names = {badge_of(v, c.report) for c in comparison.columns for v in c.report.verdicts}
    badges = [badge(name) for name in BADGES if name in names]
    if any(row.pending for row in comparison.rows):
        badges.append(badge(None, word=WAITING if running else NOT_REACHED))
    return el("p", *badges, class_="ax-legend", aria_label="What the icons mean")


def summary(comparison: Comparison) -> str:
    """Summarise the comparison, and how much of it is unfinished."""
    rows = [row for row in comparison.rows if any(row.claims)]
    finished = [row for row in rows if not row.pending]
    counts = [
        f"{SEGMENTERS[column.segmenter].label}: {plural(column.figures.claims, 'claim')}"
        for column in comparison.columns
    ]
    if not finished:
        return f"{'; '.join(counts)}. None of {plural(len(rows), 'sentence')} is finished."
    flips = sum(row.flips for row in finished)
    of = f"{flips} of {plural(len(finished), 'sentence')}"
    if len(finished) < len(rows):
        of += " that are finished"
    return f"{'; '.join(counts)}. The verdict depends on how the answer is split in {of}."


def view(comparison: Comparison, running: bool = False) -> dict[str, object]:
    """Return plain data for `claim_rows`.

    Sentences whose verdict depends on how they are split come first, and those that all segmenters
    split alike are folded; during a run, all are in the order of the answer.
    """
    rows = [row for row in comparison.rows if any(row.claims)]
    done = [row for row in rows if not row.pending]
    alike = [row for row in done if row.same_claims]
    differing = [row for row in done if not row.flips and not row.same_claims]
    groups = {
        "The verdict depends on how the answer is split": [row for row in done if row.flips],
        "Not finished": [row for row in rows if row.pending],
        "Split differently, with the same verdicts": differing,
        "Split alike by all": alike,
    }
    if running:
        groups = {"In the order of the answer": rows}
    pages = {page.id: page for page in comparison.report.pages}
    drawn = [
        {
            "title": f"{title} · {plural(len(members), 'sentence')}",
            "folded": members is alike and len(members) < len(rows),
            "rows": [_row(row, comparison, pages, running) for row in members],
        }
        for title, members in groups.items()
        if members
    ]
    names = [SEGMENTERS[column.segmenter].label for column in comparison.columns]
    return {"names": names, "groups": drawn}


def look_of(verdict: Verdict | None, report: Report, running: bool = False) -> Look:
    """Return the look of a verdict, or of a claim that has none yet."""
    if verdict:
        return look(badge_of(verdict, report))
    return replace(look(None), word=WAITING if running else NOT_REACHED)


def _row(row: SentenceRow, comparison: Comparison, pages: Mapping[str, Page], running: bool) -> Row:
    claims = [
        [claim for claim in column.report.claims if claim.id in ids]
        for column, ids in zip(comparison.columns, row.claims, strict=True)
    ]
    spans = [span for column in claims for claim in column for span in claim.spans]
    cuts = _cuts(row.sentence, spans)
    if row.same_claims:  # shown once
        claims = claims[:1]
    cells = [
        [
            claim_data(
                claim,
                column.report,
                pages,
                cuts,
                running,
            )
            for claim in own
        ]
        for column, own in zip(comparison.columns, claims, strict=False)
    ]
    pieces = [visible(comparison.report.answer, start, end) for start, end in cuts]
    return {"key": row.sentence[0], "pieces": pieces, "cells": cells}


def _cuts(sentence: Span, spans: Sequence[Span]) -> list[Span]:
    """Cut the sentence wherever a claim begins or ends."""
    start, end = sentence
    at = sorted({start, end} | {p for s in spans for p in s if start < p < end})
    return list(zip(at, at[1:], strict=False))


def claim_data(
    claim: Claim,
    report: Report,
    pages: Mapping[str, Page],
    cuts: Sequence[Span] = (),
    running: bool = False,
) -> Row:
    """Return plain data of a claim; `cuts` are the parts of its sentence."""
    verdict = next((v for v in report.verdicts if v.claim_id == claim.id), None)
    style = look_of(verdict, report, running)
    touched = [
        place
        for place, (start, end) in enumerate(cuts)
        if any(first < end and start < last for first, last in claim.spans)
    ]
    return {
        "id": claim.id,
        "style": style_class(badge_of(verdict, report, "pending")),
        "icon": style.icon,
        "word": style.word,
        "text": claim.text,
        "pieces": touched,
        "detail": html.data(
            _detail(
                claim,
                verdict,
                report,
                pages,
                style.word,
                running,
            )
        ),
    }


def _detail(
    claim: Claim,
    verdict: Verdict | None,
    report: Report,
    pages: Mapping[str, Page],
    word: str,
    running: bool,
) -> Node:
    """Draw why a claim has its verdict, and the passage behind it."""
    reason = "The comparison ended before it was checked."
    if verdict:
        reason = verdict.reason
    elif running:
        reason = "Its sources are still being read."
    lines: list[Child] = [
        el(
            "p",
            el("strong", f"{word}. "),
            reason,
            class_="reason",
        )
    ]
    if claim.enriched:
        lines.append(
            el(
                "p",
                "Checked as: ",
                claim.enriched,
                dir="auto",
            )
        )
    if not claim.spans:
        lines.append(el("p", "Its words were not found in the answer."))
    evidence = [piece for piece in report.evidence if piece.claim_id == claim.id]
    piece = nearest_evidence(evidence, verdict.label, pages) if verdict else None
    if piece:
        kind, relation = RELATIONS[piece.relation]
        page = pages.get(piece.page_id)
        title = el("span", page.title if page else "", dir="auto")
        lines.append(el("p", badge(kind, word=relation), " ", title))
        lines.append(el("blockquote", piece.deciding_sentence, dir="auto", class_=f"v-{kind}"))
    return el("div", *lines)
