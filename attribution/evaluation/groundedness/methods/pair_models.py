"""Published models that score a pair of context and response (T24, section 4.2; MiniCheck and AlignScore beside them).

None is read with code from the hub. A context that is too long for a model is read in windows, and the best one counts.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import Any

from attribution.errors import BadInput, Unavailable
from attribution.evaluation.groundedness import ONE, Given, Scored, joined
from attribution.evaluation.groundedness.methods import hub_models as hub
from attribution.evaluation.groundedness.methods.hub_models import HubModel
from attribution.evaluation.groundedness.methods.statements import parts, spans
from attribution.models.loading import load_once
from attribution.settings import Settings

MINICHECK_CHUNK = 400  # tokens of context, as in MiniCheck's own code
ALIGNSCORE_CHUNK = 350  # words of context, as in AlignScore (section 3.3)


def _fits(response: str, tokenizer: Any, longest: int) -> None:
    """BadInput for a response that leaves no room for the context."""
    if (tokens := len(tokenizer.tokenize(response))) > longest * 3 // 4:
        raise BadInput(
            f"the response has {tokens} tokens, and this model reads {longest} of it and the context together"
        )


def _chunks(pieces: Sequence[str], sizes: Sequence[int], most: int) -> list[str]:
    """Neighbouring pieces together, up to a size; a longer piece is a chunk by itself."""
    groups: list[list[str]] = []
    room = 0
    for piece, size in zip(pieces, sizes, strict=True):
        if not groups or size > room:
            groups.append([])
            room = most
        groups[-1].append(piece)
        room -= size
    return [" ".join(group) for group in groups]


class HemV1:
    """Method `hem_v1`: Vectara's HHEM 1.0, a cross-encoder with one output, a logistic one."""

    aggregation = "one score for the whole response; the maximum over windows of a long context"
    usage = None

    def __init__(self, settings: Settings, model: HubModel = hub.HEM_V1) -> None:
        self._model = model
        self.version = f"hem_v1/{model.name}@{model.revision}"

    def score(self, given: Given, stop: threading.Event) -> Scored:
        model, tokenizer = hub.classifier(self._model), hub.tokenizer(self._model)
        longest = hub.limit(model, tokenizer)
        _fits(given.response, tokenizer, longest)
        inputs = hub.pair_windows(tokenizer, joined(given.context), given.response, longest, premise_first=True)
        return Scored({ONE: float(hub.run(model, tokenizer, inputs)[:, 0].sigmoid().max())})


@load_once
def _hem_v2(weights: HubModel, foundation: HubModel) -> Any:
    """HHEM 2.1 is FLAN-T5's encoder with a classifier of tokens; its own code is not needed to put that together."""
    from safetensors.torch import load_file
    from transformers import AutoConfig, T5ForTokenClassification

    config = hub.from_files(foundation, AutoConfig.from_pretrained)
    config.num_labels = 2
    model = T5ForTokenClassification(config)
    state = load_file(weights.required("model.safetensors"))
    lacking, _ = model.load_state_dict({name.removeprefix("t5."): value for name, value in state.items()}, strict=False)
    if lacking := [name for name in lacking if "embed_tokens" not in name]:  # these are tied to `shared`
        raise Unavailable(f"{weights.name} has other weights than HHEM 2.1: {lacking[0]} is missing")
    return model.eval()


class HemV2:
    """Method `hem_v2`: Vectara's HHEM 2.1: its prompt, and class 1 (consistent) at the first token."""

    aggregation = "one score for the whole response with the whole context"
    usage = None

    def __init__(self, settings: Settings, model: HubModel = hub.HEM_V2, foundation: HubModel = hub.FLAN_T5) -> None:
        self._model, self._foundation = model, foundation
        self.version = f"hem_v2/{model.name}@{model.revision}"

    def score(self, given: Given, stop: threading.Event) -> Scored:
        model, tokenizer = _hem_v2(self._model, self._foundation), hub.tokenizer(self._foundation)
        prompt = str(json.loads(self._model.required("config.json").read_text("utf-8"))["prompt"])
        before, _, rest = prompt.partition("{text1}")  # no str.format: the texts may hold braces
        between, _, after = rest.partition("{text2}")
        text = f"{before}{joined(given.context)}{between}{given.response}{after}"
        logits = hub.run(model, tokenizer, [dict(tokenizer(text))])
        return Scored({ONE: float(logits[:, 0, :].softmax(-1)[0, 1])})


class FactKB:
    """Method `factkb` (Feng et al. 2023): the response before the context, class 1 is factual."""

    aggregation = "one score for the whole response; the maximum over windows of a long context"
    usage = None

    def __init__(self, settings: Settings, model: HubModel = hub.FACTKB, tokenizer: HubModel = hub.ROBERTA) -> None:
        self._model, self._tokenizer = model, tokenizer
        self.version = f"factkb/{model.name}@{model.revision}"

    def score(self, given: Given, stop: threading.Event) -> Scored:
        model, tokenizer = hub.classifier(self._model), hub.tokenizer(self._tokenizer)
        longest = hub.limit(model, tokenizer)
        _fits(given.response, tokenizer, longest)
        inputs = hub.pair_windows(tokenizer, joined(given.context), given.response, longest, premise_first=False)
        return Scored({ONE: float(hub.run(model, tokenizer, inputs).softmax(-1)[:, 1].max())})


class MiniCheck:
    """Method `minicheck` (Tang et al. 2024): sentence by sentence, chunks of the context; class 1 is supported."""

    aggregation = "the maximum over chunks of the context, then the minimum over the sentences of the response"
    usage = None

    def __init__(self, settings: Settings, model: HubModel = hub.MINICHECK) -> None:
        self._model = model
        self.version = f"minicheck/{model.name}@{model.revision}"

    def score(self, given: Given, stop: threading.Event) -> Scored:
        model, tokenizer = hub.classifier(self._model), hub.tokenizer(self._model)
        longest = hub.limit(model, tokenizer)
        context = [text[a:b] for text in given.context for a, b in spans(text)]
        sizes = [len(tokenizer.tokenize(sentence)) for sentence in context]
        chunks = _chunks(context, sizes, min(MINICHECK_CHUNK, longest * 3 // 4))
        places = spans(given.response)
        supported = []
        for a, b in places:
            texts = [f"{chunk}{tokenizer.eos_token}{given.response[a:b]}" for chunk in chunks]
            inputs = [dict(tokenizer(text)) for text in texts]
            if max(len(i["input_ids"]) for i in inputs) > longest:
                raise BadInput(f"a sentence of the response or of the context is too long: {longest} tokens fit")
            supported.append(float(hub.run(model, tokenizer, inputs).softmax(-1)[:, 1].max()))
        return Scored({ONE: min(supported)}, parts(places, supported))


@load_once
def _alignscore(weights: HubModel, foundation: HubModel) -> tuple[Any, Any]:
    """The encoder of AlignScore's checkpoint and its head for three classes; nothing in the file is run."""
    import torch
    from transformers import AutoConfig, RobertaModel

    path = weights.required(weights.files[0])
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)["state_dict"]
        encoder = RobertaModel(hub.from_files(foundation, AutoConfig.from_pretrained))
        own = {n.removeprefix("base_model."): v for n, v in state.items() if n.startswith("base_model.")}
        own.pop("embeddings.position_ids", None)  # of earlier versions of transformers
        encoder.load_state_dict(own)
        head = torch.nn.Linear(encoder.config.hidden_size, 3)
        head.load_state_dict({"weight": state["tri_layer.weight"], "bias": state["tri_layer.bias"]})
    except (RuntimeError, KeyError, ValueError, TypeError, OSError) as error:
        raise Unavailable(f"{path.name} cannot be read as a checkpoint of AlignScore-base", error) from error
    except Exception as error:  # torch refuses what is no tensor with an error of pickle's
        raise Unavailable(f"{path.name} holds more than weights, and is not opened for that reason", error) from error
    return encoder.eval(), head.eval()


class AlignScore:
    """Method `alignscore` (Zha et al. 2023, section 3.3): three classes, the first is aligned."""

    aggregation = "the maximum over chunks of the context, then the mean over the sentences of the response"
    usage = None

    def __init__(
        self, settings: Settings, model: HubModel = hub.ALIGNSCORE, foundation: HubModel = hub.ROBERTA
    ) -> None:
        self._model, self._foundation = model, foundation
        self.version = f"alignscore/{model.name}@{model.revision}"

    def score(self, given: Given, stop: threading.Event) -> Scored:
        import torch

        (encoder, head), tokenizer = _alignscore(self._model, self._foundation), hub.tokenizer(self._foundation)
        longest = hub.limit(encoder, tokenizer)
        context = [text[a:b] for text in given.context for a, b in spans(text)]
        chunks = _chunks(context, [len(sentence.split()) for sentence in context], ALIGNSCORE_CHUNK)
        places = spans(given.response)
        aligned = []
        for a, b in places:
            sentence = given.response[a:b]
            _fits(sentence, tokenizer, longest)
            inputs = [w for chunk in chunks for w in hub.pair_windows(tokenizer, chunk, sentence, longest, True)]
            best = 0.0
            for start in range(0, len(inputs), hub.BATCH):
                batch = tokenizer.pad(inputs[start : start + hub.BATCH], return_tensors="pt")
                with torch.inference_mode():
                    logits = head(encoder(**batch).pooler_output)
                best = max(best, float(logits.softmax(-1)[:, 0].max()))
            aligned.append(best)
        return Scored({ONE: sum(aligned) / len(aligned)}, parts(places, aligned))
