"""Segmenters side by side: the answer's sentences as rows, what each segmenter made of them as columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from attribution.evaluation.comparison import Comparison, Row
from attribution.segmenters import SEGMENTERS
from attribution.types import Claim, LlmUsage, Page, Report, Span
from pages.ui import cards, markdown, render
from pages.ui.passages import ranked, sentence_of
from pages.ui.render import RELATIONS, Child, Node, badge, el, look, plural

_HERE = Path(__file__).parent
_MARKS = re.compile(r"^#{1,6}\s|^\s*(?:[-*+]|\d+[.)])\s|\*\*|__|`|\*(?=\S)|(?<=\S)\*", re.M)
_compare = st.components.v2.component(
    "attribution.compare",
    html='<div class="root"></div>',
    css=render.tokens_css(".root") + (_HERE / "compare_view.css").read_text("utf-8"),
    js="".join((_HERE / name).read_text("utf-8") for name in ("nodes.js", "compare_view.js")),
)


def compare_view(comparison: Comparison, *, key: str) -> None:
    """Draw it: sentences whose verdict depends on the cut come first, those that all cut alike are folded away."""
    _compare(data=view(comparison), key=key)


def view(comparison: Comparison) -> dict[str, Any]:
    """What the component draws, as plain data."""
    pages = {p.id: p for p in comparison.report.pages}
    rows = [r for r in comparison.rows if any(r.claims)]
    groups = (
        ("The verdict depends on the cut", [r for r in rows if r.flips], False),
        ("Cut differently, with the same verdicts", [r for r in rows if not r.flips and not r.alike], False),
        ("Cut alike by all", [r for r in rows if r.alike], True),
    )
    return {
        "names": [SEGMENTERS[c.segmenter].label for c in comparison.columns],
        "groups": [
            {
                "title": f"{title} · {plural(len(members), 'sentence')}",
                "folded": alike and len(members) < len(rows),
                "rows": [_row(row, comparison, pages) for row in members],
            }
            for title, members, alike in groups
            if members
        ],
    }


def _row(row: Row, comparison: Comparison, pages: Mapping[str, Page]) -> dict[str, Any]:
    answer = comparison.report.answer
    claims = [
        [c for c in column.report.claims if c.id in ids]
        for column, ids in zip(comparison.columns, row.claims, strict=True)
    ]
    cuts = _cuts(row.sentence, [s for made in claims for c in made for s in c.spans])
    if row.alike:  # said once
        claims = claims[:1]
    return {
        "pieces": [_MARKS.sub("", answer[a:b]) for a, b in cuts],
        "cells": [
            [_claim(claim, column.report, pages, cuts) for claim in made]
            for column, made in zip(comparison.columns, claims, strict=False)
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


FIGURES = (  # heading, what it is, field, form
    ("Claims", "factual claims", "claims", "{}"),
    ("Different", "claims that differ in more than case and spacing", "unique", "{}"),
    ("A sentence", "claims for each sentence that states something", "claims_per_sentence", "{:.2f}"),
    ("Characters", "mean length of a claim", "characters_per_claim", "{:.0f}"),
    ("Supported", "supported claims of the answer (DecompScore)", "supported", "{}"),
    ("Coherent", "share of the claims that their own sentence entails", "coherent", "{:.2f}"),
    ("Coverage", "share of the content words that a claim holds", "coverage", "{:.2f}"),
    ("Atomic", "share of the claims that cannot be split further", "atomic", "{:.2f}"),
)


def figures(comparison: Comparison) -> Node:
    """The measures of each segmenter as a table, one row a segmenter, with what it took."""
    body = []
    for column in comparison.columns:
        values = [(getattr(column.figures, name), form) for _, _, name, form in FIGURES]
        cells = ["–" if v is None else form.format(v) for v, form in values]
        cells += [f"{column.seconds:.1f} s", _cost(column.usage)]
        body.append(el("tr", el("th", SEGMENTERS[column.segmenter].label), *(el("td", cell) for cell in cells)))
    heads = [*((h, title) for h, title, _, _ in FIGURES), ("Time", "to segment"), ("Cost", "of a language model")]
    return el(
        "div",
        el(
            "table",
            el("thead", el("tr", el("th", ""), *(el("th", head, title=title) for head, title in heads))),
            el("tbody", *body),
            class_="ax-table wide",
        ),
        el(
            "details",
            el("summary", "What the figures mean"),
            el("ul", *(el("li", el("strong", head), f": {title}") for head, title in heads)),
            class_="ax-unready",
        ),
        class_="ax-scroll",
    )


def _cost(usage: LlmUsage | None) -> str:
    """Tokens, and money where prices are set."""
    if usage is None:
        return "none"
    tokens = plural(usage.prompt_tokens + usage.completion_tokens, "token")
    return tokens if usage.cost is None else f"{usage.cost:.4f} ({tokens})"


def summary(comparison: Comparison) -> str:
    """One sentence that says what the comparison found."""
    flips, rows = sum(r.flips for r in comparison.rows), sum(any(r.claims) for r in comparison.rows)
    counts = "; ".join(
        f"{SEGMENTERS[c.segmenter].label}: {plural(c.figures.claims, 'claim')}" for c in comparison.columns
    )
    found = f"In {flips} of them the verdict depends on the cut." if flips else "The verdicts agree in all of them."
    return f"{plural(rows, 'sentence')}. {counts}. {found}"


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
