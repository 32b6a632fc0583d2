"""Blank what a verifier should not read of a source.

Of every page: bare addresses, reference lists, navigation, headings and citation marks. For a claim
that names a row, a column, a block or a clause: what is about its neighbours. They are blanked, not
cut out, so that offsets into the text stay true.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from attribution.text.marks import without_numbers
from attribution.text.words import terms
from attribution.types import Span

NEAR = 4  # lines below a name in which a label stands
NAMED = 0.6  # share of the words of a row's name that a claim has: "Net income (loss)"
ROW = re.compile(r"[ \t]*(?P<name>[^:;|\n]{2,60}):[ ](?P<cells>[^\n]+)")
HEAD = re.compile(r"[^:;|\n]{1,60}(?: \| [^:;|\n]{0,60}){1,20}")
LABELLED = re.compile(r"\W{0,4}(?P<label>[^\W\d_][^:|\n]{0,40}):[ \t]\S")
NAME = re.compile(r"\W{0,8}[^\W_][^:;|.!?\n]{1,58}[^\W_.!?:;|]\W{0,4}")
_CELL = re.compile(r"[^;]+;?")
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_COMPARES = re.compile(  # such a claim needs more than what it names
    r"""
    \b(?: than(?![ ]\W?\d) | compared | both | each | every | other | others
    | rose | grew | fell | (?:increas|decreas|declin|chang|differ)\w*
    | (?:high|low|larg|small|bigg|old|young|new|long|short|fast|slow|cheap|great)est | most | least
    )\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NUMBER = r"\d{1,3}(?:\.\d{1,3})*|[IVXL]{1,6}"
_KIND = r"(?:§|(?:Article|Section|Clause|Chapter|Paragraph|Rule|Part)\b)[ ]?"
_CITED = re.compile(rf"{_KIND}(?P<number>{_NUMBER})(?![\w%]|\.\d)", re.IGNORECASE)
_CLAUSE = re.compile(  # at the start of a line: "§ 2", "2.1 It", "- 2. It"
    rf"""
    {_KIND}(?P<number>{_NUMBER})(?![\w%])
    | (?:-[ ])?(?P<bare>\d{{1,3}}(?:\.\d{{1,3}})+|\d{{1,3}}(?=\.))\.?[ ]
    """,
    re.IGNORECASE | re.VERBOSE,
)


@dataclass
class Section:
    """A row or a block of a text.

    Attributes:
        parts: The names of its cells or labelled lines, empty for one without, by their spans.
    """

    name: str
    start: int
    end: int
    is_row: bool = False
    parts: dict[Span, str] = field(default_factory=dict)


def about_named(claim: str, text: str) -> str:
    """Return a source with the parts about what a claim doesn't name blanked.

    All rows, columns, blocks or clauses stay where the claim names none of them. The head of a
    table, whose words are in its rows, is blanked with others. A claim that compares needs all.
    """
    text = _without_other_clauses(claim, text)
    if _COMPARES.search(claim):
        return text
    sections, heads = _sections(text)
    words = _keys(claim)
    named = {section.start for section in _named(words, sections, text)}
    others: list[Span] = []
    for section in sections:
        if section.start in named:
            others += _other_parts(words, section, text)
        else:
            others.append((section.start, section.end))
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
        row = _row(line, start, names)
        is_first = number == 0 or not lines[number - 1].strip() or line.startswith("#")
        if HEAD.fullmatch(line):
            names += line.split(" | ")
            heads.append((start, end))
            block = None
        elif row:
            sections.append(row)
            block = None
        elif is_first and heads_a_block(line, lines[number + 1 : number + 2 + NEAR]):
            block = Section(line, start, end)
            sections.append(block)
        elif block and line.strip():
            block.end = end
            label = LABELLED.match(line)
            if label:
                block.parts[start, end] = label["label"]
        elif block and block.parts:
            block = None
        start = end + 1
    return sections, heads


def _row(line: str, start: int, names: Sequence[str]) -> Section | None:
    """Return a line "Alder: Built 1998; Owner Osen" as a section.

    With one cell it is a row only if that begins with the name of a column.
    """
    row = ROW.fullmatch(line)
    if not row:
        return None
    parts: dict[Span, str] = {}
    known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True) if name)
    heads = re.compile(rf"\s*((?:(?:{known})\s+)*)") if known else re.compile("()")
    for cell in _CELL.finditer(line, row.start("cells")):
        head = heads.match(cell[0])
        parts[start + cell.start(), start + cell.end()] = head[1] if head else ""
    is_row = len(parts) > 1 or any(parts.values())
    return Section(row["name"], start, start + len(line), True, parts) if is_row else None


def _named(words: frozenset[str], sections: Sequence[Section], text: str) -> list[Section]:
    """Return the sections whose name a claim has best, or else those that have its words in a cell.

    Of sections with one name those with most words of the claim count.
    """
    best = max((_share(words, section.name) for section in sections), default=0.0)
    by_name: defaultdict[str, list[Section]] = defaultdict(list)
    for section in sections:
        if best < NAMED:
            by_name["" if section.is_row else section.name].append(section)
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


def _other_parts(words: frozenset[str], section: Section, text: str) -> list[Span]:
    """Return the cells or lines that a claim leaves out, if it has the name of one."""
    named_parts = {span: name for span, name in section.parts.items() if name}
    others: list[Span] = []
    for span, name in named_parts.items():
        values = terms(text[slice(*span)]).content - terms(name).content
        if _share(words, _IN_BRACKETS.sub("", name)) < 1 and not values & words:
            others.append(span)
    return others if len(others) < len(named_parts) else []


def _without_other_clauses(claim: str, text: str) -> str:
    """Return a text without the clauses that a claim doesn't cite, if it cites some of them."""
    cited = {match["number"].upper() for match in _CITED.finditer(claim)}
    numbers: set[str] = set()
    lines: list[str] = []
    is_kept = True
    for line in text.split("\n"):
        clause = _CLAUSE.match(line)
        if clause:
            number = (clause["number"] or clause["bare"]).upper()
            numbers.add(number)
            is_kept = any(_is_within_clause(number, other) for other in cited)
        lines.append(line if is_kept else " " * len(line))
    return "\n".join(lines) if cited & numbers else text


def _is_within_clause(number: str, cited: str) -> bool:
    """Return True for the clause itself, and for those above and below it."""
    return f"{number}.".startswith(f"{cited}.") or f"{cited}.".startswith(f"{number}.")


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
    if rest != line:
        beside = [word for word in rest.split() if any(map(str.isalnum, word))]
        if len(beside) <= _AROUND_ADDRESS:
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
