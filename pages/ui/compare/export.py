"""A comparison to take along: Markdown, CSV and JSON. Foreign text in it stays text wherever it is opened."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from attribution.evaluation.comparison import Comparison
from attribution.evaluation.experiment import json_data
from attribution.evaluation.tables import Cell, Table, csv_text, tables
from attribution.evidence.near_duplicates import group_evidence
from attribution.segmenters import SEGMENTERS
from pages.ui.compare.figures import summary
from pages.ui.compare.view import look_of, sentence
from pages.ui.html import markdown

HEADS = (
    "number", "sentence", "segmenter", "claim", "checked as", "verdict", "probability", "reason", "passage", "source",
    "address",
)  # fmt: skip
_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~$&!])")


def quoted(text: str) -> str:
    """A text on one line, for Markdown: its marks are escaped."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


def as_markdown(comparison: Comparison) -> str:
    """The whole comparison to paste into a document."""
    out = ["# Comparison of segmenters", ""]
    if comparison.report.question.strip():
        out += [f"Question: {quoted(comparison.report.question)}", ""]
    out += [summary(comparison), "", tables([comparison])[0].markdown()]
    for row in comparison.rows:
        if not any(row.claims):
            continue
        said = sentence(row, comparison.report.answer)
        out += [f"## {quoted(said) if said else 'Claims without a place in the answer'}", ""]
        for column, ids in zip(comparison.columns, row.claims, strict=True):
            verdicts = {v.claim_id: v for v in column.report.verdicts}
            out += [f"**{SEGMENTERS[column.segmenter].label}**", ""]
            for claim in column.report.claims:
                if claim.id in ids:
                    look = look_of(verdicts.get(claim.id))
                    out.append(f"- {look.icon} {look.word}: {quoted(claim.statement)}")
            out.append("")
    return "\n".join(out)


def as_csv(comparison: Comparison) -> str:
    """One row a claim, sentence by sentence and segmenter by segmenter, with the passage that decided."""
    return csv_text([HEADS, *_claims(comparison)])


def _claims(comparison: Comparison) -> Iterator[Sequence[Cell]]:
    report = comparison.report
    pages = {page.id: page for page in report.pages}
    for number, row in enumerate((r for r in comparison.rows if any(r.claims)), 1):
        for column, ids in zip(comparison.columns, row.claims, strict=True):
            verdicts = {v.claim_id: v for v in column.report.verdicts}
            for claim in (c for c in column.report.claims if c.id in ids):
                verdict = verdicts.get(claim.id)
                groups = group_evidence([e for e in column.report.evidence if e.claim_id == claim.id], pages)
                piece = groups[0].pieces[0] if groups and groups[0].pieces[0].relation != "no_relation" else None
                page = pages.get(piece.page_id) if piece else None
                yield (
                    number, sentence(row, report.answer), column.segmenter, markdown.plain(claim.text),
                    claim.enriched or "", look_of(verdict).word,
                    verdict.confidence if verdict and verdict.confidence else None, verdict.reason if verdict else "",
                    piece.deciding_sentence if piece else "", page.title if page else "", page.url if page else "",
                )  # fmt: skip


def as_json(comparison: Comparison) -> str:
    """All of it, in the form of comparisons.jsonl: the report of all claims, columns, figures and rows."""
    return json.dumps(json_data(comparison), ensure_ascii=False, indent=1)


def tables_csv(made: Sequence[Table]) -> str:
    """The tables of many answers as one: a row for every figure of every segmenter."""
    rows: list[Sequence[Cell]] = [("table", "segmenter", "figure", "value")]
    for table in made:
        for name, *cells in table.rows:
            rows += [(table.title, name, head, cell) for head, cell in zip(table.columns[1:], cells, strict=True)]
    return csv_text(rows)


def tables_json(made: Sequence[Table]) -> str:
    """The same tables, a list of rows each."""
    found = [{"title": t.title, "rows": [dict(zip(t.columns, row, strict=True)) for row in t.rows]} for t in made]
    return json.dumps(found, ensure_ascii=False, indent=1)
