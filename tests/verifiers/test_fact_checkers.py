from pathlib import Path
from typing import Any

import pytest

from attribution.errors import BadInput, ModelUnavailable
from attribution.settings import Settings
from attribution.verifiers import VERIFIERS, choose, model_of
from attribution.verifiers.fact_checkers import FactChecker

WORDS = (
    "the river is long short blue harbour was quiet and boats came in . , ? paragraph Yes No "
    "predict :"
).split()
ENDS = {"roberta": "</s>", "deberta": "[SEP]", "t5": "</s>"}
CLAIM, EVIDENCE = (
    "the river is long",
    "the river is short . the harbour was quiet and boats came in .",
)


def made(folder: Path, kind: str, labels: int = 2, tokens: int = 512, **more: Any) -> str:
    """Write a tiny model with random weights and windows of so many tokens, and its tokenizer."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import (
        DebertaV2Config,
        DebertaV2ForSequenceClassification,
        PreTrainedTokenizerFast,
        RobertaConfig,
        RobertaForSequenceClassification,
        T5Config,
        T5ForConditionalGeneration,
    )

    end = ENDS[kind]
    special = ["[PAD]", "[CLS]", end, "[UNK]"]
    inner = Tokenizer(
        models.WordLevel({w: i for i, w in enumerate([*special, *WORDS])}, unk_token="[UNK]")
    )
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    single = f"$A {end}" if kind == "t5" else f"[CLS] $A {end}"
    inner.post_processor = processors.TemplateProcessing(
        single=single, pair=f"{single} $B:1 {end}:1", special_tokens=[("[CLS]", 1), (end, 2)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=inner,
        pad_token="[PAD]",
        cls_token="[CLS]",
        eos_token=end,
        unk_token="[UNK]",
        model_max_length=tokens,
    ).save_pretrained(folder)
    torch.manual_seed(5)
    of_encoder: dict[str, Any] = {
        "vocab_size": len(WORDS) + 4,
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": tokens + 2,
        "num_labels": labels,
        "initializer_range": 0.6,
        "pad_token_id": 0,
        **more,
    }
    match kind:
        case "t5":
            own = T5Config(
                vocab_size=256,
                d_model=16,
                d_kv=8,
                d_ff=32,
                num_layers=2,
                num_heads=2,
                decoder_start_token_id=0,
            )
            T5ForConditionalGeneration(own).save_pretrained(folder)
        case "deberta":
            relative = {
                "relative_attention": True,
                "pos_att_type": ["p2c", "c2p"],
                "type_vocab_size": 0,
            }
            DebertaV2ForSequenceClassification(
                DebertaV2Config(**of_encoder, **relative)
            ).save_pretrained(folder)
        case _:
            RobertaForSequenceClassification(
                RobertaConfig(**of_encoder, type_vocab_size=1)
            ).save_pretrained(folder)
    return str(folder)


def as_published(folder: str, text: str) -> float:
    """The probability of support as the repositories compute it, from a whole input."""
    import torch
    from transformers import (
        AutoConfig,
        AutoModelForSeq2SeqLM,
        AutoModelForSequenceClassification,
        AutoTokenizer,
    )

    inputs = AutoTokenizer.from_pretrained(folder)([text], return_tensors="pt")
    with torch.inference_mode():
        if AutoConfig.from_pretrained(folder).model_type == "t5":
            model = AutoModelForSeq2SeqLM.from_pretrained(folder)
            start = torch.zeros((1, 1), dtype=torch.long)
            own = {name: inputs[name] for name in ("input_ids", "attention_mask")}
            logits = model(**own, decoder_input_ids=start).logits.squeeze(1)[
                :, torch.tensor([3, 209])
            ]
        else:
            inputs.pop("token_type_ids", None)
            logits = AutoModelForSequenceClassification.from_pretrained(folder)(**inputs).logits
    return float(torch.softmax(logits, dim=-1)[0, 1])


def checker(name: str, model: str) -> FactChecker:
    found = VERIFIERS.build(name, Settings(verifier_model=model, database_url=""))
    assert isinstance(found, FactChecker)
    return found


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("minicheck", "roberta", f"{EVIDENCE}</s>{CLAIM}"),
        ("minicheck", "deberta", f"{EVIDENCE}[SEP]{CLAIM}"),
        ("minicheck", "t5", f"predict: {EVIDENCE}</s>{CLAIM}"),
        (
            "factcg",
            "deberta",
            f'{EVIDENCE}\n\nChoose your answer: based on the paragraph above can we conclude that "{CLAIM}"?\n\n'
            "OPTIONS:\n- Yes\n- No\nI think the answer is ",
        ),
    ],
)
def test_support_is_that_of_the_published_input(
    tmp_path: Path, name: str, kind: str, text: str
) -> None:
    verifier = checker(name, made(tmp_path, kind))
    first, again = verifier.verify([(CLAIM, EVIDENCE), ("boats came in", "the harbour was quiet")])
    assert first.probabilities.entailed == pytest.approx(
        as_published(str(tmp_path), text), abs=1e-4
    )
    p = first.probabilities
    assert p.entailed + p.contradicted + p.no_relation == pytest.approx(1, abs=1e-4)
    assert again != first
    assert verifier.version.startswith(f"{name}/{tmp_path}@")
    assert "+embedded-" in verifier.version


def test_other_models_and_claims_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="expected 2"):
        checker("minicheck", made(tmp_path / "three", "roberta", labels=3)).verify(
            [(CLAIM, EVIDENCE)]
        )
    with pytest.raises(ModelUnavailable):
        checker("factcg", str(tmp_path / "none")).verify([(CLAIM, EVIDENCE)])
    with pytest.raises(BadInput, match="empty"):
        checker("minicheck", made(tmp_path / "two", "roberta")).verify([("", EVIDENCE)])


def test_the_best_that_is_downloaded_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    here: set[str] = set()
    monkeypatch.setattr(
        "attribution.models.files.weights", lambda model: Path(model) if model in here else None
    )
    settings = Settings(database_url="")
    assert choose(settings).name.startswith("embedded-")
    for name in ("deberta", "minicheck", "factcg"):
        here.add(list(VERIFIERS[name].models)[-1])
        assert choose(settings).name == name
        assert model_of(name, settings) in here
    nli_model = next(iter(VERIFIERS["deberta"].models))
    here.add(nli_model)
    chosen = settings.model_copy(update={"verifier_model": nli_model})
    assert choose(chosen).name == "deberta"
    assert model_of("factcg", chosen) != nli_model
