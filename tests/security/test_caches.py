"""The key of every cache holds all that its value depends on, so that nobody decides what others
are shown.
"""

import json
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import SecretStr, ValidationError

from attribution import embedders, verifiers
from attribution.embedders import EMBEDDERS
from attribution.llm.client import Llm, Question
from attribution.settings import Endpoint, Settings, visitor_endpoint
from attribution.store.store import Store
from attribution.verifiers import VERIFIERS
from attribution.verifiers.llm import LlmVerifier, PassageVerdict
from tests.llm_server import llm_settings
from tests.servers import Answer, http_server

HOST = "https://gateway.example"
OTHERS: dict[str, Any] = {  # another value of each setting that a request may hold
    "search_language": "de",
    "openai_model": "large",
    "llm_tokens": 99,
    "embedding_model": "other",
    "endpoint": Endpoint(f"{HOST}/other/v1"),
}
ENDPOINTS = [  # each is another one than all others
    Endpoint(f"{HOST}/good/v1"),
    Endpoint(f"{HOST}/evil/v1"),
    Endpoint("http://gateway.example/good/v1"),
    Endpoint(f"{HOST}:8443/good/v1"),
    visitor_endpoint(f"{HOST}/good/v1", SecretStr(""), "browser of one"),
    visitor_endpoint(f"{HOST}/good/v1", SecretStr(""), "browser of another"),
    visitor_endpoint(f"{HOST}/good/v1", SecretStr("key-1"), "browser of one"),
    visitor_endpoint(f"{HOST}/good/v1", SecretStr("key-2"), "browser of one"),
]


def _keys(settings: Settings, store: Store) -> dict[str, str]:
    """The key of each cache whose values come from an endpoint."""
    schema = PassageVerdict
    return {
        "replies": Llm(settings, store)._key(Question("text", "v1"), schema),
        "judgements": verifiers.key_of(VERIFIERS.build("llm", settings)),
        "vectors": embedders.key_of(EMBEDDERS.build("openai", settings)),
        "outcomes": settings.identity,
    }


def test_every_endpoint_has_keys_of_its_own(store: Store) -> None:
    base = Settings(openai_model="m", endpoint=ENDPOINTS[0])
    by_endpoint = [
        _keys(base.model_copy(update={"endpoint": endpoint}), store) for endpoint in ENDPOINTS
    ]
    for cache in by_endpoint[0]:
        assert len({keys[cache] for keys in by_endpoint}) == len(ENDPOINTS), cache
    rotated = replace(ENDPOINTS[0], key=SecretStr("new"))  # the operator's own
    assert _keys(base.model_copy(update={"endpoint": rotated}), store) == by_endpoint[0]


@pytest.mark.parametrize(("kind", "body"), [("judgements", "messages"), ("vectors", "input")])
def test_whatever_changes_what_an_endpoint_is_asked_changes_the_key(
    kind: str, body: str, store: Store
) -> None:
    def respond(handler: BaseHTTPRequestHandler) -> Answer:
        reply: dict[str, Any] = {"data": [{"index": 0, "embedding": [1.0, 0.0]}]}
        if "chat" in handler.path:
            reply = {"choices": [{"message": {"content": json.dumps({"relation": "no_relation"})}}]}
        return 200, {"Content-Type": "application/json"}, json.dumps(reply).encode()

    with http_server(respond) as served:

        def asked(**chosen: Any) -> tuple[object, str]:
            settings = llm_settings(served, database_url="", **chosen)
            if kind == "judgements":
                LlmVerifier(settings).verify([("A claim.", "A passage.")])
            else:
                EMBEDDERS.build("openai", settings).embed(["A text."])
            *_, (_, path, _, sent) = served.requests
            assert body in json.loads(sent)
            return (path, sent), _keys(settings, store)[kind]

        request, key = asked()
        changed = [asked(**{name: other}) for name, other in OTHERS.items() if name != "endpoint"]
        changed.append(asked(endpoint=Endpoint(served.url("/other/v1"))))
    assert [one for one in changed if one[0] != request and one[1] == key] == []
    assert len({k for _, k in changed}) > 2


def test_results_of_a_file_are_made_again_where_any_setting_differs() -> None:
    """Of a batch, a comparison or an experiment that goes on."""
    own = Settings()
    texts = ("other", "de", ("web",))
    values: tuple[Any, ...] = (False, 1, 3, 0.7, 99, *texts, ENDPOINTS[0], Path(__file__).parent)
    for name in Settings.model_fields.keys() - {"database_url"}:
        changed = 0
        for value in (*values, *get_args(Settings.model_fields[name].annotation)):
            with suppress(ValidationError):
                other = own.model_copy(update={name: getattr(Settings(**{name: value}), name)})
                assert (other.identity == own.identity) == (
                    getattr(other, name) == getattr(own, name)
                ), name
                changed += other.identity != own.identity
        assert changed, name
