"""One server and one Chromium for all tests of this folder; each test has a session of its own."""

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from attribution.settings import LISTED
from tests.pages.browser.visits import SIZE, Browser, Context, Page, chromium, reused, tab
from tests.serve import serving


@pytest.fixture(scope="package")
def llm_port() -> int:
    """Where the server lets visitors use a language model on this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="package")
def address(
    tmp_path_factory: pytest.TempPathFactory, warm_database: Path, models: Path, llm_port: int
) -> Iterator[str]:
    """A server whose data folder holds nothing but the vectors of the library."""
    folder = tmp_path_factory.mktemp("server")
    (folder / "data").mkdir()
    shutil.copy(warm_database, folder / "data")
    own = {
        LISTED: f"http://127.0.0.1:{llm_port}/v1",
        "ATTRIBUTION_MODELS": str(models),
        "HOME": str(folder),
    }
    with serving(folder, **own) as served:
        yield served.url
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


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
