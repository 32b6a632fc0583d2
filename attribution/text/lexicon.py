"""Word lists that live in TOML files beside the code that uses them."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path


@cache
def word_lists(path: Path) -> dict[str, frozenset[str]]:
    """Each list of a file by its name: a string holds words, an array holds phrases."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: frozenset(value.split() if isinstance(value, str) else value) for name, value in tables.items()}
