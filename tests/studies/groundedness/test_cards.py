import re

import pytest

from attribution.reports.html import html
from attribution.settings import ROOT, Settings
from attribution.studies.groundedness.cards import (
    FIGURES,
    TABLES,
    TITLES,
    Card,
    Measure,
    cards,
    listed,
    steps,
)
from attribution.tables import load
from pages.methods import card as card_node
from pages.methods import matches

MEASURES = [(t, n, m) for t in TITLES for n, c in cards(t).items() for m in c.measured]


@pytest.mark.parametrize("table", TABLES)
def test_every_entry_has_a_card_and_every_card_an_entry(table: str) -> None:
    assert set(cards(table)) == set(load(TABLES[table]))
    assert [c.name for c in listed(table)] == list(load(TABLES[table]))


@pytest.mark.parametrize(
    ("table", "name", "measure"), MEASURES, ids=lambda v: getattr(v, "what", v)
)
def test_figures_are_those_that_were_measured(table: str, name: str, measure: Measure) -> None:
    assert bool(measure.figure) != bool(measure.value)
    if measure.figure:
        assert (FIGURES / measure.figure.partition(":")[0]).exists()
        assert re.fullmatch(r"[\d.,]+|\d+ of \d+", measure.shown())
    else:
        page = (ROOT / measure.source).read_text("utf-8")
        assert re.search(rf"(?<![\d.]){re.escape(measure.value)}(?![\d])", page), (
            f"{measure.value} is not in the page"
        )


def test_cards_say_what_is_missing_and_escape_what_they_show(settings: Settings) -> None:
    (llm,) = [c for c in listed("verifiers") if c.name == "llm"]
    shown = html(card_node(llm, steps(llm, settings)))
    assert "Not ready" in shown and "address of the language model" in shown
    (small,) = [c for c in listed("verifiers") if c.name == "embedded-small"]
    shown = html(card_node(small, steps(small, settings)))
    assert "Ready" in shown and "docs/figures/verifiers_held_out.json" in shown
    hostile = Card(does="<script>alert(1)</script>", fails=("x",))
    assert "<script>" not in html(card_node(small.__class__("n", hostile, None), ""))
    assert matches(small, "34 mb ENGLISH") and not matches(small, "unicorn")
