"""Texts → vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from attribution.registry import Entry, Need


class Embedder(Protocol):
    version: str  # model and revision: part of the cache key
    floor: float  # cosine under which its neighbours share no more than their language

    def embed(self, texts: Sequence[str]) -> Any:
        """float32 array of shape (len(texts), dimensions), rows of length 1, made in batches.

        Raises Unavailable where the model or endpoint cannot be had, BadInput where it refuses the texts.
        """
        ...


EMBEDDERS = {
    "minilm": Entry(
        "attribution.embedders.minilm:MiniLM",
        "all-MiniLM-L6-v2 (embedded)",
        "384 dimensions, at most 256 tokens",
        bundled=True,
    ),
    "sentence_transformer": Entry(
        "attribution.embedders.sentence_transformer:HubModel",
        "Sentence-transformers model of the hub",
        "all-mpnet-base-v2 (V24; 768 dimensions, 0.4 GB) unless `embedding_model` names another, e.g. the AnglE model "
        "WhereIsAI/UAE-Large-V1; downloads at first use",
        needs=(Need("pip install sentence-transformers", package="sentence_transformers"),),
        model_setting="embedding_model",
    ),
    "openai": Entry(
        "attribution.embedders.openai:OpenAI",
        "OpenAI-compatible endpoint",
        "sends every passage and claim to `openai_base_url`; `embedding_model` names the model",
        needs=(
            Need("pip install openai", package="openai"),
            Need("set OPENAI_API_KEY (any text, for an endpoint that asks for none)", variable="OPENAI_API_KEY"),
        ),
        model_setting="embedding_model",
    ),
}
