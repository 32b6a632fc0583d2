"""Define the settings of a run and who may choose each of them; the only module that reads the environment.

Strangers are visitors of the page, clients of the REST and MCP servers, and the authors of imported files. The operator
chooses by the command line and the environment. A setting that is not listed here is the operator's.
"""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, InstanceOf, SecretStr, ValidationError, field_validator

from attribution.errors import BadInput, BadSetting
from attribution.policy import LOWEST_THRESHOLD, Aggregation, Decision
from attribution.types import Frozen

_PACKAGE = Path(__file__).resolve().parent
# the folder of app.py, pages, prompts and examples: the checkout or, in an installed package, a folder of it
ROOT = _PACKAGE / "app" if (_PACKAGE / "app").is_dir() else _PACKAGE.parent
WEB = "duckduckgo"  # the engine behind the source "web"
COLLECTION = "collection:"  # prefix of a collection among the sources
OPENAI = "https://api.openai.com/v1"
LISTED = "ATTRIBUTION_LLM_ADDRESSES"  # the variable with the addresses that visitors may choose beside public ones
ADDRESS, KEY = "openai_base_url", "openai_api_key"  # the names of both parts on the command line and in errors


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible endpoint. Both parts come from the same place: the environment, `secrets.toml`, the command
    line or a form. An address that is given without a key has no key, so that none reaches a place it is not meant for.

    BadSetting for parts that do not fit; it repeats neither.
    """

    address: str = OPENAI
    key: SecretStr = SecretStr("")
    of_visitor: bool = False  # only public addresses are reached, and errors never quote what they reply

    def __post_init__(self) -> None:
        object.__setattr__(self, "address", _plain_address(self.address))
        object.__setattr__(self, "key", _key_of_one_line(self.key))

    def __bool__(self) -> bool:
        """True where prompts can be sent there. A server of your own may need no key."""
        return bool(self.key.get_secret_value()) or self.address != OPENAI


def _plain_address(text: str) -> str:
    """The address is shown, so it must not contain anything secret."""
    address = text.strip().rstrip("/") or OPENAI
    try:
        parts = urlsplit(address)
        fits = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
    except ValueError:
        fits = False
    if not fits or parts.query or parts.fragment:
        raise BadSetting(
            ADDRESS, "expected http(s)://host/path without user, password or query; a key has a setting of its own"
        )
    return address


def _key_of_one_line(key: SecretStr) -> SecretStr:
    secret = key.get_secret_value().strip()
    if not (secret.isascii() and secret.isprintable()) or " " in secret:
        raise BadSetting(KEY, "expected a key of printable ASCII characters without spaces")
    return SecretStr(secret)


class Settings(Frozen):
    """The settings passed to every stage. Lengths are in characters, times in seconds."""

    model_config = ConfigDict(hide_input_in_errors=True)

    sources: tuple[str, ...] = Field(
        ("library",), min_length=1, description="library, collection:NAME, web, an engine, a path or a URL"
    )
    library: Path = ROOT / "examples" / "library"
    segmenter: str = "sentences"
    segmenter_model: str = Field("", description="Hugging Face model or folder of the segmenter")
    worthiness: Literal["rules", "llm"] = "rules"
    independence: Literal["rules", "llm"] = "rules"
    enrichment: Literal["rules", "llm"] = "rules"
    chunker: str = "fixed"
    chunk_size: int = Field(512, ge=64, le=8000)
    chunk_overlap: int = Field(64, ge=0, le=4000, description="characters that neighbouring chunks share")
    window_sentences: int = Field(3, ge=1, le=50)
    window_stride: int = Field(2, ge=1, le=50)
    embedder: str = "minilm"
    embedding_model: str = Field("", description="Hugging Face model, folder or endpoint's model of the embedder")
    ranking: Literal["hybrid", "vectors"] = Field(
        "hybrid", description="rank chunks by vectors and shared words, or by vectors alone"
    )
    shortlist: int = Field(
        30, ge=0, description="chunks embedded for a claim, the best by words and estimated vectors; 0: all of them"
    )
    verifier: str = "auto"
    verifier_model: str = Field("", description="Hugging Face model or folder of the verifier")
    gc_model: str = Field("", description="folder of a cross-encoder with one output, for the groundedness method gc")
    pages_per_claim: int = Field(3, ge=1, le=20)
    top_k: int = Field(5, ge=1, le=50, description="passages compared with each claim")
    threshold: float | None = Field(
        None, ge=LOWEST_THRESHOLD, le=0.99, description="least probability of support that counts; none: the verifier's"
    )
    contradiction_threshold: float | None = Field(
        None, ge=LOWEST_THRESHOLD, le=0.99, description="the same for a contradiction"
    )
    aggregation: Aggregation = Field("both", description="which passages count where they disagree")
    least_sources: int = Field(1, ge=1, le=9, description="independent sources that must support or contradict a claim")
    decision: Decision = Field(
        "weighed", description="plain: the most probable relation of each claim and passage, and nothing else"
    )
    coherence: float = Field(
        0.5, ge=0, le=1, description="least probability that a claim's sentence entails it; 0 keeps every claim"
    )
    without_added: bool = Field(True, description="also verify enriched claims as written")
    query: Literal["claim", "enriched", "with_question", "llm"] = Field(
        "enriched",
        description="the search query: the claim as written; the enriched claim, and again with the question if it "
        "depends on its context; always question and claim; or queries by a language model",
    )
    search_language: str = Field("en", pattern=r"^[a-z]{2,3}(-[a-z]{2,8})?$")
    fallback: tuple[str, ...] = Field((), description="engines tried in this order when one of the web fails")
    exclude: tuple[str, ...] = Field((), description="sites (with their subdomains) and URLs that are never used")
    max_queries: int = Field(300, ge=0, description="budget of a run: queries to search engines")
    max_pages: int = Field(300, ge=0, description="budget of a run: downloads")
    max_seconds: float = Field(600.0, gt=0, description="budget of a run: wall clock of search and download")
    answer_limit: int = Field(20_000, ge=1)
    connect_timeout: float = Field(5.0, gt=0)
    read_timeout: float = Field(10.0, gt=0)
    page_timeout: float = Field(20.0, gt=0, description="wall clock for one page: redirects, download, extraction")
    page_bytes: int = Field(8_000_000, gt=0)
    host_connections: int = Field(2, ge=1, description="simultaneous requests to one host")
    robots_timeout: float = Field(5.0, gt=0, description="wall clock for a host's robots.txt")
    crawl_delay: float = Field(5.0, ge=0, description="longest pause between two pages that a host can demand")
    workers: int = Field(16, ge=1, le=64, description="simultaneous searches and downloads")
    page_days: float = Field(7.0, ge=0, description="days for which a downloaded page is reused")
    endpoint: InstanceOf[Endpoint] = Field(  # never dumped, nor restored from a dump
        Endpoint(), exclude=True, repr=False, description="where the language model is; set by its two parts"
    )
    openai_model: str = Field("", description="chat model at that endpoint")
    llm_timeout: float = Field(60.0, gt=0, description="wall clock for one request to the language model")
    llm_deadline: float = Field(180.0, gt=0, description="wall clock for one prompt with its retries")
    llm_retries: int = Field(4, ge=0, le=10)
    llm_workers: int = Field(4, ge=1, le=64, description="simultaneous prompts")
    llm_tokens: int = Field(2048, ge=16, description="longest reply, in tokens")
    input_price: float | None = Field(None, ge=0, description="price of a million prompt tokens, in your currency")
    output_price: float | None = Field(None, ge=0, description="price of a million completion tokens")
    database_url: str = Field("", repr=False)

    @field_validator("sources", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @property
    def has_endpoint(self) -> bool:
        """True if an OpenAI-compatible endpoint is configured."""
        return bool(self.endpoint)

    @property
    def has_llm(self) -> bool:
        """True if a language model is configured."""
        return bool(self.openai_model) and self.has_endpoint

    @field_validator("fallback", "exclude", mode="before")
    @classmethod
    def _separated(cls, value: object) -> object:
        """Split a string at its commas, as given on the command line."""
        return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value

    @classmethod
    def from_environment(cls, **choices: object) -> Settings:
        """Return settings with these choices, else the environment's database and language model.

        Raises BadInput naming the first setting that is invalid.
        """
        if "endpoint" not in choices:
            choices["endpoint"] = environment_endpoint()
        choices["openai_model"] = choices.get("openai_model") or os.environ.get("OPENAI_MODEL", "")
        choices.setdefault("database_url", os.environ.get("ATTRIBUTION_DATABASE_URL") or default_database())
        try:
            return cls(**choices)
        except ValidationError as error:
            raise cls.misfit(error) from None

    @classmethod
    def misfit(cls, error: ValidationError) -> BadSetting:
        """Convert the first problem that pydantic found to a BadSetting."""
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"])) or "settings"
        if first["type"] == "extra_forbidden":
            known = [*(field for field in cls.model_fields if field != "endpoint"), ADDRESS, KEY]
            similar = difflib.get_close_matches(name, known, 1, 0.7)
            hint = f"did you mean {similar[0]}?" if similar else f"known settings: {', '.join(known)}"
            return BadSetting(name, f"there is no such setting; {hint}")
        found = first.get("input")
        shown = str(found)[:80] if isinstance(found, str | int | float) else type(found).__name__
        value = "" if name in SECRET else f"found {shown!r}, "
        return BadSetting(name, f"{value}{first['msg'].removeprefix('Value error, ').lower()}")

    def public(self) -> dict[str, object]:
        """Return the settings that a report shows: all but file locations, endpoints and keys."""
        return self.model_dump(mode="json", exclude=set(PRIVATE))


def environment_endpoint() -> Endpoint:
    """Return the endpoint of OPENAI_BASE_URL and OPENAI_API_KEY."""
    return Endpoint(os.environ.get("OPENAI_BASE_URL", ""), secret("OPENAI_API_KEY"))


def visitor_endpoint(address: str, key: SecretStr) -> Endpoint:
    """Return the endpoint that a visitor typed; an address listed in the environment is trusted like the operator's."""
    try:
        listed = {Endpoint(one).address for one in os.environ.get(LISTED, "").split(",") if one.strip()}
    except BadSetting as error:
        raise BadInput(f"{LISTED}: {error.reason}; separate addresses by commas") from None
    typed, allowed = Endpoint(address, key), listed | {environment_endpoint().address}
    return typed if typed.address in allowed else Endpoint(address, key, of_visitor=True)


def secret(variable: str) -> SecretStr:
    """Return a key from the environment. It is not a setting, so no report, store or log contains it."""
    return SecretStr(os.environ.get(variable, "").strip())


def engine_address(variable: str, default: str = "") -> str:
    """Return the address of an engine: the environment's, which may be private, or the default."""
    return os.environ.get(variable, "").strip() or default


def runs_at_once() -> int:
    """Return the number of simultaneous runs of one server: ATTRIBUTION_RUNS, or the machine's number of cores."""
    found = os.environ.get("ATTRIBUTION_RUNS", "").strip()
    if found and not (found.isdecimal() and 0 < int(found) <= 1000):
        raise BadInput(f"ATTRIBUTION_RUNS={found!r}: expected a number from 1 to 1000")
    return int(found) if found else os.cpu_count() or 1


def hub_models() -> tuple[str, ...]:
    """Return the hub models for visitors: ATTRIBUTION_HUB_MODELS, separated by commas. If empty, the tables' apply."""
    return tuple(filter(None, map(str.strip, os.environ.get("ATTRIBUTION_HUB_MODELS", "").split(","))))


def api_keys() -> tuple[SecretStr, ...]:
    """Return the keys of the API's clients: ATTRIBUTION_API_KEYS, separated by commas."""
    return tuple(map(SecretStr, filter(None, map(str.strip, os.environ.get("ATTRIBUTION_API_KEYS", "").split(",")))))


def allowed_hosts() -> tuple[str, ...]:
    """Return further host names of a server: ATTRIBUTION_HOSTS, separated by commas; * for any."""
    return tuple(filter(None, map(str.strip, os.environ.get("ATTRIBUTION_HOSTS", "").split(","))))


def data_folder() -> Path:
    """Return the folder of pages, runs and caches: ATTRIBUTION_DATA, or the user's data folder."""
    import platformdirs

    return Path(
        os.environ.get("ATTRIBUTION_DATA") or platformdirs.user_data_dir("attribution-explorer", appauthor=False)
    )


def models_folder() -> Path:
    """Return the folder of built and downloaded models: ATTRIBUTION_MODELS, or a part of the data folder."""
    return Path(os.environ.get("ATTRIBUTION_MODELS") or data_folder() / "models")


def default_database() -> str:
    return f"sqlite:///{data_folder() / 'attribution.sqlite3'}"


Trust = Literal["anyone", "limit", "sources", "model", "session", "operator", "endpoint", "place"]

SETTINGS: dict[Trust, tuple[str, ...]] = {
    "anyone": (  # strangers choose them
        "segmenter", "verifier", "embedder", "chunker", "chunk_size", "chunk_overlap", "window_sentences",
        "window_stride", "worthiness", "independence", "enrichment", "ranking", "shortlist", "pages_per_claim", "top_k",
        "threshold", "contradiction_threshold", "aggregation", "least_sources", "decision",
        "coherence", "without_added", "query", "search_language", "fallback",
        "exclude", "input_price", "output_price",
    ),
    "limit": (  # strangers may lower them
        "max_queries", "max_pages", "max_seconds", "answer_limit", "page_bytes", "page_timeout", "connect_timeout",
        "read_timeout", "host_connections", "workers", "llm_timeout", "llm_deadline", "llm_retries", "llm_workers",
    ),
    "sources": ("sources",),  # never files and folders of this machine
    "model": ("segmenter_model", "embedding_model", "verifier_model", "gc_model"),  # names on the operator's list
    "session": ("openai_model",),  # typed in the page; a saved run names it, and does not choose it
    "operator": ("robots_timeout", "crawl_delay", "page_days", "llm_tokens"),
    "place": ("library", "database_url"),  # of this machine: never in a report
    "endpoint": ("endpoint", "openai_base_url", "openai_api_key"),  # and its two parts: never in a report or an error
}  # fmt: skip
TRUST = {name: trust for trust, names in SETTINGS.items() for name in names}
SECRET = frozenset(SETTINGS["endpoint"])
PRIVATE = SECRET | frozenset(SETTINGS["place"])
