import json
import threading
from collections.abc import Callable
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

WORDS = "<s> <pad> </s> <unk> <mask> the river is long short blue boats came in . one two three a b".split()
TWO = Given(
    "", ("the river is long .\nboats came in .",), "the river is short .\nboats came ."
)  # sentences each


@pytest.fixture(scope="module")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A folder with a tiny RoBERTa of so many labels and its tokenizer."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import (
        PreTrainedTokenizerFast,
        RobertaConfig,
        RobertaForSequenceClassification,
    )

    def make(labels: int, positions: int = 66) -> Path:
        folder = tmp_path_factory.mktemp("tiny-roberta")
        inner = Tokenizer(models.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="<unk>"))
        inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        inner.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>",
            pair="<s> $A </s> </s> $B </s>",
            special_tokens=[("<s>", 0), ("</s>", 2)],
        )
        PreTrainedTokenizerFast(
            tokenizer_object=inner,
            pad_token="<pad>",
            cls_token="<s>",
            bos_token="<s>",
            sep_token="</s>",
            eos_token="</s>",
            unk_token="<unk>",
            mask_token="<mask>",
            model_max_length=512,
        ).save_pretrained(folder)
        torch.manual_seed(labels)
        config = RobertaConfig(
            vocab_size=len(WORDS),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            max_position_embeddings=positions,
            type_vocab_size=1,
            num_labels=labels,
            initializer_range=0.9,
        )
        RobertaForSequenceClassification(config).save_pretrained(folder)
        return folder

    return make


def logits(folder: Path, *texts: str) -> Any:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model, tokenizer = (
        AutoModelForSequenceClassification.from_pretrained(folder),
        AutoTokenizer.from_pretrained(folder),
    )
    with torch.inference_mode():
        inputs = tokenizer(*texts, return_tensors="pt")
        inputs.pop("token_type_ids", None)
        return model.eval()(**inputs).logits[0]


def sentences_of(text: str) -> list[str]:
    return [text[a:b] for a, b in spans(text)]


def score(method: Any, given: Given = TWO) -> float:
    """The score of the sentence that is supported least."""
    return float(method.score(given, threading.Event()).scores[""])


def test_hem_v1_is_logistic_with_the_context_first(roberta: Callable[..., Path]) -> None:
    folder = roberta(1)
    expected = [
        logits(folder, TWO.context[0], s).sigmoid().item() for s in sentences_of(TWO.response)
    ]
    found = HemV1(Settings(), HubClassifier(str(folder))).score(TWO, threading.Event())
    assert len(expected) == 2
    assert found.scores == pytest.approx({"": min(expected)}, abs=1e-4)


def test_factkb_puts_the_response_first_and_takes_class_one(roberta: Callable[..., Path]) -> None:
    folder = roberta(2)
    response, context = sentences_of(TWO.response), sentences_of(TWO.context[0])
    expected = [max(logits(folder, s, c).softmax(-1)[1].item() for c in context) for s in response]
    method = FactKB(Settings(), HubClassifier(str(folder)), HubClassifier(str(folder)))
    assert score(method, TWO) == pytest.approx(min(expected), abs=1e-4)
    assert len(context) == len(response) == 2
    other = [max(logits(folder, c, s).softmax(-1)[1].item() for c in context) for s in response]
    assert abs(min(other) - min(expected)) > 1e-3  # the order matters to this model


def test_each_passage_is_read_and_a_long_one_is_cut(roberta: Callable[..., Path]) -> None:
    method = HemV1(Settings(), HubClassifier(str(roberta(1))))
    text = "the river is short"
    alone = score(method, Given("", ("boats came in",), text))
    other = score(method, Given("", ("the river is long",), text))
    both = score(method, Given("", ("boats came in", "the river is long"), text))
    assert both == pytest.approx(max(alone, other), abs=1e-4)
    assert 0 < score(method, Given("", ("blue " * 150,), text)) < 1


def test_context_nli_takes_the_least_contradiction_of_each_sentence(
    roberta: Callable[..., Path],
) -> None:
    folder = roberta(2)
    response, context = sentences_of(TWO.response), sentences_of(TWO.context[0])
    each = [min(logits(folder, s, c).softmax(-1)[1].item() for c in context) for s in response]
    found = ContextNli(Settings(), HubClassifier(str(folder))).score(TWO, threading.Event())
    assert found.scores == pytest.approx({"": 1 - max(each)}, abs=1e-4)


def test_hem_v2_is_put_together_from_weights_alone(tmp_path: Path) -> None:
    import torch
    from safetensors.torch import save_file
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForTokenClassification

    foundation, weights = tmp_path / "t5", tmp_path / "hhem"
    config = T5Config(
        vocab_size=len(WORDS),
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
    inner = Tokenizer(models.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", unk_token="<unk>", model_max_length=512
    )
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
        expected = made(**tokenizer(text, return_tensors="pt")).logits[0, 0].softmax(-1)[1].item()
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
