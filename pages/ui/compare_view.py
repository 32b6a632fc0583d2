"""Segmenters side by side: the answer's sentences as rows, what each segmenter made of them as columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from attribution.evaluation.comparison import Comparison, Row
from attribution.segmenters import SEGMENTERS
from attribution.types import Claim, Page, Report, Span
from pages.ui import cards, markdown, render
from pages.ui.passages import ranked, sentence_of
from pages.ui.render import RELATIONS, Child, Node, badge, el, look, plural

_HERE = Path(__file__).parent
_MARKS = re.compile(r"\*\*|__|`|^#{1,6}\s|^\s*(?:[-*+]|\d+[.)])\s", re.M)
_compare = st.components.v2.component(
    "attribution.compare",
    html='<div class="root"></div>',
    css=render.tokens_css(".root") + (_HERE / "compare_view.css").read_text("utf-8"),
    js="".join((_HERE / name).read_text("utf-8") for name in ("nodes.js", "compare_view.js")),
)


def compare_view(comparison: Comparison, *, key: str) -> None:
    """Draw it: sentences whose verdict depends on the cut come first."""
    _compare(data=view(comparison), key=key)


def view(comparison: Comparison) -> dict[str, Any]:
    """What the component draws, as plain data."""
    pages = {p.id: p for p in comparison.report.pages}
    rows = sorted((r for r in comparison.rows if any(r.claims)), key=lambda r: not r.flips)
    return {
        "names": [SEGMENTERS[c.segmenter].label for c in comparison.columns],
        "rows": [_row(row, comparison, pages) for row in rows],
        "flips": sum(r.flips for r in rows),
    }


def _row(row: Row, comparison: Comparison, pages: Mapping[str, Page]) -> dict[str, Any]:
    answer = comparison.report.answer
    claims = [
        [c for c in column.report.claims if c.id in ids]
        for column, ids in zip(comparison.columns, row.claims, strict=True)
    ]
    cuts = _cuts(row.sentence, [s for made in claims for c in made for s in c.spans])
    return {
        "flips": row.flips,
        "pieces": [_MARKS.sub("", answer[a:b]) for a, b in cuts],
        "cells": [
            [_claim(claim, column.report, pages, cuts) for claim in made]
            for column, made in zip(comparison.columns, claims, strict=True)
        ],
    }


def _cuts(sentence: Span, spans: Sequence[Span]) -> list[Span]:
    """The sentence cut wherever a claim begins or ends."""
    start, end = sentence
    at = sorted({start, end} | {p for s in spans for p in s if start < p < end})
    return list(zip(at, at[1:], strict=False))


def _claim(claim: Claim, report: Report, pages: Mapping[str, Page], cuts: Sequence[Span]) -> dict[str, Any]:
    verdict = next((v for v in report.verdicts if v.claim_id == claim.id), None)
    label = verdict.label if verdict else "pending"
    own = [e for e in report.evidence if e.claim_id == claim.id]
    lines: list[Child] = []
    if claim.enriched:
        lines.append(el("p", el("span", "Checked as: "), claim.enriched, class_="enriched"))
    if not claim.spans:
        lines.append(el("p", "Not in the answer: no words of it were found there.", class_="reason"))
    lines.append(el("p", verdict.reason if verdict else "Being checked.", class_="reason"))
    if (groups := ranked(own, pages)) and groups[0].pieces[0].relation != "no_relation":
        piece = groups[0].pieces[0]
        kind, word = RELATIONS[piece.relation]
        page = pages.get(piece.page_id)
        lines += [
            el("p", badge(kind, getattr(piece.probabilities, piece.relation), word), " ", page.title if page else ""),
            el("blockquote", sentence_of(piece, pages), dir="auto", class_=f"v-{kind}"),
        ]
    style = look(label)
    return {
        "label": label,
        "icon": style.icon,
        "word": style.word,
        "text": markdown.plain(claim.text),
        "pieces": [i for i, (a, b) in enumerate(cuts) if any(s < b and a < e for s, e in claim.spans)],
        "detail": render.data(el("div", *lines)),
    }


FIGURES = (
    ("Claims", "claims", "{}"),
    ("Different ones", "unique", "{}"),
    ("Claims a sentence", "claims_per_sentence", "{:.2f}"),
    ("Characters a claim", "characters_per_claim", "{:.0f}"),
    ("Supported claims (DecompScore)", "supported", "{}"),
    ("Entailed by their sentence (coherent)", "coherent", "{:.2f}"),
    ("Content words in a claim (coverage)", "coverage", "{:.2f}"),
    ("Not split further (atomic)", "atomic", "{:.2f}"),
)


def figures(comparison: Comparison) -> Node:
    """The measures of each segmenter as a table."""
    columns = comparison.columns
    body = []
    for title, name, form in FIGURES:
        values = [getattr(c.figures, name) for c in columns]
        body.append(el("tr", el("td", title), *(el("td", "–" if v is None else form.format(v)) for v in values)))
    body.append(el("tr", el("td", "Time to segment"), *(el("td", f"{c.seconds:.1f} s") for c in columns)))
    heads = (el("th", SEGMENTERS[c.segmenter].label) for c in columns)
    return el("table", el("thead", el("tr", el("th", ""), *heads)), el("tbody", *body), class_="ax-table")


def summary(comparison: Comparison) -> str:
    """One sentence that says what the comparison found."""
    flips, rows = sum(r.flips for r in comparison.rows), [r for r in comparison.rows if any(r.claims)]
    counts = ", ".join(
        f"{SEGMENTERS[c.segmenter].label} {plural(c.figures.claims, 'claim')}" for c in comparison.columns
    )
    changed = f"in {flips} of them the verdict depends on the cut" if flips else "the verdicts agree in all of them"
    return f"{plural(len(rows), 'sentence')}: {counts}; {changed}."


def as_markdown(comparison: Comparison) -> str:
    """The whole comparison to paste into a document."""
    answer, out = comparison.report.answer, ["# Comparison of segmenters", "", summary(comparison), ""]
    for row in comparison.rows:
        if not any(row.claims):
            continue
        sentence = " ".join(_MARKS.sub("", answer[slice(*row.sentence)]).split())
        out += [f"## {cards.quoted(sentence) if sentence else 'Claims without a place in the answer'}", ""]
        for column, ids in zip(comparison.columns, row.claims, strict=True):
            out.append(f"**{SEGMENTERS[column.segmenter].label}**")
            out.append("")
            verdicts = {v.claim_id: v for v in column.report.verdicts}
            for claim in column.report.claims:
                if claim.id in ids:
                    style = look(verdicts[claim.id].label if claim.id in verdicts else None)
                    out.append(f"- {style.icon} {style.word}: {cards.quoted(claim.statement)}")
            out.append("")
    return "\n".join(out)
