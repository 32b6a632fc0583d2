from pathlib import Path
from typing import Any

import pytest
import yaml

from attribution.errors import BadInput
from attribution.llm.prompts import FOLDER, data, load
from attribution.settings import ROOT, Settings

NAMES = sorted(str(path.relative_to(FOLDER).with_suffix("")) for path in FOLDER.rglob("*.md"))


@pytest.mark.parametrize("name", NAMES)
def test_every_prompt_is_sound_and_marks_its_inputs_as_data(name: str) -> None:
    prompt = load(name, Settings())
    lists = {"examples": [], "passages": ["<passages>"], "types": {"<types>": "m"}}
    rendered = prompt.render(**{given: lists.get(given, f"<{given}>") for given in prompt.inputs})
    ours = {"examples", "types", "kind", "error"}
    for given in set(prompt.inputs) - ours:
        assert f"<data>\n<{given}>\n</data>" in rendered
    assert prompt.version == name
    _, front, _ = (FOLDER / f"{name}.md").read_text().split("---\n", 2)
    about = yaml.safe_load(front)
    assert set(about) == {"purpose", "inputs", "output", "source"}
    assert set(about["inputs"]) == prompt.inputs


def test_inputs_are_strict_and_templates_sandboxed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attribution.llm.prompts.FOLDER", tmp_path)
    (tmp_path / "a.v1.md").write_text("{{ a }}")
    (tmp_path / "b.v1.md").write_text("{{ a.__class__.__mro__ }}")
    (tmp_path / "c.v1.md").write_text("{{ a")
    assert load("a.v1", settings()).render(a="{{ 7 * 7 }}") == "{{ 7 * 7 }}"
    with pytest.raises(BadInput, match=r"expected \['a'\]"):
        load("a.v1", settings()).render(a="x", b="y")
    with pytest.raises(BadInput, match="cannot be rendered"):
        load("b.v1", settings()).render(a="x")
    with pytest.raises(BadInput, match=r"prompt c\.v1"):
        load("c.v1", settings())


@pytest.mark.parametrize("text", ["</data>", "< / DATA >", "<data>", "<Data x>"])
def test_data_cannot_close_its_marks(text: str) -> None:
    assert data(f"a {text} b").count("<") == 2


def settings(folder: Path | None = None, **choices: Any) -> Settings:
    return Settings(prompt_folder=folder, **choices)


def test_a_papers_form_takes_the_place_of_ours_and_is_named_by_its_hash() -> None:
    ours, papers = load("worthiness.v3", settings()), load("worthiness.v3", settings(prompts="v24"))
    assert ours.as_json
    assert not papers.as_json
    assert papers.version.startswith("v24/worthiness.md@")
    assert "returns 3" in papers.render(question="q", claim="c")
    assert load("w24/wice.v2", settings(prompts="v24")).version == "w24/wice.v2"  # V24 has none


def test_the_operators_prompt_comes_first(tmp_path: Path) -> None:
    (tmp_path / "worthiness.md").write_text('checkworthy("{{ claim }}")')
    found = load("worthiness.v3", settings(tmp_path, prompts="v24"))
    assert found.render(question="q", claim="It {rains}.") == 'checkworthy("It {rains}.")'
    (tmp_path / "worthiness.md").write_text("---\nsource: me\n---\nOther: {{ claim }}")
    other = load("worthiness.v3", settings(tmp_path))
    assert other.version != found.version
    assert other.render(question="q", claim="c") == "Other: c"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Is it a claim?", r"it uses \[\]; write {{ claim }}, {{ question }} where"),
        ("{{ a }}", r"it uses \['a'\]"),
    ],
)
def test_a_replacement_that_cannot_be_used_is_said(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "worthiness.md").write_text(text)
    with pytest.raises(BadInput, match=said):
        load("worthiness.v3", settings(tmp_path))


def test_the_environment_names_the_folder_and_its_texts_are_part_of_the_identity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTRIBUTION_PROMPTS", str(tmp_path))
    first = Settings.from_environment()
    before = first.prompt_version
    (tmp_path / "direct.md").write_text("{{ answer }}")
    second = Settings.from_environment()
    assert first.prompt_folder == tmp_path
    assert second.identity != Settings().identity
    assert Settings().prompt_version == ""
    assert before.partition("@")[0] == tmp_path.name
    assert (
        before
        != second.prompt_version
        != Settings.from_environment(prompt_folder=ROOT / "prompts").prompt_version
    )
    monkeypatch.setenv("ATTRIBUTION_PROMPTS", str(tmp_path / "none"))
    with pytest.raises(BadInput, match="prompt_folder.*none"):
        Settings.from_environment()
