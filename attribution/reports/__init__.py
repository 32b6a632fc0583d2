"""A finished run as a file: what can be written, and how the file is named."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from attribution.errors import UnknownName
from attribution.tables import load
from attribution.types import Report

MAX_NAME = 60  # characters of a file's name, without what the format adds
_WORD = re.compile(r"[^\W_]+")
_RESERVED = re.compile(
    r"(?:con|prn|aux|nul|com\d|lpt\d)(?:-|$)", re.IGNORECASE
)  # names of devices on Windows


@dataclass(frozen=True)
class Exported:
    """A run to write out, with what people have added to it."""

    report: Report
    title: str = ""  # empty: the question
    note: str = ""
    corrected: frozenset[str] = frozenset()  # ids of claims that were corrected by hand

    @property
    def heading(self) -> str:
        """One line that names the run: its title, else its question, else the first words of the
        answer.
        """
        named = " ".join(self.title.split()) or " ".join(self.report.question.split())
        return named or " ".join(self.report.answer.split()[:10])


@dataclass(frozen=True)
class Format:
    """One row of the table."""

    target: str  # "module:function", Exported → text
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
        "attribution.reports.markdown:write",
        "Markdown",
        "The answer with a footnote for each claim.",
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
    "claims": Format(
        "attribution.reports.report_json:claims",
        "Claims as CSV",
        "A row for each claim, with its verdict and the deciding passage.",
        "-claims.csv",
        "text/csv",
    ),
    "evidence": Format(
        "attribution.reports.report_json:evidence",
        "Evidence as CSV",
        "A row for each passage that was compared with a claim, with the verdict on the claim.",
        "-evidence.csv",
        "text/csv",
    ),
    "bibtex": Format(
        "attribution.reports.references:write_bibtex",
        "BibTeX",
        "The sources that support or contradict a claim, for LaTeX.",
        ".bib",
        "application/x-bibtex",
    ),
    "ris": Format(
        "attribution.reports.references:write_ris",
        "RIS",
        "The same sources for EndNote, Mendeley and other reference managers.",
        ".ris",
        "application/x-research-info-systems",
    ),
    "csl": Format(
        "attribution.reports.references:write_csl_json",
        "CSL-JSON",
        "The same sources for Zotero, Pandoc and other reference managers.",
        "-sources.json",
        "application/vnd.citationstyles.csl+json",
    ),
}


def export(name: str, exported: Exported) -> bytes:
    """The file in that format, in UTF-8. UnknownName for a format that is not in the table."""
    if name not in FORMATS:
        raise UnknownName(f"format {name!r}: expected one of {', '.join(FORMATS)}")
    write: Callable[[Exported], str] = load(FORMATS[name].target)
    return write(exported).encode("utf-8", "replace")


def file_name(name: str, exported: Exported) -> str:
    """A name made of the heading's letters and digits, safe on every system, with the format's
    suffix.
    """
    words = _WORD.findall(unicodedata.normalize("NFKC", exported.heading))
    stem = "-".join(words).lower()
    stem = (
        stem
        if len(stem) <= MAX_NAME
        else stem[: MAX_NAME + 1].rpartition("-")[0] or stem[:MAX_NAME]
    )
    if not stem or _RESERVED.match(stem):
        stem = f"report-{stem}".rstrip("-")
    return stem + FORMATS[name].suffix
