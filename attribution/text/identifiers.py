"""Find the identifiers of published works in a text: DOI, arXiv, PubMed and ISBN, each with its
resolver's address.
"""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import quote

from markdown_it.common.utils import unescapeAll

from attribution.types import Frozen

Kind = Literal["DOI", "arXiv", "PubMed", "ISBN"]
_PATTERNS: dict[Kind, re.Pattern[str]] = {
    "DOI": re.compile(
        r"(?<![\w.])(10\.\d{4,9}/(?:(?!\]\()[^\s\"<>{}|\\^`])+)"
    ),  # not into the address of a link
    "arXiv": re.compile(
        r"\barxiv(?:\.org/(?:abs|pdf|html)/|:\s?)"
        r"(\d{4}\.\d{4,5}|[a-z-]{2,20}(?:\.[A-Z]{2})?/\d{7})(?!\d)",
        re.IGNORECASE,
    ),
    "PubMed": re.compile(
        r"\b(?:PMID:?\s?|pubmed\.ncbi\.nlm\.nih\.gov/|ncbi\.nlm\.nih\.gov/pubmed/)(\d{1,8})(?!\d)",
        re.IGNORECASE,
    ),
    "ISBN": re.compile(
        r"\bISBN(?:-1[03])?:?\s?((?:97[89][ -]?)?\d(?:[ -]?\d){8}[ -]?[\dX])(?![\w-])",
        re.IGNORECASE,
    ),
}
_RESOLVERS: dict[Kind, str] = {
    "DOI": "https://doi.org/",
    "arXiv": "https://arxiv.org/abs/",
    "PubMed": "https://pubmed.ncbi.nlm.nih.gov/",
    "ISBN": "https://openlibrary.org/isbn/",
}
_END = re.compile(
    r"(?:/(?:full|abstract|pdf|epub)|\.pdf)?(?:[?#].*)?$", re.IGNORECASE
)  # of an address with a DOI


class Identifier(Frozen):
    """One identifier of a work.

    `url` is empty if its check digit shows that no such number exists.
    """

    kind: Kind
    value: str
    url: str = ""


def identifiers(text: str) -> tuple[Identifier, ...]:
    """Return the identifiers in a text, of Markdown too, once each, in the order of `Kind`."""
    found: dict[tuple[Kind, str], Identifier] = {}
    text = unescapeAll(text)
    for kind, pattern in _PATTERNS.items():
        for match in pattern.finditer(text):
            value = match[1]
            if kind == "DOI":
                value = _without_end(value)
            elif kind == "ISBN":
                value = value.replace("-", "").replace(" ", "").upper()
            exists = kind != "ISBN" or _checked(value)
            url = f"{_RESOLVERS[kind]}{quote(value, safe='/')}" if exists else ""
            found.setdefault((kind, value.lower()), Identifier(kind=kind, value=value, url=url))
    return tuple(found.values())


def _without_end(doi: str) -> str:
    """Return a DOI without the punctuation of the sentence or address that it stands in."""
    doi = _END.sub("", doi, count=1)
    while doi and (
        doi[-1] in ".,;:!?*_'’”]" or (doi[-1] == ")" and doi.count(")") > doi.count("("))
    ):
        doi = doi[:-1]
    return doi


def _checked(isbn: str) -> bool:
    """Return True if the check digit of an ISBN of 10 or 13 characters is right (ISO 2108)."""
    if len(isbn) == 10:
        return sum((10 - i) * (10 if c == "X" else int(c)) for i, c in enumerate(isbn)) % 11 == 0
    return (
        isbn.isdecimal() and sum(int(c) * (3 if i % 2 else 1) for i, c in enumerate(isbn)) % 10 == 0
    )
