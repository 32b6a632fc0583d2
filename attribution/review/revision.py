"""Revise an answer: apply corrections, mark or drop unsupported sentences, add footnotes to the
evidence.

A pure function of the report and the choices. Whatever is inserted or dropped, the rest of the
Markdown renders as
before: a sentence that cannot be dropped without changing the rest is marked instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from attribution.evidence.near_duplicates import deciding_evidence
from attribution.review.correction import Correction, Replacement, apply
from attribution.text.markdown import escape_markdown
from attribution.text.passages import passages
from attribution.types import Label, Report, Span

QUOTED = 300  # characters of a quote
_UNSAFE = re.compile(r"[\x00-\x20<>\\\x7f-\x9f]")


class Note(NamedTuple):
    """The source that a footnote cites; claims with the same source share it."""

    title: str
    address: str  # http(s)
    read: str  # ISO date
    quote: str
    facts_from: str = ""  # http(s)


def source_of(report: Report, claim_id: str, correction: Correction | None = None) -> Note | None:
    """Return the sentence that a correction, or else the claim's verdict, rests on; None if no
    evidence decides.
    """
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
    address = next(
        (a for a in (page.url, page.reference) if a.startswith(("https://", "http://"))), ""
    )
    return Note(page.title or page.url, address, page.fetched_at[:10], quote)


def label_prefix(answer: str) -> str:
    """Return a prefix that keeps the new footnotes apart from the answer's own."""
    prefix = ""
    while f"[^{prefix}1]" in answer or (not prefix and "[^" in answer):
        prefix += "s"
    return prefix


def definitions(text: str, notes: Mapping[Note, int], prefix: str) -> str:
    """Return the definitions to append to a text, one per line; an open code block is closed before
    them.
    """
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
    if note.address:
        title = f"[{title}](<{_address(note.address)}>)"
    read = f", read {note.read}" if note.read else ""
    read += f", facts from <{_address(note.facts_from)}>" if note.facts_from else ""
    return f"{title}{read}: “{escape_markdown(note.quote)}”"


def _address(url: str) -> str:
    return _UNSAFE.sub(lambda m: "".join(f"%{b:02X}" for b in m[0].encode()), url)


Unsupported = Literal["keep", "mark", "drop"]
UNSUPPORTED: tuple[Unsupported, ...] = get_args(Unsupported)
MARKS: dict[Label, str] = {
    "contradicted": "contradicted by a source",
    "conflicting": "sources disagree",
    "unclear": "not settled by the sources",
    "no_relation": "no source found",
    "missing": "no source found",
    "not_reached": "not checked",
}  # by verdict, the worst first
_CLOSING = re.compile(
    r"(?:[*_~`]+|\]\([^()\s]*(?:\s+\"[^\"\n]*\")?\)|\]\[[^\]\n]*\]|\s?\[\^?\w{1,40}\](?!\())*"
)
_CITED = re.compile(r"(?:\s?\[\^?\w{1,40}\](?!\())*")
_EMPTY = re.compile(r"(?:[ \t]|>|(?:[-*+•]|\d{1,9}[.)])(?=[ \t\n]|$)|\[[ xX]\]|\|)*")
_AROUND = ("***", "**", "__", "~~", "*", "_", "`")


@dataclass(frozen=True)
class Revision:
    """The revised Markdown, and the outcome for corrections and sentences."""

    text: str
    applied: tuple[str, ...]  # the claims whose corrections are in it
    overlapping: tuple[str, ...]  # the claims whose corrections overlap an earlier one
    marked: int  # sentences
    dropped: int
    notes: int


@dataclass
class _Sentence:
    span: Span
    claims: list[str] = field(default_factory=list)


def revise(
    report: Report,
    accepted: Sequence[Correction] = (),
    unsupported: Unsupported = "keep",
    footnotes: bool = True,
) -> Revision:
    """Apply these corrections to the answer; of two that overlap, the first is kept.

    A sentence is unsupported if it has checked claims, none of them supported or corrected. If this
    holds for only
    some of its claims, it is marked "in part", even under "drop". Footnotes name the page and quote
    the sentence for
    each claim that is supported, corrected or, under "mark", contradicted.
    """
    chosen, overlapping = _compatible(accepted)
    corrected = {c.claim_id: c for c in chosen}
    labels = {v.claim_id: v.label for v in report.verdicts if v.label != "not_checked"}
    good = {i for i, label in labels.items() if label == "supported"} | corrected.keys()
    notes: dict[Note, int] = {}
    edits: list[Replacement] = [edit for correction in chosen for edit in correction.edits]
    marked = dropped = 0
    prefix = label_prefix(report.answer)
    for sentence in _sentences(report, labels):
        bad = [labels[i] for i in sentence.claims if i not in good]
        whole = len(bad) == len(sentence.claims)
        if (
            bad
            and whole
            and unsupported == "drop"
            and (gap := _gap(report.answer, sentence.span, edits))
        ):
            edits = [e for e in edits if not (gap.start <= e.start and e.end <= gap.end)] + [gap]
            dropped += 1
            continue
        added = ""
        if bad and unsupported != "keep":
            words = next(MARKS[label] for label in MARKS if label in bad)
            added = f" *({'' if whole else 'in part: '}{words})*"
            marked += 1
        if footnotes:
            shown = [
                i
                for i in sentence.claims
                if i in good or (unsupported == "mark" and labels[i] == "contradicted")
            ]
            for note in dict.fromkeys(
                n for i in shown if (n := source_of(report, i, corrected.get(i)))
            ):
                added += f"[^{prefix}{notes.setdefault(note, len(notes) + 1)}]"
        if added and (place := _after(report.answer, sentence.span[1])) is not None:
            edits.append(Replacement(start=place, end=place, before="", after=added))
    text = apply(report.answer, _merged(edits))
    text += definitions(text, notes, prefix)
    return Revision(text, tuple(corrected), overlapping, marked, dropped, len(notes))


def _compatible(accepted: Sequence[Correction]) -> tuple[list[Correction], tuple[str, ...]]:
    """Return the corrections that do not conflict with an earlier one, and the claims of the
    others.
    """
    chosen: list[Correction] = []
    taken: set[Replacement] = set()
    overlapping = []
    for correction in accepted:
        clash = any(
            e != t and e.start < max(t.end, t.start + 1) and t.start < max(e.end, e.start + 1)
            for e in correction.edits
            for t in taken
        )
        if clash:
            overlapping.append(correction.claim_id)
        else:
            chosen.append(correction)
            taken.update(correction.edits)
    return chosen, tuple(overlapping)


def _merged(edits: Sequence[Replacement]) -> list[Replacement]:
    """Return each edit once; insertions at a place come after the changes that end there."""
    return sorted(dict.fromkeys(edits), key=lambda e: (e.end, e.start == e.end))


def _sentences(report: Report, labels: Mapping[str, Label]) -> list[_Sentence]:
    """Return the sentences of the answer that contain checked claims, in order; overlapping ones
    are merged.
    """
    spans: list[tuple[Span, str]] = []
    for claim in report.claims:
        if claim.id in labels and (claim.sentence or claim.spans):
            own = [*claim.spans, *([claim.sentence] if claim.sentence else [])]
            spans.append(((min(a for a, _ in own), max(b for _, b in own)), claim.id))
    found: list[_Sentence] = []
    for (start, end), claim_id in sorted(spans):
        if found and start < found[-1].span[1]:
            last = found[-1]
            found[-1] = _Sentence((last.span[0], max(end, last.span[1])), [*last.claims, claim_id])
        else:
            found.append(_Sentence((start, end), [claim_id]))
    return found


def _read(text: str) -> list[tuple[str, str]]:
    return [(p.kind, " ".join(p.text.split())) for p in passages(text)]


def _after(answer: str, end: int) -> int | None:
    """Return the place for a footnote mark after a sentence: behind the markup and links that close
    there.

    None if a mark would change how the rest renders.
    """
    closing = _CLOSING.match(answer, end)
    before = _read(answer)
    for place in dict.fromkeys((closing.end() if closing else end, end)):
        if _read(f"{answer[:place]}[^1]{answer[place:]}") == before:
            return place
    return None


def _gap(answer: str, span: Span, edits: Sequence[Replacement]) -> Replacement | None:
    """Return the cut that removes a sentence and leaves the rest as before; None if there is none."""
    for start, end in _cuts(answer, *span):
        crossing = any(
            e.start < end and start < e.end and not (start <= e.start and e.end <= end)
            for e in edits
        )
        rest = _words(answer[:start] + answer[end:])
        if not crossing and rest == _without(answer, span):
            return Replacement(start=start, end=end, before=answer[start:end], after="")
    return None


def _cuts(answer: str, start: int, end: int) -> Iterator[Span]:
    """Yield ways to cut a sentence: with its line if it stands alone there, with its markup, with
    one blank.
    """
    while marks := next(
        (m for m in _AROUND if answer[:start].endswith(m) and answer.startswith(m, end)), ""
    ):
        start, end = start - len(marks), end + len(marks)
    cited = _CITED.match(answer, end)
    end = cited.end() if cited else end
    first, last = answer.rfind("\n", 0, start) + 1, answer.find("\n", end)
    last = len(answer) if last < 0 else last + 1
    if _EMPTY.fullmatch(answer, first, start) and not answer[end:last].strip(" \t\r\n|"):
        following = answer[last : answer.find("\n", last) if "\n" in answer[last:] else len(answer)]
        indented = len(following) - len(following.lstrip()) > start - first - len(
            answer[first:start].lstrip()
        )
        if not (following.strip() and indented):  # nested items would lose their parent
            yield first, last
        return
    yield start, end + (answer[end : end + 1] == " ")
    yield start - (answer[start - 1 : start] in (" ", "\n")), end


def _words(text: str) -> list[str]:
    return [
        word for p in passages(text) for word in [f"<{p.kind}>", *p.text.split()] if p.text.strip()
    ]


def _without(answer: str, span: Span) -> list[str]:
    """Return the words that remain of an answer without a sentence; a removed passage leaves
    nothing.
    """
    left: list[str] = []
    for p in passages(answer):
        row = p.kind == "row" and any(span[0] <= a and b <= span[1] for a, b in p.places)
        remaining = (
            ""
            if row
            else "".join(
                c for c, (a, b) in zip(p.text, p.places, strict=True) if not span[0] <= a < span[1]
            )
        )
        if remaining.strip():
            left += [f"<{p.kind}>", *remaining.split()]
    return left
