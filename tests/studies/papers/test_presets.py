import pytest

from attribution.cli.main import main
from attribution.errors import UnknownName
from attribution.settings import Settings
from attribution.studies.papers import NAMES, paper
from attribution.studies.papers.presets import preset
from tests.llm_server import llm_server, llm_settings


@pytest.mark.parametrize("name", NAMES)
def test_every_value_has_a_section_and_can_be_set(name: str) -> None:
    own = paper(name)
    assert all(choice.section in own.sections for choice in own.settings.values())
    found = preset(name, Settings())
    Settings(**found.values)
    Settings(**{setting: choice.value for setting, choice in own.settings.items()})
    assert {one.setting for one in found.stood_in} == {
        setting
        for setting, value in found.values.items()
        if value != own.settings[setting].value and not setting.endswith("_model")
    }


def test_what_the_machine_has_is_taken_and_the_rest_is_named() -> None:
    without = preset("v24", Settings())
    assert without.values["segmenter"] == "sentences" and without.values["worthiness"] == "rules"
    assert (
        "direct" in {one.wanted for one in without.stood_in}
        and without.values["decision"] == "plain"
    )
    with llm_server(lambda body: "") as served:
        found = preset("v24", llm_settings(served))
    assert found.values["segmenter"] == "direct" and found.values["independence"] == "llm"
    (deberta,) = [one for one in found.stood_in if one.setting == "verifier"]
    assert "hf download MoritzLaurer/DeBERTa" in str(deberta)
    with pytest.raises(UnknownName, match="v24, w24"):
        preset("x25", Settings())


def test_the_command_line_says_what_stood_in_and_lets_other_choices_win(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answer = [
        "segment",
        "--question",
        "Who?",
        "--answer",
        "Ada Lovelace was a writer who died.",
        "--preset",
        "v24",
    ]
    assert main(answer) == 0
    assert (
        "v24: sentences stands in for direct (segmenter): set OPENAI_MODEL"
        in capsys.readouterr().err
    )
    assert main([*answer, "--set", "segmenter=clauses"]) == 0
    said = capsys.readouterr()
    assert "(segmenter)" not in said.err and said.out.count('"id"') == 2
