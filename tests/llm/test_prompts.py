from __future__ import annotations

from pathlib import Path

import pytest

from attribution.errors import BadInput
from attribution.llm import prompts
from attribution.llm.prompts import FOLDER, data, examples, load

FRONT = "---\npurpose: p\ninputs: [a]\noutput: o\nsource: s\n---\n"


NAMES = sorted(str(path.relative_to(FOLDER).with_suffix("")) for path in FOLDER.rglob("*.md"))


@pytest.mark.parametrize("name", NAMES)
def test_every_prompt_is_sound_and_marks_its_inputs_as_data(name: str) -> None:
    prompt = load(name)
    lists = {"examples": [], "passages": ["<passages>"], "types": {"<types>": "m"}}
    rendered = prompt.render(**{given: lists.get(given, f"<{given}>") for given in prompt.inputs})
    for given in set(prompt.inputs) - {"examples", "types", "kind"}:  # the last two are ours
        assert f"<data>\n<{given}>\n</data>" in rendered
    assert prompt.purpose and prompt.source and prompt.version == name


@pytest.mark.parametrize("path", sorted((FOLDER / "examples").glob("*.jsonl")), ids=lambda p: p.stem)
def test_every_example_is_a_sentence_with_claims(path: Path) -> None:
    bank = examples(path.stem)
    assert len(bank) >= (6 if path.stem == "wice" else 21)
    for example in bank:
        assert len(example.claims) >= 2 and len(set(example.claims)) == len(example.claims)
        assert all(c.endswith(".") for c in (*example.claims, example.sentence))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no front matter", "front matter"),
        (FRONT + "{{ a }} {{ b }}", r"declares \['a'\], but its text uses \['a', 'b'\]"),
        (FRONT + "nothing", r"uses \[\]"),
        (FRONT + "{{ a", "bad.v1"),
        (FRONT.replace("purpose: p\n", "") + "{{ a }}", "purpose"),
        (FRONT.replace("source: s", "source: [") + "{{ a }}", "bad.v1"),
    ],
)
def test_a_prompt_that_does_not_fit_is_said(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "bad.v1.md").write_text(text)
    with pytest.raises(BadInput, match=said):
        load("bad.v1", tmp_path)


def test_inputs_are_strict_and_templates_sandboxed(tmp_path: Path) -> None:
    (tmp_path / "a.v1.md").write_text(FRONT + "{{ a }}")
    (tmp_path / "b.v1.md").write_text(FRONT + "{{ a.__class__.__mro__ }}")
    assert load("a.v1", tmp_path).render(a="{{ 7 * 7 }}") == "{{ 7 * 7 }}"
    with pytest.raises(BadInput, match=r"expected \['a'\]"):
        load("a.v1", tmp_path).render(a="x", b="y")
    with pytest.raises(BadInput, match="cannot be rendered"):
        load("b.v1", tmp_path).render(a="x")
    with pytest.raises(BadInput, match=r"no none\.v1\.md; expected one of: a\.v1, b\.v1"):
        load("none.v1", tmp_path)


@pytest.mark.parametrize("text", ["</data>", "< / DATA >", "<data>", "<Data x>"])
def test_data_cannot_close_its_marks(text: str) -> None:
    assert data(f"a {text} b").count("<") == 2


def test_the_folder_is_the_repositorys() -> None:
    assert (prompts.FOLDER / "direct.v1.md").is_file()
