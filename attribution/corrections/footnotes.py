"""Markdown footnotes to the evidence of claims: title, address, date and the deciding sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from attribution.corrections.correction import Correction
from attribution.evidence.near_duplicates import deciding_evidence
from attribution.text.markdown import escape_markdown
from attribution.text.passages import passages
from attribution.types import Report

QUOTED = 300  # characters of a quote
_UNSAFE = re.compile(r"[\x00-\x20<>\\\x7f-\x9f]")


class Note(NamedTuple):
    """What a footnote points at; claims with the same source share it."""

    title: str
    address: str
    read: str  # ISO date
    quote: str
    facts_from: str = ""  # http(s)


def source_of(report: Report, claim_id: str, correction: Correction | None = None) -> Note | None:
    """The sentence that a correction, or else the verdict on the claim, rests on; None where nothing decides."""
    pages = {page.id: page for page in report.pages}
    if correction:
        page_id, quote = correction.page_id, correction.quote
    else:
        piece = deciding_evidence([e for e in report.evidence if e.claim_id == claim_id], pages)
        if piece is None:
            return None
        page_id, quote = piece.page_id, piece.deciding_sentence
    page = pages.get(page_id)
    quote = " ".join(quote.split())
    if len(quote) > QUOTED:
        quote = quote[:QUOTED].rsplit(" ", 1)[0] + " …"
    if page is None:
        return Note("", "", "", quote)
    if page.facts_from:
        return Note(page.cited, "", "", quote, page.facts_from)
    address = next((a for a in (page.url, page.reference) if a.startswith(("https://", "http://"))), page.url)
    return Note(page.title, address, page.fetched_at[:10], quote)


def label_prefix(answer: str) -> str:
    """What sets the footnotes apart from those that the answer has itself."""
    prefix = ""
    while f"[^{prefix}1]" in answer or (not prefix and "[^" in answer):
        prefix += "s"
    return prefix


def definitions(text: str, notes: Mapping[Note, int], prefix: str) -> str:
    """The definitions to append to a text, each on a line of its own; an open code block is closed before them."""
    if not notes:
        return ""
    lines = "".join(f"\n[^{prefix}{number}]: {_written(note)}\n" for note, number in notes.items())
    there = sum(p.kind == "note" for p in passages(text))
    line = "" if text.endswith("\n") else "\n"
    for fence in ("", "```\n", "~~~\n", "````\n"):
        ending = f"{line}{fence}{lines}"
        if sum(p.kind == "note" for p in passages(text + ending)) == there + len(notes):
            return ending
    return f"{line}{lines}"


def _written(note: Note) -> str:
    title = escape_markdown(note.title) or "Untitled"
    if note.address.startswith(("https://", "http://")):
        title = f"[{title}](<{_address(note.address)}>)"
    elif note.address:
        title += f" ({escape_markdown(note.address)})"
    read = f", read {note.read}" if note.read else ""
    read += f", facts after <{_address(note.facts_from)}>" if note.facts_from else ""
    return f"{title}{read}: “{escape_markdown(note.quote)}”"


def _address(url: str) -> str:
    return _UNSAFE.sub(lambda m: "".join(f"%{b:02X}" for b in m[0].encode()), url)
