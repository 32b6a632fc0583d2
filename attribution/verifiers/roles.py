"""Compare who does what to whom in a claim and a sentence that are parsed with the same predicate.

Models that compare words miss exchanged roles, another name in a role, and a negation of one part
of a sentence (HANS,
McCoy et al. 2019).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations
from typing import TYPE_CHECKING

from attribution.text.differences import unmet
from attribution.text.names import negations
from attribution.text.parse import NOMINAL_SUBJECTS, lemma, lemma_of, parse
from attribution.text.words import folded, stem, terms
from attribution.types import Judgement, Pair, Probabilities, quoted

if TYPE_CHECKING:
    from spacy.tokens import Token

NOTICED = 0.1  # least probability of a relation for which sentences are compared
IN_OTHER_ROLES = (
    0.8  # contradiction by a sentence that says it of others: about as many such are right
)
NEAR = 0.5  # least share of a claim's words in a sentence that is compared with it
COVERED = 0.6  # least share of its other words in the passage, where a name or a negation decides
COMMON = 2  # words that two clauses share beside a noun in another role
_MUTUAL = frozenset(
    "accompany balance be border contact cross date divorce equal face fight have hug join kiss marry match meet "
    "mirror oppose overlap resemble rival share touch".split()
)
# verb → the one that tells the same from the other side, and where its roles stand there
_TAKE = {"agent": "to", "from": "agent"}
_CONVERSES: dict[str, tuple[str, Mapping[str, str]]] = {
    **dict.fromkeys(("buy", "purchase", "acquire"), ("sell", _TAKE)),
    **dict.fromkeys(("receive", "get", "inherit"), ("give", _TAKE)),
    "borrow": ("lend", _TAKE),
    "precede": ("follow", {"agent": "patient", "patient": "agent"}),
    "succeed": ("follow", {}),
    "lose": ("beat", {"agent": "patient", "to": "agent", "patient": "what"}),
    "defeat": ("beat", {}),
}
ROLES = ("agent", "patient", "to", "from")  # those that are compared
EXCHANGED = tuple(permutations(("agent", "to", "from"), 2)) + (
    ("agent", "patient"),
    ("patient", "agent"),
)
_LIGHT = frozenset("have include contain get make".split())  # of many things at once
_BE = frozenset("is are was were been be".split())
_NOBODY = frozenset("nobody none nothing neither".split())
_APART = re.compile(
    r"(?:[,;(–—-] ?|\b(?:and|but) )not (?!only\b|just\b|least\b|yet\b|until\b|all\b|every|even\b|to mention\b)"
    r"|\b(?:rather than|instead of|as opposed to|and never) ",
)
_LEFT = re.compile(
    r"\b(?:from|replac\w+|leav\w+|left) (?:the )?$"
)  # "moves from the Square": it is there no longer
_POLES = {  # base form → its scale, and whether a higher degree of it is more on that scale
    word: (sides[0].split()[0], side == sides[0])
    for sides in (
        scale.split("/")
        for scale in (
            "long tall/short",
            "high/low",
            "large big great/small little",
            "old/young new recent",
            "heavy/light",
            "fast quick/slow",
            "hot warm/cold cool",
            "expensive dear/cheap",
            "strong/weak",
            "wide broad/narrow",
            "deep/shallow",
            "rich wealthy/poor",
            "hard difficult/easy",
            "early/late",
            "good well/bad badly",
            "common frequent often/rare rarely seldom",
            "bright/dark",
            "thick/thin",
            "far/near close",
            "many much/few",
        )
    )
    for side in sides
    for word in side.split()
}
_MORE = re.compile(
    r"\b(?P<word>more|higher|larger|greater|longer|older|better)\b.*?\bthan\b(?P<tail>.*)"
)
_LESS = re.compile(
    r"\b(?P<word>fewer|less|lower|smaller|shorter|younger|worse)\b.*?\bthan\b(?P<tail>.*)"
)
# in a text without a negation, or around one: it denies only in part, or in other words
_HALF_DENIED = re.compile(
    r"\b(?:if|unless|would|could|might|may|fail\w*|without|yet to|hardly|barely|rarely|seldom|few|little|refus\w+|"
    r"den(?:y|ie[sd])|lack\w*|difficult|unable|un\w+ed|avoid\w*|stop\w*|quit|prevent\w*|tr(?:y|ie[ds])|only|all|"
    r"every\w*|always|both|any more|instead)\b",
    re.IGNORECASE,
)
_QUALIFIED = re.compile(
    r"\b(?:but|without|until|before)\b"
)  # "not north but east", "not until then"
_PHRASE = re.compile(r"[^,.;:()–—]+")
DENIED = 6  # words of a phrase that is denied


@dataclass(frozen=True)
class Noun:
    """A noun in a role, with the names joined to it."""

    head: str  # its stem
    words: frozenset[str]  # the stems of the head and of what is joined before it: "Clara Wendt"
    written: str
    is_name: bool
    named: frozenset[str] = (
        frozenset()
    )  # the stems of names that say which: "Lauter plant", "the plant in Gotz"

    @property
    def names(self) -> frozenset[str]:
        return self.words if self.is_name else self.named

    def matches(self, other: Noun) -> bool:
        """Return True for the same noun, or a part of the same name; not for two first names before
        one surname.
        """
        if (
            self.is_name
            and other.is_name
            and (self.words <= other.words or other.words <= self.words)
        ):
            return True
        if self.head != other.head:
            return False
        one, two = (n.words - {n.head} if n.is_name else n.named for n in (self, other))
        return not (one and two) or bool(one & two)


@dataclass(frozen=True)
class Frame:
    """A verb's base form with the nouns in its roles."""

    verb: str
    negated: bool
    roles: Mapping[str, Sequence[Noun]]
    words: frozenset[str]  # the stems of its clause
    written: str  # the stem of the verb as it stands there
    finite: bool  # not "throwing", "hit by" or "that hits" behind a noun

    def of(self, role: str) -> Sequence[Noun]:
        return self.roles.get(role, ())

    def has(self, role: str, noun: Noun) -> bool:
        return any(noun.matches(own) for own in self.of(role))


def in_its_role(pair: Pair, judged: Judgement) -> Judgement:
    """Turn a judgement into a contradiction where the deciding sentence says the claim of others,
    or denies it.
    """
    found = judged.probabilities
    if (
        judged.difference
        or "verbatim" in judged.signals
        or max(found.entailed, found.contradicted, judged.against or 0.0) < NOTICED
    ):
        return judged
    context = " ".join(pair[1:])
    if not (difference := difference_in_roles(pair[0], pair[1][slice(*judged.sentence)], context)):
        return judged
    contradicted = min(1.0, max(IN_OTHER_ROLES, found.entailed + found.contradicted))
    probabilities = Probabilities(
        entailed=0.0, contradicted=contradicted, no_relation=1 - contradicted
    )
    return replace(
        judged,
        probabilities=probabilities,
        signals=judged.signals | {"roles": 1.0},
        difference=difference,
    )


def difference_in_roles(claim: str, sentence: str, passage: str = "") -> str:
    """Describe what the sentence says of others than the claim, or denies; empty where nothing
    differs.

    The rest of the claim may be in the passage around the sentence.
    """
    passage = passage or sentence
    wanted = terms(claim)[0]
    if len(wanted & terms(sentence)[0]) < NEAR * len(wanted):
        return ""
    if said := denied_part(claim, sentence) or _reversed(claim, sentence):
        return said
    stated = frames(sentence)
    for own in frames(claim):
        same = sorted(
            (its for its in stated if its.verb == own.verb), key=lambda its: -_likeness(own, its)
        )
        if same and _opposed(own, same, claim, sentence, passage):
            return "only the " + ("claim" if own.negated else "source") + " says “not”"
        if any(_agree(own, its) for its in same):
            continue
        for its in same:
            if said := _exchanged(own, its) or _another(own, its, stated, claim, sentence, passage):
                return said
    return ""


def tells_the_same(claim: str, sentence: str) -> bool | None:
    """Return whether the one clause of a claim says what one of the sentence does: in the passive,
    "bought" for "sold".

    False for roles that are exchanged, None where no two clauses can be compared.
    """
    said, clauses = terms(f"of {sentence}"), frames(claim)
    pairs = [(own, its) for own in clauses for its in frames(sentence) if own.verb == its.verb]
    for own, its in pairs:
        if (
            (len(clauses) == 1 or own.verb.endswith(" than"))
            and own.negated == its.negated
            and _agree(own, its)
        ):
            within = its.words if own.written == its.written else said[0] | said[1]
            if (
                len(_shared(own, its)) + (own.written != its.written) > 1
                and own.words - {own.written} <= within
            ):
                return True
    return False if any(_exchanged(own, its) for own, its in pairs) else None


def _reversed(claim: str, sentence: str) -> str:
    """Describe "more than last year" where the sentence has "fewer than last year"."""
    for one, two in ((_MORE, _LESS), (_LESS, _MORE)):
        mine, its = one.search(claim), two.search(sentence)
        if mine and its and not two.search(claim) and not one.search(sentence):
            one_tail, two_tail = (
                frozenset().union(*terms(f"of {found['tail']}")[:2]) for found in (mine, its)
            )
            if one_tail and (one_tail <= two_tail or two_tail <= one_tail):
                return f"the claim says {quoted(mine['word'])}, the source {quoted(its['word'])}"
    return ""


def _likeness(own: Frame, its: Frame) -> int:
    """Count the words that two clauses share; numbers count twice, since most of them say when."""
    both = own.words & its.words
    return len(both) + sum(word[0].isdigit() for word in both)


def _shared(own: Frame, its: Frame) -> list[str]:
    return [role for role in ROLES if any(its.has(role, noun) for noun in own.of(role))]


def _agree(own: Frame, its: Frame) -> bool:
    """Return True if every role that both fill has a noun in common."""
    both = [role for role in ROLES if own.of(role) and its.of(role)]
    return bool(both) and both == [role for role in _shared(own, its) if role in both]


def _opposed(own: Frame, same: Sequence[Frame], claim: str, sentence: str, passage: str) -> bool:
    """Return True if the clause that is nearest to the claim's denies what it says, or says what it
    denies.
    """
    nearest = same[0]
    stated = sentence if own.negated else claim
    denying = claim if own.negated else sentence
    if (
        _QUALIFIED.search(denying)
        or negations(stated)
        or _HALF_DENIED.search(stated)
        or _HALF_DENIED.search(claim)
    ):
        return False
    if own.negated == nearest.negated or not _covered(claim, passage, frozenset([own.written])):
        return False
    rivals = [its for its in same if its.negated == own.negated]
    if any(_likeness(own, its) >= _likeness(own, nearest) for its in rivals):
        return False
    core = [role for role in ("agent", "patient") if own.of(role) and nearest.of(role)]
    numbers = any(word[0].isdigit() for word in own.words & nearest.words)
    return bool(core or numbers) and all(role in _shared(own, nearest) for role in core)


def _exchanged(own: Frame, its: Frame) -> str:
    """Describe two roles that are the other way round: each has what the other had, or a giver is a
    taker.
    """
    if own.negated or its.negated or own.verb in _MUTUAL:
        return ""
    for one, other in EXCHANGED:
        moved = [n for n in own.of(one) if its.has(other, n) and not its.has(one, n)]
        back = [n for n in own.of(other) if its.has(one, n) and not its.has(other, n)]
        if moved and back:
            return f"the source has {quoted(moved[0].written)} and {quoted(back[0].written)} the other way round"
        common = own.words & its.words - {own.written}
        named = [noun for noun in moved if noun.is_name]
        if named and "patient" not in (one, other) and len(common - named[0].words) >= COMMON:
            return f"the source has {quoted(named[0].written)} in another role"
    return ""


def _another(
    own: Frame, its: Frame, stated: Sequence[Frame], claim: str, sentence: str, passage: str
) -> str:
    """Describe another name in a role, or a noun that does something else, where the rest of the
    claim is said.
    """
    if own.negated or its.negated or own.verb in _LIGHT or not (own.finite and its.finite):
        return ""
    shared = _shared(own, its)
    said = terms(f"of {sentence}")[0]
    for role in ROLES:
        mine, theirs = own.of(role), its.of(role)
        if not mine or not theirs or role in shared:
            continue
        names = mine[0].names, frozenset().union(*(noun.names for noun in theirs))
        named = all(names) and not any(noun.written.isupper() for noun in (mine[0], *theirs))
        elsewhere = any(
            f.finite and f.verb != own.verb and (f.has("agent", mine[0]) or f.has(role, mine[0]))
            for f in stated
        )
        alike = len(own.words & its.words - {own.written} - mine[0].words) >= COMMON
        if not (shared or (named and (elsewhere or alike))):
            continue
        moved = any(own.has(other, noun) for other in ROLES if other != role for noun in theirs)
        new = named and not names[0] <= said and (moved or not names[1] <= terms(f"of {claim}")[0])
        told = (new or elsewhere) and not _dated_apart(claim, sentence)
        if told and _covered(claim, passage, mine[0].words | names[0]):
            its_noun = max(
                theirs,
                key=lambda noun: (noun.is_name, bool(noun.names)) if named else (False, False),
            )
            return (
                f"the claim says {quoted(mine[0].written)}, the source {quoted(its_noun.written)}"
            )
    return ""


def _dated_apart(claim: str, sentence: str) -> bool:
    """Return True if the claim has a date that the sentence lacks: it may tell of another event."""
    return any(value.kind == "date" for value in unmet(claim, sentence))


def _covered(claim: str, passage: str, but: frozenset[str]) -> bool:
    wanted = terms(claim)[0] - but
    return len(wanted & terms(passage)[0]) >= COVERED * len(wanted)


def denied_part(claim: str, sentence: str) -> str:
    """Describe a phrase that one of the two denies and the other states: "a blocked drain, not
    human error".
    """
    for text, other, who in ((sentence, claim, "source"), (claim, sentence, "claim")):
        for found in _APART.finditer(text):
            phrase = _PHRASE.match(text, found.end())
            if phrase is None or len(phrase[0].split()) > DENIED or _HALF_DENIED.search(other):
                continue
            if apart := _APART.search(other):
                denied, stated = terms(f"of {phrase[0]}")[0], terms(other[: apart.start()])[0]
                if (
                    denied
                    and denied <= stated
                    and terms(f"of {other[apart.end() :]}")[0] <= terms(text[: found.start()])[0]
                ):
                    return f"the source has {quoted(phrase[0])} the other way round"
                continue
            denied = terms(f"of {phrase[0]}")[0]
            rest = terms(text[: found.start()] + text[phrase.end() :])[0]
            if _LEFT.search(other, 0, max(0, other.find(phrase[0].removeprefix("the ").strip()))):
                continue
            if (
                denied
                and denied <= terms(f"of {other}")[0] - rest
                and _covered(other, text, denied)
            ):
                return f"only the {who} says {quoted(text[found.start() : phrase.end()].strip(' ,;(–—-'))}"
    return ""


@lru_cache(maxsize=1024)
def frames(text: str) -> tuple[Frame, ...]:
    """The verbs of a text with their roles, in the active or the passive voice."""
    doc = parse(text)
    held = (_office(token) for token in doc if token.lower_ in _BE)
    compared = (
        _comparison(token) for token in doc if token.lower_ == "than" and token.dep_ == "prep"
    )
    return *(_frame(t) for t in doc if t.pos_ == "VERB"), *(
        frame for frame in (*held, *compared) if frame
    )


def _office(verb: Token) -> Frame | None:
    """Return who is the one thing: "Ann Lee is the mayor", "the mayor is Ann Lee"; None for other
    clauses.
    """
    sides = [child for child in verb.children if child.dep_ in ("nsubj", "attr")]
    names = [noun for side in sides if side.pos_ == "PROPN" for noun in _nouns(verb, [side])]
    offices = [
        side
        for side in sides
        if side.pos_ == "NOUN" and any(_is_definite(t) for t in side.children)
    ]
    if len(sides) != 2 or not names or not offices:
        return None
    content, numbers, _ = terms(f"of {' '.join(t.text for t in verb.subtree)}")
    negated = any(child.dep_ == "neg" or child.lower_ == "never" for child in verb.children)
    roles = {"agent": names, "patient": [*_nouns(verb, offices)][:1]}
    return Frame("be", negated, roles, content | numbers, "", True)


def _comparison(than: Token) -> Frame | None:
    """Return what has more of a quality, as agent, and what has less: "A is longer than B", "B is
    shorter than A".
    """
    degree = than.head
    verb = next((t for t in degree.ancestors if t.pos_ in ("VERB", "AUX")), None)
    by = next((t.lower_ for t in degree.lefts if t.lower_ in ("more", "less")), "")
    if verb is None or not by and degree.tag_ not in ("JJR", "RBR"):
        return None
    base = lemma_of(degree.lower_, "ADV" if degree.pos_ == "ADV" else "ADJ")
    scale, up = _POLES.get(base, (base, True))
    sides = [
        [*_nouns(verb, side)]
        for side in (_subjects(verb), [t for t in than.children if t.dep_ == "pobj"])
    ]
    more, less = sides if up == (by != "less") else reversed(sides)
    content, numbers, _ = terms(
        f"of {' '.join(t.text for t in verb.subtree if t.lower_ != by and _clause_of(t) in (t, verb))}"
    )
    negated = any(child.dep_ == "neg" or child.lower_ == "never" for child in verb.children)
    roles = {"agent": more, "patient": less}
    return Frame(f"{scale} than", negated, roles, content | numbers, stem(degree.lower_), False)


def _is_definite(token: Token) -> bool:
    return token.lower_ == "the" or token.dep_ == "poss"


def _frame(verb: Token) -> Frame:
    agents = [child for child in verb.children if child.dep_ == "agent"]
    agents += [
        t for child in agents for t in child.children if t.dep_ == "conj" and t.pos_ == "ADP"
    ]
    by = [noun for child in agents for noun in child.children if noun.dep_ == "pobj"]
    passive = (
        verb.dep_ == "acl"
        and verb.tag_ == "VBN"
        or any(child.dep_ == "auxpass" for child in verb.children)
    )
    subjects = _subjects(verb)
    objects = [child for child in verb.children if child.dep_ == "dobj"]
    found = (
        {"agent": by, "patient": subjects}
        if passive or by
        else {"agent": subjects, "patient": objects}
    )
    found["to"] = [
        child for child in verb.children if child.dep_ == "dative" and child.pos_ != "ADP"
    ]
    for child in (t for t in verb.subtree if _clause_of(t).i == verb.i and t.head.dep_ != "pobj"):
        joined = child.dep_ == "conj" and child.head.pos_ == "ADP"  # "to Mr. Kell and to Dr. Voss"
        if (joined or child.dep_ in ("prep", "dative")) and child.lower_ in ("to", "from"):
            found.setdefault(child.lower_, []).extend(
                noun for noun in child.children if noun.dep_ == "pobj"
            )
    base, moved = _CONVERSES.get(lemma(verb.text), (lemma(verb.text), {}))
    roles: dict[str, list[Noun]] = {}
    for role, nouns in found.items():
        roles.setdefault(moved.get(role, role), []).extend(_nouns(verb, nouns))
    negated = any(
        child.dep_ == "neg" or child.lower_ in ("never", "hardly") for child in verb.children
    )
    negated ^= any(
        noun.lower_ in _NOBODY or any(t.lower_ == "no" for t in noun.children) for noun in subjects
    )
    clause = " ".join(t.text for t in verb.subtree if t.i == verb.i or _clause_of(t).i == verb.i)
    content, numbers, _ = terms(f"of {clause}")
    return Frame(
        base,
        negated,
        roles,
        content | numbers,
        stem(verb.lower_),
        verb.dep_ not in ("acl", "relcl"),
    )


def _modifiers(noun: Token) -> Iterator[Token]:
    """The nouns that say which one is meant: before it, and after "in", "of" or "at"."""
    yield from (t for t in noun.children if t.dep_ in ("compound", "poss", "nmod", "appos"))
    yield from (
        t for prep in noun.children if prep.lower_ in ("in", "of", "at") for t in prep.children
    )


def _clause_of(token: Token) -> Token:
    """The nearest verb above a word."""
    return next((t for t in token.ancestors if t.pos_ == "VERB"), token)


def _subjects(verb: Token) -> list[Token]:
    """Return the verb's subjects, or those of the verb it is joined to; for a participle after a
    noun, the noun.
    """
    own = [child for child in verb.children if child.dep_ in NOMINAL_SUBJECTS]
    if own:
        return own
    if verb.dep_ == "acl" and verb.tag_ in ("VBN", "VBG"):
        return [verb.head]
    return (
        _subjects(verb.head) if verb.dep_ in ("conj", "xcomp") and verb.head.pos_ == "VERB" else []
    )


def _nouns(verb: Token, nouns: Sequence[Token]) -> Iterator[Noun]:
    """Yield nouns with those joined to them, and the noun a relative pronoun stands for; no other
    pronouns.
    """
    for noun in nouns:
        if noun.tag_ in ("WDT", "WP") and verb.dep_ == "relcl":
            noun = verb.head
        if noun.pos_ in ("NOUN", "PROPN"):
            first = min(
                (t.i for t in noun.children if t.dep_ == "compound" and t.i < noun.i),
                default=noun.i,
            )
            written = noun.doc[first : noun.i + 1]
            named = [t for t in _modifiers(noun) if t.pos_ == "PROPN"]
            last = max(
                (t.i for t in named if not any(b.is_punct for b in noun.doc[noun.i : t.i])),
                default=noun.i,
            )
            yield Noun(
                stem(folded(noun.text)),
                frozenset(stem(folded(t.text)) for t in written),
                noun.doc[first : max(last, noun.i) + 1].text,
                noun.pos_ == "PROPN",
                frozenset(stem(folded(t.text)) for t in named),
            )
        yield from _nouns(
            verb, [child for child in noun.children if child.dep_ in ("conj", "appos")]
        )
