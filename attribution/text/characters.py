"""Halves of surrogate pairs, which JSON can escape (`"\\ud800"`) and no file, database or reply can hold."""

from __future__ import annotations

import json

PROBLEM = "a character is half of a surrogate pair: leave it out"


def has_half_pair(value: object) -> bool:
    """Is there one in a text, or anywhere in a JSON value?"""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    except RecursionError:  # whoever reads such a value refuses it
        return False
    return False


def whole(text: str) -> str:
    """The text itself. ValueError where it has one."""
    if has_half_pair(text):
        raise ValueError(PROBLEM)
    return text
