"""Split an answer into passages: headings, items, table rows and paragraphs as plain text with
source positions.

The text is as displayed: without markup and citation marks, and with single spaces.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple
from unicodedata import combining

from attribution.text.cells import wording
from attribution.text.characters import composed
from attribution.text.markdown import Element, Written, read
from attribution.text.parse import SUBJECTS, VERBAL, parse
from attribution.text.references import listed
from attribution.text.sentences import is_english, sentences
from attribution.types import Span

if TYPE_CHECKING:
    from spacy.tokens import Token

Kind = Literal["heading", "item", "row", "code", "note", "text"]

_LEAD_IN_WORDS, _TITLE_WORDS, _TITLE_CHARACTERS, _TITLE_STOP = 6, 10, 80, 4
_TASK = re.compile(r"\[[ xX]\] ")
_PICTURE = (
    r"(?![✗✘❌❎☐↑↓])(?:\d\ufe0f?\u20e3|[\u2190-\u21ff\u2300-\u23ff\u2460-\u27bf\u2900-\u297f\u2b00-\u2bff\U0001f000-\U0001faff])"
    r"[\ufe0f\u200d]*"
)  # "🌱", "➡️", "1️⃣", but none that denies
_NUMBER = re.compile(
    rf"\s*(?:(?:[•⁃‣◦▪–—]|(?:{_PICTURE})+)\s+)?(?:\(?(?:\d{{1,2}}|[a-z])(?:[.)]|\.\))(?:\s+|$))?"
)  # of an item within a line, or its bullet
_LAST_PICTURES = re.compile(rf"\s(?:{_PICTURE})+$")
_LINE_WITH_PICTURE = re.compile(rf"\n\s*+(?={_PICTURE}\s)")
_BLANKS = re.compile(r"\s+")
_NO_WIDTH = "\u200b\ufeff"
_STOPS, _OPENING = ".!?…。！？｡؟۔।։።", "\"'“‘«([「『（¿¡"
_CLOSING = " \"'”’»)]」』）"
_ENDING = ".,;:!?…)]”’»。，、；：！？｡）」』؟،۔।"
_SIGNS = re.compile(r"(?:[^\w]|\d\ufe0f?\u20e3)*+")  # such as "1️⃣ "
_LABEL_WITHIN = re.compile(
    r"(?:(?<=[.!?])\s++|(?<=\S)[ \t]*+\n\s*+)((?:[^\w\s]|\d\ufe0f?\u20e3)*+\s*+)"
    r"([^\W\d_][^:：.!?\n]{1,60}?)(?:[:：]|(?=\s[–—]\s))"
)
_ANNOUNCES = re.compile(  # "Here are …:", "It includes:"
    r"^(?:here|there|these|this|below|what|how|why|when|where|which|some|let|you|we|I)\b"
    r"|\b(?:is|are|was|were|includes?|as|by|of|to|with|following|follows|means|sa(?:ys|id)|contains)\s*:$",
    re.IGNORECASE,
)
_LABEL = re.compile(r"(?P<term>[^:：.!?–—]{2,60}?)(?:\s?[:：]\s?|\s[–—-]\s|\.\s)")

_PLAIN_LABEL = re.compile(
    r"(?:(?:TL;?DR|A|Answer|Bottom line|(?:(?:Key|Main) )?(?:Takeaway|Point)|Summary|In (?:short|summary)|Note"
    r"|Important|Tip|(?:Short|Quick) answer|Step \d{1,2})"
    r"|[\u2600-\u27bf\U0001f000-\U0001faff]\ufe0f?\s+[A-Z]\w+(?: \w+)?)\s?[:：]\s",
    re.IGNORECASE,
)  # not bold
_DATE_LABEL = re.compile(
    r"(?=.*\d{3})[\W\d]*+(?:(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*+[\W\d]*+)?(?:BCE?|CE|AD|s)?"
)


@dataclass(frozen=True)
class AnswerPassage:
    text: str
    places: tuple[Span, ...]  # places[i]: the characters of the answer behind character i
    kind: Kind = "text"
    strong: int = 0  # the number of bold characters at its start
    cited: bool = False  # has a citation mark
    cuts: tuple[
        int, ...
    ] = ()  # where a citation mark stands behind the stop of a sentence, which ends there
    number: int = 0  # of an item in a numbered list
    english: bool = True  # the answer, or its language is unknown

    @property
    def start(self) -> int:
        return self.places[0][0]

    @property
    def end(self) -> int:
        return self.places[-1][1]

    @cached_property
    def labelled(self) -> int:
        """The number of characters of the label that opens the passage, "**Entry:** …", with what
        parts it; often 0.
        """
        kind = self.kind in ("item", "text")
        found = _LABEL.match(self.text) if kind else None
        if kind and (plain := _PLAIN_LABEL.match(self.text)):
            return plain.end()
        bold = self.text[: self.strong].rstrip(" :：.–—-")
        if not found or _DATE_LABEL.fullmatch(bold) or not bold or bold != found["term"].rstrip():
            return 0
        stop = found[0].rstrip().endswith(".")  # "**Funding.** …", but not "**It is old.** …"
        most = _TITLE_STOP if self.english else 1
        return (
            0
            if stop and (len(bold.split()) > most or _is_sentence(bold, self.english))
            else found.end()
        )

    @property
    def label(self) -> str:
        """The bold term before a colon, a dash or its own stop that opens the passage; empty if
        there is none.
        """
        return self.text[: self.labelled].strip(" :：.–—-")

    @cached_property
    def body(self) -> int:
        """The first character of the statements: behind the label, if the first is a sentence
        without it.
        """
        rest = self.text[self.labelled :]
        first = next((rest[a:b] for a, b in sentences(rest)), "") if self.labelled else ""
        return self.labelled if first and _is_sentence(first, self.english) else 0

    @property
    def lead_in(self) -> bool:
        """True for a passage that states nothing and introduces the next: a bold title, or a few
        words and a colon.
        """
        words = len(self.text.split())
        if self.title or not self.text.endswith(":") or words > _LEAD_IN_WORDS:
            return self.title
        return bool(words < 4 or _ANNOUNCES.search(self.text)) or not _is_sentence(
            self.text[:-1], self.english
        )

    @property
    def title(self) -> bool:
        bold = self.strong > 0 and not self.text[self.strong :].strip(": ")
        short = len(self.text) <= _TITLE_CHARACTERS and len(self.text.split()) <= _TITLE_WORDS
        return bold and short and not self.cited and self.text[-1:] not in ".!?"

    def span(self, start: int, end: int) -> Span:
        """Return the characters of the answer behind text[start:end]."""
        return self.places[start][0], self.places[end - 1][1]

    def before(self, regions: Sequence[Span]) -> AnswerPassage:
        """Return the passage up to the first of these regions that begins within it."""
        start = next((start for start, _ in regions if self.start < start < self.end), None)
        if start is None:
            return self
        text = self.until(start)
        cuts = tuple(cut for cut in self.cuts if cut < len(text))
        return replace(self, text=text, places=self.places[: len(text)], cuts=cuts)

    def until(self, place: int) -> str:
        """Return the text up to a position of the answer."""
        return self.text[
            : bisect_right(self.places, place, key=lambda written: written[1])
        ].rstrip()

    def sentences(self) -> Iterator[Span]:
        """Yield the spans of sentences with words, without an item's number, within the text; a row
        is one sentence.
        """
        for start, end in [(0, len(self.text))] if self.kind == "row" else self._between_cuts():
            if self.kind != "row":
                number, last = (
                    _NUMBER.match(self.text, start, end),
                    _LAST_PICTURES.search(self.text, start, end),
                )
                start, end = number.end() if number else start, last.start() if last else end
            if any(c.isalnum() for c in self.text[start:end]):
                yield start, end

    def _between_cuts(self) -> Iterator[Span]:
        value = self.labelled if not self.body else 0  # "**Length.** 12 cm." is one sentence
        for first, last in pairwise(
            (self.body, *(cut for cut in self.cuts if cut > self.body), len(self.text))
        ):
            for start, end in sentences(self.text[first:last], number=self.number):
                if first + end > value:
                    yield first + start if first + start > value else self.body, first + end


def _is_sentence(text: str, english: bool) -> bool:
    """Return True if a text has a subject and a verb; outside English, if it has four words and a
    stop at its end.
    """
    if not english:
        return text[-1:] in _STOPS and (
            len(text.split()) >= 4 or not text.isascii() and len(text) > 8
        )
    return any(t.dep_ in SUBJECTS and t.head.pos_ in VERBAL or _is_verb(t) for t in parse(text))


def _is_verb(token: Token) -> bool:
    """Return True for the main verb of a sentence, also if the parser took it for a noun: "The newt
    lives in ponds".
    """
    before, after = (
        {t.dep_ for t in token.lefts},
        [t.lower_ for t in token.rights if not t.is_punct],
    )
    noun = token.tag_ == "NNS" and before >= {"det", "compound"} and after and "of" not in after
    finite = token.tag_ in ("VBZ", "VBP", "MD") and token.i > 0
    return token.dep_ == "ROOT" and bool(finite or "nsubj" in before or noun)


def passages(answer: str) -> list[AnswerPassage]:
    """Return all passages with text, in order."""
    english = is_english(answer)
    return [replace(p, english=english) for p in _blocks(read(answer)) if p.text]


def statements(answer: str) -> list[AnswerPassage]:
    """Return the passages that can hold claims: no headings, code, footnotes, lead-ins or lists of
    sources.
    """
    lists = listed(answer)
    return [
        p
        for p in (p.before(lists.regions) for p in passages(answer))
        if p.kind in ("text", "item", "row")
        and not p.lead_in
        and any(map(str.isalnum, p.text))
        and not lists.holds(p.start)
    ]


def plain(source: str) -> str:
    """Return a short Markdown text without markup, on one line."""
    return " ".join(p.text for p in passages(source))


def visible(answer: str, start: int, end: int) -> str:
    """Return answer[start:end] as displayed, with citation marks and single spaces.

    Table cells are separated by " | ".
    """
    seen, at = list[str](), start
    texts, starts = _texts(answer)
    for text in islice(texts, max(0, bisect_right(starts, start) - 1), bisect_left(starts, end)):
        first, last = max(start, text.start), min(end, text.end)
        if first < last:
            seen += [" | "] if "|" in answer[at:first] else []
            seen.append(
                text.text[first - text.start : last - text.start] if text.verbatim else text.text
            )
            at = last
    seen += [" | "] if "|" in answer[at:end] else []
    return _BLANKS.sub(" ", "".join(seen))


@lru_cache(maxsize=32)
def _texts(answer: str) -> tuple[list[Written], list[int]]:
    """Return the answer's texts and their starts, in order."""
    texts = sorted(read(answer).texts(), key=lambda text: text.start)
    return texts, [text.start for text in texts]


def _blocks(block: Element) -> Iterator[AnswerPassage]:
    for number, child in enumerate(block.elements):
        if child.tag == "p":
            item = block.tag == "li" and number == 0
            for passage in _paragraph(
                child, "note" if child.role == "note" else "item" if item else "text"
            ):
                yield (
                    replace(passage, number=int(block.number))
                    if item and block.number.isdecimal()
                    else passage
                )
        elif child.tag == "pre":
            yield _flat(_characters(child), "code")
        elif child.tag == "table":
            yield from _rows(child)
        elif child.tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            yield _flat(_characters(child), "heading")
        else:
            yield from _blocks(child)


def _paragraph(block: Element, kind: Kind) -> Iterator[AnswerPassage]:
    """Yield a paragraph; a bold title on its first line becomes a heading, except in an item."""
    characters = list(_characters(block))
    if kind == "text":
        line = next(
            (i for i, c in enumerate(characters) if c.text in ("\r", "\n")), len(characters)
        )
        first = _flat(characters[:line], "heading")
        if first.title:
            yield first
            characters = characters[line:]
    for start, end in pairwise((0, *sorted({*_labels(characters)}), len(characters))):
        yield _flat(characters[start:end], kind)


def _labels(characters: Sequence[_PlacedCharacter]) -> Iterator[int]:
    """Yield where a line with a picture, or a bold label with a colon, begins within a paragraph."""
    text = "".join(c.text or " " for c in characters)  # a mark in place of its characters is one
    yield from (match.end() for match in _LINE_WITH_PICTURE.finditer(text))
    for match in _LABEL_WITHIN.finditer(text):
        before, label = match.start(2) - 1, characters[slice(*match.span(2))]
        if not characters[before].bold and all(c.bold for c in label):
            yield match.start(1)


def _rows(table: Element) -> Iterator[AnswerPassage]:
    """Yield each cell with the heads of its column and its row."""
    heads: list[str] = []
    rows = [
        [_flat(_characters(cell), "row") for cell in row.elements]
        for part in table.elements
        for row in part.elements
    ]
    english = is_english(" ".join(cell.text for row in rows for cell in row))
    for number, cells in enumerate(rows):
        texts = [cell.text for cell in cells]
        if number == 0:
            heads = [text.rstrip(": ") for text in texts]
            continue
        for column, cell in enumerate(cells):
            if said := wording(heads, texts, column, english):
                before = (cell.start, cell.start if said.cell else cell.end)
                inner, places = (cell.text, cell.places) if said.cell else ("", ())
                places = (
                    *[before] * len(said.before),
                    *places,
                    *[(cell.end, cell.end)] * len(said.after),
                )
                yield AnswerPassage(said.before + inner + said.after, places, "row")


class _PlacedCharacter(NamedTuple):
    text: str  # empty for a citation mark
    place: Span
    bold: bool


def _characters(block: Element, bold: bool = False) -> Iterator[_PlacedCharacter]:
    for child in block.children:
        if isinstance(child, Written):
            for i, character in enumerate(child.text):
                place = (
                    (child.start + i, child.start + i + 1)
                    if child.verbatim
                    else (child.start, child.end)
                )
                yield _PlacedCharacter(character, place, bold)
        elif child.tag == "img":
            yield _PlacedCharacter(" ", (-1, -1), bold)
        elif child.tag == "cite":
            yield _PlacedCharacter(
                "", next(((t.start, t.end) for t in child.texts()), (-1, -1)), bold
            )
        else:
            yield from _characters(child, bold or child.tag == "strong")


def _flat(characters: Iterable[_PlacedCharacter], kind: Kind) -> AnswerPassage:
    shown: list[_PlacedCharacter] = []
    cited = False
    mark: Span | None = None  # the first character of a citation mark since the last word
    cuts: list[int] = []
    comma = -1  # the place of a comma that stands behind a mark
    for character in _composed(characters):
        blank = character.text.isspace() or character.text in _NO_WIDTH
        if not blank:
            if mark and character.text == "." and _ends(shown):  # "It is so. [1]."
                continue
            if mark and shown and shown[-1].text == " " and character.text in _ENDING:
                shown.pop()
            elif mark and _starts(character.text) and _ends(shown):
                shown += [_PlacedCharacter(" ", mark, False)] if shown[-1].text != " " else []
                cuts.append(len(shown))
            comma = len(shown) if mark and character.text in ",;" else -1
            mark = None
            shown.append(character)
        elif not character.text:
            cited = True
            if comma >= 0:  # "[1], [2]"
                del shown[comma:]
                comma = -1
            mark = mark or (character.place[0], character.place[0] + 1)
        elif shown and shown[-1].text != " ":
            shown.append(character._replace(text=" "))
    while shown and shown[-1].text == " ":
        shown.pop()
    text = "".join(c.text for c in shown)
    if kind == "item" and (task := _TASK.match(text)):
        shown, text, cuts = (
            shown[task.end() :],
            text[task.end() :],
            [cut - task.end() for cut in cuts],
        )
    signs = _SIGNS.match(text)  # "🗼 **Height**: …"
    first = signs.end() if signs else 0
    strong = next((i for i, c in enumerate(shown) if i >= first and not c.bold), len(shown))
    strong = 0 if strong == first else strong
    return AnswerPassage(text, tuple(c.place for c in shown), kind, strong, cited, tuple(cuts))


def _composed(characters: Iterable[_PlacedCharacter]) -> Iterator[_PlacedCharacter]:
    """Yield the characters without soft hyphens, an accent with its letter, and each letter of a
    ligature.
    """
    last: _PlacedCharacter | None = None
    for character in characters:
        text = composed(character.text)
        if (
            last
            and last.text
            and text
            and combining(text[0])
            and len(whole := composed(last.text + text)) == 1
        ):
            last = last._replace(text=whole, place=(last.place[0], character.place[1]))
        elif text or not character.text:
            if last:
                yield last
            yield from (character._replace(text=letter) for letter in text[:-1])
            last = character._replace(text=text[-1:])
    if last:
        yield last


def _starts(character: str) -> bool:
    """Return True if a sentence can begin with this character."""
    return not character.islower() and (character.isalnum() or character in _OPENING)


def _ends(shown: Sequence[_PlacedCharacter]) -> bool:
    """Return True if the last sign is a stop, closing quotes and brackets aside."""
    last = next((c.text for c in reversed(shown) if c.text not in _CLOSING), "")
    return bool(last) and last in _STOPS
