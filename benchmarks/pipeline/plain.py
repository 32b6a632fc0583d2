"""Plain recipes: claim after claim, page after page, torch with library defaults, nothing kept.

`whole` reads whole passages with a small cross-encoder in fp32, in batches, as most code around
sentence-transformers does; `bf16` is the same in that precision. Chunks and ranking are those of
the pipeline.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from attribution.embedders.minilm import package_folder
from attribution.evidence import matching
from attribution.evidence.matching import Matcher
from attribution.pipeline.estimate import load_rules
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Judgement, Page, Pair, Probabilities
from attribution.verifiers.reader import SMALL, CachedVerifier

if TYPE_CHECKING:
    from attribution.retrieval.index import Vectors


class TorchEmbedder:
    """all-MiniLM-L6-v2 by sentence-transformers with its defaults."""

    version = "plain"

    def __init__(self, dtype: str) -> None:
        from sentence_transformers import SentenceTransformer

        self._model = SentenceTransformer(
            str(package_folder()), device="cpu", model_kwargs={"dtype": dtype}
        )
        self.seconds = 0.0

    def embed(self, texts: Sequence[str]) -> Vectors:
        started = time.perf_counter()
        rows = self._model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        self.seconds += time.perf_counter() - started
        return np.asarray(rows, dtype=np.float32)


def small_model() -> tuple[Any, Any]:
    """Return (model, tokenizer) of the small verifier in fp32: a BERT of 12 layers, 384 wide, from
    its int8 ONNX.
    """
    import onnx
    import torch
    from onnx import numpy_helper
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    prefix = "inner."
    graph = onnx.load(str(SMALL.folder / "model.onnx")).graph
    arrays = {t.name.removeprefix(prefix): numpy_helper.to_array(t) for t in graph.initializer}

    def dequantised(stem: str) -> Any:
        middle = arrays[f"{stem}_zero_point"].astype("float32")
        return (arrays[f"{stem}_quantized"].astype("float32") - middle) * arrays[f"{stem}_scale"]

    state = {
        name: value
        for name, value in arrays.items()
        if name.endswith((".bias", "LayerNorm.weight"))
    }
    for table in ("word", "position", "token_type"):
        state[f"bert.embeddings.{table}_embeddings.weight"] = dequantised(
            f"bert.embeddings.{table}_embeddings.weight"
        )
    for dense in ("bert.pooler.dense.weight", "classifier.weight"):
        state[dense] = dequantised(dense).T
    for node in graph.node:
        module = (
            node.name.removeprefix("/")
            .replace("/", ".")
            .removeprefix(prefix)
            .removesuffix(".MatMul_quant")
        )
        if node.op_type == "MatMulInteger" and module.startswith("bert.encoder."):
            state[f"{module}.weight"] = dequantised(node.input[1].removesuffix("_quantized")).T
    size = {
        "hidden_size": 384,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 1536,
    }
    model = BertForSequenceClassification(BertConfig(**size, num_labels=3))
    model.load_state_dict({name: torch.tensor(value) for name, value in state.items()})
    return model, BertTokenizerFast(tokenizer_file=str(SMALL.folder / "tokenizer.json"))


class WholePassages:
    """The small verifier's network, dequantised, by sentence-transformers with its defaults."""

    version, usage = "whole", None

    def __init__(self, dtype: str) -> None:
        from sentence_transformers import CrossEncoder

        model, tokenizer = small_model()
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
            self._model = CrossEncoder(folder, device="cpu", model_kwargs={"dtype": dtype})
        self.seconds = 0.0

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        started = time.perf_counter()
        rows = self._model.predict(
            [(evidence, claim) for claim, evidence, *_ in pairs], apply_softmax=True
        )
        self.seconds += time.perf_counter() - started
        return [
            Judgement(
                Probabilities(entailed=float(e), no_relation=float(n), contradicted=float(c)),
                (0, len(pair[1])),
            )
            for pair, (e, n, c) in zip(pairs, rows, strict=True)
        ]


class Plain:
    """A recipe with its models loaded."""

    def __init__(self, recipe: str, settings: Settings) -> None:
        self._settings = settings
        dtype = "bfloat16" if recipe == "bf16" else "float32"
        self.embedder = TorchEmbedder(dtype)
        self.verifier = WholePassages(dtype)
        load_rules()
        self.embedder.embed(["A text."])
        self.verifier.verify([("A claim.", "A text.")])
        self.embedder.seconds = self.verifier.seconds = 0.0

    @contextmanager
    def over(self, question: str, pages: Sequence[Page]) -> Iterator[Matcher]:
        """Compare claims with these pages, of which nothing is known yet."""
        with tempfile.TemporaryDirectory() as folder:
            store = Store.open(f"sqlite:///{folder}/empty.sqlite3")
            matcher = Matcher(self._settings, store, question)
            matcher.candidates.embedder, matcher.verifier = (
                self.embedder,
                CachedVerifier(self.verifier, store),
            )
            for page in pages:
                matcher.add(page)
            with patch.object(matching, "worth_reading", lambda claim, passages: passages):
                yield matcher
            store.close()
