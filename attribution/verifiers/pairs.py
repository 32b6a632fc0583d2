"""What verifiers share: the check of their pairs, pairs that are refused, and the windows in which they read."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Protocol

from attribution.errors import BadInput, Stopped
from attribution.types import Judgement, Pair, Span

CLAIM_TOKENS = 160  # a longer claim leaves too little room for the premise
CLAIM_CHARACTERS = 10 * CLAIM_TOKENS  # checked before tokenising
EVIDENCE_CHARACTERS = 200_000
GROUP, GROUP_CHARACTERS = 16, 20_000  # pairs, and characters of evidence, that are read together at most


class Reads(Protocol):
    """What is asked of a verifier where only its judgements matter."""

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]: ...


def verify_each(verifier: Reads, pairs: Sequence[Pair]) -> list[Judgement | str]:
    """A judgement for each pair, or why there is none: a pair that the verifier refuses costs only itself."""
    if not pairs:
        return []
    try:
        return [*verifier.verify(pairs)]
    except BadInput as error:
        if len(pairs) == 1:
            return [str(error).removeprefix("pair 1: ")]
        half = len(pairs) // 2
        return verify_each(verifier, pairs[:half]) + verify_each(verifier, pairs[half:])


def groups(pairs: Sequence[Pair]) -> Iterator[Sequence[Pair]]:
    """Neighbouring pairs that are read together: few, since only between two groups can the reading be stopped."""
    start = 0
    while start < len(pairs):
        end = start
        while end < min(len(pairs), start + GROUP) and sum(len(p[1]) for p in pairs[start:end]) < GROUP_CHARACTERS:
            end += 1
        yield pairs[start:end]
        start = end


class Stoppable:
    """A verifier that reads group by group; it raises Stopped between two of them once `stop` is set."""

    def __init__(self, verifier: Reads, stop: threading.Event) -> None:
        self._verifier, self._stop = verifier, stop

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """One judgement for each pair, in order. BadInput where the verifier refuses one."""
        check_pairs(pairs)
        judgements: list[Judgement] = []
        for group in groups(pairs):
            if self._stop.is_set():
                raise Stopped("nobody waits for these pairs any more")
            judgements += self._verifier.verify(group)
        return judgements


def check_pairs(pairs: Sequence[Pair]) -> None:
    """BadInput for a claim or evidence that is empty or too long."""
    for number, pair in enumerate(pairs, 1):
        for name, text, most in (("claim", pair[0], CLAIM_CHARACTERS), ("evidence", pair[1], EVIDENCE_CHARACTERS)):
            if not text.strip():
                raise BadInput(f"pair {number}: the {name} is empty; expected text")
            if len(text) > most:
                raise BadInput(
                    f"pair {number}: {len(text):,} characters of {name}, at most {most:,} can be read: split it"
                )


def check_claim_tokens(claim: str, tokens: int) -> None:
    """BadInput for a claim with too many tokens."""
    if tokens > CLAIM_TOKENS:
        raise BadInput(f"the claim {claim[:40]!r}… has {tokens} tokens, at most {CLAIM_TOKENS} fit: segment it first")


def windows(offsets: Sequence[Span], spans: Sequence[Span], room: int) -> list[tuple[int, int]]:
    """Token ranges of at most `room` that together cover all tokens; `offsets` and `spans` are of tokens and sentences.

    A range ends after a sentence where one fits, and the next begins with that sentence again, so that neighbouring
    sentences are read together.
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
        inside = [s for s in starts if start < s <= end]
        end = inside[-1] if inside else end
        ranges.append((start, end))
        start = inside[-2] if len(inside) > 1 else end
