"""The project, the person and the view of one session; all of it is in the address, so that a reload comes back."""

from __future__ import annotations

from functools import partial

from attribution.evaluation.ais.project import Annotations
from pages.ui import state
from pages.ui.annotate.job import VerifyJob
from pages.ui.slot import Slot, store

PROJECT, WHO, VIEW = "annotate_project", "annotate_who", "annotate_view"
AT, NOTICE, HANDLED, PROPOSAL, CELL, ROUND, TOLD = (
    "annotate_at", "annotate_notice", "annotate_handled", "annotate_proposal",
    "annotate_cell", "annotate_round", "annotate_told",
)  # fmt: skip
NAMES = {"project": PROJECT, "who": WHO, "view": VIEW}  # in the address
VERIFY = Slot[VerifyJob, object]("annotate_verify")


def kept() -> Annotations:
    return Annotations(store())


def begin() -> None:
    """Fill in what the address names."""

    state.begin("annotate", **{name: partial(state.put, key) for name, key in NAMES.items()})


def text(name: str) -> str:
    return str(state.get(name) or "")


def choose(**values: str | None) -> None:
    """Change project, person or view; what was open there is closed."""
    for name, value in values.items():
        state.put(NAMES[name], value)
    for name in (AT, NOTICE, PROPOSAL, CELL):
        state.put(name, None)


def turn() -> int:
    """A number for the keys of inputs that are emptied after use."""
    return int(state.get(ROUND) or 0)


def used(told: tuple[str, ...], good: bool = True) -> None:
    """Empty the inputs, and say what came of them."""
    state.put(ROUND, turn() + 1)
    state.put(TOLD, (told, good))
