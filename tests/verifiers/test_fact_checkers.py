from pathlib import Path

import pytest

from attribution.errors import BadInput, ModelUnavailable
from attribution.settings import Settings
from attribution.verifiers import VERIFIERS, choose, model_of
from attribution.verifiers.fact_checkers import FactChecker
from tests.tiny_models import logits, save_classifier, word_tokenizer

CLAIM, EVIDENCE = (
    "the river is long",
    "the river is short . the harbour was quiet and boats came in .",
)


def save_t5(folder: Path) -> None:
    from transformers import T5Config, T5ForConditionalGeneration

    word_tokenizer(end="</s>", has_start=False).save_pretrained(folder)
    config = T5Config(
        vocab_size=256,
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=2,
        decoder_start_token_id=0,
    )
    T5ForConditionalGeneration(config).save_pretrained(folder)


def as_published(folder: Path, text: str) -> float:
    """The probability of support as the repositories compute it, from a whole input."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    if "T5" not in (folder / "config.json").read_text("utf-8"):
        return float(logits(folder, text).softmax(-1)[1])
    inputs = AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")
    inputs.pop("token_type_ids", None)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder)
    with torch.inference_mode():
        words = model(**inputs, decoder_input_ids=torch.tensor([[0]])).logits[0, 0]
    return float(words[[3, 209]].softmax(-1)[1])


def checker(name: str, model: Path) -> FactChecker:
    found = VERIFIERS.build(name, Settings(verifier_model=str(model), database_url=""))
    assert isinstance(found, FactChecker)
    return found


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("minicheck", "roberta", f"{EVIDENCE}</s>{CLAIM}"),
        ("minicheck", "deberta-v2", f"{EVIDENCE}[SEP]{CLAIM}"),
        ("minicheck", "t5", f"predict: {EVIDENCE}</s>{CLAIM}"),
        (
            "factcg",
            "deberta-v2",
            f'{EVIDENCE}\n\nChoose your answer: based on the paragraph above can we conclude that "{CLAIM}"?\n\n'
            "OPTIONS:\n- Yes\n- No\nI think the answer is ",
        ),
    ],
)
def test_support_is_that_of_the_published_input(
    tmp_path: Path, name: str, kind: str, text: str
) -> None:
    if kind == "t5":
        save_t5(tmp_path)
    else:
        save_classifier(tmp_path, kind)
    verifier = checker(name, tmp_path)
    first, again = verifier.verify([(CLAIM, EVIDENCE), ("boats came in", "the harbour was quiet")])
    p = first.probabilities
    assert p.entailed == pytest.approx(as_published(tmp_path, text), abs=1e-4)
    assert p.entailed + p.contradicted + p.no_relation == pytest.approx(1, abs=1e-4)
    assert again != first
    assert verifier.version.startswith(f"{name}/{tmp_path}@")
    assert "+embedded-" in verifier.version


def test_other_models_are_refused(tmp_path: Path) -> None:
    save_classifier(tmp_path, "roberta", labels=3)
    with pytest.raises(BadInput, match="expected 2"):
        checker("minicheck", tmp_path).verify([(CLAIM, EVIDENCE)])
    with pytest.raises(ModelUnavailable):
        checker("factcg", tmp_path / "none").verify([(CLAIM, EVIDENCE)])


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
