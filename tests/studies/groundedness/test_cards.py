from __future__ import annotations

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
    format_figure,
    listed,
    names,
    read_figure,
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


def test_the_fourteen_of_the_paper_and_ours_have_cards() -> None:
    assert names() == list(TITLES)
    expected = (
        "cos_sim quip hem_v1 hem_v2 factkb gc lynx direct refchecker claims_verify selfcheck_multi selfcheck_context "
        "pipeline contextnli"
    )
    assert list(cards("groundedness")) == expected.split()


@pytest.mark.parametrize(("table", "name", "measure"), MEASURES, ids=lambda v: getattr(v, "what", v))
def test_figures_are_those_that_were_measured(table: str, name: str, measure: Measure) -> None:
    assert bool(measure.figure) != bool(measure.value)
    if measure.figure:
        assert (FIGURES / measure.figure.partition(":")[0]).exists()
        assert re.fullmatch(r"[\d.,]+|\d+ of \d+", measure.shown())
    else:
        page = (ROOT / measure.source).read_text("utf-8")
        assert re.search(rf"(?<![\d.]){re.escape(measure.value)}(?![\d])", page), f"{measure.value} is not in the page"


def test_a_place_that_a_file_does_not_have_is_no_figure() -> None:
    assert read_figure("nothing.json: a / b") is None and Measure(what="x", figure="nothing.json: a").shown() == ""
    with pytest.raises(LookupError):
        read_figure("speed_pipeline.json: rows / chunker=none")
    assert [format_figure(v) for v in (0.82456, 1234, {"right": 3, "of": 4, "share": 0.75})] == [
        "0.825", "1,234", "3 of 4"
    ]  # fmt: skip


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


def test_a_card_without_a_failure_is_no_card() -> None:
    with pytest.raises(ValueError, match="fails"):
        Card(does="x", fails=())
