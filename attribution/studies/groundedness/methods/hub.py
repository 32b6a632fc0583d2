"""Score pairs of context and response with published hub models (T24 5.2).

No code from the hub is run. A context that is too long for a model is read in windows, and the best
one counts.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from attribution.errors import BadInput, Unavailable
from attribution.models.files import hide_loading_bar
from attribution.models.loading import load_once
from attribution.settings import Settings
from attribution.studies.groundedness import ONE, Given, Scored, joined
from attribution.studies.groundedness.methods import by_sentence, of_context, parts, spans

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

M = TypeVar("M")
Encoded = dict[str, list[int]]
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
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
            found = Path(self.name, file)
            return found if found.is_file() else None
        from huggingface_hub import try_to_load_from_cache

        cached = try_to_load_from_cache(self.name, file, revision=self.revision)
        return Path(cached) if isinstance(cached, str) else None

    def required(self, file: str) -> Path:
        """Return the path of a file. Raises Unavailable, with what to do, if it is missing."""
        if path := self.path(file):
            return path
        raise Unavailable(
            f"{file} of {self.name} is missing: download it with `hf download {self.name}`"
        )


HEM_V1 = HubClassifier("vectara/hallucination_evaluation_model", "hhem-1.0-open")
HEM_V2 = HubClassifier("vectara/hallucination_evaluation_model", files=("model.safetensors",))
FLAN_T5 = HubClassifier("google/flan-t5-base", files=TOKENIZER)
FACTKB = HubClassifier("bunsenfeng/FactKB")
ROBERTA = HubClassifier("roberta-base", files=TOKENIZER)
CONTEXT_NLI = HubClassifier("potsawee/deberta-v3-large-mnli")

hem_v1_downloaded, hem_v2_downloaded = HEM_V1.is_downloaded, HEM_V2.is_downloaded
flan_t5_downloaded, roberta_downloaded = FLAN_T5.is_downloaded, ROBERTA.is_downloaded
factkb_downloaded, contextnli_downloaded = FACTKB.is_downloaded, CONTEXT_NLI.is_downloaded


def from_files(model: HubClassifier, load: Callable[..., M]) -> M:
    """Call a `from_pretrained` with the files on this machine. Raises Unavailable if it fails."""
    hide_loading_bar()
    try:
        return load(
            model.name, revision=model.revision, local_files_only=True, trust_remote_code=False
        )
    except (
        Exception
    ) as error:  # hub client, file system and model configuration raise various errors
        raise Unavailable(
            f"{model.name} cannot be loaded: download it with `hf download {model.name}`", error
        ) from error


@load_once
def load_tokenizer(model: HubClassifier) -> PreTrainedTokenizerBase:
    from transformers import AutoTokenizer

    return from_files(model, AutoTokenizer.from_pretrained)


@load_once
def classifier(model: HubClassifier) -> PreTrainedModel:
    """Load a sequence classification model."""
    from transformers import AutoModelForSequenceClassification

    return from_files(model, AutoModelForSequenceClassification.from_pretrained).eval()


def limit(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> int:
    """Return the longest input in tokens. RoBERTa counts positions from the padding index."""
    positions = int(getattr(model.config, "max_position_embeddings", 512))
    if model.config.model_type == "roberta":
        positions -= int(model.config.pad_token_id) + 1
    return min(int(tokenizer.model_max_length), positions, 2048)


def run(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, inputs: Sequence[Encoded]
) -> Tensor:
    """Return the logits of encoded inputs in order, as (inputs, …), computed in batches."""
    import torch

    found = []
    for start in range(0, len(inputs), BATCH):
        batch = tokenizer.pad(list(inputs[start : start + BATCH]), return_tensors="pt")
        with torch.inference_mode():
            found.append(model(**batch).logits.float())
    return torch.cat(found)


def pair_windows(
    tokenizer: PreTrainedTokenizerBase,
    premise: str,
    hypothesis: str,
    longest: int,
    premise_first: bool,
) -> list[Encoded]:
    """Encode a pair; a long premise is cut into overlapping windows, each with the whole
    hypothesis.
    """
    pair = (premise, hypothesis) if premise_first else (hypothesis, premise)
    cut = "only_first" if premise_first else "only_second"
    encoded = tokenizer(
        *pair,
        truncation=cut,
        max_length=longest,
        stride=min(64, longest // 8),
        return_overflowing_tokens=True,
    )
    names = [n for n in ("input_ids", "attention_mask", "token_type_ids") if n in encoded]
    return [{n: encoded[n][window] for n in names} for window in range(len(encoded["input_ids"]))]


def _fits(response: str, tokenizer: PreTrainedTokenizerBase, longest: int) -> None:
    """Raise BadInput for a response that leaves no room for the context."""
    if (tokens := len(tokenizer.tokenize(response))) > longest * 3 // 4:
        raise BadInput(
            f"the response has {tokens} tokens, and this model reads {longest} with the context"
        )


class HubMethod:
    """Base class of the methods: a model, and the one whose tokenizer or configuration it takes."""

    name: str
    model: HubClassifier
    foundation: HubClassifier | None = None  # None: the model's own
    usage = None

    def __init__(
        self,
        settings: Settings,
        model: HubClassifier | None = None,
        foundation: HubClassifier | None = None,
    ) -> None:
        self._model = model or self.model
        self._foundation = foundation or self.foundation or self._model
        self.version = f"{self.name}.3/{self._model.name}@{self._model.revision}"

    def _read(self, contexts: Sequence[str], text: str, context_first: bool) -> Tensor:
        """Return the logits of a text with each window of the contexts."""
        model, tokenizer = classifier(self._model), load_tokenizer(self._foundation)
        longest = limit(model, tokenizer)
        _fits(text, tokenizer, longest)
        inputs = [
            w for c in contexts for w in pair_windows(tokenizer, c, text, longest, context_first)
        ]
        return run(model, tokenizer, inputs)


class HemV1(HubMethod):
    """Method `hem_v1`: Vectara's HHEM 1.0, a cross-encoder with one logistic output.

    Score: the maximum over windows of a long context, and of the response's sentences the least.
    """

    name, model = "hem_v1", HEM_V1

    def score(self, given: Given, stop: threading.Event) -> Scored:
        return by_sentence(given, partial(self._consistent, given))

    def _consistent(self, given: Given, text: str) -> float:
        return float(
            self._read([joined(given.context)], text, context_first=True)[:, 0].sigmoid().max()
        )


@load_once
def _hem_v2(weights: HubClassifier, foundation: HubClassifier) -> PreTrainedModel:
    """Build HHEM 2.1, FLAN-T5's encoder with a token classifier, without the code on the hub."""
    from safetensors.torch import load_file
    from transformers import AutoConfig, T5ForTokenClassification

    config = from_files(foundation, AutoConfig.from_pretrained)
    config.num_labels = 2
    model = T5ForTokenClassification(config)
    state = load_file(weights.required("model.safetensors"))
    lacking, _ = model.load_state_dict(
        {name.removeprefix("t5."): value for name, value in state.items()}, strict=False
    )
    if lacking := [
        name for name in lacking if "embed_tokens" not in name
    ]:  # these are tied to `shared`
        raise Unavailable(
            f"{weights.name} has other weights than HHEM 2.1: {lacking[0]} is missing"
        )
    return model.eval()


class HemV2(HubMethod):
    """Method `hem_v2`: Vectara's HHEM 2.1 with its prompt; class 1 at the first token is
    consistent.

    Score: of the response's sentences, each with the whole context, the least.
    """

    name, model, foundation = "hem_v2", HEM_V2, FLAN_T5

    def score(self, given: Given, stop: threading.Event) -> Scored:
        return by_sentence(given, partial(self._consistent, given))

    def _consistent(self, given: Given, response: str) -> float:
        model, tokenizer = _hem_v2(self._model, self._foundation), load_tokenizer(self._foundation)
        prompt = str(json.loads(self._model.required("config.json").read_text("utf-8"))["prompt"])
        before, _, rest = prompt.partition(
            "{text1}"
        )  # not str.format: the texts may contain braces
        between, _, after = rest.partition("{text2}")
        text = f"{before}{joined(given.context)}{between}{response}{after}"
        logits = run(model, tokenizer, [dict(tokenizer(text))])
        return float(logits[:, 0, :].softmax(-1)[0, 1])


class FactKB(HubMethod):
    """Method `factkb` (Feng et al. 2023): a sentence before one of the context, class 1 is factual
    (T24 5.2).

    Score: the best sentence of the context, and of the response's sentences the least.
    """

    name, model, foundation = "factkb", FACTKB, ROBERTA

    def score(self, given: Given, stop: threading.Event) -> Scored:
        context = of_context(given)
        return by_sentence(
            given, lambda text: float(self._read(context, text, False).softmax(-1)[:, 1].max())
        )


class ContextNli(HubMethod):
    """Method `contextnli` (T24 5.3): SelfCheckGPT's NLI model, with the sentence first; class 1 is
    contradiction.

    Score: the minimum contradiction over the sentences of the context, then the maximum over
    those of the response.
    """

    name, model = "contextnli", CONTEXT_NLI

    def score(self, given: Given, stop: threading.Event) -> Scored:
        context, places = of_context(given), spans(given.response)
        read = (self._read(context, given.response[a:b], context_first=False) for a, b in places)
        contradicted = [float(logits.softmax(-1)[:, 1].min()) for logits in read]
        return Scored({ONE: 1 - max(contradicted)}, parts(places, [1 - c for c in contradicted]))
