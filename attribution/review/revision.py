"""Revise an answer: correct values, mark or drop unsupported sentences, and add footnotes.

A pure function of the report and the choices. Whatever is inserted or dropped, the rest of the
Markdown renders as before: a sentence that can't be dropped without changing the rest is marked
instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from attribution.edits import Reword
from attribution.review.judgements import shown_labels
from attribution.text.markdown import escape_markdown
from attribution.text.marks import marks
from attribution.text.passages import passages
from attribution.text.quantities import changed_values
from attribution.types import Claim, Label, Page, Report, Span
from attribution.verdicts import deciding_evidence

QUOTED = 300  # characters of a quote
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
_UNSAFE = re.compile(r"[\x00-\x20<>\\\x7f-\x9f]")
_CITED = re.compile(r"(?:\s?\[\^?\w{1,40}\](?!\())*")
_CLOSING = re.compile(
    r"""(?:
        [*_~`]++                                      # emphasis and code
      | \]\([^()\s]*(?:\s+"[^"\n]*")?\)               # the end of a link
      | \]\[[^\]\n]*\]                                # the end of a link by reference
      | \s?\[\^?\w{1,40}\](?!\()                      # a citation mark
    )*""",
    re.VERBOSE,
)
# The rest of a line that holds nothing else: quotes, bullets, numbers, boxes, borders of cells.
_EMPTY = re.compile(r"(?:[ \t]|>|(?:[-*+•]|\d{1,9}[.)])(?=[ \t\n]|$)|\[[ xX]\]|\|)*")
_EMPHASIS = ("***", "**", "__", "~~", "*", "_", "`")


@dataclass(frozen=True)
class Revision:
    """The revised Markdown, and the numbers of changes."""

    text: str
    marked: int  # sentences
    dropped: int
    notes: int


class _Replacement(NamedTuple):
    """A part of the answer, and the Markdown that takes its place."""

    start: int
    end: int
    after: str


def revise(
    report: Report, unsupported: Unsupported = "keep", has_footnotes: bool = True
) -> Revision:
    """Revise the answer of a report; the analyst's assessments decide before the model's verdicts.

    A sentence is unsupported if it has checked claims, none of them supported. If this holds for
    only some of its claims, it is marked "in part", even under "drop". A value that was changed in
    a claim which is now supported is changed in its sentence too.

    Args:
        report: A finished run.
        unsupported: What becomes of unsupported sentences.
        has_footnotes: Name the source and quote the sentence for each claim that is supported or,
            under "mark", contradicted; such a note replaces the sentence's own citation marks.
    """
    reviser = _Reviser(report, unsupported, has_footnotes)
    for sentence in reviser.sentences():
        reviser.revise(sentence)
    return reviser.revision()


@dataclass
class _Sentence:
    span: Span
    claims: list[str] = field(default_factory=list)


class _Reviser:
    def __init__(self, report: Report, unsupported: Unsupported, has_footnotes: bool) -> None:
        self._report = report
        self._answer = report.answer
        self._unsupported = unsupported
        self._has_footnotes = has_footnotes
        self._edits: list[_Replacement] = []
        labels = shown_labels(report).items()
        self._labels = {i: label for i, label in labels if label != "not_checked"}
        self._claims = {claim.id: claim for claim in report.claims}
        self._originals = _original_texts(report)
        self._notes = _Footnotes(self._answer)
        self._own_marks = [span for mark in marks(self._answer) for span in mark.hidden]
        self._marked = 0
        self._dropped = 0

    def sentences(self) -> list[_Sentence]:
        """Return the sentences with checked claims, in order; overlapping ones are merged."""
        spans: list[tuple[Span, str]] = []
        for claim in self._report.claims:
            of_claim = [*claim.spans, *([claim.sentence] if claim.sentence else [])]
            if claim.id in self._labels and of_claim:
                start = min(start for start, _ in of_claim)
                end = max(end for _, end in of_claim)
                spans.append(((start, end), claim.id))
        sentences: list[_Sentence] = []
        for (start, end), claim_id in sorted(spans):
            last = sentences[-1] if sentences else None
            if last and start < last.span[1]:
                last.span = (last.span[0], max(end, last.span[1]))
                last.claims.append(claim_id)
            else:
                sentences.append(_Sentence((start, end), [claim_id]))
        return sentences

    def revise(self, sentence: _Sentence) -> None:
        """Drop a sentence, or correct it and add a mark and footnotes, as was chosen."""
        bad = [self._labels[i] for i in sentence.claims if not self._is_good(i)]
        is_whole = len(bad) == len(sentence.claims)
        if bad and is_whole and self._unsupported == "drop" and self._drop(sentence.span):
            return
        for claim_id in sentence.claims:
            if self._is_good(claim_id) and claim_id in self._originals:
                self._correct(self._claims[claim_id])
        added = ""
        if bad and self._unsupported != "keep":
            words = next(words for label, words in MARKS.items() if label in bad)
            added = f" *({'' if is_whole else 'in part: '}{words})*"
            self._marked += 1
        if self._has_footnotes:
            added += self._footnote_marks(sentence)
        position = _place_after(self._answer, sentence.span[1]) if added else None
        if position is None:
            return
        self._edits.append(_Replacement(position, position, added))
        if "[^" in added:
            self._drop_own_marks(sentence.span[0], position)

    def _drop_own_marks(self, first: int, last: int) -> None:
        """Cut the answer's citation marks between two places, but no mark in code and no note."""
        for start, end in self._own_marks:
            if start < first or end > last or "^" in self._answer[start:end]:
                continue
            start -= self._answer[first:start].endswith(" ")
            rest = self._answer[:start] + self._answer[end:]
            if _displayed(rest) == _displayed(self._answer):
                self._edits.append(_Replacement(start, end, ""))

    def revision(self) -> Revision:
        pieces: list[str] = []
        position = 0
        for edit in sorted(self._edits):
            pieces += [self._answer[position : edit.start], edit.after]
            position = edit.end
        text = "".join([*pieces, self._answer[position:]])
        definitions = self._notes.definitions(text)
        notes = len(self._notes.numbers)
        return Revision(text + definitions, self._marked, self._dropped, notes)

    def _is_good(self, claim_id: str) -> bool:
        return self._labels[claim_id] == "supported"

    def _correct(self, claim: Claim) -> None:
        """Change the values of the answer that were changed in a claim, where each stands once."""
        for value, changed in changed_values(self._originals[claim.id], claim.statement):
            written = re.compile(rf"(?<![\w.,]){re.escape(value)}(?!\w|[.,]\d)")
            places: list[Span] = []
            for span in claim.spans:
                places += [match.span() for match in written.finditer(self._answer, *span)]
            if len(places) == 1:
                replacement = _Replacement(*places[0], changed)
                if replacement not in self._edits:
                    self._edits.append(replacement)

    def _drop(self, span: Span) -> bool:
        """Cut a sentence out; False if the rest would not stay as it was."""
        wanted = _words_without(self._answer, span)
        for start, end in _cuts(self._answer, *span):
            if any(edit.start < end and start < edit.end for edit in self._edits):
                continue
            if _words(self._answer[:start] + self._answer[end:]) != wanted:
                continue
            self._edits.append(_Replacement(start, end, ""))
            self._dropped += 1
            return True
        return False

    def _footnote_marks(self, sentence: _Sentence) -> str:
        marks: dict[str, None] = {}
        for claim_id in sentence.claims:
            is_refuted = self._unsupported == "mark" and self._labels[claim_id] == "contradicted"
            if self._is_good(claim_id) or is_refuted:
                note = source_of(self._report, claim_id)
                if note:
                    marks[self._notes.mark(note)] = None
        return "".join(marks)


def _original_texts(report: Report) -> dict[str, str]:
    """Return the text that each reworded claim had at first, by the claim's id."""
    originals: dict[str, str] = {}
    for edit in report.edits:
        if isinstance(edit.change, Reword):
            original = originals.get(edit.change.claim_id, edit.subject)
            originals |= dict.fromkeys(edit.claims, original)
    return originals


# --- footnotes ---


class Note(NamedTuple):
    """The source that a footnote cites; claims with the same source share it."""

    title: str
    address: str  # http(s)
    read: str  # ISO date
    quote: str
    facts_from: str = ""  # http(s)


def source_of(report: Report, claim_id: str) -> Note | None:
    """Return the sentence that the claim's verdict rests on."""
    pages = {page.id: page for page in report.pages}
    piece = deciding_evidence([e for e in report.evidence if e.claim_id == claim_id])
    return _note(pages.get(piece.page_id), piece.deciding_sentence) if piece else None


def _note(page: Page | None, quote: str) -> Note:
    quote = " ".join(quote.split())
    if len(quote) > QUOTED:
        quote = quote[:QUOTED].rsplit(" ", 1)[0] + " …"
    if page is None:
        return Note("", "", "", quote)
    if page.facts_from:
        return Note(page.cited, "", "", quote, page.facts_from)
    addresses = [a for a in (page.url, page.reference) if a.startswith(("https://", "http://"))]
    address = addresses[0] if addresses else ""
    return Note(page.title or page.url, address, page.fetched_at[:10], quote)


class _Footnotes:
    """Numbers the notes of an answer, apart from its own footnotes."""

    def __init__(self, answer: str) -> None:
        self.numbers: dict[Note, int] = {}
        self._prefix = ""
        while f"[^{self._prefix}1]" in answer or (not self._prefix and "[^" in answer):
            self._prefix += "s"

    def mark(self, note: Note) -> str:
        number = self.numbers.setdefault(note, len(self.numbers) + 1)
        return f"[^{self._prefix}{number}]"

    def definitions(self, text: str) -> str:
        """Return the definitions to append to a text; an open code block is closed before them."""
        if not self.numbers:
            return ""
        lines = "".join(f"\n{self.mark(note)}: {_written(note)}\n" for note in self.numbers)
        break_ = "" if text.endswith("\n") else "\n"
        wanted = _count_notes(text) + len(self.numbers)
        for fence in ("", "```\n", "~~~\n", "````\n"):
            ending = f"{break_}{fence}{lines}"
            if _count_notes(text + ending) == wanted:
                return ending
        return f"{break_}{lines}"


def _count_notes(text: str) -> int:
    return sum(passage.kind == "note" for passage in passages(text))


def _written(note: Note) -> str:
    title = escape_markdown(note.title) or "Untitled"
    if note.address:
        title = f"[{title}](<{_safe_address(note.address)}>)"
    parts = [title]
    if note.read:
        parts.append(f"read {note.read}")
    if note.facts_from:
        parts.append(f"facts from <{_safe_address(note.facts_from)}>")
    return f"{', '.join(parts)}: “{escape_markdown(note.quote)}”"


def _safe_address(url: str) -> str:
    return _UNSAFE.sub(lambda match: "".join(f"%{b:02X}" for b in match[0].encode()), url)


# --- places in the Markdown ---


def _displayed(text: str) -> list[tuple[str, str]]:
    return [(passage.kind, " ".join(passage.text.split())) for passage in passages(text)]


def _place_after(answer: str, end: int) -> int | None:
    """Return the place for a mark after a sentence: behind the markup and links that close there.

    None if a mark would change how the rest renders.
    """
    closing = _CLOSING.match(answer, end)
    before = _displayed(answer)
    for place in (closing.end() if closing else end, end):
        if _displayed(f"{answer[:place]}[^1]{answer[place:]}") == before:
            return place
    return None


def _cuts(answer: str, start: int, end: int) -> Iterator[Span]:
    """Yield ways to cut a sentence: its line if it stands alone there, or with a blank."""
    start, end = _with_emphasis(answer, start, end)
    cited = _CITED.match(answer, end)
    end = cited.end() if cited else end
    line_start = answer.rfind("\n", 0, start) + 1
    line_end = answer.find("\n", end) + 1 or len(answer)
    is_alone = _EMPTY.fullmatch(answer, line_start, start)
    if is_alone and not answer[end:line_end].strip(" \t\r\n|"):
        if not _has_nested_line(answer, line_start, start, line_end):
            yield line_start, line_end
        return
    yield start, end + (answer[end : end + 1] == " ")
    yield start - (answer[start - 1 : start] in (" ", "\n")), end


def _with_emphasis(answer: str, start: int, end: int) -> Span:
    """Extend a span by the emphasis that surrounds it."""
    for signs in _EMPHASIS:
        if answer[:start].endswith(signs) and answer.startswith(signs, end):
            return _with_emphasis(answer, start - len(signs), end + len(signs))
    return start, end


def _has_nested_line(answer: str, line_start: int, start: int, line_end: int) -> bool:
    """Return True if the next line is indented further, such as an item within this one."""
    following = answer[line_end:].partition("\n")[0]
    indent = len(answer[line_start:start]) - len(answer[line_start:start].lstrip())
    return bool(following.strip()) and len(following) - len(following.lstrip()) > indent


def _words(text: str) -> list[str]:
    """Return the displayed words, with the kind of each passage before them."""
    words: list[str] = []
    for passage in passages(text):
        if passage.text.strip():
            words += [f"<{passage.kind}>", *passage.text.split()]
    return words


def _words_without(answer: str, span: Span) -> list[str]:
    """Return the words that remain without a sentence; of a table, without its row."""
    start, end = span
    words: list[str] = []
    for passage in passages(answer):
        is_cut = [start <= place[0] < end for place in passage.places]
        if passage.kind == "row" and any(a >= start and b <= end for a, b in passage.places):
            continue
        remaining = "".join(
            character for character, cut in zip(passage.text, is_cut, strict=True) if not cut
        )
        if remaining.strip():
            words += [f"<{passage.kind}>", *remaining.split()]
    return words
