"""The named steps around the model: how texts are prepared for it, and what is known after it.

`DecisionPolicy.has` says which steps run: none under a plain decision. A step that changes
something leaves its name in the evidence. `python -m benchmarks.verdicts --without NAME` measures
what a step adds.
"""

from __future__ import annotations

import calendar
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from attribution.claims.short_answers import completes_question, statement
from attribution.text.marks import without_numbers
from attribution.text.parse import has_clause
from attribution.text.quantities import ROUNDED
from attribution.text.words import SCALES, plain, shared_words, terms, uncovered
from attribution.types import (
    SILENT,
    Claim,
    Evidence,
    Page,
    Probabilities,
    Relation,
    Reservation,
    Span,
)
from attribution.verifiers.comparisons import holds

HEADINGS = 2  # above a claim that are read with it


class PairTexts(NamedTuple):
    """What a verifier reads of a claim and a passage."""

    claim: str
    passage: str
    title: str


def spoken(claim: Claim) -> str:
    """Return a claim as the verifier reads it.

    A claim without a subject is read after the headings above it, "Costs > Total: €5", and a short
    answer with its question as one statement.
    """
    if completes_question(claim):
        return statement(claim.context[-1], claim.statement)
    if has_clause(claim.statement):
        return claim.statement
    headings = [heading.strip(" :*#") for heading in claim.context[-HEADINGS:]]
    missing = [h for h in headings if h and shared_words(h, claim.statement) < 1]
    return f"{' > '.join(missing)}: {claim.statement}" if missing else claim.statement


# --- numbers, dates and units written in one way, so that the verifier compares equals ---

UNITS = "one|two|three|four|five|six|seven|eight|nine"
TEENS = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_SCALE = "|".join(SCALES)
YEAR = re.compile(  # nineteen fourteen, twenty twenty-one, nineteen oh six
    rf"""
    \b(?!ten)(?P<century>{TEENS}|twenty)[ -]
    (?: oh[ -](?P<digit>{UNITS}) | (?P<rest>{TEENS}|(?:{TENS})(?:[ -](?:{UNITS}))?) )\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_COUNT = f"(?:{UNITS}|{TEENS}|{TENS})"
IN_WORDS = re.compile(  # two thousand and nine, forty-two, a hundred
    rf"\b(?<!half )(?:{_COUNT}|an?(?=[ ](?:{_SCALE})))"
    rf"(?:[ -](?:and[ ])?(?:{_COUNT}|{_SCALE})\b){{0,12}}+"
    # twenty-first; a thirty-second rule may last half a minute
    r"(?:(?<=ty)-(?:first|third|(?:four|fif|six|seven|eigh|nin)th))?\b(?!(?<=ty)-second\b)",
    re.IGNORECASE,
)
ARTICLE = re.compile(r"an?\b", re.IGNORECASE)
DATES = (  # 12.11.2004 and 2004-11-12
    re.compile(
        r"\b(?P<day>0?[1-9]|[12]\d|3[01])([.-])(?P<month>0?[1-9]|1[0-2])\2(?P<year>\d{4})\b"
    ),
    re.compile(r"\b(?P<year>\d{4})([-/])(?P<month>0[1-9]|1[0-2])\2(?P<day>0[1-9]|[12]\d|3[01])\b"),
)
SLASHED = re.compile(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b")  # day or month first
FIGURE = re.compile(
    rf"""
    (?<![\w.,:/^])(?<!\d-)
    (?P<behind_year>(?<=\b\d{{4}}[ ]))?
    (?P<digits>
        [1-9]\d{{0,2}}(?:(?:[, \u00a0\u2009\u202f'’])\d{{3}}(?!\d)){{1,5}}
        | [1-9]\d{{0,2}}(?:\.\d{{3}}){{2,5}}(?!\d)
        | [1-9]\d{{0,14}} | 0(?=\.) )
    (?P<decimals>\.\d{{1,9}})?
    (?:[ ](?P<scale>{_SCALE})\b)?
    (?![\w^]|[.,:/-]\w)
    """,
    re.VERBOSE,
)
YEARS = range(1000, 2200)


@lru_cache(maxsize=32)  # a text may be as long as a request
def in_figures(text: str) -> str:
    """Return a text with numbers in figures and months in words; for English.

    Numbers below ten stay words, unless they are part of a larger one.
    """
    text = _dates(text)
    text = YEAR.sub(_year, text)
    text = IN_WORDS.sub(_spelled, text)
    return FIGURE.sub(_figure, text)


def rounded_as(claim: str, text: str) -> str:
    """Return a text in figures, with numbers that a claim rounds as the claim writes them.

    "4.212 million" beside "about 4.2 million" becomes "4.2 million".
    """
    stated = [m for m in FIGURE.finditer(claim) if m["scale"] or not m["digits"].isdigit()]

    def rounded(match: re.Match[str]) -> str:
        amount = _amount(match)
        figure = min(stated, key=lambda one: abs(amount - _amount(one)))
        wanted = _amount(figure)
        last_place = SCALES.get(figure["scale"], 0) - len((figure["decimals"] or ".")[1:])
        room = min(10.0**last_place / 2, ROUNDED * float(wanted))
        return figure[0] if abs(amount - wanted) <= room else match[0]

    return FIGURE.sub(rounded, text) if stated else text


def _dates(text: str) -> str:
    """Return a text with dates in words where it is clear which figure is the month."""
    dates = SLASHED.findall(text)
    labels = text.lower()
    is_month_first = "mm/dd" in labels or any(int(second) > 12 for _, second, _ in dates)
    is_day_first = "dd/mm" in labels or any(int(first) > 12 for first, _, _ in dates)
    if is_month_first != is_day_first:
        text = SLASHED.sub(r"\2.\1.\3" if is_month_first else r"\1.\2.\3", text)
    for form in DATES:
        text = form.sub(_date, text)
    return text


def _date(match: re.Match[str]) -> str:
    month = calendar.month_name[int(match["month"])]
    return f"{int(match['day'])} {month} {match['year']}"


def _year(match: re.Match[str]) -> str:
    rest = _digits(match["rest"]) if match["rest"] else f"0{_digits(match['digit'])}"
    return _digits(match["century"]) + rest


def _digits(words: str) -> str:
    from text_to_num import alpha2digit

    digits: str = alpha2digit(words, "en")
    return digits


def _spelled(match: re.Match[str]) -> str:
    is_small = match[0].lower() in UNITS.split("|")
    return match[0] if is_small else _digits(ARTICLE.sub("one", match[0], 1))


def _figure(match: re.Match[str]) -> str:
    """Return a figure with commas, or in millions or billions; a year or a decimal as it is."""
    amount = _amount(match)
    is_plain = not match["scale"] and match["digits"].isdigit()
    is_behind_year = match["behind_year"] is not None
    if is_plain and (amount < 1000 or amount in YEARS and not is_behind_year):
        return match[0]
    if amount != int(amount):
        return match[0]
    for scale in ("trillion", "billion", "million"):
        size = 10 ** SCALES[scale]
        if amount >= size and amount % (size // 1000) == 0:
            return f"{(amount / size).normalize():f} {scale}"
    return f"{int(amount):,}"


def _amount(match: re.Match[str]) -> Decimal:
    number = re.sub(r"\D", "", match["digits"]) + (match["decimals"] or "")
    return Decimal(number).scaleb(SCALES.get(match["scale"], 0))


# --- the rows, columns or blocks that a claim names; others are blanked, so that offsets hold ---

NEAR = 4  # lines below a name in which a label stands
NAMED = 0.6  # share of the words of a row's name that a claim has: "Net income (loss)"
ROW = re.compile(r"[ \t]*(?P<name>[^:;|\n]{2,60}):[ ](?P<cells>[^\n]+)")
HEAD = re.compile(r"[^:;|\n]{1,60}(?: \| [^:;|\n]{0,60}){1,20}")
_CELL = re.compile(r"[^;]+;?")
_IN_BRACKETS = re.compile(r"\([^()]*\)")
LABELLED = re.compile(r"^[^\w\n]{0,4}([^\W\d_][^:|\n]{0,40}):[ \t]\S")
ABOVE_LABEL = re.compile(
    rf"""
    (?: \#.*\n(?:[^\S\n]*\n)? | .*\n(?:[^\S\n]*\n(?=-[ ]))? )  # a name, and perhaps an empty line
    (?: (?!\#)(?=.*\S).*\n )*? (?!\#){LABELLED.pattern}
    """,
    re.MULTILINE | re.VERBOSE,
)
NAME = re.compile(r"\W{0,8}[^\W_][^:;|.!?\n]{1,58}[^\W_.!?:;|]\W{0,4}")
_COMPARES = re.compile(  # such a claim needs more than what it names
    r"""
    \b(?: than(?![ ]\W?\d) | compared | both | each | every | other | others
    | rose | fell
    | (?:ris|gr[eo]w|fall|drop|jump|climb|surg|gain|doubl|tripl|halv
        |increas|decreas|declin|chang|differ)\w*
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
        labels: Those of a block's lines: "Berths" of "Berths: 6".
    """

    name: str
    start: int
    end: int
    columns: Sequence[str] | None = None
    labels: tuple[str, ...] = ()


def about_named(claim: str, text: str) -> str:
    """Return a source with the parts about what a claim doesn't name blanked.

    All rows, columns or blocks stay where the claim names none of them, and a block with other
    labels than those named: it may be about the same. The head of a table, whose words are in its
    rows, is blanked with others. A claim that compares needs all.
    """
    if _COMPARES.search(claim):
        return text
    sections, heads = _sections(text)
    words = _keys(claim)
    named = _named(words, sections, text)
    labels: set[str] = set()
    others: list[Span] = []
    for section in named:
        labels.update(section.labels)
        others += _other_cells(words, section, text)
    for section in sections:
        is_alike = section.columns is not None or labels.intersection(section.labels)
        if is_alike and section not in named:
            others.append((section.start, section.end))
    if others:
        others += heads
    for start, end in others:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def heads_a_block(line: str, following: Sequence[str]) -> bool:
    """Return True for a name above lines such as "Berths: 6", which may stand in a list below."""
    if not NAME.fullmatch(line) or LABELLED.match(line):
        return False
    return ABOVE_LABEL.match("\n".join([line, *following])) is not None


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
            block.labels += tuple(LABELLED.findall(line))
        elif block and block.labels:
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


# --- lines that state nothing: addresses and reference lists ---

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
    | \bAccessed[ ](?:on[ ])?\d | (?<!\()\bpp?\.[ ]?\d+(?:[-–]\d+)? | \bvol\.[ ]?\d
    | \bet[ ]al\.,?[ ]\(?\d{4}\)?[.,:] | \b\d+[ ]?\(\d+\):[ ]?\d+[-–]\d+
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


@lru_cache(maxsize=64)  # the pages of a run
def prose(text: str) -> str:
    """Return the text with blanks in place of lines that state nothing, and of marks in others."""
    lines = []
    is_reference_list = False
    for line in text.split("\n"):
        start = line[:LONGEST_LINE]
        if _REFERENCE_HEADING.fullmatch(start):
            is_reference_list = True
        elif is_reference_list and start.strip() and not _is_listed_reference(start):
            is_reference_list = False
        is_blank = is_reference_list or states_nothing(start)
        marked = _NOTE.sub(lambda note: " " * len(note[0]), without_numbers(line))
        lines.append(" " * len(line) if is_blank else marked)
    return "\n".join(lines)


def states_nothing(line: str) -> bool:
    """Return True if a line is only an address or an entry of a reference list."""
    rest = _ADDRESS.sub(" ", line)
    if rest != line:
        beside = [word for word in rest.split() if any(map(str.isalnum, word))]
        if len(beside) <= _AROUND_ADDRESS:
            return True
    is_reference = _REFERENCE_MARK.match(line) and _REFERENCE.search(line)
    unquoted = line.split("“")[0].split('"')[0]
    return bool(is_reference) and not _VERB.search(unquoted)


def _is_listed_reference(line: str) -> bool:
    """Below the heading of a list of references, the mark of an entry alone makes one."""
    return any(form.search(line) for form in (_REFERENCE, _ADDRESS, _REFERENCE_MARK))


# --- the steps ---


def _in_one_form(claim: Claim, page: Page, texts: PairTexts) -> PairTexts:
    """Write characters, numbers, dates and units of both texts in one form."""
    words = in_figures(plain(texts.claim))
    return texts._replace(claim=words, passage=in_figures(plain(texts.passage)))


# before the model, in the order in which they run
PREPARATION: dict[str, Callable[[Claim, Page, PairTexts], PairTexts]] = {
    "subject": lambda claim, _p, texts: texts._replace(claim=spoken(claim)),
    "title": lambda _c, page, texts: texts._replace(title=texts.title or page.title),
    "named": lambda _c, _p, texts: texts._replace(passage=about_named(texts.claim, texts.passage)),
    "figures": _in_one_form,
    "rounding": lambda _c, _p, texts: texts._replace(
        passage=rounded_as(texts.claim, texts.passage)
    ),
}


RATED_FALSE = re.compile(
    r"""\b(?:
        (?:rating|ruling|verdict|conclusion|our\ call)\s?[:–—-]\s?  # Rating: False
        | (?:we|politifact|snopes)\ rated?\ [\w\ ]{2,20}?\ (?:as\ )?
    )[\"“]?(?:mostly\ )?
    (?:false|fake|in(?:correct|accurate)|untrue|not\ true|hoax|debunked|pants\ on\ fire)\b""",
    re.IGNORECASE | re.VERBOSE,
)
DENIES = re.compile(  # "Myth:" is a heading
    r"""
    \b(?: [Nn](?:o|ot|one|or|ever|either|obody|othing) | cannot | myths? | false | untrue | hoax
    | debunked | disproved | disproven | misconceptions? )\b
    | n['’]t\b
    """,
    re.VERBOSE,
)
SAME = 0.65  # least share of a claim's words in the title of the fact check that rates it
RATED = 0.9  # probability of a contradiction by a rating


def rated(claim: Claim, page: Page, piece: Evidence) -> Evidence | None:
    """Let a fact check that rates the claim false contradict it, whichever part repeats it.

    What a claim with a negation says is rather what the fact check found.
    """
    is_rated = page.genre == "fact check" and RATED_FALSE.search(page.text)
    is_denied = DENIES.search(claim.statement)
    is_same = shared_words(claim.statement, page.title) >= SAME
    is_of_another = terms(claim.statement).names - terms(page.title).content
    if not is_rated or is_denied or not is_same or is_of_another:
        return None
    relations = Probabilities(entailed=0.0, contradicted=RATED, no_relation=1 - RATED)
    return piece.model_copy(update={"probabilities": relations})


WITHDRAWN = re.compile(
    r"""
    (?: \b(?:earlier|previous|original|first|initial)[ ]version
        (?:[ ]of[ ]th(?:is|e[ ](?:article|story|report|post)))?\b(?![ ]of\b)[^.;:\n]{0,60}?
      | \b[Tt]his[ ]\w{3,12}[ ](?:originally|previously|initially|first|incorrectly|wrongly)\b )
    [ ](?:\w+ly[ ])?(?:said|stated|reported|gave|claimed|misstated|described|had|wrote)\b
    (?:[^.;\n]|\.(?=\d)){3,300}
    | \b(?:RETRACTED|RETRACTION|WITHDRAWN|Retracted|Withdrawn)\b[^:\n]{0,30}:\s?
    (?:[^.\n]|\.(?=\d)){3,300}
    | \bMyth\b(?:[ ]\d{1,2})?[:.–-]\s?(?:[^.!?\n]|\.(?=\d)){3,300}
    """,
    re.VERBOSE,
)
VOID = re.compile(  # at the start of a title or text
    r"""
    \W{0,8}(?: (?P<joke>satire|satirical|parody|humou?r)(?=[\]):]) | retracted\b
    | retraction\b(?![ ](?:in|watch|\()) | withdrawn\b(?![ ](?:after|as|from|in)\b) )
    """,
    re.IGNORECASE | re.VERBOSE,
)


def withdrawn(claim: Claim, page: Page, piece: Evidence) -> Evidence | None:
    """Let nothing support what it takes back.

    The claim's words stand in the withdrawn part alone, or the whole page is retracted or a joke.
    """
    for match in WITHDRAWN.finditer(piece.text):
        rest = piece.text[: match.start()] + piece.text[match.end() :]
        is_same = bool(DENIES.search(claim.statement)) == bool(DENIES.search(match[0]))
        is_taken_back = is_same and not uncovered(claim.statement, match[0])
        if is_taken_back and uncovered(claim.statement, rest):
            return _reserved(piece, "the source takes it back", "entailed")
    void = VOID.match(page.title) or VOID.match(page.text)
    if void is None:
        return None
    note = "the source is a joke" if void["joke"] else "the source is retracted"
    return _reserved(piece, note, "entailed")


def _reserved(piece: Evidence, note: str, *relations: Relation) -> Evidence:
    reservation = Reservation(relations=relations, note=note)
    return piece.model_copy(update={"reservation": reservation})


def silent(claim: Claim, page: Page, piece: Evidence) -> Evidence | None:
    """Leave out pages that only list or repeat."""
    if page.genre not in SILENT:
        return None
    return _reserved(piece, SILENT[page.genre], "entailed", "contradicted")


SETTLED = 0.85  # probability that a passage settles a comparison, from which on its numbers decide


def compared(claim: Claim, page: Page, piece: Evidence) -> Evidence | None:
    """Decide a comparison by the numbers or dates of a passage that settles it."""
    settled = 1 - piece.probabilities.no_relation
    if settled < SETTLED or DENIES.search(claim.statement):
        return None
    is_true = holds(spoken(claim), piece.text)
    if is_true is None:
        return None
    shares = {"entailed": settled * is_true, "contradicted": settled * (not is_true)}
    return piece.model_copy(update={"probabilities": piece.probabilities.model_copy(update=shares)})


STEPS: dict[str, Callable[[Claim, Page, Evidence], Evidence | None]] = {  # in their order
    "compared": compared,
    "rated": rated,
    "withdrawn": withdrawn,
    "silent": silent,
}
