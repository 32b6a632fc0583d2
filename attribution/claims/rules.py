"""Patterns and word lists of the rules on claims, which lie in data files."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from attribution.text.words import word_lists

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


def compile_any(patterns: list[str], flags: int = re.IGNORECASE) -> re.Pattern[str]:
    """One pattern that matches where any of these does; line breaks and the spaces after them do
    not count.
    """
    return re.compile("|".join("(?:" + _INDENTS.sub("", p) + ")" for p in patterns), flags)
