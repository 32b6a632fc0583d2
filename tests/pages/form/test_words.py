"""Errors on the page use the words of the form; the command line uses the names of the settings."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from attribution.errors import BadInput, FetchFailed, ModelUnavailable
from attribution.settings import Endpoint
from pages.ui.choices import explain

HUB = OSError("We couldn't connect to 'https://huggingface.co'")


@pytest.mark.parametrize(
    ("setting", "alternative", "field", "label"),
    [
        ("verifier_model", "embedded-small", "Model of the verifier", "Embedded small model"),
        ("segmenter_model", "sentences", "Model of the segmenter", "Sentences"),
        ("embedding_model", "minilm", "embedding_model", "all-MiniLM-L6-v2 (embedded)"),  # not on the form
    ],
)
def test_a_model_that_cannot_be_loaded(setting: str, alternative: str, field: str, label: str) -> None:
    error = ModelUnavailable("owner/name", setting, alternative, HUB)
    assert f"its folder as {setting}; `{alternative}` needs" in str(error)
    message, detail = explain(error)
    assert f"its folder as “{field}”; “{label}” needs" in message and "hf download owner/name" in message
    assert detail == str(HUB) and "connect to 'https" not in message


@pytest.mark.parametrize(
    ("address", "key", "field"),
    [("host", "", "“Address” cannot be used"), ("", "ä", "“Key” cannot be used")],
)
def test_a_field_that_cannot_be_used(address: str, key: str, field: str) -> None:
    with pytest.raises(BadInput, match="setting openai_") as caught:
        Endpoint(address, SecretStr(key))
    message, _ = explain(caught.value)
    assert message.startswith(field) and "openai" not in message and "value error" not in message


def test_other_errors_keep_their_words_and_unexpected_ones_get_some() -> None:
    failed = FetchFailed("unreachable", "the site cannot be found", "https://a.example", detail="DNSError('no')")
    assert explain(failed) == ("the site cannot be found", "DNSError('no')")
    message, detail = explain(KeyError("x"))
    assert "KeyError" not in message and detail == "KeyError: 'x'"
