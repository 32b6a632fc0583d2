"""Revise an answer: correct values, mark or drop unsupported sentences, and add footnotes.

A pure function of the report and the choices. Whatever is inserted or dropped, the rest of the
Markdown renders as before: a sentence that can't be dropped without changing the rest is marked
instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args
from urllib.parse import quote

from attribution.edits import Reword
from attribution.review.judgements import shown_labels
from attribution.text.markdown import escape_markdown
from attribution.text.marks import marks
from attribution.text.passages import passages
from attribution.text.quantities import changed_values
from attribution.text.urls import is_web
from attribution.types import Claim, Label, Report, Span
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


class _Replacement(NamedTuple):
    """A part of the answer, and the Markdown that takes its place."""

    start: int
    end: int
    after: str


def revise(report: Report, unsupported: Unsupported = "keep") -> str:
    """Return the revised answer of a report, with a footnote for each claim that is supported or,
    under "mark", contradicted: it names the source and quotes the sentence, and replaces the
    sentence's own citation marks. The analyst's assessments decide before the model's verdicts.

    A sentence is unsupported if it has checked claims, none of them supported. If this holds for
    only some of its claims, it is marked "in part", even under "drop". A value that was changed in
    a claim which is now supported is changed in its sentence too.

    Args:
        report: A finished run.
        unsupported: What becomes of unsupported sentences.
    """
    reviser = _Reviser(report, unsupported)
    for sentence in reviser.sentences():
        reviser.revise(sentence)
    return reviser.revision()


@dataclass
class _Sentence:
    span: Span
    claims: list[str]  # ids


class _Reviser:
    def __init__(self, report: Report, unsupported: Unsupported) -> None:
        self._report = report
        self._answer = report.answer
        self._shown = _displayed(report.answer)
        self._unsupported = unsupported
        self._edits: list[_Replacement] = []
        labels = shown_labels(report).items()
        self._labels = {i: label for i, label in labels if label != "not_checked"}
        self._supported = {i for i, label in labels if label == "supported"}
        self._claims = {claim.id: claim for claim in report.claims}
        self._originals = _original_texts(report)
        self._notes = _Footnotes(self._answer)
        self._own_marks = [span for mark in marks(self._answer) for span in mark.hidden]

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
        bad = [self._labels[i] for i in sentence.claims if i not in self._supported]
        is_whole = len(bad) == len(sentence.claims)
        if bad and is_whole and self._unsupported == "drop" and self._drop(sentence.span):
            return
        for claim_id in sentence.claims:
            if claim_id in self._supported and claim_id in self._originals:
                self._correct(self._claims[claim_id])
        added = ""
        if bad and self._unsupported != "keep":
            words = next(words for label, words in MARKS.items() if label in bad)
            added = f" *({'' if is_whole else 'in part: '}{words})*"
        added += self._footnote_marks(sentence)
        position = self._place_after(sentence.span[1]) if added else None
        if position is None:
            return
        self._edits.append(_Replacement(position, position, added))
        if "[^" in added:
            self._drop_own_marks(sentence.span[0], position)

    def _place_after(self, end: int) -> int | None:
        """Return the place for a mark: behind the markup and links that close after a sentence.

        None if a mark would change how the rest renders.
        """
        closing = _CLOSING.match(self._answer, end)
        for place in (closing.end() if closing else end, end):
            if _displayed(f"{self._answer[:place]}[^1]{self._answer[place:]}") == self._shown:
                return place
        return None

    def _drop_own_marks(self, first: int, last: int) -> None:
        """Cut the answer's citation marks between two places, but no mark in code and no note."""
        for start, end in self._own_marks:
            if start < first or end > last or "^" in self._answer[start:end]:
                continue
            start -= self._answer[first:start].endswith(" ")
            rest = self._answer[:start] + self._answer[end:]
            if _displayed(rest) == self._shown:
                self._edits.append(_Replacement(start, end, ""))

    def revision(self) -> str:
        """Return the answer with all changes, and the footnotes below it."""
        pieces: list[str] = []
        position = 0
        for edit in sorted(self._edits):
            pieces += [self._answer[position : edit.start], edit.after]
            position = edit.end
        text = "".join([*pieces, self._answer[position:]])
        return text + self._notes.definitions(text)

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
        wanted = _displayed(self._answer, span)
        for start, end in _cuts(self._answer, *span):
            if any(edit.start < end and start < edit.end for edit in self._edits):
                continue
            if _displayed(self._answer[:start] + self._answer[end:]) != wanted:
                continue
            self._edits.append(_Replacement(start, end, ""))
            return True
        return False

    def _footnote_marks(self, sentence: _Sentence) -> str:
        marks: dict[str, None] = {}
        for claim_id in sentence.claims:
            is_refuted = self._unsupported == "mark" and self._labels[claim_id] == "contradicted"
            if claim_id in self._supported or is_refuted:
                note = _note(self._report, claim_id)
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


def _note(report: Report, claim_id: str) -> str:
    """Return the source and the sentence that the claim's verdict rests on; empty without any."""
    piece = deciding_evidence(report.evidence_of(claim_id))
    if piece is None:
        return ""
    page = next(page for page in report.pages if page.id == piece.page_id)
    words = " ".join(piece.deciding_sentence.split())
    if len(words) > QUOTED:
        words = words[:QUOTED].rsplit(" ", 1)[0] + " …"
    title = escape_markdown(page.cited)
    said = f"“{escape_markdown(words)}”"
    if page.facts_from:
        return f"{title}, facts from <{_safe_address(page.facts_from)}>: {said}"
    for address in filter(is_web, (page.url, page.reference)):
        title = f"[{title}](<{_safe_address(address)}>)"
        break
    return f"{title}, read {page.fetched_at[:10]}: {said}"


def _safe_address(url: str) -> str:
    return quote(url, safe="!#$%&'()*+,/:;=?@[]~")


class _Footnotes:
    """Numbers the notes of an answer, apart from its own footnotes."""

    def __init__(self, answer: str) -> None:
        self.numbers: dict[str, int] = {}
        self._prefix = ""
        while f"[^{self._prefix}" in answer:
            self._prefix += "s"

    def mark(self, note: str) -> str:
        number = self.numbers.setdefault(note, len(self.numbers) + 1)
        return f"[^{self._prefix}{number}]"

    def definitions(self, text: str) -> str:
        """Return the definitions to append to a text."""
        if not self.numbers:
            return ""
        lines = "".join(f"\n{self.mark(note)}: {note}\n" for note in self.numbers)
        return lines if text.endswith("\n") else f"\n{lines}"


# --- places in the Markdown ---


def _displayed(text: str, without: Span = (-1, -1)) -> list[tuple[str, str]]:
    """Return the displayed passages with their kinds, without a sentence or a table's row of it."""
    start, end = without
    displayed: list[tuple[str, str]] = []
    for passage in passages(text):
        if passage.kind == "row" and any(a >= start and b <= end for a, b in passage.places):
            continue
        remaining: list[str] = []
        for character, place in zip(passage.text, passage.places, strict=True):
            if not start <= place[0] < end:
                remaining.append(character)
        words = " ".join("".join(remaining).split())
        if words:
            displayed.append((passage.kind, words))
    return displayed


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
