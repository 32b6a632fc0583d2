"""Segmenters side by side: the answer's sentences as rows, the claims of each segmenter as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from attribution.evaluation.comparison import Comparison, Row
from attribution.evidence.near_duplicates import deciding_evidence
from attribution.segmenters import SEGMENTERS
from attribution.text.passages import visible
from attribution.types import Claim, Page, Report, Span, Verdict
from pages.ui.compare.figures import NOT_REACHED, WAITING
from pages.ui.html import render
from pages.ui.html.render import RELATIONS, Child, Look, badge, el, look, plural

_HERE = Path(__file__).parent
_compare = st.components.v2.component(
    "attribution.compare",
    html='<div class="root"></div>',
    css=render.tokens_css(".root") + (_HERE / "view.css").read_text("utf-8"),
    js=render.NODES_JS + (_HERE / "view.js").read_text("utf-8"),
)


def compare_view(comparison: Comparison, *, running: bool = False, key: str) -> None:
    """Draw it; while verdicts come, the sentences stay in their places."""
    draw(view(comparison, running), key=key)


def draw(data: dict[str, Any], *, key: str) -> None:
    """Draw groups of rows with columns of claims, in the form that `view` gives them."""
    _compare(data=data, key=key)


def view(comparison: Comparison, running: bool = False) -> dict[str, Any]:
    """What the component draws, as plain data.

    Sentences whose verdict depends on how they are split come first, and those that all split alike are folded; while
    it is running, all stand in the order of the answer.
    """
    pages = {p.id: p for p in comparison.report.pages}
    rows = [r for r in comparison.rows if any(r.claims)]
    done = [r for r in rows if not r.pending]
    groups = [
        ("The verdict depends on how the answer is split", [r for r in done if r.flips], False),
        ("Not finished", [r for r in rows if r.pending], False),
        ("Split differently, with the same verdicts", [r for r in done if not r.flips and not r.same_claims], False),
        ("Split alike by all", [r for r in done if r.same_claims], True),
    ]
    if running:
        groups = [("In the order of the answer", rows, False)]
    return {
        "names": [SEGMENTERS[c.segmenter].label for c in comparison.columns],
        "groups": [
            {
                "title": f"{title} · {plural(len(members), 'sentence')}",
                "folded": alike and len(members) < len(rows),
                "rows": [_row(row, comparison, pages, running) for row in members],
            }
            for title, members, alike in groups
            if members
        ],
    }


def sentence(row: Row, answer: str) -> str:
    """Its sentence of the answer on one line, without Markdown's marks; empty for claims that have no place there."""
    return visible(answer, *row.sentence).strip()


def look_of(verdict: Verdict | None, running: bool = False) -> Look:
    """The look of a verdict; of a claim without one, of waiting or of not having been reached."""
    return look(verdict.label) if verdict else replace(look(None), word=WAITING if running else NOT_REACHED)


def _row(row: Row, comparison: Comparison, pages: Mapping[str, Page], running: bool) -> dict[str, Any]:
    answer = comparison.report.answer
    claims = [
        [c for c in column.report.claims if c.id in ids]
        for column, ids in zip(comparison.columns, row.claims, strict=True)
    ]
    cuts = _cuts(row.sentence, [s for column in claims for c in column for s in c.spans])
    if row.same_claims:  # said once
        claims = claims[:1]
    return {
        "key": row.sentence[0],
        "pieces": [visible(answer, a, b) for a, b in cuts],
        "cells": [
            [claim_data(claim, column.report, pages, cuts, running) for claim in own]
            for column, own in zip(comparison.columns, claims, strict=False)
        ],
    }


def _cuts(sentence: Span, spans: Sequence[Span]) -> list[Span]:
    """The sentence cut wherever a claim begins or ends."""
    start, end = sentence
    at = sorted({start, end} | {p for s in spans for p in s if start < p < end})
    return list(zip(at, at[1:], strict=False))


def claim_data(
    claim: Claim, report: Report, pages: Mapping[str, Page], cuts: Sequence[Span], running: bool
) -> dict[str, Any]:
    verdict = next((v for v in report.verdicts if v.claim_id == claim.id), None)
    style = look_of(verdict, running)
    waiting = "Its sources are still being read." if running else "The comparison ended before it was checked."
    reason = el("p", el("strong", f"{style.word}. "), verdict.reason if verdict else waiting, class_="reason")
    lines: list[Child] = [reason]
    if claim.enriched:
        lines.append(el("p", "Checked as: ", claim.enriched, dir="auto"))
    if not claim.spans:
        lines.append(el("p", "Its words were not found in the answer."))
    if piece := deciding_evidence([e for e in report.evidence if e.claim_id == claim.id], pages):
        kind, word = RELATIONS[piece.relation]
        page = pages.get(piece.page_id)
        title = el("span", page.title if page else "", dir="auto")
        lines += [
            el("p", badge(kind, getattr(piece.probabilities, piece.relation), word), " ", title),
            el("blockquote", piece.deciding_sentence, dir="auto", class_=f"v-{kind}"),
        ]
    return {
        "id": claim.id,
        "label": verdict.label if verdict else "pending",
        "icon": style.icon,
        "word": style.word,
        "text": claim.text,
        "pieces": [i for i, (a, b) in enumerate(cuts) if any(s < b and a < e for s, e in claim.spans)],
        "detail": render.data(el("div", *lines)),
    }
