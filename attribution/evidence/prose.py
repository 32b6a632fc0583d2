"""Blank what a verifier should not read of a page: bare addresses, reference lists, navigation,
headings and citation marks.

They are blanked, not cut out, so that offsets into the text stay true.
"""

from __future__ import annotations

import re

from attribution.evidence.sections import NEAR, heads_a_block
from attribution.text.marks import without_numbers

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
