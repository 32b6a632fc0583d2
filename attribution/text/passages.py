"""Split an answer into passages: headings, items, paragraphs and cells of tables, as plain text
with source positions.

The text is as displayed: without markup and citation marks, and with single spaces. A cell is
worded as people say it: "Wind: 984 (2023, € million)".
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Literal, NamedTuple
from unicodedata import combining

from attribution.text.markdown import Element, Written, read
from attribution.text.marks import listed
from attribution.text.parse import has_clause, parse
from attribution.text.sentences import is_english, sentences
from attribution.text.words import composed
from attribution.types import Span

NUMBERING = ("", *"# no no. nr nr. rank place pos pos.".split())  # heads of a column of numbers
EMPTY = re.compile(r"[\W_]*|n/?a|none|unknown", re.IGNORECASE)
SAID = dict.fromkeys("✅ ✔ ✔️ ✓ ☑ ☑️ yes Yes".split(), "yes")
SAID |= dict.fromkeys("❌ ✗ ✘ ✖ ✖️ no No".split(), "no")
# First heads of tables that compare the things in their head
CORNERS = """feature features aspect aspects criterion criteria property attribute characteristic
    specification spec metric parameter""".split()
UNSAID = "detail details description value values information info data".split()


class Wording(NamedTuple):
    """The words around a cell, or, without `has_cell`, in its place."""

    before: str
    after: str
    has_cell: bool = True


def wordings(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[list[Wording | None]]:
    """Return how each cell is said; None for one that states nothing."""
    heads = ["" if head.casefold() in UNSAID else head for head in heads]
    is_turned = _compares_heads(heads, rows)
    worded: list[list[Wording | None]] = []
    for cells in rows:
        first = _row_head(heads, cells)
        row: list[Wording | None] = []
        for column, cell in enumerate(cells):
            head = heads[column] if column < len(heads) else ""
            if column == first:
                row.append(None if len(cells) > 1 else Wording("", ""))
            elif is_turned and head:
                row.append(_wording(head, cells[first], cell))
            else:
                row.append(_wording(cells[first], head, cell))
        worded.append(row)
    return worded


def _row_head(heads: Sequence[str], cells: Sequence[str]) -> int:
    """Return the column that names the rows: the first that is no numbering."""
    return int(
        len(cells) > 2 and cells[0].rstrip(".").isdigit() and heads[0].casefold() in NUMBERING
    )


def _compares_heads(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return True for "| | Alder | Birch |": columns are things, rows are what they have."""
    corner = heads[0].casefold()
    if corner or len(heads) < 3:
        return corner in CORNERS
    columns = list(zip_longest(*rows, fillvalue=""))[1:]
    return all(_is_uniform(row[1:]) for row in rows) and not all(map(_is_uniform, columns))


def _is_uniform(cells: Sequence[str]) -> bool:
    """Return True for cells of one kind: figures, signs or words."""
    kinds = {(any(map(str.isdigit, cell)), cell in SAID) for cell in cells if cell}
    return len(kinds) < 2


def _wording(name: str, head: str, cell: str) -> Wording | None:
    answer = SAID.get(cell)
    if answer is None and EMPTY.fullmatch(cell):
        return None
    name = f"{name}: " if name else ""
    label = f"{name}{head}: " if head else name
    if answer:
        return Wording(label + answer, "", False)
    if any(map(str.isdigit, cell)):
        return Wording(name, f" ({head})" if head else "")
    return Wording(label, "")


Kind = Literal["heading", "item", "row", "code", "note", "text"]

LOWEST = 7  # level of a heading without signs
MAX_CONTEXT = 160  # characters of a heading or lead
GENERIC = frozenset(
    (Path(__file__).parent / "data" / "headings.txt").read_text("utf-8").split("\n")
)
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_LEAD_IN_WORDS = 6
_OPENING_WORDS = 12
_TITLE_CHARACTERS = 80
_LABEL_WORDS = 4  # of a label with a stop of its own
# "🌱", "➡️", "1️⃣", but none that denies
_PICTURE = r"""(?:
    (?![✗✘❌❎☐↑↓])
    (?: \d\ufe0f?\u20e3 | [\u2190-\u21ff\u2300-\u23ff\u2460-\u27bf\u2900-\u297f\u2b00-\u2bff]
    | [\U0001f000-\U0001faff] )
    [\ufe0f\u200d]*
)"""
_NUMBER = re.compile(  # of an item within a line, or its bullet
    rf"""
    \s* (?: (?: [•⁃‣◦▪–—] | {_PICTURE}+ )\s+ )?
    (?: \(?(?:\d{{1,2}}|[a-z])(?:[.)]|\.\))(?:\s+|$) )?
    """,
    re.VERBOSE,
)
_FIRST_PICTURE = re.compile(rf"{_PICTURE}\s", re.VERBOSE)
_LAST_PICTURES = re.compile(rf"\s{_PICTURE}+$", re.VERBOSE)
_LINE_WITH_PICTURE = re.compile(rf"\n[^\S\n]*+(?=(?:{_PICTURE}|[·∙\uf0b7])\s)", re.VERBOSE)
_ACCENTS = "".join(filter(combining, map(chr, range(0x300, 0x1E950))))
_LETTER = re.compile(f".[{_ACCENTS}]*", re.DOTALL)
_BLANKS = re.compile(r"\s+")
_NO_WIDTH = "\u200b\ufeff"
_STOPS = ".!?…。！？｡؟۔।։።"
_OPENING = "\"'“‘«([「『（¿¡"
_CLOSING = " \"'”’»)]」』）"
_ENDING = ".,;:!?…)]”’»。，、；：！？｡）」』؟،۔।"
_SEPARATORS = " :：.–—-"
_SIGNS = re.compile(r"(?:[^\w]|\d\ufe0f?\u20e3)*+")  # such as "1️⃣ "
_LABEL = re.compile(r"(?P<term>[^:：.!?–—]{2,60}?)(?:\s?[:：]\s?|\s[–—-]\s|\.\s)")
_LABEL_WITHIN = re.compile(
    r"""
    (?: (?<=[.!?])\s++ | (?<=\S)[ \t]*+\n\s*+ )
    (?P<signs> (?:[^\w\s]|\d\ufe0f?\u20e3)*+\s*+ )
    (?P<term> [^\W\d_][^:：.!?\n]{1,60}? )
    (?: [:：] | (?=\s[–—]\s) )
    """,
    re.VERBOSE,
)
_PLAIN_LABEL = re.compile(  # not bold
    r"""
    (?: TL;?DR | A | (?:(?:Short|Quick)[ ])?Answer | Bottom[ ]line
    | (?:(?:Key|Main)[ ])?(?:Takeaway|Point) | Summary | In[ ](?:short|summary)
    | Note | Important | Tip | Step[ ]\d{1,2}
    | [\u2600-\u27bf\U0001f000-\U0001faff]\ufe0f?\s+[A-Z]\w+(?:[ ]\w+)? )
    \s?[:：]\s
    """,
    re.IGNORECASE | re.VERBOSE,
)
_DATE_LABEL = re.compile(
    r"""
    (?=.*\d{3}) [\W\d]*+
    (?: (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*+[\W\d]*+ )?
    (?: BCE?|CE|AD|s )?
    """,
    re.VERBOSE,
)
_ANNOUNCES = re.compile(  # "Here are …:", "It includes:"
    r"""
    ^(?: here|there|these|this|below|what|how|why|when|where|which|some|let|you|we|I )\b
    | \b(?: is|are|was|were|includes?|as|by|of|to|with|following|follows|means|says|said
    | contains )\s*:$
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ANNOUNCED = re.compile(  # "Sure! Here's a brief overview of"
    r"""
    ^ (?: (?:sure|certainly|of[ ]course|absolutely)[,.!]?[ ] )?
    (?: here(?:['’]s|[ ]is|[ ]are) | below[ ](?:is|are) )[ ]? (?:(?:an?|the|some)[ ])?
    (?: (?:brief|quick|short|concise|detailed|clear|structured|full|complete|key|main)[ ] ){0,2}
    (?: (?:overview|summary|breakdown|list|table|comparison|outline|details|facts|points)\b
    [ ]?(?:(?:of|on|about|for)[ ])? )?
    """,
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True)
class AnswerPassage:
    """A block of an answer as a reader sees it.

    Attributes:
        text: The text without markup and marks.
        places: The characters of the answer behind each character of the text.
        strong: Number of bold characters at the start.
        cited: A citation mark stands in it.
        cuts: Where a mark behind the stop of a sentence ends the sentence.
        number: Number of an item in a numbered list.
        level: Of a heading, from 1; a bold title is below all others.
        english: The answer is English, or its language is unknown.
        context: What stands above it: the first and the nearest heading, the lead of its list,
            its label. Headings such as "Overview" and "Pros" say nothing and are left out.
    """

    text: str
    places: tuple[Span, ...]
    kind: Kind = "text"
    strong: int = 0
    cited: bool = False
    cuts: tuple[int, ...] = ()
    number: int = 0
    level: int = 0
    english: bool = True
    context: tuple[str, ...] = ()

    @property
    def start(self) -> int:
        return self.places[0][0]

    @property
    def end(self) -> int:
        return self.places[-1][1]

    @cached_property
    def label_end(self) -> int:
        """Length of the label that opens the passage, "**Entry:** …", with what separates it."""
        if self.kind not in ("item", "text"):
            return 0
        plain = _PLAIN_LABEL.match(self.text)
        if plain:
            return plain.end()
        label = _LABEL.match(self.text)
        bold = self.text[: self.strong].rstrip(_SEPARATORS)
        if not label or not bold or bold != label["term"].rstrip() or _DATE_LABEL.fullmatch(bold):
            return 0
        if label[0].rstrip().endswith("."):  # "**Funding.** …", but not "**It is old.** …"
            longest = _LABEL_WORDS if self.english else 1
            if len(bold.split()) > longest or _is_sentence(bold, self.english):
                return 0
        return label.end()

    @property
    def label(self) -> str:
        """The bold term before a colon, a dash or its own stop that opens the passage, or ""."""
        return self.text[: self.label_end].strip(_SEPARATORS)

    @cached_property
    def body(self) -> int:
        """Where the statements begin: behind the label, if the first is a sentence without it."""
        rest = self.text[self.label_end :] if self.label_end else ""
        first = next((rest[start:end] for start, end in sentences(rest)), "")
        return self.label_end if first and _is_sentence(first, self.english) else 0

    @property
    def is_lead_in(self) -> bool:
        """True for a passage that states nothing and introduces the next: a bold title, or a few
        words and a colon.
        """
        words = len(self.text.split())
        if self.is_title or not self.text.endswith(":") or words > _LEAD_IN_WORDS:
            return self.is_title
        if words < 4 or _ANNOUNCES.search(self.text):
            return True
        return not _is_sentence(self.text[:-1], self.english)

    @property
    def is_name(self) -> bool:
        """True for a few words without a stop that are no sentence: "Alder Ltd"."""
        is_short = len(self.text.split()) <= _LEAD_IN_WORDS and not self.cited
        has_stop = self.text[-1:] in f"{_STOPS}:;,"
        return is_short and not has_stop and not _is_sentence(self.text, self.english)

    @property
    def is_title(self) -> bool:
        is_bold = self.strong > 0 and not self.text[self.strong :].strip(": ")
        is_short = len(self.text) <= _TITLE_CHARACTERS
        is_plain = not self.cited and self.text[-1:] not in ".!?"
        return is_bold and is_short and is_plain and not _is_sentence(self.text, self.english)

    def span(self, start: int, end: int) -> Span:
        """Return the characters of the answer behind text[start:end]."""
        return self.places[start][0], self.places[end - 1][1]

    def within(self, start: int, end: int) -> str:
        """Return the text behind a stretch of the answer."""
        written = zip(self.text, self.places, strict=True)
        return "".join(letter for letter, (a, b) in written if start <= a and b <= end)

    def until(self, place: int) -> str:
        """Return the text up to a position of the answer."""
        return self.text[: bisect_right(self.places, place, key=lambda span: span[1])].rstrip()

    def before(self, regions: Sequence[Span]) -> AnswerPassage:
        """Return the passage up to the first of these regions that begins within it."""
        for start, _ in regions:
            if self.start < start < self.end:
                text = self.until(start)
                cuts = tuple(cut for cut in self.cuts if cut < len(text))
                return replace(self, text=text, places=self.places[: len(text)], cuts=cuts)
        return self

    def sentences(self) -> Iterator[Span]:
        """Yield the spans of sentences with words, without an item's number, within the text; a row
        is one sentence.
        """
        if self.kind == "row":
            spans = [(0, len(self.text))]
        else:
            spans = [self._without_signs(start, end) for start, end in self._between_cuts()]
        for start, end in spans:
            if any(c.isalnum() for c in self.text[start:end]):
                yield start, end

    def _without_signs(self, start: int, end: int) -> Span:
        number = _NUMBER.match(self.text, start, end)
        pictures = _LAST_PICTURES.search(self.text, start, end)
        return number.end() if number else start, pictures.start() if pictures else end

    def _between_cuts(self) -> Iterator[Span]:
        value = 0 if self.body else self.label_end  # "**Length.** 12 cm." is one sentence
        cuts = [self.body, *(cut for cut in self.cuts if cut > self.body), len(self.text)]
        for first, last in pairwise(cuts):
            for start, end in sentences(self.text[first:last], number=self.number):
                if first + end > value:
                    yield first + start if first + start > value else self.body, first + end


def _is_sentence(text: str, english: bool) -> bool:
    """Return True if a text has a subject and a verb; outside English, if it has four words and a
    stop at its end.
    """
    if not english:
        is_long = len(text.split()) >= 4 or not text.isascii() and len(text) > 8
        return is_long and text[-1:] in _STOPS
    if has_clause(text):
        return True
    for token in parse(text):
        if token.dep_ == "ROOT" and token.i > 0:
            is_verb = token.tag_ in ("VBZ", "VBP", "MD")
            if is_verb or any(left.dep_ == "nsubj" for left in token.lefts):
                return True
    return False


@lru_cache(maxsize=4)
def passages(answer: str) -> tuple[AnswerPassage, ...]:
    """Return all passages with text, in order."""
    english = is_english(answer)
    blocks = [replace(block, english=english) for block in _blocks(read(answer)) if block.text]
    return tuple(_in_context(blocks))


def _in_context(blocks: Sequence[AnswerPassage]) -> Iterator[AnswerPassage]:
    """Give each passage the headings, the lead and the label above it.

    A few words without a stop are the heading of the items below them.
    """
    headings: list[AnswerPassage] = []  # outermost first
    lead = ""
    for block, following in zip_longest(blocks, blocks[1:]):
        is_name = block.kind == "text" and following and following.kind == "item"
        if is_name and block.is_name:
            block = replace(block, kind="heading", level=LOWEST)
        if block.kind == "heading":
            headings = [h for h in headings if h.level < block.level]
            headings.append(block)
            lead = ""
            yield block
            continue
        names = [name for name in map(_subject, headings) if name]
        label = block.label if block.body else ""
        context = (*names[:1], *names[1:][-1:], lead, label)
        yield replace(block, context=tuple(filter(None, context)))
        if block.kind == "text":
            lead = _subject(block) if block.text.endswith(":") else ""


def _subject(block: AnswerPassage) -> str:
    """Return what a heading or a lead names; empty if it only says what kind of text follows."""
    text = _ANNOUNCED.sub("", block.text)[-MAX_CONTEXT:]
    words = " ".join(_WORD.findall(text)).casefold()
    return "" if words in GENERIC else text


def statements(answer: str) -> list[AnswerPassage]:
    """Return the passages that can hold claims: no headings, code, footnotes, lead-ins or lists of
    sources.
    """
    lists = listed(answer)
    selected = []
    for passage in passages(answer):
        passage = passage.before(lists.regions)
        has_words = any(map(str.isalnum, passage.text))
        is_statement = passage.kind in ("text", "item", "row") and not passage.is_lead_in
        if is_statement and has_words and not lists.holds(passage.start):
            selected.append(passage)
    return selected


def plain(source: str) -> str:
    """Return a short Markdown text without markup, on one line."""
    return " ".join(p.text for p in passages(source))


def visible(answer: str, start: int, end: int) -> str:
    """Return a part of an answer as displayed: without citation marks, a cell with its heads.

    Args:
        answer: The answer.
        start: The first character of the part.
        end: Behind its last one.
    """
    parts = [block.within(start, end) for block in passages(answer)]
    return " ".join(filter(None, map(str.strip, parts)))


def beginning(answer: str) -> str:
    """Return the first words of an answer's first heading or paragraph, for a title."""
    first = next((passage.text for passage in passages(answer)), "")
    words = first.split()
    end = " …" if len(words) > _OPENING_WORDS else ""
    return " ".join(words[:_OPENING_WORDS]) + end


def _blocks(block: Element) -> Iterator[AnswerPassage]:
    for number, child in enumerate(block.elements):
        if child.tag == "p":
            is_item = block.tag == "li" and number == 0
            kind: Kind = "note" if child.role == "note" else "item" if is_item else "text"
            count = int(block.number) if is_item and block.number.isdecimal() else 0
            yield from (replace(passage, number=count) for passage in _paragraph(child, kind))
        elif child.tag == "pre":
            yield _flat(_characters(child), "code")
        elif child.tag == "table":
            yield from _rows(child)
        elif child.tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            yield replace(_flat(_characters(child), "heading"), level=int(child.tag[1]))
        else:
            yield from _blocks(child)


class _PlacedCharacter(NamedTuple):
    text: str  # empty for a citation mark
    place: Span
    bold: bool


def _paragraph(block: Element, kind: Kind) -> Iterator[AnswerPassage]:
    """Yield a paragraph; a bold title on its first line becomes a heading, except in an item."""
    characters = list(_characters(block))
    if kind == "text":
        breaks = (i for i, c in enumerate(characters) if c.text in ("\r", "\n"))
        line = next(breaks, len(characters))
        title = _flat(characters[:line], "heading")
        if title.is_title:
            yield replace(title, level=LOWEST)
            characters = characters[line:]
    for start, end in pairwise((0, *_labels(characters), len(characters))):
        yield _flat(characters[start:end], kind)


def _labels(characters: Sequence[_PlacedCharacter]) -> list[int]:
    """Find where a line with a picture, or a bold label with a colon, begins within a paragraph."""
    text = "".join(c.text or " " for c in characters)  # a mark in place of its characters is one
    starts = {match.end() for match in _LINE_WITH_PICTURE.finditer(text)}
    sign = _FIRST_PICTURE.match(text)
    if sign:  # "✅ One thing ✅ another"
        starts |= {m.start() + 1 for m in re.finditer(rf"\s{re.escape(sign[0])}", text)}
    for match in _LABEL_WITHIN.finditer(text):
        start, end = match.span("term")
        if not characters[start - 1].bold and all(c.bold for c in characters[start:end]):
            starts.add(match.start("signs"))
    return sorted(starts)


def _rows(table: Element) -> Iterator[AnswerPassage]:
    """Yield each cell with the heads of its column and its row."""
    rows = [
        [_flat(_characters(cell), "row") for cell in row.elements]
        for part in table.elements
        for row in part.elements
    ]
    if len(rows) < 2:
        return
    heads = [cell.text.rstrip(": ") for cell in rows[0]]
    texts = [[cell.text for cell in cells] for cells in rows[1:]]
    for cells, row in zip(rows[1:], wordings(heads, texts), strict=True):
        for cell, said in zip(cells, row, strict=True):
            if said and cell.places:
                yield _said(cell, said)


def _said(cell: AnswerPassage, said: Wording) -> AnswerPassage:
    """Return a cell with the words around it, which point at its edges."""
    inner, places = (cell.text, cell.places) if said.has_cell else ("", ())
    before = (cell.start, cell.start if said.has_cell else cell.end)
    after = (cell.end, cell.end)
    places = (*[before] * len(said.before), *places, *[after] * len(said.after))
    return AnswerPassage(said.before + inner + said.after, places, "row")


def _characters(block: Element, bold: bool = False) -> Iterator[_PlacedCharacter]:
    for child in block.children:
        if isinstance(child, Written):
            for written in _LETTER.finditer(child.text):
                place = (child.start, child.end)
                if child.verbatim:
                    place = (child.start + written.start(), child.start + written.end())
                for letter in composed(written[0]):
                    yield _PlacedCharacter(letter, place, bold)
        elif child.tag == "img":
            yield _PlacedCharacter(" ", (-1, -1), bold)
        elif child.tag == "cite":
            places = ((text.start, text.end) for text in child.texts())
            yield _PlacedCharacter("", next(places, (-1, -1)), bold)
        else:
            yield from _characters(child, bold or child.tag == "strong")


def _flat(characters: Iterable[_PlacedCharacter], kind: Kind) -> AnswerPassage:
    """Put characters on a line with single spaces, without marks and what only belongs to them."""
    shown: list[_PlacedCharacter] = []
    cuts: list[int] = []
    cited = False
    mark: Span | None = None  # the first character of a citation mark since the last word
    comma = -1  # the place of a comma that stands behind a mark
    for character in characters:
        text = character.text
        follows_space = bool(shown) and shown[-1].text == " "
        if not text:
            cited = True
            if comma >= 0:  # "[1], [2]"
                del shown[comma:]
                comma = -1
            mark = mark or (character.place[0], character.place[0] + 1)
        elif text.isspace() or text in _NO_WIDTH:
            if shown and not follows_space:
                shown.append(character._replace(text=" "))
        elif mark and text == "." and _ends(shown):  # "It is so. [1]."
            continue
        else:
            if mark and follows_space and text in _ENDING:
                shown.pop()
            elif mark and _starts(text) and _ends(shown):
                shown += [] if follows_space else [_PlacedCharacter(" ", mark, False)]
                cuts.append(len(shown))
            comma = len(shown) if mark and text in ",;" else -1
            mark = None
            shown.append(character)
    if shown and shown[-1].text == " ":
        shown.pop()
    whole = "".join(c.text for c in shown)
    signs = _SIGNS.match(whole)  # "🗼 **Height**: …"
    first = signs.end() if signs else 0
    strong = next((i for i in range(first, len(shown)) if not shown[i].bold), len(shown))
    return AnswerPassage(
        whole,
        tuple(c.place for c in shown),
        kind,
        strong if strong > first else 0,
        cited,
        tuple(cuts),
    )


def _starts(character: str) -> bool:
    """Return True if a sentence can begin with this character."""
    return not character.islower() and (character.isalnum() or character in _OPENING)


def _ends(shown: Sequence[_PlacedCharacter]) -> bool:
    """Return True if the last sign is a stop, closing quotes and brackets aside."""
    last = next((c.text for c in reversed(shown) if c.text not in _CLOSING), "")
    return bool(last) and last in _STOPS
