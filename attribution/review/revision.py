"""Revise an answer: correct values, mark or drop unsupported sentences, and add footnotes.

A pure function of the report and the choices. Whatever is inserted or dropped, the rest of the
Markdown renders as before: a sentence that can't be dropped without changing the rest is marked
instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple, get_args
from urllib.parse import quote

from attribution.edits import Reword
from attribution.review.correction import changed_values
from attribution.text.markdown import escape_markdown
from attribution.text.marks import marks
from attribution.text.passages import passages
from attribution.text.urls import is_web
from attribution.types import Claim, Report, Span
from attribution.verdicts import deciding_evidence
from attribution.verifiers.calibration import badge_of

QUOTED = 300  # characters of a quote
Unsupported = Literal["keep", "mark", "drop"]
UNSUPPORTED: tuple[Unsupported, ...] = get_args(Unsupported)
MARKS = {
    "contradicted": "contradicted by a source",
    "weak_contradicted": "possibly contradicted by a source",
    "conflicting": "sources disagree",
    "unclear": "not settled by the sources",
    "no_relation": "no source found",
    "missing": "no source found",
    "not_reached": "not checked",
}  # by badge, the worst first
_OWN_NUMBER = re.compile(r"\[\^?(?:\d{1,3}[,–-] ?){0,9}(\d{1,3})\]")  # the last of "[1, 3]"
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
    sentence: Span = (0, 0)  # that is marked, or, where nothing takes its place, dropped


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
    return _Reviser(report, unsupported).revised()


@dataclass
class _Sentence:
    span: Span
    claims: list[str]  # ids


class _Reviser:
    def __init__(self, report: Report, unsupported: Unsupported) -> None:
        self._report = report
        self._answer = report.answer
        self._unsupported = unsupported
        self._edits: set[_Replacement] = set()
        badges = {verdict.claim_id: badge_of(verdict, report) for verdict in report.verdicts}
        self._badges = {i: badge for i, badge in badges.items() if badge != "not_checked"}
        self._supported = {i for i, badge in badges.items() if badge.endswith("supported")}
        self._notes = _Footnotes(self._answer)
        self._own_marks = [span for mark in marks(self._answer) for span in mark.hidden]

    def _sentences(self) -> list[_Sentence]:
        """Return the sentences with checked claims, in order; overlapping ones are merged."""
        spans: list[tuple[int, int, str]] = []
        for claim in self._report.claims:
            places = [place for span in (*claim.spans, claim.sentence) if span for place in span]
            if claim.id in self._badges and places:
                spans.append((min(places), max(places), claim.id))
        sentences: list[_Sentence] = []
        for start, end, claim_id in sorted(spans):
            last = sentences[-1] if sentences else None
            if last and start < last.span[1]:
                last.span = (last.span[0], max(end, last.span[1]))
                last.claims.append(claim_id)
            else:
                sentences.append(_Sentence((start, end), [claim_id]))
        return sentences

    def revised(self) -> str:
        """Return the answer with all changes, and the footnotes below it."""
        sentences = self._sentences()
        if self._unsupported == "drop":
            bad = [s.span for s in sentences if self._supported.isdisjoint(s.claims)]
            self._apply(
                [[_Replacement(*cut, "", s) for cut in _cuts(self._answer, *s)] for s in bad]
            )
        dropped = {edit.sentence for edit in self._edits}
        self._apply([self._marks(s) for s in sentences if s.span not in dropped])
        self._apply([[cut] for edit in self._edits for cut in self._marks_before(edit)])
        originals = _original_texts(self._report)
        for claim in self._report.claims:
            if claim.id in originals and claim.id in self._supported:
                self._correct(claim, originals[claim.id])
        text = self._replaced(self._edits)
        return text + self._notes.definitions(text)

    def _apply(self, choices: list[list[_Replacement]]) -> None:
        """Make the first edit of each choice under which the rest is displayed as before.

        As reading an answer takes long, all are tried together, then each half of them.
        """
        edits = [choice[0] for choice in choices if choice]
        middle = len(choices) // 2
        if self._fit(edits):
            self._edits.update(edits)
        elif middle:
            self._apply(choices[:middle])
            self._apply(choices[middle:])
        else:
            self._apply([choices[0][1:]])

    def _fit(self, edits: list[_Replacement]) -> bool:
        in_order = sorted(self._edits.union(edits))
        if any(later.start < edit.end for edit, later in pairwise(in_order)):
            return False
        changed = self._replaced([e._replace(after=e.after and "[^1]") for e in edits])
        dropped = [edit.sentence for edit in edits if not edit.after]
        return _displayed(changed) == _displayed(self._answer, dropped)

    def _replaced(self, edits: Iterable[_Replacement]) -> str:
        text = self._answer
        for start, end, after, _ in sorted(edits, reverse=True):
            text = text[:start] + after + text[end:]
        return text

    def _marks(self, sentence: _Sentence) -> list[_Replacement]:
        """Return the places for a sentence's mark and footnotes: behind the markup and links that
        close after it, or at its end.
        """
        bad = [self._badges[i] for i in sentence.claims if i not in self._supported]
        added = ""
        if bad and self._unsupported != "keep":
            words = next(words for badge, words in MARKS.items() if badge in bad)
            share = "in part: " * (len(bad) < len(sentence.claims))
            added = f" *({share}{words})*"
        added += self._footnote_marks(sentence)
        if not added:
            return []
        end = sentence.span[1]
        closing = _CLOSING.match(self._answer, end)
        places = (closing.end() if closing else end, end)
        return [_Replacement(place, place, added, sentence.span) for place in places]

    def _marks_before(self, edit: _Replacement) -> Iterator[_Replacement]:
        """Yield cuts of the answer's own marks that footnotes replace; no mark in code, no note."""
        first = edit.sentence[0]
        for start, end in self._own_marks if "[^" in edit.after else ():
            if first <= start and end <= edit.start and "^" not in self._answer[start:end]:
                start -= self._answer[first:start].endswith(" ")
                yield _Replacement(start, end, "")

    def _correct(self, claim: Claim, original: str) -> None:
        """Change the values of the answer that were changed in a claim, where each stands once."""
        for value, changed in changed_values(original, claim.statement):
            written = re.compile(rf"(?<![\w.,]){re.escape(value)}(?!\w|[.,]\d)")
            places = [m for span in claim.spans for m in written.finditer(self._answer, *span)]
            if len(places) == 1:
                self._edits.add(_Replacement(*places[0].span(), changed))

    def _footnote_marks(self, sentence: _Sentence) -> str:
        ends = ("supported", "contradicted") if self._unsupported == "mark" else "supported"
        decided = [i for i in sentence.claims if self._badges[i].endswith(ends)]
        notes = filter(None, (_note(self._report, claim_id) for claim_id in decided))
        return "".join(dict.fromkeys(map(self._notes.mark, notes)))


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
    """Numbers the notes of an answer, after its own marks and footnotes."""

    def __init__(self, answer: str) -> None:
        self.numbers: dict[str, int] = {}
        own_numbers = map(int, _OWN_NUMBER.findall(answer))
        self._first = max(own_numbers, default=0) + 1

    def mark(self, note: str) -> str:
        number = self.numbers.setdefault(note, self._first + len(self.numbers))
        return f"[^{number}]"

    def definitions(self, text: str) -> str:
        """Return the definitions to append to a text."""
        if not self.numbers:
            return ""
        lines = "".join(f"\n{self.mark(note)}: {note}\n" for note in self.numbers)
        return lines if text.endswith("\n") else f"\n{lines}"


# --- places in the Markdown ---


def _displayed(text: str, without: Iterable[Span] = ()) -> list[tuple[str, str]]:
    """Return the displayed passages with their kinds, without sentences or rows that hold them."""
    gone = {place for span in without for place in range(*span)}
    displayed: list[tuple[str, str]] = []
    for passage in passages(text):
        written = zip(passage.text, passage.places, strict=True)
        remaining = [character for character, place in written if place[0] not in gone]
        if passage.kind == "row" and len(remaining) < len(passage.text):
            continue
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
    line = answer[line_start:start]
    indent = len(line) - len(line.lstrip())
    return re.match(rf"[ \t]{{{indent + 1}}}.*\S", answer[line_end:]) is not None
