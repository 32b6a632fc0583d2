"""Patterns and word lists of the rules on claims, which lie in data files."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from attribution.errors import StageFailure
from attribution.text.parse import MAX_PARSED, MAX_SENTENCES
from attribution.text.words import word_lists
from attribution.types import Claim, Failure

_FOLDER = Path(__file__).parent / "data"
_INDENTS = re.compile(r"\n\s*")
_CELL = re.compile(r"[^:]{1,80}: (?:.+ \([^()]+\)|[^:]{1,80}: .{1,200})")
LEXICON = word_lists(_FOLDER / "lexicon.toml")


def is_cell(text: str) -> bool:
    """Return True for a cell of a table: "Kibo: 5,895 m (Height)", "Plan A: Dark mode: yes"."""
    return bool(_CELL.fullmatch(text))


@cache
def load(name: str) -> Any:
    """The content of `name`.yaml."""
    return yaml.safe_load((_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))


def readable(
    claims: Sequence[Claim], stop: threading.Event | None = None
) -> Iterator[tuple[Claim, bool]]:
    """Yield each claim with True if the rules read it: it is short enough and among the first
    MAX_SENTENCES.
    """
    for number, claim in enumerate(claims):
        yield (
            claim,
            number < MAX_SENTENCES
            and len(claim.text) <= MAX_PARSED
            and not (stop and stop.is_set()),
        )


def left_out(claims: Sequence[Claim]) -> list[Failure]:
    """A failure that says how many claims the rules do not read; none where they read all."""
    count = sum(not read for _, read in readable(claims))
    if not count:
        return []
    message = (
        f"Rules did not read {count:,} of {len(claims):,} claims, which count as claims to check, as they stand: rules "
        f"read the first {MAX_SENTENCES:,} claims, and none of more than {MAX_PARSED:,} characters. "
        "Analyse the answer in parts."
    )
    return [StageFailure("left_out", message).as_failure("worthiness", "claims")]


def compile_any(patterns: list[str], flags: int = re.IGNORECASE) -> re.Pattern[str]:
    """One pattern that matches where any of these does; line breaks and the spaces after them do
    not count.
    """
    return re.compile("|".join("(?:" + _INDENTS.sub("", p) + ")" for p in patterns), flags)
