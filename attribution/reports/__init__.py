"""A finished run as a file: the formats, and how the file is named."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from attribution.errors import UnknownName
from attribution.tables import load
from attribution.text.passages import beginning
from attribution.types import Report

SHORTEST_NAME, MAX_NAME = 5, 60  # characters of a file's name, without the format's suffix
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Exported:
    """A run to write out, with what people have added to it."""

    report: Report
    title: str = ""  # empty: the question
    note: str = ""

    @property
    def heading(self) -> str:
        """One line that names the run: its title, its question, or the answer's first words."""
        for name in (self.title, self.report.question):
            words = name.split()
            if words:
                return " ".join(words)
        return beginning(self.report.answer)


@dataclass(frozen=True)
class Format:
    """One row of the table."""

    target: str  # "module:function", Exported → text or bytes
    label: str
    note: str  # what it is for
    suffix: str
    media_type: str


FORMATS: dict[str, Format] = {
    "html": Format(
        "attribution.reports.document:write",
        "Web page",
        "One file that looks like this page and opens without a network.",
        ".html",
        "text/html",
    ),
    "markdown": Format(
        "attribution.reports.listings:write_markdown",
        "Markdown",
        "A list of the claims, each with its verdict, sentence and source.",
        ".md",
        "text/markdown",
    ),
    "json": Format(
        "attribution.reports.report_json:write",
        "JSON",
        "The whole report, for programs.",
        ".json",
        "application/json",
    ),
    "csv": Format(
        "attribution.reports.listings:write_csv",
        "CSV",
        "A row for each claim, with its verdict and the deciding passage.",
        "-claims.csv",
        "text/csv",
    ),
    "xlsx": Format(
        "attribution.reports.listings:write_xlsx",
        "XLSX",
        "The same table for Excel and LibreOffice.",
        "-claims.xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    "csl": Format(
        "attribution.reports.listings:write_sources",
        "CSL-JSON",
        "The sources behind the verdicts, for Zotero, Pandoc and other reference managers.",
        "-sources.json",
        "application/vnd.citationstyles.csl+json",
    ),
}


def export(name: str, exported: Exported) -> bytes:
    """Write a run in one of the FORMATS; text is in UTF-8.

    Raises:
        UnknownName: The format is not in the table.
    """
    if name not in FORMATS:
        raise UnknownName(f"format {name!r}: expected one of {', '.join(FORMATS)}")
    write: Callable[[Exported], str | bytes] = load(FORMATS[name].target)
    content = write(exported)
    return content if isinstance(content, bytes) else content.encode("utf-8", "replace")


def file_name(name: str, exported: Exported) -> str:
    """Name the file after the heading's letters and digits, safely on every system.

    Very short names get a prefix, since those of devices on Windows ("con") are short.
    """
    words = _WORD.findall(unicodedata.normalize("NFKC", exported.heading))
    stem = "-".join(words).lower()[:MAX_NAME].rstrip("-")
    if len(stem) < SHORTEST_NAME:
        stem = f"report-{stem}".rstrip("-")
    return stem + FORMATS[name].suffix
