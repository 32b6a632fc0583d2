"""Checks of a verifier's input, and judgements kept in the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from attribution.errors import BadInput, LlmFailed
from attribution.types import Judgement, LlmUsage, Pair, content_id
from attribution.verifiers import Verifier, key_of, usage_of

if TYPE_CHECKING:  # `list` asks the verifiers, and needs no database
    from attribution.store.store import Store

CLAIM_TOKENS = 160  # a longer claim leaves too little room for the passage
CLAIM_CHARACTERS = 10 * CLAIM_TOKENS  # checked before tokenising
EVIDENCE_CHARACTERS = 200_000


class Reads(Protocol):
    """A verifier as seen by code that needs only its judgements."""

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]: ...


Refusal = BadInput | LlmFailed  # why a pair has no judgement: its texts, or the language model


def verify_each(verifier: Reads, pairs: Sequence[Pair]) -> list[Judgement | Refusal]:
    """Return a judgement for each pair, or why there is none; one refusal doesn't affect others."""
    if not pairs:
        return []
    try:
        return [*verifier.verify(pairs)]
    except BadInput as error:
        if len(pairs) == 1:
            return [BadInput(str(error).removeprefix("pair 1: "))]
    except LlmFailed as error:
        if len(pairs) == 1:
            return [error]
    half = len(pairs) // 2
    return verify_each(verifier, pairs[:half]) + verify_each(verifier, pairs[half:])


def check_pairs(pairs: Sequence[Pair]) -> None:
    """Raise BadInput for a claim or evidence that is empty or too long."""
    for number, pair in enumerate(pairs, 1):
        _check_text(f"pair {number}", "claim", pair[0], CLAIM_CHARACTERS)
        _check_text(f"pair {number}", "evidence", pair[1], EVIDENCE_CHARACTERS)


def _check_text(where: str, name: str, text: str, most: int) -> None:
    if not text.strip():
        raise BadInput(f"{where}: the {name} is empty; expected text")
    if len(text) > most:
        raise BadInput(
            f"{where}: {len(text):,} characters of {name}, at most {most:,} can be read: split it"
        )


def check_claim_tokens(claim: str, tokens: int) -> None:
    """Raise BadInput for a claim with too many tokens."""
    if tokens > CLAIM_TOKENS:
        raise BadInput(
            f"the claim {claim[:40]!r}… has {tokens} tokens, at most {CLAIM_TOKENS} fit: "
            "segment it first"
        )


class CachedVerifier:
    """A verifier that is asked only for pairs missing from the store, and counts pairs."""

    def __init__(self, verifier: Verifier, store: Store) -> None:
        self.version = verifier.version
        self.reads_question = bool(getattr(verifier, "reads_question", False))
        self._key = key_of(verifier)
        self._verifier = verifier
        self._store = store
        self._new: set[str] = set()  # keys of the judgements made here
        self.reset_counts()

    def reset_counts(self) -> None:
        """Reset the counts: the report counts only the final round."""
        self.pairs = 0
        self.cached_pairs = 0

    @property
    def usage(self) -> LlmUsage | None:
        return usage_of(self._verifier)

    @property
    def verifier(self) -> Verifier:
        return self._verifier

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """Return one judgement for each (claim, evidence) or (claim, evidence, title), in order."""
        keys = [content_id(self._key, *pair) for pair in pairs]
        judgements = self._store.cache.values("judgement", list(dict.fromkeys(keys)))
        new = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in judgements}
        if new:
            computed = dict(zip(new, self._verifier.verify(list(new.values())), strict=True))
            self._store.cache.put("judgement", computed)
            self._new.update(computed)
            judgements |= computed
        self.pairs += len(pairs)
        self.cached_pairs += sum(key not in self._new for key in keys)
        return [judgements[key] for key in keys]

    def entailed(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the probability that the evidence of each pair entails its claim."""
        return [judgement.probabilities.entailed for judgement in self.verify(pairs)]
