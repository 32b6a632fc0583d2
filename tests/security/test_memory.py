"""Memory that outlives a run is bounded."""

import tracemalloc
from pathlib import Path

import pytest

from attribution.models.files import with_revision
from attribution.text import parse
from attribution.text.words import terms


def test_words_of_earlier_texts_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    first = parse.parse("The flibbertigibbet of Paris slept.")
    base = len(first.vocab.strings)
    monkeypatch.setattr(parse, "MAX_STRINGS", base - 1)
    second = parse.parse("The Seine flows through Paris.")
    assert second.vocab is not first.vocab
    assert "flibbertigibbet" not in second.vocab.strings
    assert [token.text for token in first][1] == "flibbertigibbet"


def test_a_long_text_is_parsed_with_one_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    start = "A ship came. " * 200
    first = parse.parse(start)
    with monkeypatch.context() as patch:
        patch.setattr(parse, "MAX_STRINGS", len(first.vocab.strings) - 1)
        assert parse.parse("Rain fell.").vocab is not first.vocab
    longer = parse.parse(start + "It left. " * 200)
    assert longer.text == start + "It left. " * 200


def test_long_texts_are_not_all_kept() -> None:
    tracemalloc.start()
    for number in range(100):
        terms(" ".join(f"word{letter}{number}" for letter in range(5_000)))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 50_000_000


@pytest.mark.parametrize("name", ["model.safetensors", "model-00001-of-00002.safetensors"])
def test_a_folder_with_other_weights_is_another_model(tmp_path: Path, name: str) -> None:
    (tmp_path / "config.json").write_text("{}")
    weights = tmp_path / name
    versions = []
    for content in (b"first", b"later"):
        weights.write_bytes(content)
        versions.append(with_revision(str(tmp_path)))
    assert versions[0] != versions[1]
    assert with_revision("owner/not-on-this-machine") == "owner/not-on-this-machine"
