"""Write the sources behind the verdicts of a run as BibTeX, RIS and CSL-JSON."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import quote

from attribution.reports import Exported
from attribution.text.urls import site
from attribution.types import BUILT_IN_LICENCE, Page, Report

_HTTP = re.compile(r"https?://[^\s/]", re.IGNORECASE)
_DATE = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?(?!\d)")
_YEAR = re.compile(r"\d{4}")
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True)
class Reference:
    """The bibliographic data of a source. Dates are ISO 8601, as precise as they are known."""

    key: str  # ASCII letters and digits, distinct within the run
    title: str
    site: str
    url: str  # http(s), in ASCII; empty for a user's document
    published: str
    accessed: str
    facts_from: str = ""  # http(s): the source of the facts in an article of the built-in library


def references(report: Report) -> list[Reference]:
    """Return the sources in the order of the report's pages."""
    deciding = {e.page_id for e in report.evidence if e.relation != "no_relation"}
    made: dict[str, Reference] = {}
    for page in report.pages:
        if page.id in deciding:
            stem = key = _key(page)
            number = 1
            while key in made:
                number += 1
                key = f"{stem}-{number}"
            made[key] = _reference(key, page)
    return list(made.values())


def one_line(text: str) -> str:
    """Remove control characters, and turn white space into single blanks."""
    visible = "".join(
        " " if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") else c for c in text
    )
    return " ".join(visible.split())


def web_address(page: Page) -> str:
    """Return the http(s) address of a page, or of the original of a local text, in ASCII; empty if
    there is none.
    """
    return http_address(page.url) or http_address(page.reference)


def http_address(url: str) -> str:
    """Return the address in ASCII, without characters that could end it; empty if it is not
    http(s).
    """
    if not _HTTP.match(url):
        return ""
    return quote(one_line(url), safe="!#$%&'()*+,/:;=?@[]~-._", errors="replace")


def _reference(key: str, page: Page) -> Reference:
    url = web_address(page)
    return Reference(
        key=key,
        title=one_line(page.title) or one_line(page.url),
        site=one_line(page.site) or site(url),
        url=url,
        published=""
        if page.facts_from
        else _date(page.published),  # those of our articles are examples
        accessed="" if page.facts_from else _date(page.fetched_at),
        facts_from=http_address(page.facts_from),
    )


def _date(iso: str) -> str:
    """Return the year, month and day of a date, as far as it has them."""
    match = _DATE.match(iso)
    return "-".join(part for part in match.groups() if part) if match else ""


def _key(page: Page) -> str:
    """Make a key of the site, the first words of the title and the year, as reference managers do."""
    plain = unicodedata.normalize(
        "NFKD", f"{site(page.url).removeprefix('www.').partition('.')[0]} {page.title}"
    )
    words = _WORD.findall(plain.encode("ascii", "ignore").decode().lower())
    year = _YEAR.match(page.published)
    return "-".join([*words[:3], *([year[0]] if year else [])]) or "source"


# Commands without braces of their own: BibTeX counts braces even behind a backslash.
_LATEX = str.maketrans(
    {
        "\\": "\\textbackslash{}",
        "{": "\\textbraceleft{}",
        "}": "\\textbraceright{}",
        "~": "\\textasciitilde{}",
        "^": "\\textasciicircum{}",
        **{c: f"\\{c}" for c in "$&%#_"},
    }
)
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()


def write_bibtex(exported: Exported) -> str:
    """Write one BibTeX entry for each source."""
    return "\n".join(map(_entry, references(exported.report)))


def _entry(source: Reference) -> str:
    year, _, rest = source.published.partition("-")
    fields = {
        "title": f"{{{_latex(source.title)}}}",  # braces keep its capitals
        "howpublished": _latex(source.site),
        "year": year,
        "url": source.url,
        "urldate": source.accessed,
        "note": _note(source),
    }
    lines = [f"  {name} = {{{value}}},\n" for name, value in fields.items() if value]
    if rest:
        lines.insert(3, f"  month = {MONTHS[int(rest[:2]) - 1]},\n")
    return f"@misc{{{source.key},\n{''.join(lines)}}}\n"


def _note(source: Reference) -> str:
    if source.facts_from:
        return f"Facts from \\url{{{source.facts_from}}}. {BUILT_IN_LICENCE}"
    return f"Accessed {source.accessed}" if source.accessed else ""


def _latex(text: str) -> str:
    return text.translate(_LATEX)


def write_ris(exported: Exported) -> str:
    """Write one RIS record for each source. No value has a line break, so none can begin a tag."""
    records = []
    for source in references(exported.report):
        fields = {
            "TY": "ELEC" if source.url else "GEN",
            "ID": source.key,
            "TI": source.title,
            "T2": source.site,
            "PY": source.published[:4],
            "DA": _slashed(source.published),
            "Y2": _slashed(source.accessed),
            "UR": source.url,
            "N1": f"Facts from {source.facts_from}. {BUILT_IN_LICENCE}"
            if source.facts_from
            else "",
        }
        records.append(
            "".join(f"{tag}  - {value}\n" for tag, value in fields.items() if value) + "ER  - \n"
        )
    return "\n".join(records)


def _slashed(date: str) -> str:
    """Return a date as RIS has it: year/month/day/, where a missing part is empty."""
    return "/".join((*date.split("-"), "", "")[:3]) + "/" if date else ""


def write_csl_json(exported: Exported) -> str:
    """Write a list of CSL-JSON items, one for each source."""
    items = []
    for source in references(exported.report):
        fields = {
            "id": source.key,
            "type": "webpage" if source.url else "document",
            "title": source.title,
            "container-title": source.site,
            "URL": source.url,
            "issued": _parts(source.published),
            "accessed": _parts(source.accessed),
            "note": f"Facts from {source.facts_from}" if source.facts_from else "",
            "license": BUILT_IN_LICENCE if source.facts_from else "",
        }
        items.append({name: value for name, value in fields.items() if value})
    return json.dumps(items, ensure_ascii=False, indent=1) + "\n"


def _parts(date: str) -> dict[str, list[list[int]]]:
    return {"date-parts": [[int(part) for part in date.split("-")]]} if date else {}
