"""Corrections by rule: a number, date, unit, name or negation of the claim gives way to the passage's, or two
change places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attribution.contrast.variants import SHARED, Change, changes, exchanged, replaced, with_units
from attribution.settings import Settings
from attribution.text.lexical import terms
from attribution.text.sentences import sentences
from attribution.text.values import values
from attribution.types import LlmUsage

MOST = 10  # candidates of a claim and a passage
SWAPPED = 3  # of them, at most, by two values that change places
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|can|could|will|would|has|have|had|does|do|did|should|may|might|must)\b")
_UNTIL = re.compile(r"\buntil\b")  # what did not happen until then happened then


class RuleCorrector:
    """Corrector `rule`."""

    version = "rule/2"
    usage: LlmUsage | None = None

    def __init__(self, settings: Settings) -> None:
        pass

    def candidates(self, claim: str, passage: str, right: Sequence[str] = ()) -> list[str]:
        """The claim with values of the passage in place of its own, the likeliest first; at most ten.

        A name in the subject of the claim stays: another one would make it a claim about something else. So does what
        one of the texts in `right` says too; and where there is such a text, one value changes at a time.
        """
        found = [*changes(claim, passage, [passage, *right]), *_negations(claim, passage)]
        found.sort(key=lambda c: -c.likeness)
        texts = [replaced(claim, together) for together in with_units(found)]
        if not right:
            if len(best := _best(found)) > 1:
                texts.insert(min(len(texts), 2), replaced(claim, best))
            swapped = [v.text for start, end in sentences(passage) for v in exchanged(claim, passage[start:end])]
            texts = [*texts[: MOST - SWAPPED], *swapped[:SWAPPED], *texts[MOST - SWAPPED :]]
        return [t for t in dict.fromkeys(texts) if t != claim][:MOST]


def _negations(claim: str, passage: str) -> Iterator[Change]:
    """Its negation left out where a sentence has none, or one put in where a sentence has one."""
    words = terms(claim)[0]
    for start, end in sentences(passage):
        sentence = passage[start:end]
        shared = SHARED * len(words & terms(sentence)[0]) / max(1, len(words))
        own, its = ([v for v in values(text) if v.kind == "negation"] for text in (claim, sentence))
        if own and not its:
            for value in own:
                if claim[slice(*value.span)].casefold() in ("not", "never") and not _UNTIL.search(claim, value.end):
                    yield Change((value.start, value.end + claim[value.end :].startswith(" ")), "", shared, "negation")
        elif its and not own and (match := _AUXILIARY.search(claim)):
            yield Change((match.end(), match.end()), " not", shared, "negation")


def _best(found: Sequence[Change]) -> list[Change]:
    """The best change of each place, as far as they do not overlap."""
    chosen: list[Change] = []
    for change in found:
        if all(change.span[1] <= c.span[0] or c.span[1] <= change.span[0] for c in chosen):
            chosen.append(change)
    return chosen
