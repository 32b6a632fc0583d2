"""Vectors from any endpoint that speaks OpenAI's /embeddings, hosted or on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from attribution.errors import BadInput, Unavailable
from attribution.settings import Settings

DEFAULT = "text-embedding-3-small"
BATCH = 64  # texts a request
TIMEOUT, RETRIES = 60.0, 2  # seconds, and further attempts after a refusal that may pass


class OpenAI:
    """Embedder `openai`: `embedding_model` at `openai_base_url`. The dimension is the model's own."""

    floor = 0.0  # cosines of different models mean different things

    def __init__(self, settings: Settings) -> None:
        self.model = settings.embedding_model or DEFAULT
        self.host = urlsplit(settings.openai_base_url).netloc.rpartition("@")[2]
        self.version = f"openai/{self.model}@{self.host}"
        self._settings = settings

    def embed(self, texts: Sequence[str]) -> Any:
        """float32 (len(texts), dimensions of the model), rows of length 1."""
        import numpy as np

        rows: list[list[float]] = []
        with self._client() as client:
            for start in range(0, len(texts), BATCH):
                rows += self._request(client, list(texts[start : start + BATCH]))
        if len({len(row) for row in rows}) > 1:
            raise Unavailable(f"{self.host} answered with vectors of different lengths for {self.model}: use another")
        made = np.array(rows, dtype=np.float32).reshape(len(rows), -1)
        if not np.isfinite(made).all():
            raise Unavailable(f"{self.host} answered with vectors that are not finite for {self.model}: use another")
        return made / np.maximum(np.linalg.norm(made, axis=1, keepdims=True), 1e-12)

    def _client(self) -> Any:
        import openai

        key = self._settings.openai_api_key.get_secret_value()
        if not key:
            raise Unavailable("the embedder openai needs a key: set OPENAI_API_KEY (any text where none is asked for)")
        return openai.OpenAI(api_key=key, base_url=self._settings.openai_base_url, timeout=TIMEOUT, max_retries=RETRIES)

    def _request(self, client: Any, texts: list[str]) -> list[list[float]]:
        """One batch, in order. A server's own words stay out of messages: they may repeat the key."""
        import openai

        try:
            reply = client.embeddings.create(model=self.model, input=texts, encoding_format="float")
            found = {item.index: item.embedding for item in reply.data}
            return [[float(x) for x in found[i]] for i in range(len(texts))]
        except openai.APIStatusError as error:
            status = error.status_code
            if status in (400, 413, 422):
                raise BadInput(
                    f"{self.host} refuses these texts (HTTP {status}): choose a smaller chunk_size"
                ) from None
            advice = {401: "check OPENAI_API_KEY", 403: "check OPENAI_API_KEY", 404: "check embedding_model"}.get(
                status, "run again later"
            )
            raise Unavailable(f"{self.host} does not embed with {self.model} (HTTP {status}): {advice}") from None
        except openai.APIConnectionError:
            raise Unavailable(f"{self.host} cannot be reached: check openai_base_url and the network") from None
        except (openai.OpenAIError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise Unavailable(
                f"{self.host} sends no embeddings that can be read ({type(error).__name__}); "
                "expected OpenAI's /embeddings: check openai_base_url"
            ) from None
