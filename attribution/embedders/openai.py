"""Vectors from any endpoint that has OpenAI's /embeddings, hosted or on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attribution.errors import BadInput, LlmFailed, Unavailable
from attribution.llm.endpoint import EndpointClient, RequestRefused
from attribution.retry import Transient, retrying
from attribution.settings import Settings
from attribution.types import content_id

if TYPE_CHECKING:
    from attribution.retrieval.index import Vectors

DEFAULT = "text-embedding-3-small"
BATCH = 64  # texts a request


class OpenAI:
    """Embedder `openai`: `embedding_model` at the endpoint. The dimension is the model's own."""

    def __init__(self, settings: Settings) -> None:
        self.model = settings.embedding_model or DEFAULT
        self._settings, self._endpoint = settings, EndpointClient(settings)
        self.version = f"openai/{self.model}@{self._endpoint.host}"
        self.key = content_id("openai", self.model, settings.endpoint.identity)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """float32 (len(texts), dimensions of the model), rows of length 1."""
        import numpy as np

        rows: list[list[float]] = []
        for start in range(0, len(texts), BATCH):
            rows += self._batch(texts[start : start + BATCH])
        vectors = np.array(rows, dtype=np.float32).reshape(len(rows), -1)
        unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return unit

    def _batch(self, texts: Sequence[str]) -> list[list[float]]:
        def request(left: float) -> list[list[float]]:
            return self._endpoint.embed(self.model, texts, min(left, self._settings.llm_timeout))

        try:
            return retrying(request, self._settings.llm_retries, self._settings.llm_deadline)
        except Transient as error:
            raise Unavailable(
                f"{error} (tried {error.tried}): run again later", error.detail
            ) from None
        except RequestRefused as error:
            raise BadInput(f"{error}; a smaller chunk_size may help", error.detail) from None
        except LlmFailed as error:
            raise Unavailable(
                f"the embedding model {self.model} cannot be used: {error}", error.detail
            ) from None
