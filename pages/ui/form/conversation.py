"""The turns before the question, as they are typed."""

from __future__ import annotations

from attribution.claims.conversation import read_turns
from attribution.errors import AttributionError
from attribution.types import Turn
from pages.ui import state


def turns() -> tuple[Turn, ...]:
    """The turns before the question; none where what was typed cannot be read."""
    try:
        return read_turns(state.text(state.TURNS))
    except AttributionError:
        return ()


def turns_problem() -> str:
    """Why the turns cannot be read; empty where they can."""
    try:
        read_turns(state.text(state.TURNS))
    except AttributionError as error:
        return str(error)
    return ""
