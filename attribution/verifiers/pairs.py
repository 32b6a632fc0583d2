"""Check the pairs of a verifier, cut long evidence into windows, and keep judgements in the store."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from attribution.errors import BadInput, LlmFailed
from attribution.text.marks import without_numbers
from attribution.text.sentences import sentences
from attribution.text.words import plain, share_terms
from attribution.types import Judgement, LlmUsage, Pair, Probabilities, Span, content_id
from attribution.verifiers import Verifier, key_of, usage_of

if TYPE_CHECKING:  # `list` asks the verifiers, and needs no database
    from attribution.store.store import Store

CLAIM_TOKENS = 160  # a longer claim leaves too little room for the premise
CLAIM_CHARACTERS = 10 * CLAIM_TOKENS  # checked before tokenising
EVIDENCE_CHARACTERS = 200_000
SENTENCES = (
    300  # of a pair's evidence that share a word with its claim, each of which is read by itself
)
WINDOWS = 300  # of a pair's evidence


class Reads(Protocol):
    """A verifier as seen by code that needs only its judgements."""

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]: ...


Refusal = (
    BadInput | LlmFailed
)  # why a pair has no judgement: its texts, or the language model that was asked


def verify_each(verifier: Reads, pairs: Sequence[Pair]) -> list[Judgement | Refusal]:
    """Return a judgement for each pair, or why there is none; a refused pair does not affect the
    others.
    """
    if not pairs:
        return []
    try:
        return [*verifier.verify(pairs)]
    except (BadInput, LlmFailed) as error:
        if len(pairs) == 1:
            return [
                BadInput(str(error).removeprefix("pair 1: "))
                if isinstance(error, BadInput)
                else error
            ]
        half = len(pairs) // 2
        return verify_each(verifier, pairs[:half]) + verify_each(verifier, pairs[half:])


def check_pairs(pairs: Sequence[Pair]) -> None:
    """Raise BadInput for a claim or evidence that is empty or too long."""
    for number, pair in enumerate(pairs, 1):
        for name, text, most in (
            ("claim", pair[0], CLAIM_CHARACTERS),
            ("evidence", pair[1], EVIDENCE_CHARACTERS),
        ):
            if not text.strip():
                raise BadInput(f"pair {number}: the {name} is empty; expected text")
            if len(text) > most:
                raise BadInput(
                    f"pair {number}: {len(text):,} characters of {name}, at most {most:,} can be read: split it"
                )
        if len(pair[1]) > 2 * SENTENCES:  # a shorter text has fewer sentences
            sharing(*pair[:2], sentences(pair[1]))


def sharing(claim: str, evidence: str, spans: Sequence[Span]) -> list[Span]:
    """Return the sentences that share a word with the claim. Raises BadInput for more than can be
    read.
    """
    near = [span for span in spans if share_terms(claim, evidence[slice(*span)])]
    if len(near) > SENTENCES:
        raise BadInput(
            f"{len(near):,} sentences of the evidence share a word with the claim, at most {SENTENCES} can be read: "
            "split it, or choose smaller chunks"
        )
    return near


def check_claim_tokens(claim: str, tokens: int) -> None:
    """Raise BadInput for a claim with too many tokens."""
    if tokens > CLAIM_TOKENS:
        raise BadInput(
            f"the claim {claim[:40]!r}… has {tokens} tokens, at most {CLAIM_TOKENS} fit: segment it first"
        )


def windows(offsets: Sequence[Span], spans: Sequence[Span], room: int) -> list[tuple[int, int]]:
    """Cut tokens into ranges of at most `room`; `offsets` are those of tokens, `spans` those of
    sentences.

    A range ends after a sentence if one fits, and the next range repeats that sentence, so that
    neighbouring sentences
    are read together. Raises BadInput for more ranges than can be read.
    """
    if len(offsets) <= room:
        return [(0, len(offsets))]
    starts, token = [], 0
    for first, _ in spans:
        while token < len(offsets) and offsets[token][0] < first:
            token += 1
        starts.append(token)
    ranges: list[Span] = []
    start = 0
    while True:
        end = start + room
        if end >= len(offsets):
            return [*ranges, (start, len(offsets))]
        if len(ranges) == WINDOWS - 1:
            raise BadInput(
                f"the evidence has {len(offsets):,} tokens, more than can be read for this claim: split it"
            )
        inside = starts[bisect_right(starts, start) : bisect_right(starts, end)]
        end = inside[-1] if inside else end
        ranges.append((start, end))
        start = inside[-2] if len(inside) > 1 else end


class CachedVerifier:
    """A verifier that is asked only for pairs missing from the store, and counts pairs for the
    report.
    """

    def __init__(self, verifier: Verifier, store: Store, own: Iterable[str] = ()) -> None:
        """Wrap a verifier; judgements with a key in `own` count as new, even if the store has them."""
        self.version, self._key = verifier.version, key_of(verifier)
        self.reads_question = bool(getattr(verifier, "reads_question", False))
        self._verifier, self._store = verifier, store
        self._own = set(own)
        self.reset_counts()

    def reset_counts(self) -> None:
        """Reset the counts: the report counts only the final round."""
        self.pairs = self.cached_pairs = 0
        self.keys: set[str] = set()  # content hashes of pair and version, for all pairs asked for

    @property
    def usage(self) -> LlmUsage | None:
        return usage_of(self._verifier)

    @property
    def verifier(self) -> Verifier:
        return self._verifier

    @property
    def uncounted(self) -> Uncounted:
        """The same verifier without counting, for pairs that do not verify a claim of the run."""
        return Uncounted(self)

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """Return one judgement for each (claim, evidence) or (claim, evidence, title), in order."""
        keys = [content_id(self._key, *pair) for pair in pairs]
        judgements = self._store.cache.judgements(list(dict.fromkeys(keys)))
        new = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in judgements}
        if new:
            computed = dict(zip(new, self._verifier.verify(list(new.values())), strict=True))
            self._store.cache.put_judgements(computed)
            self._own.update(computed)
            judgements |= computed
        self.keys.update(keys)
        self.pairs += len(pairs)
        self.cached_pairs += sum(key not in self._own for key in keys)
        return [judgements[key] for key in keys]

    def entailed(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the probability that the evidence of each pair entails its claim."""
        return [j.probabilities.entailed for j in self.verify(pairs)]


class Uncounted:
    """A wrapper for a cached verifier that does not count pairs."""

    def __init__(self, verifier: CachedVerifier) -> None:
        self._verifier = verifier

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        counts = self._verifier.pairs, self._verifier.cached_pairs
        judgements = self._verifier.verify(pairs)
        self._verifier.pairs, self._verifier.cached_pairs = counts
        return judgements


SURE = 0.98  # as support
_EDGES = '*_`#.,;:!…()"“”„«»'  # but not signs of a value: "-5", "$5", "5%"
_MIN_WORDS = 3
_QUOTATION, _QUESTION = re.compile(r"[“\"„«]"), re.compile(r"[?？][^\w?？]*$")


def word_for_word(claim: str, text: str, sentences: Sequence[Span]) -> Judgement | None:
    """Return the judgement of a text that contains the claim as whole sentences; None if it does
    not.

    Case, white space, citation marks and punctuation at the edges of words are ignored. A quotation
    does not count as a
    statement of the text, and neither does a question.
    """
    wanted = _words(claim)
    if len(wanted) < _MIN_WORDS:
        return None
    stated = [(span, words) for span in sentences if (words := _words(text[slice(*span)]))]
    for first, ((start, _), _) in enumerate(stated):
        found, last = 0, first
        while (
            last < len(stated) and stated[last][1] == wanted[found : found + len(stated[last][1])]
        ):
            found += len(stated[last][1])
            last += 1
        if found == len(wanted) and _states(text[start : stated[last - 1][0][1]], claim):
            support = Probabilities(entailed=SURE, contradicted=0.0, no_relation=1 - SURE)
            return Judgement(support, (start, stated[last - 1][0][1]), {"verbatim": 1.0})
    return None


def _states(stated: str, claim: str) -> bool:
    return all(mark.search(claim) or not mark.search(stated) for mark in (_QUOTATION, _QUESTION))


def _words(text: str) -> list[str]:
    words = (word.strip(_EDGES) for word in plain(without_numbers(text)).casefold().split())
    return [word for word in words if word]
