"""Show the claims and figures of several segmenters side by side, and offer them as files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from attribution.evidence.near_duplicates import nearest_evidence
from attribution.files import Cell, csv_text
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
    scrolling,
    style_class,
)
from attribution.segmenters import SEGMENTERS
from attribution.studies.factscore import score
from attribution.studies.results import ResultTable
from attribution.studies.segmenters.comparison import (
    Column,
    Comparison,
    SegmenterResult,
    SentenceRow,
    json_data,
)
from attribution.studies.segmenters.tables import counts, tables
from attribution.text.markdown import escape_markdown
from attribution.text.passages import visible
from attribution.types import BADGES, Claim, LlmUsage, Page, Report, Span, Verdict
from attribution.verifiers.calibration import badge_of
from pages.ui.run_results import money

FIGURES = (  # heading, meaning, field, format
    ("Claims", "factual claims", "claims", "{}"),
    ("Distinct claims", "claims that differ in more than case and spacing", "unique", "{}"),
    (
        "Claims per sentence",
        "claims for each sentence that states something",
        "claims_per_sentence",
        "{:.2f}",
    ),
    ("Mean length", "of a claim, in characters", "characters_per_claim", "{:.0f}"),
    ("Supported", "claims of the answer that the sources support", "supported", "{}"),
    (
        "Coherent",
        "share of the claims that are entailed by their own sentence",
        "coherent",
        "{:.2f}",
    ),
    ("Coverage", "share of the answer's content words that occur in a claim", "coverage", "{:.2f}"),
)
WAITING, NOT_REACHED = (
    "Being checked",
    "Not reached",
)  # claims without a verdict, during a comparison and after it
HEADS = (
    ("Checked", "claims with a verdict, of those worth checking"),
    *((head, meaning) for head, meaning, _, _ in FIGURES),
    (
        "FActScore",
        "share of the checked claims that are supported, with a length penalty below ten claims",
    ),
    ("Time", "to segment"),
    ("Cost", "of the language model"),
)


def figures(
    segmenters: Sequence[str],
    results: Sequence[SegmenterResult],
    comparison: Comparison | None,
    running: bool,
) -> Node:
    """Build a table with a row per segmenter: its measures, time and cost, or its progress if
    unfinished.
    """
    done = {result.segmenter: result for result in results}
    columns = {column.segmenter: column for column in comparison.columns} if comparison else {}
    current = next((name for name in segmenters if name not in done), None)
    body = []
    for name in segmenters:
        if name in columns:
            cells = _measured(columns[name])
        elif name in done:
            cells = [
                f"{plural(len(done[name].segmented.claims), 'claim')} found",
                *[""] * (len(FIGURES) + 1),
            ]
            cells += [_seconds(done[name].seconds), _cost(done[name].segmented.usage)]
        else:
            now = ("splitting …" if name == current else "waiting") if running else "not reached"
            cells = [now, *[""] * (len(HEADS) - 1)]
        body.append(el("tr", el("th", SEGMENTERS[name].label), *(el("td", cell) for cell in cells)))
    heads = el(
        "tr", el("th", "Segmenter"), *(el("th", head, title=meaning) for head, meaning in HEADS)
    )
    table = el("table", el("thead", heads), el("tbody", *body), class_="ax-table wide")
    meanings = el("ul", *(el("li", el("strong", head), f": {meaning}") for head, meaning in HEADS))
    explained = el("details", el("summary", "What the figures mean"), meanings, class_="ax-unready")
    return el("div", scrolling(table, "Figures of the segmenters"), explained, class_="ax-figures")


def _measured(column: Column) -> list[str]:
    values = [(getattr(column.figures, field), form) for _, _, field, form in FIGURES]
    cells = ["–" if value is None else form.format(value) for value, form in values]
    return [
        _checked(column.report),
        *cells,
        _factscore(column),
        _seconds(column.seconds),
        _cost(column.usage),
    ]


def _factscore(column: Column) -> str:
    found = score([counts(column)])
    if found.factscore is None or found.unpenalised is None:
        return "–"
    short = found.factscore != found.unpenalised
    return (
        f"{found.factscore:.2f}" + f" ({found.unpenalised:.2f} without the length penalty)" * short
    )


def _checked(report: Report) -> str:
    """Count the check-worthy claims that have a verdict."""
    verdicts = {v.claim_id for v in report.verdicts}
    claims = [c for c in report.claims if c.checked]
    return f"{sum(c.id in verdicts for c in claims)} of {len(claims)}"


def _seconds(value: float) -> str:
    return f"{value:.1f} s"


def _cost(usage: LlmUsage | None) -> str:
    """Return tokens, and money if prices are set."""
    if usage is None:
        return "none"
    tokens = plural(usage.prompt_tokens + usage.completion_tokens, "token")
    return tokens if usage.cost is None else f"{money(usage.cost)} ({tokens})"


def legend(comparison: Comparison, running: bool) -> Node:
    """Explain the verdicts that occur: the columns have room only for icons."""
    found = {badge_of(v, c.report) for c in comparison.columns for v in c.report.verdicts}
    badges = [badge(name) for name in BADGES if name in found]
    if any(row.pending for row in comparison.rows):
        badges.append(badge(None, word=WAITING if running else NOT_REACHED))
    return el("p", *badges, class_="ax-legend", aria_label="What the icons mean")


def summary(comparison: Comparison) -> str:
    """Summarise the comparison, and how much of it is unfinished."""
    rows = [r for r in comparison.rows if any(r.claims)]
    flips, unfinished = sum(r.flips for r in rows), sum(r.pending for r in rows)
    counts = "; ".join(
        f"{SEGMENTERS[c.segmenter].label}: {plural(c.figures.claims, 'claim')}"
        for c in comparison.columns
    )
    of = f"{plural(len(rows) - unfinished, 'sentence')}{' that are finished' if unfinished else ''}"
    result = f"The verdict depends on how the answer is split in {flips} of {of}."
    if unfinished == len(rows):
        result = f"None of {plural(len(rows), 'sentence')} is finished."
    return f"{counts}. {result}"


CLAIM_HEADS = (
    "number",
    "sentence",
    "segmenter",
    "claim",
    "checked as",
    "verdict",
    "probability",
    "reason",
    "passage",
    "source",
    "address",
)


def as_markdown(comparison: Comparison) -> str:
    """Return the whole comparison as Markdown to paste into a document."""
    out = ["# Comparison of segmenters", ""]
    if comparison.report.question.strip():
        out += [f"Question: {escape_markdown(comparison.report.question)}", ""]
    out += [summary(comparison), "", tables([comparison])[0].markdown()]
    for row in comparison.rows:
        if not any(row.claims):
            continue
        text = sentence(row, comparison.report.answer)
        out += [f"## {escape_markdown(text) if text else 'Claims with no place in the answer'}", ""]
        for column, ids in zip(comparison.columns, row.claims, strict=True):
            verdicts = {v.claim_id: v for v in column.report.verdicts}
            out += [f"**{SEGMENTERS[column.segmenter].label}**", ""]
            for claim in column.report.claims:
                if claim.id in ids:
                    look = look_of(verdicts.get(claim.id), column.report)
                    out.append(f"- {look.icon} {look.word}: {escape_markdown(claim.statement)}")
            out.append("")
    return "\n".join(out)


def as_csv(comparison: Comparison) -> str:
    """Return CSV with a row per claim, by sentence and segmenter, with the deciding passage."""
    return csv_text([CLAIM_HEADS, *_claims(comparison)])


def _claims(comparison: Comparison) -> Iterator[Sequence[Cell]]:
    report = comparison.report
    pages = {page.id: page for page in report.pages}
    for number, row in enumerate((r for r in comparison.rows if any(r.claims)), 1):
        for column, ids in zip(comparison.columns, row.claims, strict=True):
            verdicts = {v.claim_id: v for v in column.report.verdicts}
            for claim in (c for c in column.report.claims if c.id in ids):
                verdict = verdicts.get(claim.id)
                found = [e for e in column.report.evidence if e.claim_id == claim.id]
                piece = nearest_evidence(found, verdict.label if verdict else "", pages)
                page = pages.get(piece.page_id) if piece else None
                yield (
                    number,
                    sentence(row, report.answer),
                    column.segmenter,
                    claim.text,
                    claim.enriched or "",
                    look_of(verdict, column.report).word,
                    verdict.confidence if verdict and verdict.confidence else None,
                    verdict.reason if verdict else "",
                    piece.deciding_sentence if piece else "",
                    page.cited if page else "",
                    page.url if page else "",
                )


def as_json(comparison: Comparison) -> str:
    """Return everything in the form of comparisons.jsonl: the report of all claims, columns,
    figures and rows.
    """
    return json.dumps(json_data(comparison), ensure_ascii=False, indent=1)


def tables_csv(results: Sequence[ResultTable]) -> str:
    """Return the tables of many answers as one CSV, with a row per figure and segmenter."""
    rows: list[Sequence[Cell]] = [("table", "segmenter", "figure", "value")]
    for table in results:
        for name, *cells in table.rows:
            rows += [
                (table.title, name, head, cell)
                for head, cell in zip(table.columns[1:], cells, strict=True)
            ]
    return csv_text(rows)


def tables_json(results: Sequence[ResultTable]) -> str:
    """Return the same tables as JSON, each as a list of rows."""
    data = [
        {"title": t.title, "rows": [dict(zip(t.columns, row, strict=True)) for row in t.rows]}
        for t in results
    ]
    return json.dumps(data, ensure_ascii=False, indent=1)


def view(comparison: Comparison, running: bool = False) -> dict[str, object]:
    """Return plain data for `claim_rows`.

    Sentences whose verdict depends on how they are split come first, and those that all segmenters
    split alike are
    folded; during a run, all are in the order of the answer.
    """
    pages = {p.id: p for p in comparison.report.pages}
    rows = [r for r in comparison.rows if any(r.claims)]
    done = [r for r in rows if not r.pending]
    groups = [
        ("The verdict depends on how the answer is split", [r for r in done if r.flips], False),
        ("Not finished", [r for r in rows if r.pending], False),
        (
            "Split differently, with the same verdicts",
            [r for r in done if not r.flips and not r.same_claims],
            False,
        ),
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


def sentence(row: SentenceRow, answer: str) -> str:
    """Return a row's sentence on one line, without markup; empty for claims that have no place in
    the answer.
    """
    return visible(answer, *row.sentence).strip()


def look_of(verdict: Verdict | None, report: Report, running: bool = False) -> Look:
    """Return the look of a verdict; without one, the look of a claim being checked or not reached."""
    return (
        look(badge_of(verdict, report))
        if verdict
        else replace(look(None), word=WAITING if running else NOT_REACHED)
    )


def _row(
    row: SentenceRow, comparison: Comparison, pages: Mapping[str, Page], running: bool
) -> dict[str, object]:
    answer = comparison.report.answer
    claims = [
        [c for c in column.report.claims if c.id in ids]
        for column, ids in zip(comparison.columns, row.claims, strict=True)
    ]
    cuts = _cuts(row.sentence, [s for column in claims for c in column for s in c.spans])
    if row.same_claims:  # shown once
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
    """Cut the sentence wherever a claim begins or ends."""
    start, end = sentence
    at = sorted({start, end} | {p for s in spans for p in s if start < p < end})
    return list(zip(at, at[1:], strict=False))


def claim_data(
    claim: Claim, report: Report, pages: Mapping[str, Page], cuts: Sequence[Span], running: bool
) -> dict[str, object]:
    verdict = next((v for v in report.verdicts if v.claim_id == claim.id), None)
    style = look_of(verdict, report, running)
    waiting = (
        "Its sources are still being read."
        if running
        else "The comparison ended before it was checked."
    )
    reason = el(
        "p",
        el("strong", f"{style.word}. "),
        verdict.reason if verdict else waiting,
        class_="reason",
    )
    lines: list[Child] = [reason]
    if claim.enriched:
        lines.append(el("p", "Checked as: ", claim.enriched, dir="auto"))
    if not claim.spans:
        lines.append(el("p", "Its words were not found in the answer."))
    found = [e for e in report.evidence if e.claim_id == claim.id]
    if verdict and (piece := nearest_evidence(found, verdict.label, pages)):
        kind, relation = RELATIONS[piece.relation]
        page = pages.get(piece.page_id)
        title = el("span", page.title if page else "", dir="auto")
        lines += [
            el("p", badge(kind, word=relation), " ", title),
            el("blockquote", piece.deciding_sentence, dir="auto", class_=f"v-{kind}"),
        ]
    return {
        "id": claim.id,
        "style": style_class(badge_of(verdict, report, "pending")),
        "icon": style.icon,
        "word": style.word,
        "text": claim.text,
        "pieces": [
            i for i, (a, b) in enumerate(cuts) if any(s < b and a < e for s, e in claim.spans)
        ],
        "detail": html.data(el("div", *lines)),
    }
