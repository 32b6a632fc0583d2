"""Tell whether a passage is about the same thing as a claim, at the same time, by names, numbers
and headings.

A passage about another person of the name, a neighbouring state or another year repeats the words
of a claim, and so
seems to contradict or to support it.
"""

from __future__ import annotations

import re
from calendar import month_name
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from attribution.text.differences import differing_spans
from attribution.text.names import Name, names
from attribution.text.parse import NOMINAL_SUBJECTS, lemma, parse, root
from attribution.text.value_patterns import MONTHS
from attribution.text.value_reading import values
from attribution.text.words import folded, stem, terms, word_lists, words_of
from attribution.types import Span

if TYPE_CHECKING:
    from spacy.tokens import Token

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_POSSESSIVE = re.compile(r"['’]s$")
ABOUT = 0.3  # least share of the claim's content words
NAMED = 0.5  # least share of its names; both are measured in docs/measurements.md
ANCHORED = 0.5  # least share of the words that name the claim's subject
_LISTS = word_lists(Path(__file__).parent / "data" / "about.toml")
_MODEL = re.compile(
    rf"\b([A-Z]{{1,5}}-?\d{{1,5}}[a-z]?)\b(?:[ -]({'|'.join(sorted(_LISTS['editions']))})\b)?"
)
_MONTHS = frozenset(map(stem, MONTHS))
_SIDES = frozenset(map(stem, _LISTS["sides"]))
_NAMELESS = frozenset("PRP PRP$ DT WDT WP EX".split())


def is_about(claim: str, passage: str, title: str = "") -> bool:
    """Return True if the passage, or its page's title, holds half of the claim's names and three
    tenths of its words.

    Months do not count: two events of a November have nothing in common.
    """
    wanted = terms(claim)[0] - _MONTHS
    text = f"{title}. {passage}"
    names = _names(claim)
    shared = len(wanted & terms(text)[0])
    return shared >= ABOUT * len(wanted) and sum(
        _is_named(name, text) for name in names
    ) >= NAMED * len(names)


def _names(text: str) -> set[frozenset[str]]:
    return {name.words for name in names(text)}


def _is_named(name: frozenset[str], text: str) -> bool:
    """Return True if it is there in full or in part: "Curie" for "Marie Curie", not "Panama Canal"
    for "Suez Canal".
    """
    if len(name) == 1 and {stem(word) for word in name} <= terms(text)[0]:
        return True  # it may be a common word that opens the claim
    return any(other <= name or name <= other for other in _names(text))


def other_subject(
    claim: str, passage: str, title: str = "", headings: tuple[str, ...] = (), strict: bool = False
) -> str:
    """Say that the passage is about another subject than the claim; empty where nothing says so.

    `title` is that of the page and of the passage's section, `headings` those above the claim, the
    last the nearest.
    If `strict`, as for a passage that contradicts the claim, it must also name the claim's own
    subject in full.
    """
    text = f"{title}. {passage}"
    for name in names(claim):
        if other := _namesake(name, text, strict):
            return f"the source is about {other}"
    if title and (other := _other_model(" ".join((*headings, claim)), passage, title)):
        return f"the source is about {other}"
    found = terms(text)[0] | {stem(w) for w in words_of(text)}
    anchor, heads, named = _anchor(claim)
    if headings and (not named or any(t.tag_ in ("PRP", "PRP$") for t in parse(claim))):
        return _other_section(headings, found, strict)
    named_by = {v: frozenset(map(stem, words_of(v.normal))) for v in names(claim)}
    if strict and not named:
        named_first = any(
            t.pos_ == "PROPN" for t in parse(claim)[:1]
        )  # unlike "Scientists have found …"
        anchor = (
            frozenset().union(*(words for v, words in named_by.items() if v.start or named_first))
            or anchor
        )
    missing = frozenset(word for word in anchor if not _holds(found, word))
    if not missing or not (strict or (title and named)):
        return ""
    lacking = (
        v
        for v, words in named_by.items()
        if (missing & words if strict else words <= missing & heads)
    )
    if lacked := next(lacking, None):
        return (
            f"it is not confirmed to be about “{_POSSESSIVE.sub('', claim[slice(*lacked.span)])}”"
        )
    return "it is not confirmed to be about the same thing" if strict or missing == anchor else ""


def _other_model(claim: str, passage: str, title: str) -> str:
    """Return the model that the page is about, if the claim is about another: "T2" for "K4", "X200
    Pro" for "X200".
    """
    own, its = _models(claim), _models(title)
    known = {name for name, _ in (*its, *_models(passage))}
    if own and its and not any(name in known for name, _ in own):
        return its[0][0]
    others = (f"{name} {edition}" for name, edition in its if edition and (name, "") in own)
    return "" if {*own} & {*its} else next(others, "")


def _models(text: str) -> list[tuple[str, str]]:
    """The models that a text names, each with its edition: ("X200", "Pro"), ("X200", "")."""
    return [(found[1], found[2] or "") for found in _MODEL.finditer(text)]


def _other_section(
    headings: tuple[str, ...], found: frozenset[str] | set[str], strict: bool
) -> str:
    """Say that the source is about none of the headings above a claim, from the nearest on.

    A part of a heading alone shows another thing of the kind: "placebo group". If not `strict`,
    only the heading
    directly above the claim counts, and a long one only where the source has none of its names.
    """
    for heading in reversed(headings if strict else headings[-1:]):
        short = _is_short(heading)  # else its first word has a capital without being a name
        if not short and not any(token.pos_ == "PROPN" for token in parse(heading)):
            continue  # "Making the film" names no thing
        lacks = f"it is not confirmed to be about “{heading.strip(' :')}”"
        if not strict and not short:
            names = terms(f"of {heading}")[2] - _SIDES - _MONTHS
            return lacks if names and not any(_holds(found, name) for name in names) else ""
        content, _, names = (
            part - _SIDES - _MONTHS for part in terms(f"of {heading}" if short else heading)
        )
        content = frozenset(word for word in content if len(word) > 2)
        held = {word for word in content if _holds(found, word)}
        if len(held) > ANCHORED * len(content) or (
            names and names <= held and len(held) >= len(content) / 2
        ):
            if len(held) > 1 or (names and held):
                return ""
        elif held or names:
            return lacks
    return ""


def _is_short(heading: str) -> bool:
    return len(heading.removeprefix("The ").split()) <= 2


def _holds(found: frozenset[str] | set[str], word: str) -> bool:
    """Return True if a stem is among others, or a name in a form of it: "German" and "Germany"."""
    return word in found or any(
        len(word) > 4 < len(w) and (w.startswith(word) or word.startswith(w)) for w in found
    )


@lru_cache(maxsize=1024)
def _anchor(claim: str) -> tuple[frozenset[str], frozenset[str], bool]:
    """The stems of the words that name the claim's subject, of the names that head it, and whether
    there are names.

    None for a pronoun. What stands before the sentence names the subject too: "In Danish law, …".
    """
    doc = parse(claim)
    if not len(doc):
        return frozenset(), frozenset(), False
    main = root(doc)
    if not any(
        child.dep_ in NOMINAL_SUBJECTS for child in main.children
    ):  # the parser took a noun for the verb
        main = next((t.head for t in doc if t.dep_ in NOMINAL_SUBJECTS), main)
    subjects = [
        child
        for child in main.children
        if child.dep_ in NOMINAL_SUBJECTS and child.tag_ not in _NAMELESS
    ]
    start = min((subject.i for subject in subjects), default=main.i)
    before = [
        t
        for child in main.children
        if child.dep_ == "prep" and child.i < start
        for t in child.children
    ]
    tokens = [
        t for phrase in (*subjects, *before) for t in phrase.subtree if not _in_clause(t, phrase)
    ]
    text = " ".join(["of", *(t.text for t in tokens if t.pos_ in ("PROPN", "NOUN", "ADJ", "X"))])
    left_out = _MONTHS | {stem(word) for word in _LISTS["periods"]}
    proper = [t for t in tokens if t.pos_ == "PROPN" and stem(folded(t.text)) not in left_out]
    heads = [
        t
        for t in proper
        if t in subjects or (t.head in subjects and t.dep_ in ("compound", "poss"))
    ]
    return terms(text)[0] - left_out, frozenset(stem(folded(t.text)) for t in heads), bool(proper)


def in_anchor(claim: str, start: int) -> bool:
    """Return True if the value at this character says what the claim is about, and not what it says
    of it.

    So do names in the subject, numbers after its noun ("version 5"), and what stands before the
    sentence.
    """
    doc = parse(claim)
    main = root(doc)
    token = next((t for t in doc if t.idx <= start < t.idx + len(t)), None)
    if token is None:
        return False
    above = [token, *token.ancestors]
    subject = next((t for t in above if t.dep_ in NOMINAL_SUBJECTS and t.head.i == main.i), None)
    if subject is not None:
        return token.pos_ == "PROPN" or (
            token.like_num and token.i > token.head.i and token.head.pos_ in ("NOUN", "PROPN")
        )
    return any(t.dep_ == "prep" and t.head.i == main.i and t.i < main.i for t in above)


def _in_clause(token: Token, phrase: Token) -> bool:
    """Return True if a token is in a relative clause or the like, which says more of the noun than
    its name.
    """
    while token.i != phrase.i:
        if token.dep_ in ("relcl", "acl", "advcl"):
            return True
        token = token.head
    return False


def _namesake(name: Name, text: str, strict: bool) -> str:
    """Another bearer of a part of a name, "John Krugman" for "Paul Krugman"; empty if the name
    occurs.
    """
    words = name.normal.split()
    low = f" {' '.join(words_of(text))} "
    if len(words) < 2 or f" {' '.join(words)} " in low:
        return ""
    others = [v for v in names(text) if len(v.normal.split()) >= 2]
    for other in others:
        its = other.normal.split()
        same_last = its[-1] == words[-1] and not {*its[:-1]} & {*words[:-1]}
        initial = its[0][:1] == words[0][:1] and (len(its[0]) <= 2 or len(words[0]) <= 2)
        if strict and {*words} < {*its} and not {w for w in its if len(w) < 3}:
            return text[slice(*other.span)]
        if same_last and not initial and not set(words[:-1]) & set(low.split()):
            return text[slice(*other.span)]
    return ""


def other_time(
    claim: str, passage: str, sentence: Span, title: str = "", strict: bool = True
) -> str:
    """Say that the deciding sentence is about another time than the claim; empty where nothing says
    so.
    """
    text = passage[slice(*sentence)]
    if not strict and _years(claim) & (_years(passage) | _years(title)):
        return ""
    mine, its = _years(claim), _years(text) or _years(passage) or _years(title)
    own, theirs = _words(claim), _words(f"{text} {title}")
    if mine and its and not mine & its and not _covers(text, mine) and not _once(claim):
        return f"the source speaks of {min(its)}"
    if (
        mine == its
        and (months := _months(claim))
        and (their := _months(passage))
        and not months & their
        and not _days(claim) & _days(passage)
        and not _once(claim)
    ):
        return f"the source speaks of {month_name[max(their)]}"
    periods = _LISTS["periods"]
    if own & periods and theirs & periods and not own & theirs & periods:
        return f"the source speaks of {min(theirs & periods)}"
    dated = bool(_years(text) or theirs & _LISTS["earlier"]) and not theirs & _LISTS["present"]
    if not mine and dated and _is_present(claim) and _is_past(text) and not _once(claim):
        return "the source speaks of an earlier time" if differing_spans(claim, text)[0] else ""
    return ""


def _covers(text: str, years: set[str]) -> bool:
    """Return True if a span of time of the text holds all the years: "from 2005 to 2014"."""
    spans = [
        {int(year) for year in _years(text[slice(*v.span)])}
        for v in values(text)
        if v.comparator == "range"
    ]
    return any(span and min(span) <= int(year) <= max(span) for span in spans for year in years)


def _years(text: str) -> set[str]:
    found = {value.parts[0] for value in values(text)} - {None}
    ranges = [v for v in values(text) if v.kind == "date" and v.comparator == "range" and v.low > 0]
    return {str(year) for year in found} | {
        str(date.fromordinal(int(x)).year) for v in ranges for x in (v.low, v.high)
    }


def _months(text: str) -> set[int]:
    return {value.parts[1] for value in values(text) if value.parts[1]}


def _days(text: str) -> set[tuple[int | None, int]]:
    """The year and the day of each full date: dates that share both differ in one slot."""
    return {(v.parts[0], v.parts[2]) for v in values(text) if v.parts[0] and v.parts[2]}


def _words(text: str) -> set[str]:
    return {folded(word) for word in _WORD.findall(text)}


def _once(claim: str) -> bool:
    """Return True if the claim is about something that happens once: a birth, a founding, an
    opening.
    """
    return any(
        (t.pos_ in ("VERB", "AUX", "NOUN", "ADV", "ADJ") and lemma(t.text) in _LISTS["once"])
        or (
            lemma(t.text) in _LISTS["made"] and any(child.dep_ == "auxpass" for child in t.children)
        )
        for t in parse(claim)
    )


def _is_present(text: str) -> bool:
    verb = root(parse(text))
    return verb.tag_ in ("VBZ", "VBP") and not any(
        c.tag_ in ("VBN", "VBD") for c in verb.children if c.dep_ in ("aux",)
    )


def _is_past(text: str) -> bool:
    tags = {t.tag_ for t in parse(text) if t.pos_ in ("VERB", "AUX")}
    return "VBD" in tags and not tags & {"VBZ", "VBP"}
