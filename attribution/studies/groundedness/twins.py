"""Make altered twins of grounded English answers by rule: number, name, negation, order, scope (T24
4.2).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attribution.claims import worthiness
from attribution.segmenters.sentences import Sentences
from attribution.settings import Settings
from attribution.text.parse import BE, NOMINAL_SUBJECTS, parse, with_entities
from attribution.types import Span

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token
    from spacy.tokens import Span as Entity

KINDS = {
    "number": "a number, year or share is another one",
    "name": "a person, place or organisation is another one",
    "negation": "a statement is negated, or its negation taken away",
    "order": "steps or events are in another order",
    "scope": "what holds for some, often or partly is said to hold for all, always or entirely",
}
ERROR_TYPES = {  # labels of T24 Table 5
    "factual_inaccuracy": "A number, date, name or property is wrong.",
    "misattribution": "Something is ascribed to the wrong person, body, place or source.",
    "contextual_misinterpretation": "Something is carried beyond the condition, part or degree that the source gives.",
    "procedural_error": "Steps, deadlines or their order are wrong.",
    "reasoning_error": "A cause or a conclusion does not follow from the source.",
    "terminological_error": "A term is used in another sense than the source's, or in the place of another term.",
}
TYPE_OF = {
    "number": "factual_inaccuracy",
    "name": "misattribution",
    "negation": "factual_inaccuracy",
    "order": "procedural_error",
    "scope": "contextual_misinterpretation",
}  # the type of an alteration by rule, unless a person or two models disagree


@dataclass(frozen=True)
class Swap:
    """A replacement of characters of the answer by a text, which is not empty."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Twin:
    """An altered answer: outside `changed` it equals, character by character, the answer outside
    `original`.
    """

    response: str
    kind: str  # of KINDS
    changed: tuple[Span, ...]  # in the twin, in order
    original: tuple[Span, ...]  # the corresponding characters of the answer
    version: str = "rules"  # or prompt and model


def apply(answer: str, edits: Sequence[Swap], kind: str, version: str = "rules") -> Twin:
    """Apply edits. Raises ValueError for edits that overlap, are empty, or lie outside the answer."""
    parts: list[str] = []
    changed: list[Span] = []
    ordered = sorted(edits, key=lambda e: e.start)
    at = length = 0
    for edit in ordered:
        if not at <= edit.start < edit.end <= len(answer) or not edit.text:
            raise ValueError(
                f"edit {edit} overlaps another one, is empty, or lies outside {len(answer)} characters"
            )
        before = answer[at : edit.start]
        changed.append((length + len(before), length + len(before) + len(edit.text)))
        parts += [before, edit.text]
        length, at = length + len(before) + len(edit.text), edit.end
    response = "".join(parts) + answer[at:]
    return Twin(response, kind, tuple(changed), tuple((e.start, e.end) for e in ordered), version)


def factual_sentences(answer: str) -> list[tuple[int, Doc]]:
    """Return the sentences that can be altered, each with its start; those with Markdown inside are
    left out.
    """
    claims = worthiness.classify(Sentences(Settings()).segment("", answer).claims, answer)
    spans = [c.spans[0] for c in claims if c.worthiness == "factual" and len(c.spans) == 1]
    whole = [(a, b) for a, b in spans if any(answer[a:b] == c.text for c in claims)]
    return [(a, parse(answer[a:b])) for a, b in dict.fromkeys(whole)]


def alterations(answer: str, context: str, kind: str, rng: random.Random) -> list[tuple[Swap, ...]]:
    """Return every alteration of one kind that the rules find, in the order of the answer."""
    if kind == "order":
        return [*steps(answer), *_of_sentences(answer, times)]
    if kind == "name":
        return list(_names(answer, context))
    if kind == "number":
        return _of_sentences(answer, lambda doc: numbers(doc, f"{answer}\n{context}", rng))
    return _of_sentences(answer, negations if kind == "negation" else scopes)


def twins(
    answer: str, context: str, kinds: Sequence[str] = tuple(KINDS), seed: int = 0
) -> list[Twin]:
    """Make one twin per kind, where the rules find something to alter; the same seed makes the same
    twins.
    """
    found = []
    for kind in kinds:
        rng = random.Random(f"{seed}\x1f{kind}\x1f{answer}")
        possible = [
            twin
            for edits in alterations(answer, context, kind, rng)
            if (twin := apply(answer, edits, kind))
        ]
        new = [t for t in possible if t.response != answer and not _is_stated(t, context)]
        if new:
            found.append(rng.choice(new))
    return found


def _is_stated(twin: Twin, context: str) -> bool:
    """Return True if the context has the altered words in the same surroundings, so that they may
    be true.
    """
    (start, end), *_ = twin.changed
    around = twin.response[max(0, start - 15) : end + 15]
    return around in context


def _of_sentences(answer: str, find: Callable[[Doc], Iterator[Swap]]) -> list[tuple[Swap, ...]]:
    return [
        (Swap(at + e.start, at + e.end, e.text),)
        for at, doc in factual_sentences(answer)
        for e in find(doc)
    ]


_OPEN = (
    "may",
    "might",
    "can",
    "could",
    "should",
    "would",
    "must",
    "'s",
    "’s",
    "'re",
    "’re",
    "'ve",
    "’ve",
    "'d",
    "’d",
)
_SUPPORT = {"VBD": "did not", "VBZ": "does not", "VBP": "do not"}
_PARTIAL = {
    "some",
    "many",
    "most",
    "few",
    "several",
    "all",
    "every",
    "each",
    "no",
    "any",
    "none",
    "neither",
    "either",
}
_WEAK = {
    "only",
    "hardly",
    "rarely",
    "seldom",
    "never",
    "nobody",
    "nothing",
    "n't",
    "n’t",
    "neither",
    "nor",
    "barely",
}


def negations(doc: Doc) -> Iterator[Swap]:
    """Negate the main statement: "is" → "is not", "stands" → "does not stand", "was not" → "was"."""
    sentences = list(doc.sents)
    if len(sentences) != 1 or doc[0].lower_ in ("yes", "no"):
        return
    root = sentences[0].root
    subject = next((t for t in root.children if t.dep_ in NOMINAL_SUBJECTS), None)
    if subject is None or root.pos_ not in ("VERB", "AUX") or subject.i > root.i:
        return
    own = list(root.children)
    if (
        negation := next((t for t in own if t.dep_ == "neg" and t.lower_ == "not"), None)
    ) is not None:
        before = doc[negation.i - 1]
        if before.pos_ == "AUX" and before.lower_ not in ("do", "does", "did"):
            yield Swap(before.idx, negation.idx + len(negation), before.text)
        return
    if any(t.lower_ in _WEAK for t in doc) or any(t.lower_ in _PARTIAL for t in subject.subtree):
        return  # "some are" and "some are not" can both be true
    if any(t.dep_ == "conj" and t.pos_ in ("VERB", "AUX") for t in own) or any(
        t.dep_ == "advcl" for t in own
    ):
        return  # the scope of the negation would be unclear
    auxiliary = next((t for t in own if t.dep_ in ("aux", "auxpass") and t.i < root.i), None)
    verb = auxiliary if auxiliary is not None else root
    if verb.lower_ in _OPEN:
        return  # "may" and "may not" are both true
    if verb.pos_ == "AUX" and (auxiliary is not None or root.lemma_ == "be" or verb.lower_ in BE):
        yield Swap(verb.idx, verb.idx + len(verb), f"{verb.text} not")
    elif auxiliary is None and root.tag_ in _SUPPORT and (base := _base(root)):
        yield Swap(root.idx, root.idx + len(root), f"{_SUPPORT[root.tag_]} {base}")


def _base(verb: Token) -> str:
    """Return the infinitive of a verb form, if it is certain."""
    import lemminflect

    lemmas = lemminflect.getLemma(verb.lower_, upos="VERB")
    return str(lemmas[0]) if len(lemmas) == 1 else ""


_NAMES = ("PERSON", "GPE", "LOC", "ORG", "NORP")
_ARTICLES = ("the", "a", "an")


def _names(answer: str, context: str) -> Iterator[tuple[Swap, ...]]:
    """Replace a name by one of its kind from the context that neither the sentence nor a mention of
    the name has.
    """
    sources = [with_entities(s.as_doc()) for s in parse(context).sents] if context.strip() else []
    known = [(e.text, e.label_, doc.text) for doc in sources for e in doc.ents if _usable(e.text)]
    for at, sentence in factual_sentences(answer):
        doc = with_entities(sentence[:].as_doc())
        for entity in doc.ents:
            if (
                entity.label_ not in _NAMES
                or not _usable(entity.text)
                or _part_of_a_name(doc, entity)
            ):
                continue
            words = _words(doc.text)
            together = {
                t for t, _, where in known if entity.text in where
            }  # mentioned together: both may hold
            others = dict.fromkeys(
                text
                for text, label, _ in known
                if label == entity.label_
                and text not in together
                and not _words(text) & words
                and (" " in text) == (" " in entity.text)
            )
            for other in list(others)[:3]:
                start = at + entity.start_char
                yield (Swap(start, start + len(entity.text), other),)


def _part_of_a_name(doc: Doc, entity: Entity) -> bool:
    """Return True if adjacent words may belong to the same name: "Jackson's MMA Series", "Kent
    Brewery".
    """
    after = doc[entity.end] if entity.end < len(doc) else None
    before = doc[entity.start - 1] if entity.start else None
    inside = before is not None and (before.pos_ == "PROPN" or before.text in ('"', "“", "‘"))
    return (
        inside
        or after is not None
        and (after.text[:1].isupper() or after.text in ("'s", "’s", "-", '"', "”"))
    )


def _usable(name: str) -> bool:
    words = name.split()
    titled = all(
        w[:1].isupper() and not w.isupper() or w in ("of", "de", "van", "von") for w in words
    )
    plain = all(c.isalpha() or c in " -" for c in name)
    return bool(words and titled and plain and 2 < len(name) <= 40)


def _words(text: str) -> set[str]:
    return {
        w.strip(".,;:'’()").lower().removesuffix("'s").removesuffix("’s") for w in text.split()
    } - set(_ARTICLES)


_NUMBER = re.compile(
    r"(?<![\w.,/:–\-])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w/:–\-])|(?<![\w.,/:–\-])\d+(?:\.\d+)?(?![\w/:–\-])"
)
_WORDS = "two three four five six seven eight nine ten eleven twelve".split()
_WORD = re.compile(r"\b(?:" + "|".join(_WORDS) + r")\b", re.I)
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_SPACED_FIGURE = re.compile(r"\s+\d")
_SPACED_WORD = re.compile(r"\s+[\d£$€a-z]")
_OTHERS = re.compile(r"\bothers?\b", re.I)
_MONTH = re.compile(
    r"\s+(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
)
_AGE_BEFORE = re.compile(r"\b(?:age of|aged|at age|, at) $", re.I)
_AT_LEAST = re.compile(
    r"\b(?:over|more than|at least|above|exceed\w*|minimum of|or more) (?:[£$€]\s*)?$", re.I
)
_AT_MOST = re.compile(
    r"\b(?:under|less than|fewer than|at most|below|up to|maximum of|only) (?:[£$€]\s*)?$", re.I
)
_YEAR = range(1000, 2100)
_LARGE, _HUNDRED = 50, 100
_NEAR = 60  # characters on either side of a word that are looked at
# From what holds of a part to what holds of all: the stronger statement does not follow from the
# weaker one.
SCOPES = {
    "some": "all",
    "most": "all",
    "often": "always",
    "usually": "always",
    "sometimes": "always",
    "generally": "always",
    "typically": "always",
    "frequently": "always",
    "partly": "entirely",
    "partially": "entirely",
    "mostly": "exclusively",
    "mainly": "exclusively",
    "primarily": "exclusively",
    "largely": "exclusively",
    "rarely": "never",
    "seldom": "never",
    "at least": "at most",
    "at most": "at least",
    "more than": "fewer than",
    "fewer than": "more than",
    "up to": "at least",
    "over half": "nearly all",
    "almost all": "almost none",
    "nearly all": "almost none",
}
_SCOPE = re.compile(r"\b(?:" + "|".join(sorted(SCOPES, key=len, reverse=True)) + r")\b", re.I)
_NOT_BEFORE = re.compile(
    r"(?:\b(?:the|not|no|than|for|how|as|so|too|very|even|one of|and|or|,|at|its|their|his|her)\s+)$",
    re.I,
)


def numbers(doc: Doc, known: str, rng: random.Random) -> Iterator[Swap]:
    """Each number once, as another that `known` does not have; not those in names, ranges, dates of
    a day or labels.
    """
    taken = set(_FIGURE.findall(known))
    for match in _NUMBER.finditer(doc.text):
        token = next((t for t in doc if t.idx <= match.start() < t.idx + len(t)), None)
        before = doc[token.i - 1] if token is not None and token.i else None
        if token is None or (before is not None and before.pos_ == "PROPN"):
            continue  # "Apollo 11", "May 3"
        for _ in range(20):
            other = _other(
                match[0], _before(doc.text, match), doc.text[match.end() : match.end() + _NEAR], rng
            )
            if other not in taken and other != match[0]:
                yield Swap(match.start(), match.end(), other)
                break
    for match in _WORD.finditer(doc.text):
        if "-" in doc.text[max(0, match.start() - 1) : match.end() + 1]:
            continue  # "ten-pin"
        own = _WORDS.index(match[0].lower())
        others = [w for w in _WORDS if w not in doc.text.lower() and abs(_WORDS.index(w) - own) > 1]
        if others:
            word = rng.choice(others)
            yield Swap(
                match.start(), match.end(), word.capitalize() if match[0][0].isupper() else word
            )


def _before(text: str, match: re.Match[str]) -> str:
    return text[max(0, match.start() - _NEAR) : match.start()]


def _other(number: str, before: str, after: str, rng: random.Random) -> str:
    """A number written in the same way, clearly another: a year some years off, else about half or
    twice as much.
    """
    value = float(number.replace(",", ""))
    if _MONTH.match(after):
        return str(rng.randint(1, 28))
    places = len(number.partition(".")[2])
    if "," not in number and not places and len(number) == 4 and int(value) in _YEAR:
        return str(int(value) - rng.randint(3, 25))
    if _AGE_BEFORE.search(before) or after.lstrip().startswith(("years old", "year-old")):
        return str(max(1, int(value) + rng.choice((-9, -7, -6, -4, 4, 5, 7))))
    share = after.lstrip().startswith(("%", "percent", "per cent"))
    less, more = (0.3, 0.4, 0.5), (1.8, 2.2, 2.6)
    if _AT_LEAST.search(before):  # "over 20 billion" follows from "over 50 billion"
        factor = rng.choice(more)
    elif _AT_MOST.search(before) or (share and value > _LARGE):
        factor = rng.choice(less)
    else:
        factor = rng.choice(less + more)
    made = min(value * factor, _HUNDRED - 1) if share else value * factor
    if places:
        return f"{made:,.{places}f}" if "," in number else f"{made:.{places}f}"
    digits = len(number.replace(",", "").rstrip("0")) or 1
    size = 10 ** max(0, len(str(int(value))) - digits)  # 300,000 becomes 500,000, not 541,322
    whole = max(1, round(made / size)) * size
    return f"{whole:,}" if "," in number else str(whole)


def scopes(doc: Doc) -> Iterator[Swap]:
    """Quantifiers, frequencies and bounds made stronger than the sentence says."""
    for match in _SCOPE.finditer(doc.text):
        word, before = match[0], _before(doc.text, match)
        token = next(t for t in doc if t.idx <= match.start() < t.idx + len(t))
        other = SCOPES[word.lower()]
        adverb = " " not in word and other != "all"
        if _NOT_BEFORE.search(before) or (
            adverb and (not token.i or before.rstrip().endswith((".", "!", "?")))
        ):
            continue  # "the most", "not often", "and many"
        bound = " " in word and word.lower() not in ("over half",)
        if bound and not _SPACED_WORD.match(doc.text, match.end()):
            continue
        if (
            doc.text[match.end() : match.end() + _NEAR]
            .lower()
            .startswith((" accepted", " speaking"))
        ):
            continue  # "generally accepted accounting principles"
        if other == "all" and _OTHERS.search(doc.text):
            continue  # "some are …, others are …"
        if other == "all" and not (
            token.dep_ in ("amod", "det", "nummod") and token.head.tag_ in ("NNS", "NNPS")
        ):
            continue  # "most likely", "some of them"
        if word.lower() in ("more than", "fewer than") and not _SPACED_FIGURE.match(
            doc.text, match.end()
        ):
            continue
        yield Swap(match.start(), match.end(), other.capitalize() if word[0].isupper() else other)


_STEP = re.compile(r"^[ \t]*(\d{1,2})[.)][ \t]+(\S.*\S)[ \t]*$", re.MULTILINE)
_TIMES = {"after": "before", "before": "after", "later": "earlier", "earlier": "later"}
_IDIOMS = {
    "name",
    "look",
    "take",
    "model",
    "seek",
    "call",
    "go",
    "come",
    "bring",
    "appear",
    "ask",
    "pattern",
}
_UNITS = {
    "second",
    "minute",
    "hour",
    "day",
    "week",
    "month",
    "year",
    "decade",
    "century",
    "centuries",
}


def steps(answer: str) -> Iterator[tuple[Swap, ...]]:
    """Yield swaps of two neighbouring steps in a numbered list of instructions; the numbers stay."""
    items = list(_STEP.finditer(answer))
    for one, two in zip(items, items[1:], strict=False):
        if int(two[1]) != int(one[1]) + 1 or answer[one.end() : two.start()].strip():
            continue
        if _instruction(one[2]) and _instruction(two[2]):
            yield Swap(*one.span(2), two[2]), Swap(*two.span(2), one[2])


def _instruction(text: str) -> bool:
    """Return True if a text tells the reader to do something."""
    first = parse(text.lstrip("*_"))[0]
    return first.tag_ in ("VB", "VBP") or (first.i == first.head.i and first.pos_ == "VERB")


def times(doc: Doc) -> Iterator[Swap]:
    """Yield swaps of "after" and "before" that order two events, and "two years later" → "two years
    earlier".
    """
    for token in doc:
        other = _TIMES.get(token.lower_)
        if other is None:
            continue
        if token.lower_ in ("later", "earlier"):
            unit = doc[token.i - 1].lower_.rstrip("s") if token.i else ""
            fits = unit in _UNITS and token.dep_ == "advmod"
        else:
            following = [t for t in token.children if t.dep_ in ("pcomp", "pobj")]
            verbal = token.dep_ == "mark" and token.head.dep_ == "advcl"
            named = any(
                t.pos_ == "PRON" or t.dep_ == "pobj" and t.pos_ == "PROPN" for t in following
            )
            fits = (
                (verbal or bool(following))
                and not named
                and token.head.lemma_.lower() not in _IDIOMS
            )
            fits = fits and token.head.lower_ not in {f"{w}ed" for w in _IDIOMS} | {
                "named",
                "sought",
                "soon",
                "day",
            }
        if fits:
            yield Swap(
                token.idx,
                token.idx + len(token),
                other.capitalize() if token.text[0].isupper() else other,
            )
