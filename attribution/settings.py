"""All choices of a run, frozen; the only reader of the environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pydantic import Field, SecretStr, ValidationError, field_validator

from attribution.errors import BadInput
from attribution.types import Frozen

ROOT = Path(__file__).resolve().parent.parent
WEB = "duckduckgo"  # what the source "web" stands for


class Settings(Frozen):
    """Passed to every stage. Lengths in characters, times in seconds."""

    sources: tuple[str, ...] = Field(("library",), min_length=1, description="library, web, a path or a URL")
    library: Path = ROOT / "examples" / "library"
    segmenter: str = "sentences"
    chunker: str = "fixed"
    chunk_size: int = Field(512, ge=64, le=8000)
    chunk_overlap: int = Field(64, ge=0, le=4000, description="characters that neighbours share, where they overlap")
    window_sentences: int = Field(3, ge=1, le=50)
    window_stride: int = Field(2, ge=1, le=50)
    embedder: str = "minilm"
    embedding_model: str = Field("", description="a hub model or an endpoint's model, for an embedder that takes one")
    openai_base_url: str = Field("https://api.openai.com/v1", description="an OpenAI-compatible endpoint")
    openai_api_key: SecretStr = Field(SecretStr(""), repr=False)
    verifier: str = "embedded"
    model: str = Field("", description="a hub model's name, for a verifier that loads one")
    pages_per_claim: int = Field(3, ge=1, le=20)
    top_k: int = Field(5, ge=1, le=50, description="chunks held against a claim")
    threshold: float = Field(0.5, ge=0.34, le=0.99, description="least probability of a relation that counts")
    coherence: float = Field(
        0.5, ge=0, le=1, description="least probability that its own sentence entails a claim; 0 keeps every claim"
    )
    without_added: bool = Field(True, description="verify enriched claims without the added words as well")
    answer_limit: int = Field(20_000, ge=1)
    connect_timeout: float = Field(5.0, gt=0)
    read_timeout: float = Field(10.0, gt=0)
    page_timeout: float = Field(20.0, gt=0, description="wall clock for one page with its redirects")
    page_bytes: int = Field(8_000_000, gt=0)
    workers: int = Field(8, ge=1, le=64, description="searches and downloads under way at once")
    page_days: float = Field(7.0, ge=0, description="a downloaded page is used again for so many days")
    database_url: str = Field("", repr=False)

    @field_validator("sources", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @classmethod
    def from_environment(cls, **choices: Any) -> Settings:
        """Settings with the environment's database and the choices given; BadInput names what does not fit."""
        choices.setdefault("openai_api_key", os.environ.get("OPENAI_API_KEY", ""))
        if base_url := os.environ.get("OPENAI_BASE_URL"):
            choices.setdefault("openai_base_url", base_url)
        choices.setdefault("database_url", os.environ.get("ATTRIBUTION_DATABASE_URL") or default_database())
        try:
            return cls(**choices)
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(map(str, first["loc"])) or "settings"
            raise BadInput(
                f"setting {name}: found {str(first.get('input'))[:80]!r}, {first['msg'].lower()}; "
                f"known settings: {', '.join(cls.model_fields)}"
            ) from None

    def public(self) -> dict[str, object]:
        """What a report shows: everything but where the data lies, endpoints and keys."""
        return self.model_dump(mode="json", exclude={"database_url", "library", "openai_api_key", "openai_base_url"})


def data_folder() -> Path:
    """Where pages, runs and caches are kept: ATTRIBUTION_DATA, or the user's data folder."""
    import platformdirs

    return Path(
        os.environ.get("ATTRIBUTION_DATA") or platformdirs.user_data_dir("attribution-explorer", appauthor=False)
    )


def default_database() -> str:
    return f"sqlite:///{data_folder() / 'attribution.sqlite3'}"
