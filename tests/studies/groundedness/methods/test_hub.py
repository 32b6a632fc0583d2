import json
import threading
from pathlib import Path
from typing import Any

import pytest

from attribution.errors import Unavailable
from attribution.settings import Settings
from attribution.studies.groundedness import Given, spans
from attribution.studies.groundedness.methods.hub import (
    ContextNli,
    FactKB,
    HemV1,
    HemV2,
    HubClassifier,
)
from tests.tiny_models import logits, save_classifier, word_tokenizer

TWO = Given(
    "", ("the river is long .\nboats came in .",), "the river is short .\nboats came ."
)  # sentences each


def sentences_of(text: str) -> list[str]:
    return [text[a:b] for a, b in spans(text)]


def score(method: Any, given: Given = TWO) -> float:
    """The score of the sentence that is supported least."""
    return float(method.score(given, threading.Event())[""])


def test_hem_v1_is_logistic_with_the_context_first(tmp_path: Path) -> None:
    folder = save_classifier(tmp_path, "roberta", labels=1)
    expected = [
        logits(folder, TWO.context[0], s).sigmoid().item() for s in sentences_of(TWO.response)
    ]
    assert len(expected) == 2
    found = score(HemV1(Settings(), HubClassifier(folder)))
    assert found == pytest.approx(min(expected), abs=1e-4)


def of_class_one(folder: str) -> list[list[float]]:
    """Return the shares of each sentence of the response with each of the context."""
    response, context = sentences_of(TWO.response), sentences_of(TWO.context[0])
    return [[logits(folder, s, c).softmax(-1)[1].item() for c in context] for s in response]


def test_factkb_puts_the_response_first_and_takes_class_one(tmp_path: Path) -> None:
    folder = save_classifier(tmp_path, "roberta")
    shares = of_class_one(folder)
    assert [len(row) for row in shares] == [2, 2]
    found = score(FactKB(Settings(), HubClassifier(folder), HubClassifier(folder)))
    assert found == pytest.approx(min(map(max, shares)), abs=1e-4)


def test_context_nli_takes_the_least_contradiction_of_each_sentence(tmp_path: Path) -> None:
    folder = save_classifier(tmp_path, "roberta")
    found = score(ContextNli(Settings(), HubClassifier(folder)))
    assert found == pytest.approx(1 - max(map(min, of_class_one(folder))), abs=1e-4)


def test_each_passage_is_read_and_a_long_one_is_cut(tmp_path: Path) -> None:
    folder = save_classifier(tmp_path, "roberta", labels=1, tokens=64)
    method = HemV1(Settings(), HubClassifier(folder))
    text = "the river is short"
    alone = score(method, Given("", ("boats came in",), text))
    other = score(method, Given("", ("the river is long",), text))
    both = score(method, Given("", ("boats came in", "the river is long"), text))
    assert both == pytest.approx(max(alone, other), abs=1e-4)
    assert 0 < score(method, Given("", ("blue " * 150,), text)) < 1


def test_hem_v2_is_put_together_from_weights_alone(tmp_path: Path) -> None:
    import torch
    from safetensors.torch import save_file
    from transformers import T5Config, T5ForTokenClassification

    foundation, weights = tmp_path / "t5", tmp_path / "hhem"
    tokenizer = word_tokenizer(end="</s>", has_start=False)
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=16,
        d_kv=8,
        d_ff=16,
        num_layers=1,
        num_heads=2,
        num_labels=2,
        initializer_factor=4.0,
    )
    torch.manual_seed(2)
    made = T5ForTokenClassification(config).eval()
    config.save_pretrained(foundation)
    tokenizer.save_pretrained(foundation)
    weights.mkdir()
    state = {f"t5.{n}": v.clone() for n, v in made.state_dict().items() if "embed_tokens" not in n}
    save_file(state, weights / "model.safetensors")
    (weights / "config.json").write_text(
        json.dumps({"prompt": "one {text1} two {text2} three"}), "utf-8"
    )
    given = Given("", ("the river {text2} is long",), "a {b} b")
    text = "one the river {text2} is long two a {b} b three"  # braces in a text stay as they are
    with torch.inference_mode():
        inputs = tokenizer(text, return_tensors="pt")
        inputs.pop("token_type_ids", None)
        expected = made(**inputs).logits[0, 0].softmax(-1)[1].item()
    found = score(
        HemV2(Settings(), HubClassifier(str(weights)), HubClassifier(str(foundation))), given
    )
    assert found == pytest.approx(expected, abs=1e-4)


def test_models_that_are_not_here_are_neither_ready_nor_downloaded(tmp_path: Path) -> None:
    assert not HubClassifier("nobody/no-such-model").is_downloaded()
    assert not HubClassifier(str(tmp_path)).is_downloaded()
    with pytest.raises(Unavailable, match="hf download nobody/no-such-model"):
        score(HemV1(Settings(), HubClassifier("nobody/no-such-model")))
    with pytest.raises(Unavailable, match="cannot be loaded|is missing"):
        score(HemV2(Settings(), HubClassifier(str(tmp_path)), HubClassifier(str(tmp_path))))
