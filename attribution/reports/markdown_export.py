"""The claims of a report as a Markdown list: the rows of the claims table, for people.

Everything foreign in it is text. The answer itself with footnotes is `review.revision`'s.
"""

from __future__ import annotations

from collections.abc import Mapping

from attribution.reports import Exported
from attribution.reports.bibliography import http_address, one_line
from attribution.reports.claims_table import table_rows
from attribution.reports.looks import counted
from attribution.review.judgements import agreement
from attribution.text.markdown import escape_markdown
from attribution.text_files import Cell
from attribution.verifiers.calibration import badges


def write(exported: Exported) -> str:
    """Write title, question, note, counts, and an item for each claim."""
    report = exported.report
    parts = [f"# {_text(exported.heading)}"]
    if report.question and exported.title:
        parts.append(f"Question: {_text(report.question)}")
    if exported.note:
        parts.append(f"Note: {_text(exported.note)}")
    parts.append(", ".join(counted(badges(report))))
    parts += map(_item, table_rows(exported))
    verifier = _text(report.versions.get("verifier", "an unknown verifier"))
    made = f"Checked on {report.created_at[:10]} with {verifier}."
    parts.append(f"{made} {agreement([report]).words}".rstrip())
    return "\n\n".join(part for part in parts if part) + "\n"


def _text(foreign: Cell) -> str:
    """Foreign text on one line, without marks."""
    return escape_markdown(one_line(str(foreign)))


def _item(row: Mapping[str, Cell]) -> str:
    parts = [f"**{row['assessment'] or row['verdict']}.** {_text(row['claim'])}"]
    if row["assessment"]:
        parts.append(f"By the analyst; the model's verdict: {row['verdict']}.")
    if row["corrected by hand"]:
        parts.append("Edited by hand.")
    parts.append(f"*{_text(row['says'])}*")
    if "passage" in row:
        parts.append(f"“{_text(row['passage'])}”")
    if "source" in row:
        parts.append(_source(row))
    if row["note"]:
        parts.append(f"Note: {_text(row['note'])}")
    return f"{row['number']}. {' '.join(parts)}"


def _source(row: Mapping[str, Cell]) -> str:
    title = _text(row["source"])
    if row["facts after"]:
        return f"{title}, facts from <{row['facts after']}>."
    address = http_address(str(row["address"]))
    linked = f"[{title}](<{address}>)" if address else title
    return f"{linked}, read {str(row['read'])[:10]}."
