"""What a page does aside ends with its test."""

import threading
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def nothing_goes_on(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No models are loaded ahead, and estimates end: pytest fails where another thread imports
    between two tests.

    It goes through all loggers there, and packages add theirs.
    """
    monkeypatch.setattr("pages.ui.run_control.preload", lambda: None)
    monkeypatch.setattr(
        "streamlit.page_link", lambda page, label: None
    )  # a page alone has no other to lead to
    yield
    for thread in threading.enumerate():
        if thread.name == "computation":
            thread.join(60)
