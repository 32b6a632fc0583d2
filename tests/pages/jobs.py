"""Opening pages without a browser, and waiting for background jobs."""

import time
from collections.abc import Callable
from typing import Any

from streamlit.testing.v1 import AppTest

from attribution.settings import ROOT
from pages.ui import state


def opened(
    page: str, browser: str = "", session: dict[str, Any] | None = None, **query: str
) -> AppTest:
    """A page after its first run, as a browser sees it, with values of its session and of its
    address.
    """
    at = AppTest.from_file(str(ROOT / "pages" / f"{page}.py"), default_timeout=120)
    for name, value in {
        **({state._BROWSER: browser} if browser else {}),
        **(session or {}),
    }.items():
        at.session_state[name] = value
    for name, text in query.items():
        at.query_params[name] = text
    return at.run()


def until(condition: Callable[[], object], seconds: float = 60) -> None:
    """Wait for a condition."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.01)


def ended(job: Any) -> Any:
    """The last progress of a job."""
    until(lambda: not job.progress().running)
    return job.progress()
