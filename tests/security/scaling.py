"""Time against length: hostile texts of many shapes, and a measure of what twice the text costs."""

import gc
import random
import time
from collections.abc import Callable

MOST = 2.5  # times as long for twice the text
_FLOOR = 0.001  # seconds of processor time that are too short to be compared
_CEILING = 1.0  # seconds that are long enough to be sure of
_ROUNDS = 5  # a noisy machine is asked again
_MARKS = '.,;:!?@/\\|#*_`~-–’"“()[]{}<>=+&%$^•…。\n\t\u0301\u200b\u00a0²'
_FRAGMENTS = (
    "a|A|1| |Ab |a. B|Mr. |e.g. |U.S. |1. |1) |(1) |1,000 |1999 |5 km |10% |Word: |It was |and "
    "|a@b.c |http://|https://a.b/c |www.a |doi:|10.1234/a |%20|&a=b|../"
    "|[a](|[a](b)|[a][b]|[^a]|[^1]: |![a](|[1]|[1, |【1】|(A, 1999|Smith (1999) |¹²|**a** |```\n|# a\n|> "
    "|- a\n|1. a\n|| a |\n|-|\n|\r\n|<a>|<!--|<script>|&amp;|&#|<think>|Retrieved on |ISBN |et al. "
    "|References\n|Sources: |User: |Disallow: /*|It is "
).split("|")


def text_of(unit: str, length: int) -> str:
    """Return a text of a length that repeats a unit."""
    return (unit * (length // len(unit) + 1))[:length]


def units(pairs: int = 60) -> list[str]:
    """Return the parts of which hostile texts are made: marks, fragments, and pairs of them."""
    single = sorted({*_MARKS, *_FRAGMENTS} - {""})
    chance = random.Random(0)
    return single + ["".join(chance.sample(single, 2)) for _ in range(pairs)]


def seconds(work: Callable[[str], object], text: str) -> float:
    """Return the processor time of this thread, without that of the garbage collector."""
    gc.disable()
    try:
        start = time.process_time()
        work(text)
        return time.process_time() - start
    finally:
        gc.enable()


def is_linear(work: Callable[[str], object], unit: str, length: int) -> bool:
    """Return True if twice the text takes at most MOST times as long, at one of three lengths."""
    return any(_is_linear(work, unit, length * more) for more in (1, 2, 4))


def _is_linear(work: Callable[[str], object], unit: str, length: int) -> bool:
    one, two = text_of(unit, length), text_of(unit, 2 * length)
    longer = seconds(work, two)
    shorter = seconds(work, one)
    for _ in range(_ROUNDS):
        if longer < _FLOOR or longer <= MOST * shorter:
            return True
        if longer > _CEILING:
            return False
        shorter = min(shorter, seconds(work, one))
        longer = min(longer, seconds(work, two))
    return False
