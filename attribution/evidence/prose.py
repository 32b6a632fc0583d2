"""Blank what a verifier should not read of a page: bare addresses, reference lists, navigation,
headings, citation marks, and the rows and blocks about things that a claim leaves out.

They are blanked, not cut out, so that offsets into the text stay true.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from attribution.text.marks import without_numbers
from attribution.text.words import STOP_WORDS, words_of

HEADING_WORDS = 8  # a longer line is no heading
LONGEST_LINE = 10_000  # characters: a longer one is no reference and no navigation either
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
# found sooner than an address, and every address has one
_PART_OF_ADDRESS = re.compile(r"[/@]|www\.|doi:|mailto:", re.IGNORECASE)
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
    \s*(?: \^ | \[\d{1,3}\] | \d{1,3}\.\s | [-*•–]\s
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
_NAVIGATION = re.compile(
    r"""
    \W*(?: (?:skip|jump)[ ]to[ ](?:main[ ])?(?:content|navigation|search)
    | (?:back|return)[ ]to[ ](?:top|home) | home | menu | log[ ]?in | sign[ ](?:in|up)
    | subscribe(?:[ ]now)? | share(?:[ ]this)?(?:[ ]on[ ]\w+)? | tweet | print
    | (?:read|learn)[ ]more | (?:contact|about)(?:[ ]us)? | search
    | (?:next|previous)(?:[ ]page)? | privacy[ ]policy | terms[ ]of[ ](?:use|service)
    | cookies?(?:[ ]\w+)? | all[ ]rights[ ]reserved | edit | main[ ]page
    | (?:table[ ]of[ ])?contents | advertisement )\W*
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
_SEPARATOR = re.compile(r"[|·•»>/]")
_END = re.compile(r"[.!?;:…。！？][\"'”’)\]]*$")
_VERB = re.compile(
    r"""
    \b(?: is|are|was|were|be|been|has|have|had|does|did|do|can|could|will|would|shall|should
    | may|might|must|became|won|made|wrote|born|died|built|found|led|began|took|held
    | [a-z]{2,}ed )\b
    """,
    re.VERBOSE,
)
_ITEM = re.compile(r"\s*(?:[-*•–▪]|\(?\d{1,3}[.)])\s")

# Rows, "Alder: Built 1998; Owner Osen", and blocks: a name on a line of its own above "Berths: 6"
NEAR = 4  # lines below a name in which a label stands
ROW = re.compile(r"[ \t]*(?P<name>[^:;|\n]{2,60}):[ ][^;\n]+;[ ][^\n]+")
HEAD = re.compile(r"^[^:;|\n]{1,60}(?: \| [^:;|\n]{0,60}){1,20}$", re.MULTILINE)
LABELLED = re.compile(r"\W{0,4}[^\W\d_][^:|\n]{0,40}:[ \t]\S")
NAME = re.compile(r"\W{0,8}(?P<name>[^\W_][^:;|.!?\n]{1,58}[^\W_.!?:;|])\W{0,4}")


def prose(text: str) -> str:
    """Return the text with blanks in place of lines that state nothing, and of marks in others."""
    lines = []
    is_reference_list = False
    written = text.split("\n")
    for number, line in enumerate(written):
        if _REFERENCE_HEADING.fullmatch(line[:LONGEST_LINE]):
            is_reference_list = True
        elif line.strip() and not _is_listed_reference(line):
            is_reference_list = False
        is_name = heads_a_block(line, written[number + 1 : number + 1 + NEAR])
        is_blank = is_reference_list or states_nothing(line) and not is_name
        marked = _NOTE.sub(lambda note: " " * len(note[0]), without_numbers(line))
        lines.append(" " * len(line) if is_blank else marked)
    return "\n".join(lines)


def states_nothing(line: str) -> bool:
    """Return True if a line is only an address, an entry of a reference list, navigation or a
    heading.
    """
    words = line.split()
    if not words or len(line) > LONGEST_LINE:
        return not words
    rest = _ADDRESS.sub(" ", line) if _PART_OF_ADDRESS.search(line) else line
    beside = [word for word in rest.split() if any(map(str.isalnum, word))]
    if rest != line and len(beside) <= _AROUND_ADDRESS:
        return True
    unquoted = line.split("“")[0].split('"')[0]
    if _REFERENCE_MARK.match(line) and _REFERENCE.search(line) and not _VERB.search(unquoted):
        return True
    cells = [cell for cell in _SEPARATOR.split(line) if cell.strip()]
    links = sum(bool(_NAVIGATION.fullmatch(cell)) for cell in cells)
    if _NAVIGATION.fullmatch(line) or len(cells) >= 3 and links * 2 >= len(cells):
        return True
    return len(words) <= HEADING_WORDS and _is_heading(line)


def _is_listed_reference(line: str) -> bool:
    """Below the heading of a list of references, the mark of an entry alone makes one."""
    if len(line) > LONGEST_LINE:
        return False
    return any(p.search(line) for p in (_REFERENCE, _ADDRESS)) or bool(_REFERENCE_MARK.match(line))


def _is_heading(line: str) -> bool:
    """Return True without a verb, a figure, a colon or an end mark; no item and no row is one."""
    if _END.search(line.rstrip()) or _ITEM.match(line) or _VERB.search(line):
        return False
    return not any(c in "|:" or c.isdigit() for c in line)


# --- rows and blocks ---


class Section(NamedTuple):
    """A row or a block of a text, `text[start:end]`."""

    name: str
    start: int
    end: int


def heads_a_block(line: str, following: Sequence[str]) -> bool:
    """Return True for a name above lines such as "Berths: 6"."""
    if not NAME.fullmatch(line) or LABELLED.match(line):
        return False
    has_gap = line.startswith("#") and not "".join(following[:1]).strip()
    block = takewhile(_is_within, following[int(has_gap) :])
    return any(map(LABELLED.match, block))


def _is_within(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")


def sections(text: str) -> list[Section]:
    """Return the rows and blocks of a text in order; none if there is only one."""
    found: list[Section] = []
    is_open = False  # the last section goes on
    start = 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        row = ROW.fullmatch(line)
        is_first = number == 0 or not lines[number - 1].strip() or line.startswith("#")
        name = NAME.fullmatch(line) if is_first else None
        if row:
            found.append(Section(row["name"], start, start + len(line)))
            is_open = False
        elif name and heads_a_block(line, lines[number + 1 : number + 1 + NEAR]):
            found.append(Section(name["name"], start, start + len(line)))
            is_open = True
        elif is_open and line.strip():
            found[-1] = found[-1]._replace(end=start + len(line))
        elif found and line.strip():
            is_open = False
        start += len(line) + 1
    return found if len(found) > 1 else []


def about_named(claim: str, text: str) -> str:
    """Return a source with the rows and blocks of things that a claim leaves out blanked.

    All stay where the claim names none of them. The head of a table, whose words are in its rows,
    is blanked too.
    """
    parts = sections(text)
    words = set(words_of(claim))
    others = [part for part in parts if not _names(words, part)]
    if len(others) == len(parts):
        return text
    for part in others:
        text = text[: part.start] + " " * (part.end - part.start) + text[part.end :]
    return HEAD.sub(lambda head: " " * len(head[0]), text)


def _names(words: set[str], part: Section) -> bool:
    name = set(words_of(part.name)) - STOP_WORDS
    return bool(name) and name <= words
