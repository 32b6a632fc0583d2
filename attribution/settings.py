"""All choices of a run, frozen; the only reader of the environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

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
    embedder: str = "minilm"
    verifier: str = "embedded"
    model: str = Field("", description="a hub model's name, for a verifier that loads one")
    pages_per_claim: int = Field(3, ge=1, le=20)
    top_k: int = Field(5, ge=1, le=50, description="chunks held against a claim")
    threshold: float = Field(0.5, ge=0.34, le=0.99, description="least probability of a relation that counts")
    coherence: float = Field(
        0.5, ge=0, le=1, description="least probability that its own sentence entails a claim; 0 keeps every claim"
    )
    without_added: bool = Field(True, description="verify enriched claims without the added words as well")
    query: Literal["claim", "enriched", "with_question"] = Field(
        "enriched",
        description="what is searched: the claim; the claim made to stand on its own, with the question beside it "
        "where it leans on its context; or always question and claim",
    )
    search_language: str = Field("en", pattern=r"^[a-z]{2,3}(-[a-z]{2,8})?$")
    fallback: tuple[str, ...] = Field((), description="engines to ask, in this order, when one of the web fails")
    exclude: tuple[str, ...] = Field((), description="sites (with their subdomains) and addresses never used")
    max_queries: int = Field(300, ge=0, description="budget of a run: questions to engines of the web")
    max_pages: int = Field(300, ge=0, description="budget of a run: downloads")
    max_seconds: float = Field(600.0, gt=0, description="budget of a run: wall clock of search and download")
    answer_limit: int = Field(20_000, ge=1)
    connect_timeout: float = Field(5.0, gt=0)
    read_timeout: float = Field(10.0, gt=0)
    page_timeout: float = Field(20.0, gt=0, description="wall clock for one page: redirects, download, extraction")
    page_bytes: int = Field(8_000_000, gt=0)
    host_connections: int = Field(2, ge=1, description="pages under way at once from one host")
    robots_timeout: float = Field(5.0, gt=0, description="wall clock for a host's robots.txt")
    crawl_delay: float = Field(5.0, ge=0, description="the longest pause between two pages that a host can ask for")
    workers: int = Field(16, ge=1, le=64, description="searches and downloads under way at once")
    page_days: float = Field(7.0, ge=0, description="a downloaded page is used again for so many days")
    database_url: str = Field("", repr=False)

    @field_validator("sources", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @field_validator("fallback", "exclude", mode="before")
    @classmethod
    def _separated(cls, value: object) -> object:
        """The command line gives one string: names with commas between them."""
        return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value

    @classmethod
    def from_environment(cls, **choices: Any) -> Settings:
        """Settings with the environment's database and the choices given; BadInput names what does not fit."""
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
        """What a report shows: everything but where the data lies."""
        return self.model_dump(mode="json", exclude={"database_url", "library"})


def secret(variable: str) -> SecretStr:
    """A key of the environment. It is no setting, so that no report, store or log can carry it."""
    return SecretStr(os.environ.get(variable, "").strip())


def engine_address(variable: str, default: str = "") -> str:
    """Where an engine is asked: the environment's address, which may be a private one, or the default."""
    return os.environ.get(variable, "").strip() or default


def data_folder() -> Path:
    """Where pages, runs and caches are kept: ATTRIBUTION_DATA, or the user's data folder."""
    import platformdirs

    return Path(
        os.environ.get("ATTRIBUTION_DATA") or platformdirs.user_data_dir("attribution-explorer", appauthor=False)
    )


def default_database() -> str:
    return f"sqlite:///{data_folder() / 'attribution.sqlite3'}"
