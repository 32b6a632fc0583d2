"""What the embedded verifiers share: the check of their pairs, and threads that each read one pair."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from attribution.errors import BadInput
from attribution.types import Judgement, Pair, Span

CLAIM_TOKENS = 160  # a longer claim leaves too little room for the premise
CLAIM_CHARACTERS = 10 * CLAIM_TOKENS  # checked before tokenising
EVIDENCE_CHARACTERS = 200_000


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


def in_threads(verify_pair: Callable[..., Judgement], pairs: Sequence[Pair]) -> list[Judgement]:
    """One judgement for each pair, in order; each thread reads one pair at a time."""
    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if len(pairs) < 2 or threads < 2:
        return [verify_pair(*pair) for pair in pairs]
    with ThreadPoolExecutor(threads, thread_name_prefix="nli") as pool:
        return list(pool.map(lambda pair: verify_pair(*pair), pairs))


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
