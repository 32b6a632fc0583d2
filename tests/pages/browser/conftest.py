"""One server and one Chromium for all tests of this folder; each test has a session of its own."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from attribution.settings import LISTED
from tests.pages.browser.visits import SIZE, Browser, Context, Page, chromium, reused, tab

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="package")
def llm_port() -> int:
    """Where the server lets visitors use a language model on this machine."""
    return free_port()


@pytest.fixture(scope="package")
def address(
    tmp_path_factory: pytest.TempPathFactory, warm_database: Path, models: Path, llm_port: int
) -> Iterator[str]:
    """A server whose data folder holds nothing but the vectors of the library."""
    folder = tmp_path_factory.mktemp("server")
    (folder / "data").mkdir()
    shutil.copy(warm_database, folder / "data")
    environment = {LISTED: f"http://127.0.0.1:{llm_port}/v1", "ATTRIBUTION_MODELS": str(models)}
    with serving(folder, free_port(), **environment) as (address, _):
        yield address
    shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(folder: Path, port: int, **environment: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The address of a server over the data in a folder, and its process."""
    home = {"HOME": str(folder), "ATTRIBUTION_DATA": str(folder / "data"), "HF_HUB_OFFLINE": "1", **environment}
    command = [sys.executable, "-m", "attribution", "serve", "--host", "127.0.0.1", "--port", str(port)]
    with open(folder / "log", "w") as log:
        server = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **home}, stdout=log, stderr=subprocess.STDOUT)
        try:
            for _ in range(600):
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2):
                        break
                except OSError:
                    assert server.poll() is None, (folder / "log").read_text()
                    time.sleep(0.2)
            yield f"http://127.0.0.1:{port}", server
        finally:
            server.kill()
            server.wait(20)


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
