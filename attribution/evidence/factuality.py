"""Tell statements of a source from what it only reports: denials, hearsay, plans, questions and
stories.

"The claim that the tower leans is a myth" repeats the words of the claim, and so seems to entail
it. The words that
mark such sentences are data (`data/factuality.toml`); the parse says which part of the sentence
they govern.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from attribution.text.parse import NOMINAL_SUBJECTS, lemma, parse
from attribution.text.sentences import sentences
from attribution.text.words import folded, stem, terms, word_lists, words_of
from attribution.verifiers.variants import subject

if TYPE_CHECKING:
    from spacy.tokens import Token

_WORDS = word_lists(Path(__file__).parent / "data" / "factuality.toml")
OTHER_WORDS = 3  # content words of a sentence that denies the one before, beside those of the claim
COVERED = 0.6  # least share of the claim's words in the sentence that the marking word must govern
_MARKS = {
    "denial": "the source denies this",
    "hearsay": "the source only reports this",
    "voices": "the source only reports this",
    "plan": "the source speaks of a plan or supposition",
    "fiction": "in the source this is part of a story",
}
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
QUESTION = re.compile(r"\?[\s\"”’)]*$")
YES_OR_NO = re.compile(
    r"(?:^|[,:;–—-] )[\"“]?(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|must|true or)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“”„«»]")
_ALL_QUOTED = re.compile(r"[\"“„«].*[\"“”»]", re.DOTALL)
_KIND = (
    r"(?:claim|myth|rumou?r|misconception|fiction|hoax|example|false|true or false)s?\s*(?:#?\d+)?"
)
_LABELLED = re.compile(rf"\s*{_KIND}\s*[:–—-]\s", re.IGNORECASE)
_COUNTERFACTUAL = re.compile(
    r"(?:Had|Were|If)\b.*\bwould\b|(?:[-*+•] )?(?:\[ ?\]|☐)\s", re.DOTALL
)  # or an open task


def only_reported(claim: str, passage: str, sentence: tuple[int, int], title: str = "") -> str:
    """Say why the deciding sentence of a passage only reports the claim; empty where it asserts it.

    A word that the claim has as well marks nothing: "it is a myth that …" is stated by "it is a
    myth that …".
    """
    text = passage[slice(*sentence)]
    own = {form for word in _WORD.findall(claim) for form in _forms(word)}
    before, after = _neighbours(passage, sentence)
    if _confirms(text, own) or (
        (_resumes(after) or after.lower().startswith("answer:")) and _confirms(after, own)
    ):
        return ""
    if _says(title, "titles") and not _says(claim, "titles"):
        return "the page checks what others say"
    if _says(title, "inventions"):
        return _MARKS["fiction"]
    if _only_asks(claim, text):
        return "the source only asks this"
    if _LABELLED.match(text) or _denies(claim, after, own):
        return _MARKS["denial"]
    around = f"{before} {after}" if _ALL_QUOTED.fullmatch(text.strip()) else before
    if _QUOTED.search(text) and any(_is(token, "voices", own) for token in parse(around)):
        return _MARKS["voices"]
    return next((_MARKS[mark] for mark in _marks(claim, text, own)), "")


def _neighbours(passage: str, sentence: tuple[int, int]) -> tuple[str, str]:
    """The sentence before, and the one or two after."""
    spans = sentences(passage)
    before = [span for span in spans if span[1] <= sentence[0] + 1]
    after = [span for span in spans if span[0] >= sentence[1] - 1][:2]
    last = passage[slice(*before[-1])].strip() if before else ""
    return last, passage[after[0][0] : after[-1][1]].strip() if after else ""


def _only_asks(claim: str, text: str) -> bool:
    """Return True if the words of the claim are only in questions to be answered with yes or no."""
    wanted = terms(claim)[0]
    parts = [part for span in sentences(text) if (part := text[slice(*span)].strip())]
    near = [part for part in parts if 2 * len(wanted & terms(part)[0]) >= len(wanted)]
    return bool(near) and all(QUESTION.search(part) and YES_OR_NO.search(part) for part in near)


def _confirms(text: str, own: set[str]) -> bool:
    return any(
        _is(token, "confirm", own) and not _negated(token) and token.pos_ != "NOUN"
        for token in parse(text)
    ) and not (QUESTION.search(text) or "?" in text)


def _resumes(after: str) -> bool:
    """Return True if a sentence takes up the one before it: "This is …", "The letter …"."""
    low = after.lower()
    return any(low.startswith((f"{word} ", f"{word},")) for word in _WORDS["resumed"])


def _denies(claim: str, after: str, own: set[str]) -> bool:
    """Return True if the next sentences say that it is not so: "This is false", "There is no such
    finding".
    """
    wanted = terms(claim)[0]
    if not after or len(wanted & terms(after)[0]) > 0.7 * len(wanted):
        return False
    for part in (after[slice(*span)] for span in sentences(after)):
        few = len(terms(part)[0] - wanted) <= OTHER_WORDS
        if _says(part, "retracted") or (few and _says(part, "doubted")):
            return True
        if _resumes(part) and any(
            _is(t, "denial", own) and not _negated(t) and _of_this(t, wanted) for t in parse(part)
        ):
            return True
    return False


def _of_this(token: Token, wanted: frozenset[str]) -> bool:
    """Return True if a word denies what was said before: "this is false", "the claim was
    disproved", "a false claim".

    "It gives a false alarm" and "it is untrue that it hurts" deny something else.
    """
    if token.dep_ in ("amod", "compound") and token.head.dep_ in ("attr", "appos", "ROOT"):
        token = token.head
        if not {token.lower_, f"the {token.lower_}"} & _WORDS["resumed"] and token.pos_ != "PRON":
            return False
    verb = token if token.pos_ in ("VERB", "AUX") or token.dep_ == "ROOT" else token.head
    if token.i != verb.i and token.dep_ not in ("attr", "acomp", "oprd", "ccomp"):
        return False
    about = [
        c
        for c in verb.children
        if c.dep_ in (*NOMINAL_SUBJECTS, "dobj", "csubj", "ccomp") and c.i != token.i
    ]
    words = {
        stem(folded(t.text))
        for part in about
        for t in part.subtree
        if t.pos_ in ("NOUN", "PROPN", "VERB", "ADJ")
    }
    known = wanted | {stem(word) for phrase in _WORDS["resumed"] for word in phrase.split()}
    return len(words - known) <= (0 if len(words) < 2 else 1)


def _says(text: str, phrases: str) -> bool:
    words = f" {' '.join(words_of(text))} "
    return any(f" {' '.join(words_of(phrase))} " in words for phrase in _WORDS[phrases])


def _forms(word: str) -> set[str]:
    """The forms under which a word may be in the lists."""
    low = folded(word)
    return {
        low,
        lemma(low),
        low.removesuffix("s"),
        low.removesuffix("ies") + "y" if low.endswith("ies") else low,
    }


def _is(token: Token, kind: str, own: set[str]) -> bool:
    forms = _forms(token.text)
    words = _WORDS[kind] | (
        _WORDS["denial_nouns"] if kind == "denial" and _is_noun(token) else frozenset()
    )
    return bool(forms & words) and not forms & own


def _is_noun(token: Token) -> bool:
    """Return True if a word is a noun. The tagger also takes "of which 38 kilometres lie under the
    sea" for one.
    """
    return token.pos_ == "NOUN" and any(
        child.dep_ in ("det", "poss", "amod") for child in token.children
    )


def _hyphenated(token: Token) -> bool:
    """Return True if a word is a part of another, as in "post-translational"."""
    around = token.doc[max(0, token.i - 1) : token.i + 2]
    return any("-" in near.text for near in around)


def _negated(token: Token) -> bool:
    """Return True if a marking word is itself denied: "is not a myth", "no hoax", "never been
    refuted".
    """
    around = [
        *token.children,
        *token.head.children,
        *(c for a in token.ancestors if a.pos_ == "AUX" for c in a.children),
    ]
    return any(
        t.dep_ == "neg" or t.lower_ in ("no", "not", "never", "nor", "hardly")
        for t in around
        if t.i < token.i
    )


def _marks(claim: str, text: str, own: set[str]) -> Iterator[str]:
    """The marks that govern the claim's words in a sentence, the surest first."""
    doc = parse(text)
    wanted = terms(claim)[0]
    stems = {t.i: stem(folded(t.text)) for t in doc}
    shared = {i for i, word in stems.items() if word in wanted - _subject(claim)}
    shared = shared or {i for i, word in stems.items() if word in wanted}
    if not shared:
        return
    if _COUNTERFACTUAL.match(text.strip()) and "would" not in own:
        yield "plan"
    if "no evidence" in text.lower() or "said to have" in text.lower():
        yield "denial" if "no evidence" in text.lower() else "hearsay"
    for kind in ("denial", "fiction", "hearsay", "voices", "plan"):
        if own & _WORDS[kind]:  # the claim itself tells: "it aims to", "is alleged to"
            continue
        for token in doc:
            scope = _scope(token, kind, own)
            if scope and len(shared & scope) >= COVERED * len(shared):
                yield kind


def _subject(claim: str) -> frozenset[str]:
    """The stems of the claim's subject, which a report may leave out: "the keeper had a dream in
    which he …".
    """
    return terms(f"of {claim[slice(*subject(claim).whole)]}")[0]


def _scope(token: Token, kind: str, own: set[str]) -> set[int]:
    """The tokens that a marking word governs; empty for all other words."""
    if kind == "fiction":
        return set() if own & (_WORDS["fiction"] | {"plot"}) else _story(token, own)
    if _hyphenated(token) or not _is(token, kind, own) or _negated(token):
        return set()
    if token.pos_ in ("VERB", "AUX"):
        if kind == "denial":
            return _below(token)
        if kind == "plan" and token.dep_ == "aux":  # "might have"
            return _below(token.head)
        governed = _below(token, ("ccomp", "xcomp", "dobj", "advcl", "nsubjpass", "prep"))
        if not governed and kind == "plan":  # "A proposed, and B seconded, that …"
            governed = {
                i for t in token.children if t.dep_ == "conj" for i in _below(t, ("ccomp",))
            }
        shares = any(child.dep_ == "xcomp" for child in token.children)  # "the city plans to build"
        return governed | _below(token, NOMINAL_SUBJECTS) if shares else governed
    if token.pos_ == "ADV":
        return _below(token.head)
    if token.pos_ == "ADJ":
        head = token.head
        if token.dep_ == "amod":
            return _below(head) | (_said_by(head) if kind in ("denial", "hearsay") else set())
        return _below(head)  # "is false"
    if kind == "plan" and token.dep_ != "pobj":
        return _below(token)
    if kind == "voices":
        return _below(token, ("acl", "relcl")) | _said_by(token)
    return _below(token) | _said_by(token)


def _below(token: Token, dependencies: Collection[str] = ()) -> set[int]:
    if not dependencies:
        return {t.i for t in token.subtree}
    return {t.i for child in token.children if child.dep_ in dependencies for t in child.subtree}


def _said_by(noun: Token) -> set[int]:
    """Return the words that a noun tells: the clause of its verb, or the one that "according to" or
    "in" ties it to.
    """
    if noun.dep_ in NOMINAL_SUBJECTS and noun.head.pos_ in ("VERB", "AUX"):
        return _below(noun.head)
    if noun.dep_ == "pobj":
        verb = noun.head.head
        while verb.dep_ in ("prep", "pcomp", "pobj"):  # the root is neither
            verb = verb.head
        if noun.head.lower_ in ("to", "in", "by", "on", "from"):
            return _below(verb) if verb.pos_ in ("VERB", "AUX") or verb.dep_ == "ROOT" else set()
    if noun.dep_ in ("attr", "appos"):
        return _below(noun.head)
    return set()


def _story(token: Token, own: set[str]) -> set[int]:
    """Return the words that a work of fiction tells: after "in the novel", or by its verb, or as a
    character.
    """
    if _is(token, "character", own):
        head = token.head
        return (
            _below(head if token.dep_ in ("amod", "compound") else token)
            | _below(token)
            | (
                _below(head.head)
                if token.dep_ in ("amod", "appos") and head.dep_ in NOMINAL_SUBJECTS
                else set()
            )
            | (_below(head) if token.dep_ in NOMINAL_SUBJECTS else set())
        )
    if not _is(token, "fiction", own):
        return set()
    if any(
        t.dep_ == "pobj" and t.head.lower_ == "in" and t.tag_ == "WDT"
        for c in token.children
        for t in c.subtree
    ):
        return _below(token)  # "a dream in which …"
    if token.dep_ == "pobj" and token.head.lower_ in ("in", "throughout"):
        return _below(token.head.head) if token.head.head.pos_ in ("VERB", "AUX") else set()
    if token.dep_ in NOMINAL_SUBJECTS and lemma(token.head.text) in _WORDS["narrate"]:
        return _below(token.head, ("ccomp", "dobj", "prep", "xcomp", "advcl", "acl"))
    return set()
