"""Loading, label mapping, windows and batching, on a tiny DeBERTa made here."""

import shutil
from pathlib import Path

import pytest

from attribution.errors import BadInput, ModelUnavailable
from attribution.models.nli import relation_columns
from attribution.settings import Settings
from attribution.verifiers.deberta import Deberta
from tests.tiny_models import logits, save_classifier

LABELS = {0: "contradiction", 1: "entailment", 2: "neutral"}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    labels = {"id2label": LABELS, "label2id": {v: k for k, v in LABELS.items()}}
    folder = tmp_path_factory.mktemp("tiny-deberta")
    return Path(save_classifier(folder, "deberta-v2", 3, 64, **labels))


PAIRS = [
    ("the river is long", "the river is short"),
    ("boats came in", "the harbour was quiet and boats came in " * 30),
    ("the river is blue", "blue river"),
    *[("the boats", "the harbour " * n) for n in range(1, 30, 4)],
]


def test_columns_follow_the_models_own_labels(tiny: Path) -> None:
    claim, evidence = PAIRS[0]
    contradiction, entailment, _ = logits(tiny, evidence, claim).softmax(-1).tolist()
    (judgement,) = Deberta(Settings(verifier_model=str(tiny))).verify([(claim, evidence)])
    judged = judgement.probabilities
    assert judged.entailed == pytest.approx(entailment, abs=1e-4)
    assert judged.contradicted == pytest.approx(contradiction, abs=1e-4)
    assert relation_columns({0: "ENTAILMENT", 1: "neutral", 2: "Contradiction"}) == {
        "entailed": 0,
        "no_relation": 1,
        "contradicted": 2,
    }


def test_batches_keep_order_and_probabilities(tiny: Path) -> None:
    verifier = Deberta(Settings(verifier_model=str(tiny)))
    for pair, judged in zip(PAIRS, verifier.verify(PAIRS), strict=True):
        assert judged.probabilities.entailed == pytest.approx(
            verifier.verify([pair])[0].probabilities.entailed, abs=1e-3
        )


def test_a_long_premise_is_read_to_its_end(tiny: Path) -> None:
    verifier = Deberta(Settings(verifier_model=str(tiny)))

    def strength(evidence: str) -> float:
        p = verifier.verify([("the river is long", evidence)])[0].probabilities
        return max(p.entailed, p.contradicted)

    phrases = sorted(
        ("river long ", "boats blue ", "quiet in ", "and came ", "the harbour "),
        key=lambda w: strength(w * 60),
    )
    weak, strong = phrases[0] * 60, phrases[-1] * 60
    assert strength(weak + strong) > strength(weak) + 0.05


@pytest.mark.parametrize(
    "labels", [{0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}, {0: "entailment", 1: "not_entailment"}]
)
def test_a_model_with_other_labels_is_refused(labels: dict[int, str]) -> None:
    with pytest.raises(BadInput, match="choose an NLI model"):
        relation_columns(labels)


@pytest.mark.parametrize(
    "name", ["tokenizer.json", "tokenizer_config.json", "config.json", "model.safetensors"]
)
def test_a_damaged_file_of_a_model_is_an_error_that_names_it(
    tiny: Path, tmp_path: Path, name: str
) -> None:
    folder = Path(shutil.copytree(tiny, tmp_path / "model"))
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(b"\x00damaged" + content[8:])
    message = "a file of it is missing or damaged: copy it again"
    with pytest.raises(ModelUnavailable, match=message):
        Deberta(Settings(verifier_model=str(folder))).verify(PAIRS[:1])


def test_an_endless_claim_is_a_typed_error(tiny: Path) -> None:
    verifier = Deberta(Settings(verifier_model=str(tiny)))
    with pytest.raises(BadInput, match="segment it first"):
        verifier.verify([("river " * 200, "text")])
