"""The key of a language model goes to the address that it was given with, and nowhere else; an
address that a visitor types reads nothing of the network around the server; a reply costs no more
than its length."""

import gzip
import traceback
import tracemalloc
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from attribution.cli.main import main
from attribution.errors import BadInput, LlmFailed
from attribution.llm import endpoint
from attribution.llm.client import Llm, Question, check_connection
from attribution.settings import LISTED, OPENAI, Endpoint, Settings, visitor_endpoint
from pages.ui import choices
from tests.fetching.test_fetcher import PRIVATE
from tests.llm_server import KEY, READY, completion, error, keys_sent, llm_server, llm_settings
from tests.servers import Answer, Served, closed_port, http_server

TYPED = "sk-typed-by-the-visitor"


@pytest.fixture
def elsewhere() -> Iterator[Served]:
    """A language model that the key of the environment is not for."""
    with llm_server(lambda body: READY) as served:
        yield served


@pytest.fixture
def key_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_MODEL", "tiny")


def test_the_environments_key_goes_to_its_address(
    key_in_the_environment: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Settings.from_environment().endpoint == Endpoint(OPENAI, SecretStr(KEY))
    monkeypatch.setenv("OPENAI_BASE_URL", "https://gateway.example/v1")
    assert Settings.from_environment().endpoint == Endpoint(
        "https://gateway.example/v1", SecretStr(KEY)
    )
    for own in (Endpoint("https://a.example/v1"), Endpoint(key=SecretStr(TYPED))):
        assert Settings.from_environment(endpoint=own).endpoint == own
    for part in (
        {"openai_base_url": "https://a.example"},
        {"openai_api_key": TYPED},
        {"endpoint": "https://a.example"},
    ):
        with pytest.raises(BadInput, match=f"setting {next(iter(part))}"):
            Settings.from_environment(**part)


def test_a_visitor_who_types_uses_nothing_of_ours(
    key_in_the_environment: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://gateway.example/v1")
    for address, key, expected in (
        ("https://a.example/v1", "", Endpoint("https://a.example/v1", of_visitor=True)),
        (
            "https://a.example/v1",
            TYPED,
            Endpoint("https://a.example/v1", SecretStr(TYPED), of_visitor=True),
        ),
        ("", TYPED, Endpoint(OPENAI, SecretStr(TYPED), of_visitor=True)),
        ("https://gateway.example/v1", "", Endpoint("https://gateway.example/v1")),
        ("", "", Endpoint("https://gateway.example/v1", SecretStr(KEY))),
    ):
        typed = {"llm_address": (1, address), "llm_key": (1, key), "llm_model": (1, "large")}
        monkeypatch.setattr("streamlit.session_state", {"_initial": typed})
        for made in (
            choices.endpoint(),
            choices.settings(),
            choices.settings_of({"verifier": "llm"}),
        ):
            assert isinstance(made, Settings)
            assert (made.endpoint, made.openai_model) == (
                expected,
                "large",
            )


def test_an_address_on_the_command_line_gets_the_key_of_the_command_line_or_none(
    elsewhere: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    command = "segment --answer Long. --segmenter direct --set openai_model=tiny".split()
    address = ["--set", f"openai_base_url={elsewhere.url('/v1')}"]
    key = ["--set", f"openai_api_key={TYPED}"]
    main([*command, *address])
    main([*command, *address, *key])
    assert {"", f"Bearer {TYPED}"} == set(keys_sent(elsewhere))
    monkeypatch.setenv("OPENAI_BASE_URL", elsewhere.url("/v1"))
    before = len(elsewhere.requests)
    assert main([*command, *key]) == 2
    assert len(elsewhere.requests) == before


# --- addresses that visitors type ---


INSIDE = "the words of a server inside"


def typed(address: str, **choices: Any) -> Settings:
    endpoint = visitor_endpoint(address, SecretStr(TYPED))
    return Settings.from_environment(
        endpoint=endpoint, openai_model="tiny", llm_retries=0, **choices
    )


@pytest.fixture
def inside() -> Iterator[Served]:
    """A server of the network around this one."""
    with http_server(lambda handler: error(500, INSIDE)) as served:
        yield served


def test_an_address_inside_the_network_is_not_reached_and_says_nothing_about_it(
    inside: Served,
) -> None:
    """Open, closed, private, local, reserved and unknown: one message, and no connection."""
    read_by_the_client = [host for host in PRIVATE if host != "0177.0.0.1"]
    hosts = [f"{host}:{inside.port}" for host in read_by_the_client]
    hosts += [f"127.0.0.1:{closed_port()}", "no-such-host.invalid"]
    found = set()
    for host in hosts:
        connection = check_connection(typed(f"http://{host}/v1"))
        found.add(
            (
                connection.message.replace(host, "HOST"),
                connection.detail,
                connection.ok,
            )
        )
    assert found == {
        (
            "HOST has no public address, so it cannot be chosen on a page: whoever runs this "
            "server can allow it with "
            "ATTRIBUTION_LLM_ADDRESSES=http://HOST/v1 in the environment (docs/llm.md).",
            "",
            False,
        )
    }
    assert inside.requests == []


def test_an_address_that_the_operator_lists_is_reached(
    inside: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LISTED, f"https://a.example/v1, {inside.url('/v1/')}")
    assert "has a problem" in check_connection(typed(inside.url("/v1"))).message
    assert len(inside.requests) == 1
    for other in (inside.url("/v2"), inside.url("/v1/../admin"), inside.url("/v1", "localhost")):
        assert "no public address" in check_connection(typed(other)).message
    monkeypatch.setenv(LISTED, "localhost:11434")
    with pytest.raises(BadInput, match=LISTED):
        typed(inside.url("/v1"))
    assert len(inside.requests) == 1


@pytest.mark.parametrize(
    "reply",
    [
        error(500, INSIDE),
        error(302, INSIDE, location="http://127.0.0.1/"),
        error(429, f"insufficient_quota {INSIDE}"),
        (200, {"Content-Type": "text/html"}, INSIDE.encode()),
        completion(INSIDE),
    ],
)
def test_no_error_of_a_visitors_endpoint_quotes_its_body(
    reply: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "is_public", lambda address: True)
    with http_server(lambda handler: reply) as served:
        connection = check_connection(typed(served.url("/v1")))
        with pytest.raises(LlmFailed) as caught:
            Llm(typed(served.url("/v1"))).ask(Question("Split this.", "split.v1"), Claims)
    said = (
        connection.message + connection.detail + "".join(traceback.format_exception(caught.value))
    )
    assert served.requests
    assert not connection.ok
    assert INSIDE not in said + str(caught.value.detail)
    assert TYPED not in said


# --- replies ---


class Claims(BaseModel):
    claims: list[str]


def bomb(size: int, times: int = 1) -> bytes:
    """A reply of that many bytes, packed."""
    packer = zlib.compressobj(wbits=31)
    data = (
        b"".join(packer.compress(b" " * 1_000_000) for _ in range(size // 1_000_000))
        + packer.flush()
    )
    for _ in range(times - 1):
        data = gzip.compress(data)
    return data


@pytest.mark.parametrize(
    ("encoding", "body", "says"),
    [
        ("gzip", bomb(60_000_000), "more than 4,000,000 bytes"),
        ("gzip, gzip", bomb(60_000_000, 2), "cannot be read"),
        ("deflate", zlib.compress(b" " * 50_000_000), "cannot be read"),
        ("zstd", b"\0" * 100, "cannot be read"),
    ],
)
def test_a_reply_is_measured_by_what_it_unpacks_to(encoding: str, body: bytes, says: str) -> None:
    packed = {"Content-Type": "application/json", "Content-Encoding": encoding}
    with http_server(lambda handler: (200, packed, body)) as served:
        settings = llm_settings(served, llm_retries=0)
        check_connection(settings)  # loads what any request needs
        tracemalloc.start()
        connection = check_connection(settings)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert not connection.ok
    assert says in connection.message
    assert peak < 20_000_000
