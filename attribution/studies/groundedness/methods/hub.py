"""Score pairs of context and response with published hub models (T24 5.2).

No code from the hub is run, and a text that is too long for a model is cut.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from attribution.errors import Unavailable
from attribution.models.engine import load_once
from attribution.models.files import WEIGHTS, hide_loading_bar
from attribution.settings import Settings
from attribution.studies.groundedness import Given, Scores, by_sentence, joined, of_context

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

M = TypeVar("M")
TOKENIZER = ("tokenizer.json", "vocab.json", "spiece.model")
BATCH = 16


@dataclass(frozen=True)
class HubClassifier:
    """A model by its name on the hub, or a folder with its files."""

    name: str
    revision: str = "main"
    files: tuple[str, ...] = WEIGHTS  # any one of them shows that it was downloaded

    def is_downloaded(self) -> bool:
        """Return True if the model's files are on this machine."""
        return any(self.path(file) is not None for file in self.files)

    def path(self, file: str) -> Path | None:
        """Return the path of a file; None if it is not on this machine."""
        if Path(self.name).is_dir():
            path = Path(self.name, file)
            return path if path.is_file() else None
        from huggingface_hub import try_to_load_from_cache

        cached = try_to_load_from_cache(self.name, file, revision=self.revision)
        return Path(cached) if isinstance(cached, str) else None

    def load(self, loader: Callable[..., M]) -> M:
        """Call a `from_pretrained` with the files on this machine.

        Raises:
            Unavailable: They are missing, or make no such model.
        """
        hide_loading_bar()
        options = {"local_files_only": True, "trust_remote_code": False}
        try:
            return loader(self.name, revision=self.revision, **options)
        except Exception as error:  # of the hub's client, the file system or the configuration
            step = f"download it with `hf download {self.name}`"
            raise Unavailable(f"{self.name} cannot be loaded: {step}", error) from error


HEM_V1 = HubClassifier("vectara/hallucination_evaluation_model", "hhem-1.0-open")
HEM_V2 = HubClassifier("vectara/hallucination_evaluation_model", files=("model.safetensors",))
FLAN_T5 = HubClassifier("google/flan-t5-base", files=TOKENIZER)
FACTKB = HubClassifier("bunsenfeng/FactKB")
ROBERTA = HubClassifier("roberta-base", files=TOKENIZER)
CONTEXT_NLI = HubClassifier("potsawee/deberta-v3-large-mnli")


@load_once
def load_tokenizer(model: HubClassifier) -> PreTrainedTokenizerBase:
    from transformers import AutoTokenizer

    return model.load(AutoTokenizer.from_pretrained)


@load_once
def classifier(model: HubClassifier) -> PreTrainedModel:
    """Load a sequence classification model."""
    from transformers import AutoModelForSequenceClassification

    return model.load(AutoModelForSequenceClassification.from_pretrained).eval()


def longest_input(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> int:
    """Return the longest input in tokens. RoBERTa counts positions from the padding index."""
    positions = int(getattr(model.config, "max_position_embeddings", 512))
    if model.config.model_type == "roberta":
        positions -= int(model.config.pad_token_id) + 1
    return min(int(tokenizer.model_max_length), positions)


class HubMethod:
    """Base class of the methods: a model, and the one whose tokenizer or configuration it takes.

    The model reads each sentence of the response with the premises; the least score counts.
    """

    model: HubClassifier
    foundation: HubClassifier | None = None  # None: the model's own

    def __init__(
        self,
        settings: Settings,
        model: HubClassifier | None = None,
        foundation: HubClassifier | None = None,
    ) -> None:
        self._model = model or self.model
        self._foundation = foundation or self.foundation or self._model

    def score(self, given: Given, stop: threading.Event) -> Scores:
        return by_sentence(given, partial(self.sentence_score, self.premises(given)))

    def premises(self, given: Given) -> Sequence[str]:
        """Return the parts of the context that a sentence is compared with."""
        return of_context(given)

    def sentence_score(self, premises: Sequence[str], text: str) -> float:
        """Score a sentence of the response: here by the best premise and one logistic output."""
        return float(self.read([(premise, text) for premise in premises])[:, 0].sigmoid().max())

    def read(self, pairs: Sequence[tuple[str, str]]) -> Tensor:
        """Return the logits of pairs of texts, as (pairs, labels); of two, the longer is cut."""
        import torch

        model, tokenizer = classifier(self._model), load_tokenizer(self._foundation)
        most = longest_input(model, tokenizer)
        logits: list[Tensor] = []
        for start in range(0, len(pairs), BATCH):
            first, second = zip(*pairs[start : start + BATCH], strict=True)
            inputs = tokenizer(
                list(first),
                list(second),
                truncation=True,
                max_length=most,
                padding=True,
                return_tensors="pt",
            )
            if model.config.type_vocab_size == 1:
                inputs.pop("token_type_ids", None)
            with torch.inference_mode():
                logits.append(model(**inputs).logits.float())
        return torch.cat(logits)


class HemV1(HubMethod):
    """Method `hem_v1`: Vectara's HHEM 1.0, a cross-encoder with one logistic output.

    Score: the best passage of the context, and of the response's sentences the least.
    """

    model = HEM_V1

    def premises(self, given: Given) -> Sequence[str]:
        return given.context


@load_once
def _hem_v2(weights: HubClassifier, foundation: HubClassifier) -> PreTrainedModel:
    """Build HHEM 2.1, FLAN-T5's encoder with a token classifier, without the code on the hub."""
    from safetensors.torch import load_file
    from transformers import AutoConfig, T5ForTokenClassification

    config = foundation.load(AutoConfig.from_pretrained)
    config.num_labels = 2
    model = T5ForTokenClassification(config)
    path = weights.path("model.safetensors")
    if path is None:
        raise Unavailable(f"{weights.name} is missing: download it with `hf download`")
    state = {name.removeprefix("t5."): value for name, value in load_file(path).items()}
    lacking, _ = model.load_state_dict(state, strict=False)
    # embeddings are tied to `shared`
    if any("embed_tokens" not in name for name in lacking):
        raise Unavailable(f"{weights.name} has other weights than HHEM 2.1")
    return model.eval()


class HemV2(HubMethod):
    """Method `hem_v2`: Vectara's HHEM 2.1 with its prompt; class 1 at the first token is
    consistent.

    Score: of the response's sentences, each with the whole context, the least.
    """

    model, foundation = HEM_V2, FLAN_T5

    def premises(self, given: Given) -> Sequence[str]:
        return [joined(given.context)]

    def sentence_score(self, premises: Sequence[str], text: str) -> float:
        import torch

        (context,) = premises

        model, tokenizer = _hem_v2(self._model, self._foundation), load_tokenizer(self._foundation)
        path = self._model.path("config.json")
        prompt = str(json.loads(path.read_text("utf-8"))["prompt"]) if path else ""
        # not str.format: the texts may contain braces
        before, _, rest = prompt.partition("{text1}")
        between, _, after = rest.partition("{text2}")
        inputs = tokenizer(f"{before}{context}{between}{text}{after}", return_tensors="pt")
        with torch.inference_mode():
            return float(model(**inputs).logits[0, 0].float().softmax(-1)[1])


class FactKB(HubMethod):
    """Method `factkb` (Feng et al. 2023): a sentence before one of the context, class 1 is factual.

    Score: the best sentence of the context, and of the response's sentences the least.
    """

    model, foundation = FACTKB, ROBERTA

    def sentence_score(self, premises: Sequence[str], text: str) -> float:
        return float(self.read([(text, premise) for premise in premises]).softmax(-1)[:, 1].max())


class ContextNli(HubMethod):
    """Method `contextnli` (T24 5.3): SelfCheckGPT's NLI model, with the sentence first; class 1 is
    contradiction.

    Score: one minus the least contradiction by a sentence of the context; of the response's
    sentences the least.
    """

    model = CONTEXT_NLI

    def sentence_score(self, premises: Sequence[str], text: str) -> float:
        pairs = [(text, premise) for premise in premises]
        return 1 - float(self.read(pairs).softmax(-1)[:, 1].min())
