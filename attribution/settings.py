"""All choices of a run, frozen; the only reader of the environment."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator

from attribution.errors import BadInput
from attribution.types import Frozen

ROOT = Path(__file__).resolve().parent.parent
WEB = "duckduckgo"  # what the source "web" stands for
COLLECTION = "collection:"  # before the name of a collection among the sources
OPENAI = "https://api.openai.com/v1"
RENAMED = {"model": "verifier_model"}  # names in reports and snapshots of earlier versions
PRIVATE = {"database_url", "library", "openai_api_key", "openai_base_url"}  # in no report
SECRET = {"openai_api_key", "openai_base_url"}  # what was found there is not repeated in an error


class Settings(Frozen):
    """Passed to every stage. Lengths in characters, times in seconds."""

    model_config = ConfigDict(hide_input_in_errors=True)

    sources: tuple[str, ...] = Field(
        ("library",), min_length=1, description="library, collection:NAME, web, an engine, a path or a URL"
    )
    library: Path = ROOT / "examples" / "library"
    segmenter: str = "sentences"
    segmenter_model: str = Field("", description="a hub model's name, for a segmenter that loads one")
    worthiness: Literal["rules", "llm"] = "rules"
    independence: Literal["rules", "llm"] = "rules"
    enrichment: Literal["rules", "llm"] = "rules"
    chunker: str = "fixed"
    chunk_size: int = Field(512, ge=64, le=8000)
    chunk_overlap: int = Field(64, ge=0, le=4000, description="characters that neighbours share, where they overlap")
    window_sentences: int = Field(3, ge=1, le=50)
    window_stride: int = Field(2, ge=1, le=50)
    embedder: str = "minilm"
    embedding_model: str = Field("", description="a hub model or an endpoint's model, for an embedder that takes one")
    ranking: Literal["hybrid", "vectors"] = Field(
        "hybrid", description="which chunks are nearest: by their vectors and the words they share, or by vectors alone"
    )
    verifier: str = "embedded"
    verifier_model: str = Field("", description="a hub model's name, for a verifier that loads one")
    pages_per_claim: int = Field(3, ge=1, le=20)
    top_k: int = Field(5, ge=1, le=50, description="chunks held against a claim")
    threshold: float = Field(0.45, ge=0.34, le=0.99, description="least probability of a relation that counts")
    coherence: float = Field(
        0.5, ge=0, le=1, description="least probability that its own sentence entails a claim; 0 keeps every claim"
    )
    without_added: bool = Field(True, description="verify enriched claims without the added words as well")
    query: Literal["claim", "enriched", "with_question", "llm"] = Field(
        "enriched",
        description="what is searched: the claim; the claim made to stand on its own, with the question beside it "
        "where it leans on its context; always question and claim; or what a language model writes",
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
    openai_base_url: str = Field(OPENAI, repr=False, description="an OpenAI-compatible endpoint")
    openai_api_key: SecretStr = Field(SecretStr(""), repr=False)
    openai_model: str = Field("", description="the chat model at that endpoint")
    llm_timeout: float = Field(60.0, gt=0, description="wall clock for one request to the language model")
    llm_deadline: float = Field(180.0, gt=0, description="wall clock for one prompt with its retries")
    llm_retries: int = Field(4, ge=0, le=10)
    llm_workers: int = Field(4, ge=1, le=64, description="prompts under way at once")
    llm_tokens: int = Field(2048, ge=16, description="longest reply, in tokens")
    input_price: float | None = Field(None, ge=0, description="of a million prompt tokens, in your currency")
    output_price: float | None = Field(None, ge=0, description="of a million completion tokens")
    database_url: str = Field("", repr=False)

    @field_validator("sources", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @model_validator(mode="before")
    @classmethod
    def _renamed(cls, values: dict[str, Any]) -> dict[str, Any]:
        return {RENAMED.get(name, name): value for name, value in values.items()}

    @field_validator("openai_base_url")
    @classmethod
    def _plain_address(cls, value: str) -> str:
        """Nothing secret in an address: it is shown."""
        value = value.strip().rstrip("/") or OPENAI
        try:
            parts = urlsplit(value)
            fits = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
        except ValueError:
            fits = False
        if not fits or parts.query or parts.fragment:
            raise ValueError("Expected http(s)://host/path without user, password or query; a key goes into the key")
        return value

    @field_validator("openai_api_key")
    @classmethod
    def _of_one_line(cls, value: SecretStr) -> SecretStr:
        secret = value.get_secret_value().strip()
        if not (secret.isascii() and secret.isprintable()) or " " in secret:
            raise ValueError("Expected a key of plain letters, digits and signs")
        return SecretStr(secret)

    @property
    def has_endpoint(self) -> bool:
        """Is an OpenAI-compatible endpoint configured? A server of one's own may need no key."""
        return bool(self.openai_api_key.get_secret_value()) or self.openai_base_url != OPENAI

    @property
    def has_llm(self) -> bool:
        """Is a language model configured?"""
        return bool(self.openai_model) and self.has_endpoint

    @field_validator("fallback", "exclude", mode="before")
    @classmethod
    def _separated(cls, value: object) -> object:
        """The command line gives one string: names with commas between them."""
        return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value

    @classmethod
    def from_environment(cls, **choices: Any) -> Settings:
        """Settings with the environment's database and endpoint and the choices given; BadInput names what does not
        fit."""
        for name in ("openai_base_url", "openai_api_key", "openai_model"):
            if value := os.environ.get(name.upper()):
                choices.setdefault(name, value)
        choices.setdefault("database_url", os.environ.get("ATTRIBUTION_DATABASE_URL") or default_database())
        try:
            return cls(**choices)
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(map(str, first["loc"])) or "settings"
            if first["type"] == "extra_forbidden":
                similar = difflib.get_close_matches(name, cls.model_fields, 1, 0.7)
                hint = f"did you mean {similar[0]}?" if similar else f"known settings: {', '.join(cls.model_fields)}"
                raise BadInput(f"setting {name}: there is no such setting; {hint}") from None
            value = "" if name in SECRET else f"found {str(first.get('input'))[:80]!r}, "
            raise BadInput(f"setting {name}: {value}{first['msg'].lower()}") from None

    def public(self) -> dict[str, object]:
        """What a report shows: everything but where the data lies, endpoints and keys."""
        return self.model_dump(mode="json", exclude=PRIVATE)


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
