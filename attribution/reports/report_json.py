"""Write a report as JSON with the version of its schema, and its claims and evidence as CSV.

The schema is generated from the types: `python -m attribution.reports.report_json` writes
`docs/report.schema.json`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import ValidationError

from attribution.errors import BadInput
from attribution.evidence.near_duplicates import nearest_evidence
from attribution.evidence.origins import sources as counted_sources
from attribution.files import Cell, csv_text
from attribution.reports import Exported
from attribution.reports.html import RELATIONS, look
from attribution.reports.provenance import kind_of_page
from attribution.reports.references import http_address, web_address
from attribution.settings import ROOT
from attribution.types import Claim, Evidence, Page, Report, Verdict
from attribution.verifiers.calibration import badge_of, graded_report

VERSION: Literal[1] = (
    1  # raised when a field is renamed or removed; new fields may be added to a version
)
SCHEMA = ROOT / "docs" / "report.schema.json"
OWN = ("schema_version", "title", "note", "corrected")


class ReportDocument(Report):
    """A report as a file: the run, and what people have added to it. The texts of the pages are
    left out.
    """

    schema_version: Literal[1] = VERSION
    title: str = ""
    note: str = ""
    corrected: tuple[str, ...] = ()  # ids of claims that were corrected by hand


def write(exported: Exported) -> str:
    """The document of a run."""
    report = graded_report(exported.report)
    corrected = tuple(claim.id for claim in report.claims if claim.id in exported.corrected)
    document = ReportDocument(
        **dict(report), title=exported.title, note=exported.note, corrected=corrected
    )
    return document.to_json() + "\n"


def read(text: str | bytes) -> Exported:
    """The run of a document, or of a report.json of an earlier version. BadInput says what is wrong
    with the file.
    """
    try:
        fields = json.loads(text)
    except ValueError as error:
        raise BadInput(
            f"not JSON ({error}): expected a report that `analyze` or an export has written"
        ) from None
    if not isinstance(fields, dict):
        raise BadInput(
            "not a report: expected a JSON object that `analyze` or an export has written"
        )
    if (version := fields.get("schema_version", VERSION)) != VERSION:
        raise BadInput(
            f"a report of schema version {version!r}; this program reads version {VERSION}"
        )
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
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "attribution-report-1",
        **made,
    }


@dataclass(frozen=True)
class _Judged:
    """A claim with its verdict and the passage that decides, or a passage with the claim that it
    was compared with.
    """

    number: int  # of the claim
    claim: Claim
    verdict: Verdict | None
    piece: Evidence | None
    page: Page | None
    sources: str  # that say the same as the passage: “3 pages, 1 origin”
    corrected: bool  # by hand
    words: tuple[str, str, str]  # the model's verdict, the analyst's, and the analyst's note


Column = Callable[[_Judged], Cell]
OF_PAGE: dict[str, Column] = {
    "source": lambda row: row.page.cited if row.page else "",
    "kind of page": lambda row: kind_of_page(row.page) if row.page else "",
    "address": lambda row: (web_address(row.page) or row.page.url) if row.page else "",
    "read": lambda row: row.page.fetched_at if row.page else "",
    "facts after": lambda row: http_address(row.page.facts_from) if row.page else "",
}
OF_ANALYST: dict[str, Column] = {
    "analyst's verdict": lambda row: row.words[1],
    "analyst's note": lambda row: row.words[2],
}


def _other(row: _Judged) -> str:
    other = row.verdict.other if row.verdict else None
    return f"{other.reader}: {look(other.label).word}" if other else ""


CLAIMS: dict[str, Column] = {
    "number": lambda row: row.number,
    "claim": lambda row: row.claim.text,
    "checked as": lambda row: row.claim.enriched or "",
    "start": lambda row: min((a for a, _ in row.claim.spans), default=None),
    "end": lambda row: max((b for _, b in row.claim.spans), default=None),
    "corrected by hand": lambda row: "yes" if row.corrected else "",
    "worthiness": lambda row: row.claim.worthiness or "",
    "verdict": lambda row: row.words[0],
    "confidence": lambda row: row.verdict.confidence or None if row.verdict else None,
    "reason": lambda row: row.verdict.reason if row.verdict else "",
    "other reader's verdict": _other,
    "sources": lambda row: row.sources,
    "passage": lambda row: row.piece.deciding_sentence if row.piece else "",
    **OF_PAGE,
    **OF_ANALYST,
}


def _of(part: Callable[[Evidence], Cell]) -> Column:
    return lambda row: part(row.piece) if row.piece else ""


EVIDENCE: dict[str, Column] = {
    "claim number": lambda row: row.number,
    "claim": lambda row: row.claim.statement,
    "part": _of(lambda e: e.part),
    "relation": _of(lambda e: RELATIONS[e.relation][1]),
    "entailed": _of(lambda e: e.probabilities.entailed),
    "contradicted": _of(lambda e: e.probabilities.contradicted),
    "no relation": _of(lambda e: e.probabilities.no_relation),
    "similarity": _of(lambda e: e.similarity),
    "sentence": _of(lambda e: e.deciding_sentence),
    "passage": _of(lambda e: e.text),
    "source": OF_PAGE["source"],
    "kind of page": OF_PAGE["kind of page"],
    "origin": _of(lambda e: e.source),
    "address": OF_PAGE["address"],
    "start": _of(lambda e: e.start),
    "end": _of(lambda e: e.end),
    "searcher": _of(lambda e: e.searcher),
    "rank": _of(lambda e: e.rank or None),
    "query": _of(lambda e: e.query),
    "read": OF_PAGE["read"],
    "SHA-256": lambda row: row.page.sha256 if row.page else "",
    "facts after": OF_PAGE["facts after"],
    "verdict": lambda row: row.words[0],
    **OF_ANALYST,
}


def claims(exported: Exported) -> str:
    """A row for each claim, with the passage that decides."""
    return csv_text([tuple(CLAIMS), *claim_rows(exported)])


def evidence(exported: Exported) -> str:
    """A row for each passage that was compared with a claim."""
    rows = _judged(exported.report, exported.corrected)
    pages = {page.id: page for page in exported.report.pages}
    pieces = (
        replace(rows[e.claim_id], piece=e, page=pages.get(e.page_id))
        for e in exported.report.evidence
    )
    return csv_text(
        [tuple(EVIDENCE), *([cell(row) for cell in EVIDENCE.values()] for row in pieces)]
    )


def claim_rows(exported: Exported) -> Iterator[Sequence[Cell]]:
    """Yield the cells of each claim under the names of CLAIMS."""
    report = exported.report
    pages = {page.id: page for page in report.pages}
    for row in _judged(report, exported.corrected).values():
        found = [e for e in report.evidence if e.claim_id == row.claim.id]
        piece = nearest_evidence(found, row.verdict.label if row.verdict else "", pages)
        alike = [
            pages[e.page_id]
            for e in found
            if piece and e.relation == piece.relation and e.page_id in pages
        ]
        sources = counted_sources(alike) if alike else ""
        whole = replace(
            row, piece=piece, page=pages.get(piece.page_id) if piece else None, sources=sources
        )
        yield [cell(whole) for cell in CLAIMS.values()]


def _judged(report: Report, corrected: Collection[str]) -> dict[str, _Judged]:
    """Each claim by its id, without a passage."""
    verdicts, words = {verdict.claim_id: verdict for verdict in report.verdicts}, _words(report)
    return {
        claim.id: _Judged(
            n, claim, verdicts.get(claim.id), None, None, "", claim.id in corrected, words[claim.id]
        )
        for n, claim in enumerate(report.claims, 1)
    }


def _words(report: Report) -> dict[str, tuple[str, str, str]]:
    """The words of the model's verdict on each claim, of the analyst's, and of the analyst's note."""
    verdicts = {verdict.claim_id: verdict for verdict in report.verdicts}
    judgements = {
        judged.claim_id: (look(judged.label).word, judged.note) for judged in report.judgements
    }
    return {
        claim.id: (
            look(badge_of(verdicts.get(claim.id), report)).word,
            *judgements.get(claim.id, ("", "")),
        )
        for claim in report.claims
    }


if __name__ == "__main__":
    SCHEMA.write_text(json.dumps(schema(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
