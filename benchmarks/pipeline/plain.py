"""The plain recipe: claim after claim, page after page, fp32 torch with library defaults, nothing kept.

Chunks, ranking and the rules of the verdict are those of the pipeline: they are no matter of speed.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np

from attribution.embedders import Embedder
from attribution.embedders.minilm import package_folder
from attribution.evidence.matching import Matcher
from attribution.fetching.formats import extract
from attribution.fetching.page import make_page
from attribution.models.merge import Merged
from attribution.models.mpnet import base_file, base_weights
from attribution.models.onnx import load_tokenizer
from attribution.run.warmup import load_rules
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Claim, Evidence, Judgement, Page, Pair, Verdict
from attribution.verdicts import decide
from attribution.verifiers.calibration import softmax
from attribution.verifiers.embedded_base import FOLDER, SEPARATOR, START, Passage, Reader
from attribution.verifiers.pairs import CachedVerifier
from training.larger.graph import torch_model

if TYPE_CHECKING:
    from attribution.retrieval.index import Vectors


class TorchEmbedder:
    """all-MiniLM-L6-v2 by sentence-transformers with its defaults."""

    version, floor = "plain", 0.25
    exact: Embedder | None = None

    def __init__(self) -> None:
        from sentence_transformers import SentenceTransformer

        self._model = SentenceTransformer(str(package_folder()), device="cpu")
        self.seconds = 0.0

    def embed(self, texts: Sequence[str]) -> Vectors:
        started = time.perf_counter()
        rows = self._model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        self.seconds += time.perf_counter() - started
        return np.asarray(rows, dtype=np.float32)


class TorchReader(Reader):
    """The base verifier's network in fp32, its weights merged but not quantised."""

    def __init__(self) -> None:
        with tempfile.TemporaryDirectory() as made:
            Path(made, "config.json").write_bytes(base_file("config.json"))
            weights = Merged(base_weights(Path(made), lambda share, what: None), FOLDER)
            self.model = torch_model(weights, Path(made))
        self._tokenizer = load_tokenizer(FOLDER / "tokenizer.json")

    def read(self, premise: Sequence[int], claim: Sequence[int]) -> tuple[float, float]:
        import torch

        ids = torch.tensor([[START, *premise, SEPARATOR, SEPARATOR, *claim, SEPARATOR]])
        with torch.inference_mode():
            logits = self.model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[0]
        entailed, _, contradicted = softmax(logits.numpy())
        return entailed, contradicted


class TorchVerifier:
    version, usage = "plain", None

    def __init__(self) -> None:
        self._reader = TorchReader()
        self.seconds = 0.0

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        started = time.perf_counter()
        judgements = [Passage(self._reader, *pair).judgement() for pair in pairs]
        self.seconds += time.perf_counter() - started
        return judgements

    def estimate(self, pairs: Sequence[Pair]) -> None:
        return None


@dataclass
class Plain:
    """The recipe with its models loaded."""

    settings: Settings
    embedder: TorchEmbedder = field(default_factory=TorchEmbedder)
    verifier: TorchVerifier = field(default_factory=TorchVerifier)

    def warm(self) -> None:
        load_rules()
        self.embedder.embed(["A text."])
        self.verifier.verify([("A claim.", "A text.")])
        self.embedder.seconds = self.verifier.seconds = 0.0

    def check(self, claim: Claim, question: str, pages: Sequence[Page]) -> tuple[Verdict, tuple[Evidence, ...]]:
        """Verdict and evidence of one claim by these pages, everything computed anew."""
        with _no_store() as store:
            matcher = self.matcher(question, store)
            for page in pages:
                matcher.add(page)
            (evidence,) = matcher.match([claim])
        return decide(claim, evidence, self.settings.thresholds), evidence

    def matcher(self, question: str, store: Store) -> Matcher:
        matcher = Matcher(self.settings, store, question)
        matcher.candidates.embedder, matcher.verifier = self.embedder, CachedVerifier(self.verifier, store)
        return matcher

    def check_together(self, claims: Sequence[Claim], question: str, pages: Sequence[Page]) -> list[Any]:
        """The same for all claims by all pages, as the pipeline does: what its results are held against."""
        with _no_store() as store:
            matcher = self.matcher(question, store)
            for page in pages:
                matcher.add(page)
            evidence = matcher.match(claims)
        return [(decide(c, e, self.settings.thresholds), e) for c, e in zip(claims, evidence, strict=True)]


def download(url: str) -> tuple[bytes, str]:
    reply = httpx.get(url, follow_redirects=True)
    return reply.raise_for_status().content, reply.headers["content-type"]


def read(url: str, content: bytes, media_type: str) -> Page:
    return make_page(url, "web", extract(content, media_type, url))


@contextmanager
def _no_store() -> Iterator[Store]:
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(f"sqlite:///{folder}/empty.sqlite3")
        yield store
        store.close()
