"""Blank the parts of a page that state nothing: bare addresses, reference lists, navigation,
headings, citation marks.

They are blanked for a verifier, not cut out, so that offsets into the text stay true.
"""

from __future__ import annotations

import re

from attribution.text.marks import without_numbers

HEADING_WORDS = 8  # a longer line is no heading
LONGEST_LINE = 10_000  # characters: a longer one is no reference and no navigation either
_ADDRESS = re.compile(
    r"(?:https?://|www\.|doi:|mailto:)\S+|\b10\.\d{4,9}/\S+"
    # "name@host.org", read in one go: up to the first @ of a word, then as far as its last dot with
    # a letter behind it
    r"|(?<!\S)\S[^\s@]*+@\S(?:[^\s.]*+(?:\.(?!\w)[^\s.]*+)*+\.\w++)++",
    re.IGNORECASE,
)
_PART_OF_ADDRESS = re.compile(
    r"[/@]|www\.|doi:|mailto:", re.IGNORECASE
)  # found sooner, and every address has one
_AROUND_ADDRESS = 4  # words beside an address that make no statement yet: "Retrieved from …"
_REFERENCE = re.compile(
    r"\b(?:doi|ISBN|ISSN|PMID|arXiv)\b|\bRetrieved (?:on )?\d|\bRetrieved [A-Z][a-z]+ \d|\bArchived (?:from|on)\b"
    r"|\bAccessed (?:on )?\d|\bpp?\. ?\d+(?:[-–]\d+)?|\bvol\. ?\d|\bet al\.,? \(?\d{4}|\b\d+ ?\(\d+\): ?\d+[-–]\d+",
    re.IGNORECASE,
)
_REFERENCE_MARK = re.compile(
    r"\s*(?:\^|\[\d{1,3}\]|\d{1,3}\.\s|[-*•–]\s|[A-Z][\w'’-]+, (?:[A-Z]\.|[A-Z][\w-]+))"
)
_REFERENCE_HEADING = re.compile(
    r"\W*(?:references?|bibliography|works cited|citations|external links|see also|further reading|footnotes)\W*",
    re.IGNORECASE,
)
_NAVIGATION = re.compile(
    r"\W*(?:(?:skip|jump) to (?:main )?(?:content|navigation|search)|(?:back|return) to (?:top|home)|home|menu|log ?in|"
    r"sign (?:in|up)|subscribe(?: now)?|share(?: this)?(?: on \w+)?|tweet|print|read more|learn more|contact(?: us)?|"
    r"about(?: us)?|search|next(?: page)?|previous(?: page)?|privacy policy|terms of (?:use|service)|cookies?(?: \w+)?|"
    r"all rights reserved|edit|main page|table of contents|contents|advertisement)\W*",
    re.IGNORECASE,
)
# "[a]" is a note, "[t]he" a quotation that its writer fitted in
_NOTE = re.compile(
    r"\[(?:(?:note|nb|n|lower-alpha) ?\d{1,3}|[a-z]|edit|citation needed|better source needed)\](?!\w)"
)
_SEPARATOR = re.compile(r"[|·•»>/]")
_END = re.compile(r"[.!?;:…。！？][\"'”’)\]]*$")
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|does|did|do|can|could|will|would|shall|should|may|might|must|became|won|"
    r"made|wrote|born|died|built|found|led|began|took|held|[a-z]{2,}ed)\b"
)
# three or more lines that begin with capitals, the last of which ends a sentence
_VERSE = re.compile(
    r"^(?:[\"“‘(]?[A-Z][^\n:|]{5,70}\n){2,60}[\"“‘(]?[A-Z][^\n:|]{2,70}(?<=[.!?;])[\"”’)]?$",
    re.MULTILINE,
)
_GOES_ON = re.compile(
    r"[^\s.!?]\n[\"“‘(]?(?:And|Or|But|Nor|Of|Was|Were|Is|Had|Who|That|Which|Until|To|With|From|By|Than)\b"
)
_WITHIN = re.compile(r"(?<=[^\s.!?:;…\"”’])\n")
_ITEM = re.compile(r"\s*(?:[-*•–▪]|\(?\d{1,3}[.)])\s")


def prose(text: str) -> str:
    """The text with spaces in place of what states nothing: whole lines, marks in others. As long
    as the text.
    """
    lines = []
    references = False
    for line in _as_sentences(text).split("\n"):
        if len(line) > LONGEST_LINE:
            references = False
        elif _REFERENCE_HEADING.fullmatch(line):
            references = True
        elif line.strip() and references and not _is_reference(line, listed=True):
            references = False
        lines.append(
            " " * len(line) if references or states_nothing(line) else _without_marks(line)
        )
    return "\n".join(lines)


def _as_sentences(text: str) -> str:
    """The text with a blank for the end of a line of verse within a sentence."""

    def joined(verse: re.Match[str]) -> str:
        return _WITHIN.sub(" ", verse[0]) if _GOES_ON.search(verse[0]) else verse[0]

    return _VERSE.sub(joined, text)


def _without_marks(line: str) -> str:
    return _NOTE.sub(lambda found: " " * len(found[0]), without_numbers(line))


def states_nothing(line: str) -> bool:
    """Return True if a line is only an address, an entry of a reference list, navigation or a
    heading.
    """
    if len(line) > LONGEST_LINE:
        return line.isspace()
    words = line.split()
    if not words:
        return True
    rest = _ADDRESS.sub(" ", line) if _PART_OF_ADDRESS.search(line) else line
    if (
        rest != line
        and len([w for w in rest.split() if any(map(str.isalnum, w))]) <= _AROUND_ADDRESS
    ):
        return True
    if _is_reference(line) or _NAVIGATION.fullmatch(line):
        return True
    cells = [cell for cell in _SEPARATOR.split(line) if cell.strip()]
    if len(cells) >= 3 and sum(bool(_NAVIGATION.fullmatch(cell)) for cell in cells) * 2 >= len(
        cells
    ):
        return True
    return _is_heading(line, words)


def _is_reference(line: str, listed: bool = False) -> bool:
    """Bibliographic marks; below the heading of a list of references, the mark of an entry alone."""
    marked = bool(_REFERENCE_MARK.match(line))
    if listed:
        return marked or bool(_REFERENCE.search(line) or _ADDRESS.search(line))
    return (
        marked
        and bool(_REFERENCE.search(line))
        and not _VERB.search(line.split("“")[0].split('"')[0])
    )


def _is_heading(line: str, words: list[str]) -> bool:
    """A few words without a verb, a figure, a colon or an end mark; no item of a list and no row of
    a table.
    """
    if len(words) > HEADING_WORDS or _END.search(line.rstrip()) or _ITEM.match(line):
        return False
    return not (_VERB.search(line) or "|" in line or ":" in line or any(map(str.isdigit, line)))
