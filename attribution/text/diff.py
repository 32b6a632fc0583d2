"""What two sequences of words have in common, by difflib, in bounded time."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Literal

MOST = 20_000_000  # pairs of equal words that are looked at: a second or two

Opcode = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]


class Diff(difflib.SequenceMatcher[str]):
    """A word diff. Where it has looked at MOST pairs of words, what is left counts as replaced."""

    a: Sequence[str]  # of difflib, which declares neither
    b2j: dict[str, list[int]]

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        super().__init__(None, old, new, autojunk=False)
        self._left = MOST

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> difflib.Match:
        stop = len(self.a) if ahi is None else ahi
        self._left -= sum(1 + len(self.b2j.get(word, ())) for word in self.a[alo:stop])
        return super().find_longest_match(alo, ahi, blo, bhi) if self._left >= 0 else difflib.Match(alo, blo, 0)
