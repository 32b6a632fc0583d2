"""One server and one Chromium for all tests of this folder; each test has a session of its own."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pages.browser.visits import (
    ARGUMENTS,
    CHROMIUM,
    SIZE,
    Browser,
    Context,
    Page,
    reused,
    sync_api,
    tab,
)
from tests.serve import serving


@pytest.fixture(scope="package")
def address(tmp_path_factory: pytest.TempPathFactory, models: Path) -> Iterator[str]:
    """A server without runs."""
    folder = tmp_path_factory.mktemp("server")
    own = {"ATTRIBUTION_MODELS": str(models), "HOME": str(folder)}
    with serving(folder, **own) as served:
        yield served.url
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A Chromium that is gone at the end, and with it the event loop that would disturb other tests
    of the process.
    """
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS.split())
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def context(browser: Browser) -> Iterator[Context]:
    """A visitor who has the page's scripts in the cache."""
    context = browser.new_context(viewport=SIZE)
    yield context
    context.close()


@pytest.fixture
def page(context: Context, address: str) -> Iterator[Page]:
    page = reused(context.pages[0], address) if context.pages else tab(context, address)
    yield page
    for other in context.pages:
        if other is not page:
            other.close()
    assert page.events == []
