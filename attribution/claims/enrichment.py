"""Decontextualise claims by rules (V24 5.1.1), and make a conversation's question stand alone (R23
3.3).

Only where question and answer leave one candidate; a wrong name is worse than a pronoun.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from attribution.claims.coreference import (
    POSSESSIVE,
    PRONOUNS,
    Context,
    outward_pronouns,
    straight,
)
from attribution.text.parse import lower_initial, parse
from attribution.text.sentences import is_english
from attribution.types import Claim, Turn

if TYPE_CHECKING:
    from spacy.tokens import Token


def enrich(question: str, answer: str, claims: Sequence[Claim]) -> list[Claim]:
    """Replace the pronouns of claims by what they refer to. English only.

    Args:
        question: The question, perhaps with earlier ones of a conversation.
        answer: The answer that the claims are from.
        claims: Claims with worthiness and independence.

    Returns:
        The claims, with `enriched` where they are factual, dependent and certain to resolve.
    """
    if not is_english(answer) or not any(map(_is_open, claims)):
        return list(claims)
    context = Context(question, answer)
    result: list[Claim] = []
    for claim in claims:
        if _is_open(claim):
            text = _enriched(context, claim)
            enriched = text if text != claim.text else None
            claim = claim.model_copy(update={"enriched": enriched})
        result.append(claim)
    return result


def _is_open(claim: Claim) -> bool:
    is_dependent = claim.worthiness == "factual" and claim.independent is False
    return is_dependent and bool(claim.spans) and not claim.enriched


class AnswerPlace(NamedTuple):
    """Where a sentence stands in an answer."""

    block: int
    character: int


def _enriched(context: Context, claim: Claim) -> str | None:
    """Return the claim with its references replaced; None where that is not certain."""
    place = min(start for start, _ in claim.spans)
    numbers = [n for n, block in enumerate(context.blocks) if block.start <= place < block.end]
    foreign_letters = sum(c.isalpha() and not c.isascii() for c in claim.text)
    if not numbers or foreign_letters > len(claim.text) // 4:
        return None
    number = numbers[0]
    if context.blocks[number].kind in ("row", "code"):
        return None
    return _resolve(context, straight(claim.text), AnswerPlace(number, place))


class Change(NamedTuple):
    """A replacement in a text."""

    start: int
    end: int
    text: str


def _resolve(context: Context, text: str, place: AnswerPlace) -> str | None:
    """Return the text with every outward pronoun replaced; None if one of them stays open."""
    changes: dict[str, Change] = {}
    for token in outward_pronouns(parse(text)):
        form = PRONOUNS[token.lower_]
        if form in changes:
            continue  # one occurrence is enough
        name = context.antecedent(form, place.block, place.character)
        if name is None or not _is_replaceable(token):
            return None  # half a repair would hide what is still open
        if token.lower_ in POSSESSIVE and token.dep_ == "poss":
            is_plural = form == "they" and name.endswith("s")
            name += "'" if is_plural else "'s"
        end = token.idx + len(token.text)
        changes[form] = Change(token.idx, end, name)
    return _replaced(text, list(changes.values())) if changes else None


def _is_replaceable(pronoun: Token) -> bool:
    """Return False for "it's" and "theirs"."""
    following = pronoun.doc[pronoun.i + 1 :][:1].text
    is_owner = pronoun.lower_ in ("hers", "theirs", "his") and pronoun.dep_ != "poss"
    return not is_owner and not following.startswith("'")


def _replaced(text: str, changes: Sequence[Change]) -> str:
    """Return the text with the changes made, and capitals adapted to their place."""
    for start, end, name in sorted(changes, reverse=True):
        opens_sentence = start == 0 or text[:start].rstrip().endswith((".", "!", "?"))
        if opens_sentence:
            name = name[0].upper() + name[1:]
        elif name.startswith(("The ", "A ", "An ")):
            name = lower_initial(name)
        text = text[:start] + name + text[end:]
    return text


def standalone_question(question: str, turns: Sequence[Turn]) -> str:
    """Return a question that can be read without its conversation. English only.

    One that names nothing, such as “When was it built?”, follows the last one that does: “What is
    the Eiffel Tower?”

    Args:
        question: The question.
        turns: The conversation before it.
    """
    asked = [utterance for speaker, utterance in turns if speaker == "user"]
    if not asked or not is_english(" ".join([*asked, question])):
        return question
    questions = [question]
    for earlier in reversed(asked):
        first = Context(questions[0], "")
        if first.question:
            break
        questions.insert(0, earlier)
    return " ".join(questions)
