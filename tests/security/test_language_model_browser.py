"""What visitors do in *Language model*, on a server with a key and an address for visitors in its environment, and an
address without a key in its secrets.toml."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from attribution.settings import LISTED
from tests.llm_server import KEY, READY, error, keys_sent, llm_server
from tests.pages.browser.conftest import free_port, serving
from tests.pages.browser.visits import MARKS, Page, chromium, expect, menu, settled, visit
from tests.servers import Served

pytestmark = MARKS
TYPED = "sk-typed-by-the-visitor"


@pytest.fixture(scope="module")
def visitors() -> Iterator[Served]:
    """A language model of a visitor."""
    with llm_server(lambda body: READY) as served:
        yield served


@pytest.fixture(scope="module")
def of_secrets() -> Iterator[Served]:
    """The language model of secrets.toml."""
    with llm_server(lambda body: READY) as served:
        yield served


@pytest.fixture(scope="module")
def page(
    tmp_path_factory: pytest.TempPathFactory, models: Path, of_secrets: Served, visitors: Served
) -> Iterator[Page]:
    folder = tmp_path_factory.mktemp("server")
    (folder / "data").mkdir()
    (folder / ".streamlit").mkdir()
    (folder / ".streamlit" / "secrets.toml").write_text(f'OPENAI_BASE_URL = "{of_secrets.url("/v1")}"\n')
    environment = {
        "OPENAI_API_KEY": KEY, "OPENAI_MODEL": "tiny", LISTED: visitors.url("/v1"), "ATTRIBUTION_MODELS": str(models),
    }  # fmt: skip
    with serving(folder, free_port(), **environment) as (address, _), chromium() as browser:
        page = visit(browser, address)
        yield page
        assert page.events == []


def press_test_connection(page: Page, address: str = "", key: str = "") -> None:
    page.reload()  # no result of an earlier test stands there
    settled(page)
    menu(page, "Options")
    page.get_by_text("Language model", exact=True).click()
    for label, text in (("Address", address), ("Key", key)):
        box = page.get_by_label(label, exact=True).last
        box.fill(text)
        box.press("Enter")
        settled(page)
    page.get_by_role("button", name="Test connection").click()
    settled(page)


def test_each_address_gets_its_own_key_or_none(page: Page, visitors: Served, of_secrets: Served) -> None:
    for served, typed, sent in ((visitors, ("",), ""), (visitors, (TYPED,), f"Bearer {TYPED}"), (of_secrets, None, "")):
        press_test_connection(page, *(() if typed is None else (served.url("/v1"), *typed)))
        expect(page.get_by_text("It works")).to_be_visible()
        assert keys_sent(served)[-1] == sent  # never that of the environment


def test_an_address_inside_the_network_is_not_reached_and_the_step_that_allows_it_is_named(page: Page) -> None:
    with llm_server(lambda body: error(500, "a secret of the intranet")) as inside:
        press_test_connection(page, inside.url("/v1"))
        expect(page.get_by_text("It does not work")).to_be_visible()
        expect(page.get_by_text(f"{LISTED}={inside.url('/v1')}")).to_be_visible()
        expect(page.get_by_text("a secret of the intranet")).to_have_count(0)
    assert inside.requests == []
