"""The key of every cache holds all that its value depends on, so that nobody decides what others
are shown.
"""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from pydantic import SecretStr, ValidationError

from attribution.embedders import EMBEDDERS
from attribution.llm.client import Llm, Question
from attribution.settings import Endpoint, Settings, visitor_endpoint
from attribution.store.store import Store
from attribution.tables import key_of
from attribution.verifiers import VERIFIERS
from attribution.verifiers.llm import PassageVerdict

HOST = "https://gateway.example"
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
        "judgements": key_of(VERIFIERS.build("llm", settings)),
        "vectors": key_of(EMBEDDERS.build("openai", settings)),
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


def test_results_of_a_file_are_made_again_where_any_setting_differs() -> None:
    """Of a batch, a comparison or an experiment that goes on."""
    own = Settings()
    texts = ("other", "de", ("web",))
    values: tuple[Any, ...] = (False, 1, 3, 0.8, 99, *texts, ENDPOINTS[0], Path(__file__).parent)
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
