"""Opening pages without a browser, and waiting for background jobs."""

from typing import Any

from streamlit.testing.v1 import AppTest

from attribution.settings import ROOT
from pages.ui import state
from tests.serve import until


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


def text(shown: AppTest) -> str:
    """The HTML of a page, on which nothing failed."""
    assert not shown.exception
    return " ".join(block.body for block in shown.get("html"))


def ended(job: Any) -> Any:
    """The last progress of a job."""
    until(lambda: not job.progress().running)
    return job.progress()
