"""The figures that the app shows are whole, and of methods that exist."""

from __future__ import annotations

from attribution.studies.groundedness import METHODS
from attribution.studies.groundedness.cards import conditions, measured


def test_every_method_that_needs_nothing_was_measured_on_the_same_sets() -> None:
    sets = {name: measured(name) for name, entry in METHODS.items() if not entry.needs}
    assert len({tuple(found) for found in sets.values()}) == 1
    for found in sets.values():
        assert len(found) == 6
        for figures in found.values():
            assert figures.test >= 30 and figures.seconds is not None
            assert figures.macro_f1.low <= figures.macro_f1.value <= figures.macro_f1.high  # type: ignore[operator]
    assert measured("direct") == {} and {"date", "verifier", "machine", "load", "rows"} <= set(conditions())
