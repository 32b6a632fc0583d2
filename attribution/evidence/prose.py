"""Blank what a verifier should not read of a source.

Of every page: bare addresses, reference lists and citation marks. For a claim that names a row, a
column or a block: what is about its neighbours. They are blanked, not cut out, so that
offsets into the text stay true.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from attribution.text.marks import without_numbers
from attribution.text.words import terms
from attribution.types import Span

NEAR = 4  # lines below a name in which a label stands
NAMED = 0.6  # share of the words of a row's name that a claim has: "Net income (loss)"
ROW = re.compile(r"[ \t]*(?P<name>[^:;|\n]{2,60}):[ ](?P<cells>[^\n]+)")
HEAD = re.compile(r"[^:;|\n]{1,60}(?: \| [^:;|\n]{0,60}){1,20}")
_CELL = re.compile(r"[^;]+;?")
_IN_BRACKETS = re.compile(r"\([^()]*\)")
LABELLED = re.compile(r"\W{0,4}[^\W\d_][^:|\n]{0,40}:[ \t]\S")
NAME = re.compile(r"\W{0,8}[^\W_][^:;|.!?\n]{1,58}[^\W_.!?:;|]\W{0,4}")
_COMPARES = re.compile(  # such a claim needs more than what it names
    r"""
    \b(?: than(?![ ]\W?\d) | compared | both | each | every | other | others
    | rose | grew | fell | (?:increas|decreas|declin|chang|differ)\w*
    | (?:high|low|larg|small|bigg|old|young|new|long|short|fast|slow|cheap|great)est | most | least
    )\b
    """,
    re.VERBOSE | re.IGNORECASE,
)


@dataclass
class Section:
    """A row or a block of a text.

    Attributes:
        columns: The names of a row's columns, as far as known; None for a block.
        has_label: A line of the block is labelled.
    """

    name: str
    start: int
    end: int
    columns: Sequence[str] | None = None
    has_label: bool = False


def about_named(claim: str, text: str) -> str:
    """Return a source with the parts about what a claim doesn't name blanked.

    All rows, columns or blocks stay where the claim names none of them. The head of a
    table, whose words are in its rows, is blanked with others. A claim that compares needs all.
    """
    if _COMPARES.search(claim):
        return text
    sections, heads = _sections(text)
    words = _keys(claim)
    named = _named(words, sections, text)
    others = [(section.start, section.end) for section in sections if section not in named]
    for section in named:
        others += _other_cells(words, section, text)
    return _blanked(text, [*others, *heads]) if others else text


def heads_a_block(line: str, following: Sequence[str]) -> bool:
    """Return True for a name above lines such as "Berths: 6", which may stand in a list below."""
    if not NAME.fullmatch(line) or LABELLED.match(line):
        return False
    has_gap = not "".join(following[:1]).strip()
    below = following[int(has_gap) :]
    if has_gap and not line.startswith("#") and not "".join(below[:1]).startswith("- "):
        return False
    return any(map(LABELLED.match, takewhile(_is_below_name, below)))


def _is_below_name(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")


def _blanked(text: str, spans: Sequence[Span]) -> str:
    pieces: list[str] = []
    shown = 0
    for start, end in sorted(spans):
        pieces += [text[shown:start], " " * (end - start)]
        shown = end
    return "".join([*pieces, text[shown:]])


def _keys(text: str) -> frozenset[str]:
    """Return the stems of content words, and the numbers."""
    words = terms(text)
    return words.content | words.numbers


def _sections(text: str) -> tuple[list[Section], list[Span]]:
    """Return the rows and blocks of a text, and the heads of tables."""
    sections: list[Section] = []
    heads: list[Span] = []
    names: list[str] = []  # of the columns
    block: Section | None = None  # that goes on
    start = 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        end = start + len(line)
        row = ROW.fullmatch(line)
        is_first = number == 0 or not lines[number - 1].strip() or line.startswith("#")
        if HEAD.fullmatch(line):
            names += filter(None, line.split(" | "))
            heads.append((start, end))
            block = None
        elif row and (";" in line or row["cells"].startswith(tuple(names))):
            sections.append(Section(row["name"], start, end, names))
            block = None
        elif is_first and heads_a_block(line, lines[number + 1 : number + 2 + NEAR]):
            block = Section(line, start, end)
            sections.append(block)
        elif block and line.strip():
            block.end = end
            block.has_label |= bool(LABELLED.match(line))
        elif block and block.has_label:
            block = None
        start = end + 1
    return sections, heads


def _named(words: frozenset[str], sections: Sequence[Section], text: str) -> list[Section]:
    """Return the sections whose name a claim has best, or else those that have its words in a cell.

    Of sections with one name those with most words of the claim count.
    """
    best = max((_share(words, section.name) for section in sections), default=0.0)
    by_name: defaultdict[str, list[Section]] = defaultdict(list)
    for section in sections:
        if best < NAMED:
            by_name[section.name if section.columns is None else ""].append(section)
        elif _share(words, section.name) == best:
            by_name[section.name].append(section)
    selected: list[Section] = []
    for alike in by_name.values():
        shared = [len(words & terms(text[s.start : s.end]).content) for s in alike]
        most = max(shared)
        selected += [s for s, count in zip(alike, shared, strict=True) if count == most]
    return selected


def _share(words: frozenset[str], name: str) -> float:
    keys = _keys(name)
    return len(keys & words) / len(keys) if keys else 0.0


def _other_cells(words: frozenset[str], row: Section, text: str) -> list[Span]:
    """Return the cells that a claim leaves out, if it has the column or a word of another one."""
    names = "|".join(map(re.escape, sorted(row.columns or (), key=len, reverse=True)))
    heads = re.compile(rf"\s*(?:(?:{names})\s+)+")
    named: list[Span] = []
    others: list[Span] = []
    for cell in _CELL.finditer(text, text.find(":", row.start) + 1, row.end):
        head = heads.match(cell[0])
        if head and names:
            is_named = _share(words, _IN_BRACKETS.sub("", head[0])) == 1
            has_word = terms(cell[0][head.end() :]).content & words
            (named if is_named or has_word else others).append(cell.span())
    return others if named else []


LONGEST_LINE = 10_000  # characters of a line that are looked at
_AROUND_ADDRESS = 4  # words beside an address that make no statement yet: "Retrieved from …"
_ADDRESS = re.compile(
    r"""
    (?: https?:// | www\. | doi: | mailto: )\S+
    | \b10\.\d{4,9}/\S+
    # "name@host.org", read in one go: up to the first @ of a word, then as far as its last dot with
    # a letter behind it
    | (?<!\S)\S[^\s@]*+@\S(?:[^\s.]*+(?:\.(?!\w)[^\s.]*+)*+\.\w++)++
    """,
    re.IGNORECASE | re.VERBOSE,
)
_REFERENCE = re.compile(
    r"""
    \b(?:doi|ISBN|ISSN|PMID|arXiv)\b
    | \bRetrieved[ ](?:on[ ])?\d | \bRetrieved[ ][A-Z][a-z]+[ ]\d | \bArchived[ ](?:from|on)\b
    | \bAccessed[ ](?:on[ ])?\d | \bpp?\.[ ]?\d+(?:[-–]\d+)? | \bvol\.[ ]?\d
    | \bet[ ]al\.,?[ ]\(?\d{4} | \b\d+[ ]?\(\d+\):[ ]?\d+[-–]\d+
    """,
    re.IGNORECASE | re.VERBOSE,
)
_REFERENCE_MARK = re.compile(
    r"""
    ^\s*(?: \^ | \[\d{1,3}\] | \d{1,3}\.\s | [-*•–]\s
    | [A-Z][\w'’-]+,[ ](?:[A-Z]\.|[A-Z][\w-]+) )
    """,
    re.VERBOSE,
)
_REFERENCE_HEADING = re.compile(
    r"""
    \W*(?: references? | bibliography | works[ ]cited | citations | external[ ]links
    | see[ ]also | further[ ]reading | footnotes )\W*
    """,
    re.IGNORECASE | re.VERBOSE,
)
# "[a]" is a note, "[t]he" a quotation that its writer fitted in
_NOTE = re.compile(
    r"""
    \[(?: (?:note|nb|n|lower-alpha)[ ]?\d{1,3} | [a-z] | edit | citation[ ]needed
    | better[ ]source[ ]needed )\](?!\w)
    """,
    re.VERBOSE,
)
_VERB = re.compile(
    r"""
    \b(?: is|are|was|were|be|been|has|have|had|does|did|do|can|could|will|would|shall|should
    | may|might|must|became|won|made|wrote|born|died|built|found|led|began|took|held
    | [a-z]{2,}ed )\b
    """,
    re.VERBOSE,
)


def prose(text: str) -> str:
    """Return the text with blanks in place of lines that state nothing, and of marks in others."""
    lines = []
    is_reference_list = False
    for line in text.split("\n"):
        start = line[:LONGEST_LINE]
        if _REFERENCE_HEADING.fullmatch(start):
            is_reference_list = True
        elif start.strip() and not _is_listed_reference(start):
            is_reference_list = False
        is_blank = is_reference_list or states_nothing(start)
        marked = _NOTE.sub(lambda note: " " * len(note[0]), without_numbers(line))
        lines.append(" " * len(line) if is_blank else marked)
    return "\n".join(lines)


def states_nothing(line: str) -> bool:
    """Return True if a line is only an address or an entry of a reference list."""
    rest = _ADDRESS.sub(" ", line)
    beside = [word for word in rest.split() if any(map(str.isalnum, word))]
    if rest != line and len(beside) <= _AROUND_ADDRESS:
        return True
    is_reference = _REFERENCE_MARK.match(line) and _REFERENCE.search(line)
    unquoted = line.split("“")[0].split('"')[0]
    return bool(is_reference) and not _VERB.search(unquoted)


def _is_listed_reference(line: str) -> bool:
    """Below the heading of a list of references, the mark of an entry alone makes one."""
    return any(form.search(line) for form in (_REFERENCE, _ADDRESS, _REFERENCE_MARK))
