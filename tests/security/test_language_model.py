"""The key of a language model goes to the address that it was given with, and nowhere else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from attribution.endpoint import OPENAI, Endpoint
from attribution.errors import BadInput
from attribution.settings import Settings
from pages.ui.form import choices
from tests.llm_server import KEY, READY, keys_sent, llm_server
from tests.server.conftest import KEY as API_KEY
from tests.server.conftest import Server
from tests.servers import Served
from tests.snapshots.test_file import made as made_snapshot

TYPED = "sk-typed-by-the-visitor"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def elsewhere() -> Iterator[Served]:
    """A language model that the key of the environment is not for."""
    with llm_server(lambda body: READY) as served:
        yield served


@pytest.fixture
def key_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_MODEL", "tiny")


def test_a_key_of_the_environment_goes_to_the_environments_address_alone(
    key_in_the_environment: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Settings.from_environment().endpoint == Endpoint(OPENAI, SecretStr(KEY))
    monkeypatch.setenv("OPENAI_BASE_URL", "https://gateway.example/v1")
    assert Settings.from_environment().endpoint == Endpoint("https://gateway.example/v1", SecretStr(KEY))
    for own in (Endpoint("https://a.example/v1"), Endpoint(key=SecretStr(TYPED))):
        assert Settings.from_environment(endpoint=own).endpoint == own
    for part in (
        {"openai_base_url": "https://a.example"},
        {"openai_api_key": TYPED},
        {"endpoint": "https://a.example"},
    ):
        with pytest.raises(BadInput, match=f"setting {next(iter(part))}"):
            Settings.from_environment(**part)


def test_a_visitor_who_types_an_address_or_a_key_uses_nothing_of_the_environment(
    key_in_the_environment: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://gateway.example/v1")
    for address, key, expected in (
        ("https://a.example/v1", "", Endpoint("https://a.example/v1")),
        ("https://a.example/v1", TYPED, Endpoint("https://a.example/v1", SecretStr(TYPED))),
        ("", TYPED, Endpoint(OPENAI, SecretStr(TYPED))),
        ("", "", Endpoint("https://gateway.example/v1", SecretStr(KEY))),
    ):
        typed = {"llm_address": (1, address), "llm_key": (1, key), "llm_model": (1, "large")}
        monkeypatch.setattr("streamlit.session_state", {"_initial": typed})
        for made in (choices.endpoint(), choices.settings(), choices.settings_of({"verifier": "llm"})):
            assert isinstance(made, Settings) and (made.endpoint, made.openai_model) == (expected, "large")


@pytest.mark.parametrize(
    "forged",
    [
        {"openai_base_url": "https://evil.example/v1"},
        {"openai_api_key": "sk-of-evil"},
        {"endpoint": {"address": "https://evil.example/v1", "key": "sk-of-evil"}},
        {"endpoint": "https://evil.example/v1"},
    ],
)
def test_a_saved_or_imported_run_names_no_endpoint(
    forged: dict[str, object], key_in_the_environment: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """History import, `snapshot replay`, Continue and edits make their settings in these two ways."""
    monkeypatch.setattr("streamlit.session_state", {"_initial": {}})
    snapshot = made_snapshot()
    settings = {**snapshot.report.settings, **forged}
    foreign = type(snapshot)(snapshot.report.model_copy(update={"settings": settings}), snapshot.provenance, {}, {})
    for found in (foreign.settings(), choices.settings_of(settings)):
        assert found.endpoint == Endpoint(OPENAI, SecretStr(KEY))


def test_no_dump_of_settings_holds_an_endpoint() -> None:
    settings = Settings(endpoint=Endpoint("https://a.example/v1", SecretStr(KEY)))
    for text in (repr(settings), settings.model_dump_json(), str(settings.model_dump()), str(settings.public())):
        assert KEY not in text and "a.example" not in text


def test_a_client_of_the_api_names_no_endpoint(
    elsewhere: Served, key_in_the_environment: None, settings: Settings
) -> None:
    server = Server(settings)
    pair = {"claim": "The tower is in Paris.", "evidence": "The tower stands in Paris."}
    try:
        with server.client(API_KEY) as client:
            for forged in (
                {"openai_base_url": elsewhere.url("/v1")},
                {"openai_api_key": TYPED},
                {"endpoint": {"address": elsewhere.url("/v1")}},
            ):
                body = {"pairs": [pair], "verifier": "llm", "settings": forged}
                reply = client.post("/verify", json=body)
                assert reply.status_code == 400 and "cannot be chosen here" in reply.text
    finally:
        server.close()
    assert elsewhere.requests == []


def test_an_address_on_the_command_line_gets_the_key_of_the_command_line_or_none(elsewhere: Served) -> None:
    def segment(*options: str, **environment: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "attribution", "segment", "--answer", "It is long.", "--segmenter", "direct"]
        command += ["--set", "openai_model=tiny", "--set", "llm_retries=0"]
        own = {**os.environ, "OPENAI_API_KEY": KEY, **environment}
        return subprocess.run([*command, *options], capture_output=True, text=True, cwd=ROOT, env=own)

    named = ["--set", f"openai_base_url={elsewhere.url('/v1')}"]
    segment(*named)
    segment(*named, "--set", f"openai_api_key={TYPED}")
    assert keys_sent(elsewhere) == ["", f"Bearer {TYPED}"]
    done = segment("--set", f"openai_api_key={TYPED}", OPENAI_BASE_URL=elsewhere.url("/v1"))
    assert done.returncode == 2 and "give the key's address beside it" in done.stderr and TYPED not in done.stderr
    assert len(elsewhere.requests) == 2
