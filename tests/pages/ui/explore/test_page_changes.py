"""What became of a run's pages, as the page shows it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from attribution.errors import BadInput
from attribution.pipeline.page_changes import Difference, PageChange
from attribution.reports.html import html
from attribution.types import Report
from pages.ui.background import Job
from pages.ui.explore.page_changes import ChangesProgress, change_list, work
from tests.make import page
from tests.pages.hostile import TEXTS
from tests.pages.jobs import ended

EDITED, SAME, LEFT = (page(f"Text {n}.", f"https://{n}.example/") for n in ("edited", "same", "left"))
FOUND = (
    PageChange(page_id=SAME.id, url=SAME.url, state="unchanged"),
    PageChange(page_id=LEFT.id, url=LEFT.url, state="gone", message="it answered with HTTP 410"),
    PageChange(
        page_id=EDITED.id, url=EDITED.url, state="changed", message="1 difference.", evidence_kept=("It stands.",),
        differences=(Difference(then="It is 300 m tall.", now="It is 330 m tall."),),
        evidence_lost=("It is 300 m tall.",),
    ),
)  # fmt: skip


def report() -> Report:
    return Report(id="r", created_at="", question="", answer="", settings={}, versions={}, pages=(EDITED, SAME, LEFT))


def test_what_changed_comes_first_with_quotes_and_words() -> None:
    drawn = html(change_list(FOUND, {p.id: p for p in report().pages}))
    assert "Of 3 pages: 1 unchanged, 1 changed, 1 gone. Sentences quoted from 1 page are no longer there." in drawn
    assert drawn.index("edited.example") < drawn.index("left.example") and "HTTP 410" in drawn
    assert "1 of 2 quoted sentences no longer there" in drawn and "“It stands.”" in drawn
    assert '<del class="removed">300</del><strong class="added">330</strong>' in drawn
    assert "same.example" not in drawn


@pytest.mark.parametrize("text", TEXTS)
def test_foreign_text_is_text(text: str) -> None:
    change = PageChange(
        page_id=EDITED.id, url=text, state="changed", message=text, differences=(Difference(then=text, now=""),),
        evidence_kept=(text,), evidence_lost=(text,),
    )  # fmt: skip
    drawn = html(change_list((change,), {EDITED.id: EDITED.model_copy(update={"title": text})}))
    assert "<script" not in drawn and "<img" not in drawn and 'href="javascript' not in drawn


def test_a_look_can_be_stopped_and_says_what_broke() -> None:
    seen: list[bool] = []

    def look(stop: threading.Event) -> Iterator[PageChange]:
        yield FOUND[0]
        seen.append(stop.wait(10))
        raise BadInput("no such setting")

    looking = Job("page changes", ChangesProgress("r", 3), work(look))
    looking.stop()
    now = ended(looking)
    assert now.changes == (FOUND[0],) and seen == [True] and now.error == "no such setting"


SCRIPT = """
import streamlit as st
from pages.ui.explore.page_changes import page_changes
from tests.pages.ui.test_page_changes import report
page_changes(report())
"""


def test_the_button_looks_and_the_result_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    from streamlit.testing.v1 import AppTest

    monkeypatch.setattr("attribution.pipeline.page_changes.changes", lambda report, settings, stop: iter(FOUND))
    at = AppTest.from_string(SCRIPT, default_timeout=60).run()
    assert not at.exception and [b.label for b in at.button] == ["Have these pages changed?"]
    at.button[0].click().run()
    ended(at.session_state["_page_page_changes"])
    at.run()
    assert not at.exception and not at.button[0].disabled
    assert any("1 unchanged, 1 changed, 1 gone" in h.body for h in at.get("html"))
    at.run()
    assert any("1 unchanged, 1 changed, 1 gone" in h.body for h in at.get("html"))
