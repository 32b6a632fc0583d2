import pytest

from attribution.settings import Settings
from attribution.studies.preset import missing_of_preset, preset
from tests.llm_server import llm_server, llm_settings


def test_every_value_can_be_set() -> None:
    Settings(**preset())


def test_what_is_missing_first_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing_of_preset(Settings()).startswith("segmenter “direct”: set OPENAI_MODEL")
    with llm_server(lambda body: "") as served:
        own = llm_settings(served)
        assert "hf download MoritzLaurer/DeBERTa" in missing_of_preset(own)
        monkeypatch.setattr("attribution.studies.preset.weights", lambda model: "a folder")
        assert missing_of_preset(own) == ""
