"""Remember what a function found in short texts; long ones, which anybody can send, would fill
memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar

LONGEST = 4_000  # characters of all arguments together

P = ParamSpec("P")
R = TypeVar("R")


def remember(most: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Cache the results of a function of texts, at most so many, of texts with at most LONGEST
    characters.
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        cached = lru_cache(maxsize=most)(function)

        @wraps(function)
        def found(*texts: P.args, **named: P.kwargs) -> R:
            if named or sum(len(str(text)) for text in texts) > LONGEST:
                return function(*texts, **named)
            return cached(*texts)

        found.__dict__.update(cache_clear=cached.cache_clear, cache_info=cached.cache_info)
        return found

    return decorated
