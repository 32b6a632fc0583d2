"""Write a report as JSON with the version of its schema, and read it back.

The schema is generated from the types: `python -m attribution.reports.report_json` writes
`docs/report.schema.json`.
"""

from __future__ import annotations

import json
from typing import Literal

from pydantic import ValidationError

from attribution.errors import BadInput
from attribution.reports import Exported
from attribution.reports.claim_rows import claim_rows
from attribution.settings import ROOT
from attribution.types import Report
from attribution.verifiers.calibration import graded_report

# Raised when readers of the file have to change; fields may be added, and go when unused.
VERSION: Literal[1] = 1
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
    """Return the document of a run."""
    report = graded_report(exported.report)
    corrected = tuple(row.claim.id for row in claim_rows(report) if row.is_edited)
    document = ReportDocument(
        **dict(report), title=exported.title, note=exported.note, corrected=corrected
    )
    return document.to_json() + "\n"


def read(text: str | bytes) -> Exported:
    """Read a document, or a report.json without what people added, also of an earlier version.

    Raises:
        BadInput: The file is no report; the message says what is wrong with it.
    """
    try:
        document = ReportDocument.read(text)
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(map(str, problem["loc"])) or "the file"
        raise BadInput(
            f"not a report of schema version {VERSION}, as `analyze` or an export writes it: "
            f"{place}: {problem['msg'].lower()}"
        ) from None
    report = Report(**{name: value for name, value in document if name not in OWN})
    return Exported(report, document.title, document.note)


def schema() -> dict[str, object]:
    """Return the JSON Schema (2020-12). Every field is written, empty ones too."""
    schema = ReportDocument.model_json_schema(mode="serialization")
    del schema["$defs"]["Page"]["properties"]["text"]
    schema["required"] = list(schema["properties"])
    for part in (schema, *schema["$defs"].values()):
        part.pop("additionalProperties", None)  # a later program may know more fields
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "attribution-report-1",
        **schema,
    }


if __name__ == "__main__":
    SCHEMA.write_text(json.dumps(schema(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
