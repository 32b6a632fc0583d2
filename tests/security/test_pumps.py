"""No regular expression of the package takes more than linear time on a text made against it."""

import re
from pathlib import Path

import pytest

import attribution
from attribution.text.lines import LONGEST_BLANK, LONGEST_LINE, bounded
from tests.security.pumps import FoundPattern, Pump, is_slow, patterns, pumps

PACKAGE = Path(attribution.__path__[0])
FOLDERS = ["core", "ui", *sorted(p.name for p in PACKAGE.iterdir() if any(p.glob("*.py")))]


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_pattern_is_slow_on_what_it_repeats(folder: str) -> None:
    slow = []
    for found in patterns(folder):
        slow += [(found.where, pump) for pump in pumps(found.pattern) if is_slow(found, pump)]
    assert slow == []


def test_a_slow_pattern_is_found() -> None:
    found = FoundPattern("here", re.compile(r"x(?:a+)+b"), is_searched=True)
    assert Pump("x", "a") in pumps(found.pattern)
    assert is_slow(found, Pump("x", "a"), length=24)


@pytest.mark.parametrize("text", ["word " * 9_000, "x" * 45_000, "a" + " " * 30_000 + "b"])
def test_a_foreign_text_is_bounded_and_keeps_its_words(text: str) -> None:
    whole = bounded(text)
    assert max(map(len, whole.split("\n"))) <= LONGEST_LINE
    assert " " * (LONGEST_BLANK + 1) not in whole
    assert "".join(whole.split()) == "".join(text.split())
