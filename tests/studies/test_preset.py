from attribution.settings import Settings
from attribution.studies.papers import paper
from attribution.studies.preset import preset
from tests.llm_server import llm_server, llm_settings


def test_every_value_can_be_set() -> None:
    Settings(**preset(Settings()).values)
    Settings(**{name: setting.value for name, setting in paper("v24").settings.items()})


def test_without_a_language_model_rules_stand_in_and_are_named() -> None:
    made = preset(Settings())
    assert made.values["segmenter"] == "sentences"
    assert made.values["worthiness"] == "rules"
    assert made.values["decision"] == "plain"
    assert made.stood_in["segmenter"].startswith("sentences stands in for direct")


def test_what_the_machine_has_is_taken() -> None:
    with llm_server(lambda body: "") as served:
        made = preset(llm_settings(served))
    assert made.values["segmenter"] == "direct"
    assert made.values["independence"] == "llm"
    assert "hf download MoritzLaurer/DeBERTa" in made.stood_in["verifier"]
