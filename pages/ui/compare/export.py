"""A comparison as Markdown, CSV and JSON. Foreign text in it stays text wherever it is opened."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from attribution.evaluation.comparison import Comparison
from attribution.evaluation.experiment import json_data
from attribution.evaluation.tables import Cell, Table, csv_text, tables
from attribution.evidence.near_duplicates import deciding_evidence
from attribution.segmenters import SEGMENTERS
from attribution.text.markdown import escape_markdown
from pages.ui.compare.figures import summary
from pages.ui.compare.view import look_of, sentence

HEADS = (
    "number", "sentence", "segmenter", "claim", "checked as", "verdict", "probability", "reason", "passage", "source",
    "address",
)  # fmt: skip


def as_markdown(comparison: Comparison) -> str:
    """The whole comparison to paste into a document."""
    out = ["# Comparison of segmenters", ""]
    if comparison.report.question.strip():
        out += [f"Question: {escape_markdown(comparison.report.question)}", ""]
    out += [summary(comparison), "", tables([comparison])[0].markdown()]
    for row in comparison.rows:
        if not any(row.claims):
            continue
        text = sentence(row, comparison.report.answer)
        out += [f"## {escape_markdown(text) if text else 'Claims without a place in the answer'}", ""]
        for column, ids in zip(comparison.columns, row.claims, strict=True):
            verdicts = {v.claim_id: v for v in column.report.verdicts}
            out += [f"**{SEGMENTERS[column.segmenter].label}**", ""]
            for claim in column.report.claims:
                if claim.id in ids:
                    look = look_of(verdicts.get(claim.id))
                    out.append(f"- {look.icon} {look.word}: {escape_markdown(claim.statement)}")
            out.append("")
    return "\n".join(out)


def as_csv(comparison: Comparison) -> str:
    """One row per claim, by sentence and segmenter, with the deciding passage."""
    return csv_text([HEADS, *_claims(comparison)])


def _claims(comparison: Comparison) -> Iterator[Sequence[Cell]]:
    report = comparison.report
    pages = {page.id: page for page in report.pages}
    for number, row in enumerate((r for r in comparison.rows if any(r.claims)), 1):
        for column, ids in zip(comparison.columns, row.claims, strict=True):
            verdicts = {v.claim_id: v for v in column.report.verdicts}
            for claim in (c for c in column.report.claims if c.id in ids):
                verdict = verdicts.get(claim.id)
                piece = deciding_evidence([e for e in column.report.evidence if e.claim_id == claim.id], pages)
                page = pages.get(piece.page_id) if piece else None
                yield (
                    number, sentence(row, report.answer), column.segmenter, claim.text,
                    claim.enriched or "", look_of(verdict).word,
                    verdict.confidence if verdict and verdict.confidence else None, verdict.reason if verdict else "",
                    piece.deciding_sentence if piece else "", page.cited if page else "", page.url if page else "",
                )  # fmt: skip


def as_json(comparison: Comparison) -> str:
    """All of it, in the form of comparisons.jsonl: the report of all claims, columns, figures and rows."""
    return json.dumps(json_data(comparison), ensure_ascii=False, indent=1)


def tables_csv(results: Sequence[Table]) -> str:
    """The tables of many answers as one: a row per figure and segmenter."""
    rows: list[Sequence[Cell]] = [("table", "segmenter", "figure", "value")]
    for table in results:
        for name, *cells in table.rows:
            rows += [(table.title, name, head, cell) for head, cell in zip(table.columns[1:], cells, strict=True)]
    return csv_text(rows)


def tables_json(results: Sequence[Table]) -> str:
    """The same tables, each as a list of rows."""
    data = [{"title": t.title, "rows": [dict(zip(t.columns, row, strict=True)) for row in t.rows]} for t in results]
    return json.dumps(data, ensure_ascii=False, indent=1)
