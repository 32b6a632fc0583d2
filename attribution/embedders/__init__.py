"""Texts → vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from attribution.models.mpnet import DOWNLOAD
from attribution.tables import ENDPOINT, Entry, Need, Table

if TYPE_CHECKING:
    from attribution.retrieval.index import Vectors


class Embedder(Protocol):
    """Makes vectors. One that asks an endpoint also has `key`, see `tables.key_of`."""

    version: str  # model and revision

    def embed(self, texts: Sequence[str]) -> Vectors:
        """float32 array of shape (len(texts), dimensions), rows of length 1.

        Raises Unavailable where the model or endpoint cannot be used, BadInput where it does not
        accept the texts.
        """
        ...


EMBEDDERS: Table[Embedder] = Table(
    "embedder",
    {
        "minilm": Entry(
            "attribution.embedders.minilm:MiniLM",
            "all-MiniLM-L6-v2 (embedded)",
            "384 dimensions, at most 256 tokens; int8",
            bundled=True,
            english=True,
        ),
        "mpnet": Entry(
            "attribution.embedders.sentence_transformer:MPNet",
            "all-mpnet-base-v2 (embedded)",
            "768 dimensions, at most 384 tokens, much slower than MiniLM; the SBERT model of "
            "“Enhancing Answer Attribution” (2024)",
            needs=(
                Need(
                    DOWNLOAD.format("mpnet"),
                    check="attribution.embedders.sentence_transformer:has_mpnet",
                ),
            ),
            download="attribution.embedders.sentence_transformer:make_mpnet",
            english=True,
        ),
        "sentence_transformer": Entry(
            "attribution.embedders.sentence_transformer:HubModel",
            "Sentence-transformers (download)",
            "all-mpnet-base-v2 (768 dimensions, 0.4 GB) unless `embedding_model` names another, "
            "e.g. AnglE, WhereIsAI/UAE-Large-V1; downloads at first use",
            needs=(Need("pip install sentence-transformers", package="sentence_transformers"),),
            model_setting="embedding_model",
            models={
                "sentence-transformers/all-mpnet-base-v2": "0.4 GB: as in “Enhancing Answer "
                "Attribution” (2024)",
                "WhereIsAI/UAE-Large-V1": "1.3 GB: AnglE",
                "nlpaueb/legal-bert-base-uncased": "0.4 GB: as in “Measuring the Groundedness of "
                "Legal QA Systems”",
            },
            english=True,
        ),
        "openai": Entry(
            "attribution.embedders.openai:OpenAI",
            "OpenAI-compatible endpoint",
            "sends every passage and claim to the language model's address; `embedding_model` "
            "names the model",
            needs=(ENDPOINT,),
            model_setting="embedding_model",
        ),
    },
)
