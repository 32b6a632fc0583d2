"""A verifier whose judgements are kept in the store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attribution.storage.store import Store
from attribution.types import Judgement, LlmUsage, Pair, content_id
from attribution.verifiers import Verifier, usage_of


class CachedVerifier:
    """Asks the verifier only for pairs that the store does not have; counts pairs for the report."""

    def __init__(self, verifier: Verifier, store: Store, own: Iterable[str] = ()) -> None:
        """`own` are keys whose judgements count as made here, though the store has them."""
        self.version = verifier.version
        self._verifier, self._store = verifier, store
        self._own = set(own)
        self.reset_counts()

    def reset_counts(self) -> None:
        """Forget what was asked so far: the report counts only the final round."""
        self.pairs = self.cached_pairs = 0
        self.keys: set[str] = set()  # of all pairs asked for: content hashes of pair and version

    @property
    def usage(self) -> LlmUsage | None:
        return usage_of(self._verifier)

    @property
    def uncounted(self) -> Uncounted:
        """The same verifier, for pairs that are no claim's own."""
        return Uncounted(self)

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """One judgement for each (claim, evidence) or (claim, evidence, title), in order."""
        keys = [content_id(self.version, *pair) for pair in pairs]
        judgements = self._store.judgements(list(dict.fromkeys(keys)))
        new = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in judgements}
        if new:
            computed = dict(zip(new, self._verifier.verify(list(new.values())), strict=True))
            self._store.put_judgements(computed)
            self._own.update(computed)
            judgements |= computed
        self.keys.update(keys)
        self.pairs += len(pairs)
        self.cached_pairs += sum(key not in self._own for key in keys)
        return [judgements[key] for key in keys]

    def entailed(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The probability that the evidence of each pair entails its claim."""
        return [j.probabilities.entailed for j in self.verify(pairs)]


class Uncounted:
    """Reads with a cached verifier and leaves its counts of pairs as they are."""

    def __init__(self, verifier: CachedVerifier) -> None:
        self._verifier = verifier

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        counts = self._verifier.pairs, self._verifier.cached_pairs
        judgements = self._verifier.verify(pairs)
        self._verifier.pairs, self._verifier.cached_pairs = counts
        return judgements
