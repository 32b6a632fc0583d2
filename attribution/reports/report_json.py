"""Write a report as JSON with the version of its schema, and its claims and evidence as CSV.

The schema is generated from the types: `python -m attribution.reports.report_json` writes `docs/report.schema.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import ValidationError

from attribution.errors import BadInput
from attribution.evidence.near_duplicates import nearest_evidence
from attribution.evidence.origins import sources as counted_sources
from attribution.files import Cell, csv_text
from attribution.reports import Exported
from attribution.reports.html import RELATIONS, look
from attribution.reports.references import http_address, web_address
from attribution.settings import ROOT
from attribution.types import Page, Report
from attribution.verifiers.calibration import badge_of, graded_report

VERSION: Literal[1] = 1  # raised when a field is renamed or removed; new fields may be added to a version
SCHEMA = ROOT / "docs" / "report.schema.json"
OWN = ("schema_version", "title", "note", "corrected")


class ReportDocument(Report):
    """A report as a file: the run, and what people have added to it. The texts of the pages are left out."""

    schema_version: Literal[1] = VERSION
    title: str = ""
    note: str = ""
    corrected: tuple[str, ...] = ()  # ids of claims that were corrected by hand


def write(exported: Exported) -> str:
    """The document of a run."""
    report = graded_report(exported.report)
    corrected = tuple(claim.id for claim in report.claims if claim.id in exported.corrected)
    document = ReportDocument(**dict(report), title=exported.title, note=exported.note, corrected=corrected)
    return document.to_json() + "\n"


def read(text: str | bytes) -> Exported:
    """The run of a document, or of a report.json of an earlier version. BadInput says what is wrong with the file."""
    try:
        fields = json.loads(text)
    except ValueError as error:
        raise BadInput(f"not JSON ({error}): expected a report that `analyze` or an export has written") from None
    if not isinstance(fields, dict):
        raise BadInput("not a report: expected a JSON object that `analyze` or an export has written")
    if (version := fields.get("schema_version", VERSION)) != VERSION:
        raise BadInput(f"a report of schema version {version!r}; this program reads version {VERSION}")
    try:
        document = ReportDocument.model_validate_json(json.dumps(fields))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise BadInput(f"not a report: {place}: {first['msg'].lower()}") from None
    report = Report(**{name: value for name, value in document if name not in OWN})
    return Exported(report, document.title, document.note, frozenset(document.corrected))


def schema() -> dict[str, object]:
    """The JSON Schema (2020-12) of version 1. Fields that are left out when empty are not required."""
    made = ReportDocument.model_json_schema(mode="serialization")
    del made["$defs"]["Page"]["properties"]["text"]
    fields = ReportDocument.model_fields
    made["required"] = [name for name in made["properties"] if fields[name].exclude_if is None]
    for part in (made, *made["$defs"].values()):
        part.pop("additionalProperties", None)  # a later program may know more fields
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "attribution-report-1", **made}


if __name__ == "__main__":
    SCHEMA.write_text(json.dumps(schema(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

CLAIMS = (
    "number", "claim", "checked as", "start", "end", "corrected by hand", "worthiness", "verdict", "confidence",
    "reason", "other reader's verdict", "sources", "passage", "source", "kind of page", "address", "read",
    "facts after", "analyst's verdict", "analyst's note",
)  # fmt: skip
EVIDENCE = (
    "claim number", "claim", "relation", "entailed", "contradicted", "no relation", "similarity", "sentence",
    "passage", "source", "kind of page", "origin", "address", "start", "end", "searcher", "rank", "query",
    "read", "SHA-256", "facts after",
    "verdict", "analyst's verdict", "analyst's note",
)  # fmt: skip


def claims(exported: Exported) -> str:
    """A row for each claim, with the passage that decides."""
    return csv_text([CLAIMS, *claim_rows(exported)])


def evidence(exported: Exported) -> str:
    """A row for each passage that was compared with a claim."""
    return csv_text([EVIDENCE, *_evidence(exported)])


def claim_rows(exported: Exported) -> Iterator[Sequence[Cell]]:
    """Yield the cells of each claim under the names of CLAIMS."""
    report = exported.report
    pages = {page.id: page for page in report.pages}
    verdicts = {verdict.claim_id: verdict for verdict in report.verdicts}
    words = _words(report)
    for number, claim in enumerate(report.claims, 1):
        verdict = verdicts.get(claim.id)
        found = [e for e in report.evidence if e.claim_id == claim.id]
        piece = nearest_evidence(found, verdict.label if verdict else "", pages)
        alike = [pages[e.page_id] for e in found if piece and e.relation == piece.relation and e.page_id in pages]
        page = pages.get(piece.page_id) if piece else None
        model, *analyst = words[claim.id]
        yield (
            number, claim.text, claim.enriched or "", min((a for a, _ in claim.spans), default=None),
            max((b for _, b in claim.spans), default=None), "yes" if claim.id in exported.corrected else "",
            claim.worthiness or "", model,
            verdict.confidence if verdict and verdict.confidence else None, verdict.reason if verdict else "",
            f"{other.reader}: {look(other.label).word}" if verdict and (other := verdict.other) else "",
            counted_sources(alike) if alike else "", piece.deciding_sentence if piece else "",
            page.cited if page else "", page.genre if page else "", _address(page),
            page.fetched_at if page else "", http_address(page.facts_from) if page else "",
            *analyst,
        )  # fmt: skip


def _evidence(exported: Exported) -> Iterator[Sequence[Cell]]:
    report = exported.report
    pages = {page.id: page for page in report.pages}
    claims = {claim.id: (number, claim) for number, claim in enumerate(report.claims, 1)}
    words = _words(report)
    for piece in report.evidence:
        number, claim = claims[piece.claim_id]
        page, p = pages.get(piece.page_id), piece.probabilities
        yield (
            number, claim.statement, RELATIONS[piece.relation][1], p.entailed, p.contradicted, p.no_relation,
            piece.similarity, piece.deciding_sentence, piece.text, page.cited if page else "",
            page.genre if page else "", piece.source, _address(page),
            piece.start, piece.end, piece.searcher, piece.rank or None, piece.query,
            page.fetched_at if page else "", page.sha256 if page else "",
            http_address(page.facts_from) if page else "", *words[claim.id],
        )  # fmt: skip


def _words(report: Report) -> dict[str, tuple[str, str, str]]:
    """The words of the model's verdict on each claim, of the analyst's, and of the analyst's note."""
    verdicts = {verdict.claim_id: verdict for verdict in report.verdicts}
    judgements = {judged.claim_id: (look(judged.label).word, judged.note) for judged in report.judgements}
    return {
        claim.id: (look(badge_of(verdicts.get(claim.id), report)).word, *judgements.get(claim.id, ("", "")))
        for claim in report.claims
    }


def _address(page: Page | None) -> str:
    return (web_address(page) or page.url) if page else ""
