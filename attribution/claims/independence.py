"""Can a claim be verified on its own (V24, section 4.2)? By rules on its words and its parse; the first reason"
" counts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from attribution.claims.mentions import outward, root
from attribution.text.nlp import parse
from attribution.types import Claim

if TYPE_CHECKING:
    from spacy.tokens import Doc

_CONDITION = re.compile(
    r"^(?:(?:and|but|so|however),? )?(?:(?:in|under) (?:that|this|these|those|such|either|any such|which)(?:"
    r" an?)? (?:an? )?"
    r"(?:cases?|events?|circumstances?|conditions?|situations?|instances?)|otherwise|if (?:so|not|this|that|it|they)\b"
    r"(?=[, ])|in which case|failing that|if necessary)\b",
    re.IGNORECASE,
)
_SCENARIO = re.compile(
    r"\b(?:would|could|might) then\b|^then\b.*\b(?:would|could)\b|\bin (?:this|the|that) (?:\w+ )?(?:scenario|example|"
    r"hypothetical)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"^(?:\w+ )?(?:\w+ )?(?:years?|months?|weeks?|days?|decades?|centur(?:y|ies)|hours?) (?:later|earlier"
    r"|afterwards?|before)"
    r"\b(?! than)|\b(?:later|earlier) that (?:same )?(?:year|month|week|day|decade|century)\b"
    r"|^(?:by |in |at )?(?:the (?:following|next|previous|same|preceding) (?:year|month|week|day|decade|century"
    r"|time|period"
    r"|morning|night)|that (?:same )?(?:year|month|day|time)|then|soon after(?:wards)?|afterwards?|meanwhile)\b",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"^(?:\w+, )?(?:another(?! country)|the other|the (?:first|second|third) (?:one|is)\b|one (?:such|possibility"
    r"|example"
    r"|reason|way|option|approach)|others?\b|the (?:former|latter|two|three|rest|others|same)\b|both(?! (?:\w+"
    r" ){1,6}?and\b)"
    r"|neither\b(?!.*\bnor\b)|each one|some of (?:the(?:se|m)|those)|the above|the following)",
    re.IGNORECASE,
)
# nouns that name one of many: "the film" says nothing without knowing which
_REFERENTIAL = frozenset(
    "accident act agency agreement airport album algorithm alliance amendment approach army article artist"
    " attack author"
    " award band bank battle bill bomb book branch bridge brothers building campaign capital case castle"
    " cathedral church"
    " city club coalition colony committee company conference conflict constitution contract country couple court crash"
    " crisis death decision device director discovery disease document drug dynasty earthquake election empire episode"
    " event experiment explosion factory family festival film fire firm flood founder game group hospital island judge"
    " killing king kingdom lake law mayor measure meeting method minister mission model monument mountain"
    " movement movie"
    " museum novel organisation organization painting palace park party plan planet play poem policy port"
    " president process"
    " product programme program project protest province queen race rebellion reform region regulation reign"
    " report river"
    " rover rule ruling scene school screenplay sequel series settlement ship siege song spacecraft species"
    " station statue"
    " strike structure study stadium story system team technique temple term text theory tour tower town trade"
    " treaty trial"
    " trick tunnel university uprising vaccine verdict victim village volcano war winner work writer".split()
)
_WITHOUT_SUBJECT = frozenset(("VERB", "AUX"))


def judge(claims: Sequence[Claim]) -> list[Claim]:
    """Claims with `independent` and, where it is False, `independence_reason`."""
    return [
        c.model_copy(update={"independent": not (found := reason(c.text)), "independence_reason": found})
        for c in claims
    ]


def reason(text: str) -> str:
    """Why the text cannot be verified alone, in an analyst's words; empty where it can."""
    text = " ".join(text.replace("’", "'").split())
    if not any(c.isalpha() for c in text):
        return "It has no words of its own."
    if "|" in text:
        return "A table row: its columns' headings and the table's subject are missing."
    for pattern, words in (
        (_CONDITION, "The condition it depends on is missing: {}."),
        (_SCENARIO, "It continues a scenario that is described elsewhere: {}."),
        (_TIME, "It counts time from something said before: {}."),
        (_LISTED, "It goes on from something listed before: {}."),
    ):
        if match := pattern.search(text):
            return words.format(f"“{match.group().strip(' ,')}”")
    doc = parse(text)
    return next((found for check in CHECKS if (found := check(doc))), "")


def _pronoun(doc: Doc) -> str:
    token = next(outward(doc), None)
    return f"“{token.text}” refers to something outside the sentence." if token is not None else ""


def _demonstrative(doc: Doc) -> str:
    """This, that, these, those and such, unless a clause before it, or what follows, says what is meant."""
    for token in doc:
        if token.lower_ not in ("this", "that", "these", "those", "such") or token.tag_ in ("IN", "WDT", "WP", "RB"):
            continue
        following = doc[token.i + 1].lower_ if token.i + 1 < len(doc) else ""
        if following in ("who", "of", "that", "which", "as", "in", "with") or token.dep_ in ("mark", "advmod"):
            continue
        if token.lower_ == "such" and any(t.lower_ in ("that", "as") for t in doc[token.i : token.i + 6]):
            continue
        head = token.head.lower_.removesuffix("s") if token.dep_ == "det" else ""
        before = doc[: token.i]
        if any(t.pos_ in _WITHOUT_SUBJECT for t in before) and (not head or any(head in t.lower_ for t in before)):
            continue
        if not head and any(t.pos_ == "VERB" for t in before):
            continue
        near = bool(head) and token.i < token.head.i <= token.i + 3
        phrase = doc[token.i : token.head.i + 1].text if near else token.text
        return f"“{phrase}” points to something said before."
    return ""


def _definite(doc: Doc) -> str:
    """ "The treaty", with nothing that says which."""
    for chunk in doc.noun_chunks:
        noun = chunk.root
        if chunk[0].lower_ != "the" or noun.pos_ != "NOUN" or noun.lower_ not in _REFERENTIAL:
            continue
        if any(t.tag_ in ("JJS", "RBS") or t.pos_ in ("PROPN", "NUM") or t.text[0].isupper() for t in chunk[1:]):
            continue
        if any(t.dep_ in ("compound", "poss", "nmod") for t in noun.children):
            continue
        if any(t.lower_ == "of" or t.dep_ in ("relcl", "appos", "acl", "prep") for t in noun.children if t.i > noun.i):
            continue
        if any("first last only second third same".find(t.lower_) >= 0 for t in chunk[1:-1] if len(t) > 3):
            continue
        after = doc[noun.i + 1].text[0] if noun.i + 1 < len(doc) else " "
        if after in "“\"'" or after.isupper() or any(t.lower_ == noun.lower_ for t in doc[: chunk.start]):
            continue
        return f"It does not say which {noun.text} is meant."
    return ""


def _item(doc: Doc) -> str:
    """An elliptical list item: no subject, or no verb."""
    top = root(doc)
    if doc[0].tag_ in ("VBD", "VBZ") and doc[0].dep_ in ("ROOT", "csubj", "advcl", "amod"):
        return "A list item without a subject or verb of its own."
    if any(t.dep_ in ("nsubj", "nsubjpass", "csubj", "csubjpass", "expl") for t in doc if t.head == top):
        return ""
    if len(doc) > 10 and doc[-1].text == "." and doc[0].pos_ not in _WITHOUT_SUBJECT:
        return ""  # a long sentence whose verb the parser took for a noun
    if top.pos_ in _WITHOUT_SUBJECT and (top.tag_ == "VB" or any(t.dep_ == "nsubj" for t in doc)):
        return ""
    return "A list item without a subject or verb of its own."


CHECKS: tuple[Callable[[Doc], str], ...] = (_pronoun, _demonstrative, _definite, _item)
