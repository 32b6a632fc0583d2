from __future__ import annotations

from attribution.chunkers import SentenceWindows
from attribution.settings import Settings
from tests.make import page


def test_windows_step_by_the_stride_and_leave_nothing_out() -> None:
    p = page("One is. Two is. Three is. Four is. Five is.")
    chunks = SentenceWindows(Settings(window_sentences=3, window_stride=2)).chunk(p)
    assert [c.text for c in chunks] == ["One is. Two is. Three is.", "Three is. Four is. Five is."]
    wide = SentenceWindows(Settings(window_sentences=2, window_stride=9)).chunk(p)
    assert [c.text for c in wide] == ["One is. Two is.", "Three is. Four is.", "Five is."]
