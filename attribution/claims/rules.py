"""Patterns and word lists of the rules on claims, which lie in data files."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from attribution.text.lexical import word_lists

_FOLDER = Path(__file__).parent / "data"
_INDENTS = re.compile(r"\n\s*")
LEXICON = word_lists(_FOLDER / "lexicon.toml")


@cache
def load(name: str) -> Any:
    """The content of `name`.yaml."""
    return yaml.safe_load((_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))


def compile_any(patterns: list[str], flags: int = re.IGNORECASE) -> re.Pattern[str]:
    """One pattern that matches where any of these does; line breaks and the spaces after them do not count."""
    return re.compile("|".join("(?:" + _INDENTS.sub("", p) + ")" for p in patterns), flags)
