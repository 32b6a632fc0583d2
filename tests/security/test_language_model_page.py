"""The steps of visitors in *Language model*, on a server with a key and an address for visitors in
its environment, and
an address without a key in its secrets.toml."""

from collections.abc import Iterator

import pytest

from attribution.settings import LISTED
from tests.llm_server import KEY, READY, error, keys_sent, llm_server
from tests.security.raw_session import session
from tests.serve import Served as App
from tests.serve import serving
from tests.servers import Served

TYPED = "sk-typed-by-the-visitor"


@pytest.fixture(scope="module")
def endpoints() -> Iterator[tuple[Served, Served]]:
    """The language models of a visitor and of secrets.toml."""
    with llm_server(lambda body: READY) as visitors, llm_server(lambda body: READY) as of_secrets:
        yield visitors, of_secrets


@pytest.fixture(scope="module")
def app(
    tmp_path_factory: pytest.TempPathFactory, endpoints: tuple[Served, Served]
) -> Iterator[App]:
    folder, (visitors, of_secrets) = tmp_path_factory.mktemp("server"), endpoints
    (folder / ".streamlit").mkdir()
    (folder / ".streamlit" / "secrets.toml").write_text(
        f'OPENAI_BASE_URL = "{of_secrets.url("/v1")}"\n'
    )
    own = {
        "HOME": str(folder),
        "OPENAI_API_KEY": KEY,
        "OPENAI_MODEL": "tiny",
        LISTED: visitors.url("/v1"),
    }
    with serving(folder, **own) as served:
        yield served


def page_says(app: App, address: str = "", key: str = "") -> str:
    """All that the page says when the connection was tested with what a visitor typed."""
    typed = {"Address": ("string_value", address), "Key": ("string_value", key)}
    with session(app.port) as visit:
        visit.run()
        visit.run(**typed)
        visit.run(**typed, Test_connection=("trigger_value", True))
        return visit.said


def test_each_address_gets_its_own_key_or_none(app: App, endpoints: tuple[Served, Served]) -> None:
    visitors, of_secrets = endpoints
    for served, address, key, sent in (
        (visitors, visitors.url("/v1"), "", ""),
        (visitors, visitors.url("/v1"), TYPED, f"Bearer {TYPED}"),
        (of_secrets, "", "", ""),
    ):
        assert "It works" in page_says(app, address, key)
        assert keys_sent(served)[-1] == sent  # never that of the environment


def test_an_address_inside_the_network_is_not_reached_and_the_step_that_allows_it_is_named(
    app: App,
) -> None:
    with llm_server(lambda body: error(500, "a secret of the intranet")) as inside:
        said = page_says(app, inside.url("/v1"))
    assert (
        "It does not work" in said
        and f"{LISTED}={inside.url('/v1')}" in said
        and inside.requests == []
    )
    assert "a secret of the intranet" not in said
