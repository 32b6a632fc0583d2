"""Define the settings of a run and who may choose each of them.

Strangers are visitors of the page, clients of the REST and MCP servers, and the authors of imported
files. The operator chooses by the command line and the environment. A setting that is not listed
here is the operator's.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_origin, get_type_hints

from pydantic import ConfigDict, Field, InstanceOf, SecretStr, ValidationError, field_validator

from attribution.errors import BadInput, BadSetting
from attribution.types import Frozen, content_id
from attribution.verdicts import LOWEST_THRESHOLD, Decision, DecisionPolicy

_PACKAGE = Path(__file__).resolve().parent
# the folder of app.py, pages, prompts and examples: the checkout or, in an installed package, a
# folder of it
ROOT = _PACKAGE / "app" if (_PACKAGE / "app").is_dir() else _PACKAGE.parent
WEB = "duckduckgo"  # the engine behind the source "web"
COLLECTION = "collection:"  # prefix of a collection among the sources
OPENAI = "https://api.openai.com/v1"
# the variable with the addresses that visitors may choose beside public ones
LISTED = "ATTRIBUTION_LLM_ADDRESSES"
ALSO = "Also use the model to"  # label of the steps that a language model can do
ADDRESS = "openai_base_url"  # the names of both parts of an endpoint
KEY = "openai_api_key"


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible endpoint, both parts of which come from the same place.

    An address that is given without a key has no key, so that none reaches a place it is not meant
    for. Raises BadSetting for parts that do not fit; it repeats neither.
    """

    address: str = OPENAI
    key: SecretStr = SecretStr("")
    of_visitor: bool = False  # only public addresses are reached, and errors quote no reply
    visitor: str = field(default="", compare=False, repr=False)  # who typed it; empty: the operator

    @property
    def identity(self) -> str:
        """Cache key of a reply: the address, and for a visitor's endpoint also visitor and key.

        So nobody can answer for others in a shared cache: a key may choose what answers.
        """
        parts = [self.address]
        if self.visitor or self.of_visitor:
            parts += [self.visitor, self.key.get_secret_value()]
        return content_id(*parts)

    def __post_init__(self) -> None:
        object.__setattr__(self, "address", _plain_address(self.address))
        object.__setattr__(self, "key", _key_of_one_line(self.key))

    def __bool__(self) -> bool:
        """True where prompts can be sent there. A server of your own may need no key."""
        return bool(self.key.get_secret_value()) or self.address != OPENAI


def _plain_address(text: str) -> str:
    """The address is shown, so it must not contain anything secret."""
    from httpx2 import URL, InvalidURL

    address = text.strip().rstrip("/") or OPENAI
    try:
        url = URL(address)
    except InvalidURL:
        url = URL("")
    is_web = url.scheme in ("http", "https") and url.raw_host
    if not is_web or url.userinfo or url.query or url.fragment:
        raise BadSetting(
            ADDRESS,
            "expected http(s)://host/path without user, password or query; the key is set apart",
        )
    return address


def _key_of_one_line(key: SecretStr) -> SecretStr:
    secret = key.get_secret_value().strip()
    if not (secret.isascii() and secret.isprintable()) or " " in secret:
        raise BadSetting(KEY, "expected a key of printable ASCII characters without spaces")
    return SecretStr(secret)


@dataclass(frozen=True)
class Limits:
    """The most that a visitor may send of each kind, beside the settings that are limits; texts in
    characters.
    """

    name: int = 200
    line: int = 500  # a field of one line
    address: int = 2_000
    text: int = 20_000  # a field of several lines
    answer: int = 200_000  # typed; `answer_limit` says what is checked
    request: int = 2_000_000  # bytes of a request, characters of a pasted document
    values: int = 10_000  # of JSON in a request
    compared: int = 200_000  # of all pairs of a request: up to two minutes of a busy machine
    passages: int = 50  # of one claim
    documents: int = 20
    sources: int = 50
    fallback: int = 20
    exclude: int = 100
    turns: int = 50  # before a question
    files: int = 500  # for a collection
    file_mb: int = 20  # of an upload
    session_mb: int = 200  # of the uploads of an open page
    address_mb: int = 400  # of those from one address
    uploads_mb: int = 1_000  # of all visitors' uploads
    message_mb: int = 10  # of all fields of a page together


LIMITS = Limits()
Address = Annotated[str, Field(max_length=LIMITS.address)]
Trust = Literal["anyone", "limit", "sources", "model", "session", "operator", "place", "endpoint"]
# the first that must be made again if it changes
Changes = Literal["claims", "evidence", "decision", "nothing"]


def _setting(
    default: object, trust: Trust, changes: Changes, help: str, label: str = "", **limits: Any
) -> Any:
    """Return a row of the table of settings.

    Args:
        trust: Who may choose it: anyone; a stranger may lower a limit, name no file among the
            sources, and only models on the operator's list; one of a session is typed in the page,
            and a saved run only names it; the rest is the operator's, and a place of this machine
            or an endpoint is never in a report.
        label: Its name in the form.
    """
    extra: dict[str, Any] = {"trust": trust, "changes": changes}
    return Field(default, title=label or None, description=help, json_schema_extra=extra, **limits)


class Settings(Frozen):
    """The settings passed to every stage, and all that is known of each. Lengths are in characters,
    times in seconds.

    Command line, form, REST, `docs/settings.md` and what must be made again all follow these rows.
    """

    model_config = ConfigDict(hide_input_in_errors=True)

    sources: tuple[Address, ...] = _setting(
        ("library",),
        "sources",
        "evidence",
        "library, collection:NAME, web, an engine, a path or a URL",
        "Sources",
        min_length=1,
        max_length=LIMITS.sources,
    )
    library: Path = _setting(
        ROOT / "examples" / "library", "place", "evidence", "folder of the built-in library"
    )
    segmenter: Address = _setting(
        "sentences", "anyone", "claims", "see list segmenters", "Split the answer into"
    )
    segmenter_model: Address = _setting(
        "",
        "model",
        "claims",
        "Hugging Face model or folder of the segmenter",
        "Model of the segmenter",
    )
    worthiness: Literal["rules", "llm"] = _setting(
        "rules", "anyone", "claims", "who classifies the claims", ALSO
    )
    independence: Literal["rules", "llm"] = _setting(
        "rules", "anyone", "claims", "who finds missing context", ALSO
    )
    enrichment: Literal["rules", "llm"] = _setting(
        "rules", "anyone", "claims", "who adds that context", ALSO
    )
    chunker: Address = _setting("fixed", "anyone", "evidence", "see list chunkers", "Chunker")
    chunk_size: int = _setting(512, "anyone", "evidence", "longest chunk", ge=64, le=3000)
    chunk_overlap: int = _setting(
        64, "anyone", "evidence", "shared by neighbouring chunks", ge=0, le=4000
    )
    embedder: Address = _setting(
        "minilm", "anyone", "evidence", "see list embedders", "Embedding model"
    )
    embedding_model: Address = _setting(
        "", "model", "evidence", "Hugging Face model, folder or endpoint's model of the embedder"
    )
    ranking: Literal["hybrid", "vectors"] = _setting(
        "hybrid",
        "anyone",
        "evidence",
        "rank chunks by vectors and shared words, or by vectors alone",
    )
    shortlist: int = _setting(
        12,
        "anyone",
        "evidence",
        "chunks embedded for a claim, the best by words and static vectors; 0: all",
        ge=0,
    )
    verifier: Address = _setting("auto", "anyone", "evidence", "see list verifiers", "Verifier")
    verifier_model: Address = _setting(
        "",
        "model",
        "evidence",
        "Hugging Face model or folder of the verifier",
        "Model of the verifier",
    )
    gc_model: Address = _setting(
        "",
        "model",
        "nothing",
        "folder of a cross-encoder with one output, for the groundedness method gc",
    )
    pages_per_claim: int = _setting(
        3, "anyone", "evidence", "pages fetched for a claim and engine", ge=1, le=20
    )
    top_k: int = _setting(
        5,
        "anyone",
        "evidence",
        "most passages compared with each claim",
        "Passages for each claim",
        ge=1,
        le=20,
    )
    threshold: float = _setting(
        DecisionPolicy.threshold,
        "anyone",
        "decision",
        "lowest probability that counts as support",
        "Lowest probability of support",
        ge=LOWEST_THRESHOLD,
        le=0.99,
    )
    contradiction_threshold: float = _setting(
        DecisionPolicy.contradiction_threshold,
        "anyone",
        "decision",
        "lowest probability that counts as a contradiction",
        "Lowest probability of a contradiction",
        ge=LOWEST_THRESHOLD,
        le=0.99,
    )
    decision: Decision = _setting(
        "weighed",
        "anyone",
        "evidence",
        "plain: only the most probable relation of each claim and passage",
        "Decision",
    )
    coherence: float = _setting(
        0.5,
        "anyone",
        "claims",
        "lowest probability that a claim's sentence entails it; 0 keeps every claim",
        ge=0,
        le=1,
    )
    query: Literal["claim", "enriched"] = _setting(
        "enriched", "anyone", "evidence", "what is searched for (docs/evidence.md)", "Search query"
    )
    search_language: str = _setting(
        "en",
        "anyone",
        "evidence",
        "language of the pages searched for",
        pattern=r"^[a-z]{2,3}(-[a-z]{2,8})?$",
    )
    fallback: tuple[Address, ...] = _setting(
        (),
        "anyone",
        "evidence",
        "engines tried in this order when one fails",
        "Fallback search",
        max_length=LIMITS.fallback,
    )
    exclude: tuple[Address, ...] = _setting(
        (),
        "anyone",
        "evidence",
        "sites (with their subdomains) and URLs that are never used",
        max_length=LIMITS.exclude,
    )
    max_queries: int = _setting(
        300, "limit", "evidence", "budget of a run: queries to search engines", ge=0
    )
    max_pages: int = _setting(300, "limit", "evidence", "budget of a run: downloads", ge=0)
    max_seconds: float = _setting(
        600.0, "limit", "evidence", "budget of a run: wall clock of search and download", gt=0
    )
    answer_limit: int = _setting(20_000, "limit", "nothing", "longest answer", ge=1)
    read_timeout: float = _setting(
        10.0, "limit", "evidence", "between two parts of a response", gt=0
    )
    page_timeout: float = _setting(
        20.0, "limit", "evidence", "wall clock for one page: redirects, download, extraction", gt=0
    )
    page_bytes: int = _setting(8_000_000, "limit", "evidence", "bytes of one page", gt=0)
    workers: int = _setting(
        16, "limit", "nothing", "simultaneous searches and downloads", ge=1, le=64
    )
    page_days: float = _setting(
        7.0, "operator", "evidence", "days that a downloaded page is reused", ge=0
    )
    endpoint: InstanceOf[Endpoint] = _setting(  # never dumped, nor restored from a dump
        Endpoint(),
        "endpoint",
        "claims",
        "the language model's: its two parts are set",
        exclude=True,
        repr=False,
    )
    openai_model: Address = _setting(
        "", "session", "claims", "chat model at the endpoint", "Language model"
    )
    llm_timeout: float = _setting(
        60.0, "limit", "claims", "wall clock for one request to the language model", gt=0
    )
    llm_deadline: float = _setting(
        180.0, "limit", "claims", "wall clock for one prompt with its retries", gt=0
    )
    llm_retries: int = _setting(
        4, "limit", "claims", "times that a prompt is sent again", ge=0, le=10
    )
    llm_workers: int = _setting(4, "limit", "claims", "simultaneous prompts", ge=1, le=64)
    llm_tokens: int = _setting(2048, "limit", "claims", "longest reply, in tokens", ge=16)
    llm_temperature: float = _setting(
        0.0,
        "anyone",
        "claims",
        "how freely the language model words its replies; 0: the likeliest",
        ge=0,
        le=2,
    )
    prompts: Literal["", "v24"] = _setting(
        "",
        "anyone",
        "claims",
        "a paper's prompts, where we have them",
    )
    prompt_folder: Path | None = _setting(
        None, "place", "claims", "folder of prompts that replace both (docs/llm.md)"
    )
    database_url: str = _setting("", "place", "nothing", "address of the database", repr=False)

    @field_validator("sources", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @property
    def has_llm(self) -> bool:
        """True if a language model is configured."""
        return bool(self.openai_model) and bool(self.endpoint)

    @field_validator("fallback", "exclude", mode="before")
    @classmethod
    def _separated(cls, value: object) -> object:
        """Split a string at its commas, as given on the command line."""
        if not isinstance(value, str):
            return value
        return tuple(filter(None, map(str.strip, value.split(","))))

    @classmethod
    def from_environment(cls, **choices: object) -> Settings:
        """Return settings with these choices, else the environment's database and language model.

        Raises BadInput naming the first setting that is invalid.
        """
        if "endpoint" not in choices:
            choices["endpoint"] = environment_endpoint()
        choices["openai_model"] = choices.get("openai_model") or os.environ.get("OPENAI_MODEL", "")
        folder = os.environ.get("ATTRIBUTION_PROMPTS", "").strip()
        if folder:
            choices.setdefault("prompt_folder", Path(folder))
        choices.setdefault(
            "database_url",
            os.environ.get("ATTRIBUTION_DATABASE_URL")
            or f"sqlite:///{data_folder() / 'attribution.sqlite3'}",
        )
        try:
            return cls(**choices)
        except ValidationError as error:
            raise cls.from_validation_error(error) from None

    @classmethod
    def from_validation_error(cls, error: ValidationError) -> BadSetting:
        """Convert the first problem that pydantic found to a BadSetting."""
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"])) or "settings"
        if first["type"] == "extra_forbidden":
            return BadSetting(name, "there is no such setting: see docs/settings.md")
        found = first.get("input")
        is_shown = isinstance(found, str | int | float | Path)
        shown = str(found)[:80] if is_shown else type(found).__name__
        value = "" if name in SECRET else f"found {shown!r}, "
        return BadSetting(name, f"{value}{first['msg'].removeprefix('Value error, ').lower()}")

    def public(self) -> dict[str, object]:
        """Return the settings that a report shows: all but file locations, endpoints and keys."""
        return self.model_dump(mode="json", exclude=set(PRIVATE))

    @property
    def identity(self) -> str:
        """Hash of everything but the inputs that a result depends on; part of cache keys."""
        parts = [json.dumps(self.public(), sort_keys=True), self.endpoint.identity]
        parts += [str(self.library), self.prompt_version]
        return content_id(*parts)

    @property
    def prompt_version(self) -> str:
        """Name of the operator's prompt folder with a hash of its texts; empty without one."""
        if not self.prompt_folder:
            return ""
        paths = [path for path in sorted(self.prompt_folder.rglob("*.*")) if path.is_file()]
        digest = content_id(*(path.read_text("utf-8", "replace") for path in paths))
        return f"{self.prompt_folder.name}@{digest}"

    @field_validator("prompt_folder")
    @classmethod
    def _existing(cls, folder: Path | None) -> Path | None:
        if folder is not None and not folder.is_dir():
            raise ValueError("expected a folder that exists")
        return folder


def environment_endpoint() -> Endpoint:
    """Return the endpoint of OPENAI_BASE_URL and OPENAI_API_KEY."""
    return Endpoint(os.environ.get("OPENAI_BASE_URL", ""), secret("OPENAI_API_KEY"))


def with_endpoint(choices: Mapping[str, object]) -> dict[str, object]:
    """Return the choices with an endpoint in place of its address and key.

    Nothing of the environment joins it: a key may be meant for another address. Raises BadInput for
    a lone one.
    """
    left = {name: value for name, value in choices.items() if name not in (ADDRESS, KEY)}
    if left.keys() == choices.keys():
        return left
    if ADDRESS not in choices and environment_endpoint().address != OPENAI:
        raise BadInput(
            f"{KEY}: OPENAI_BASE_URL names an address, and it is not clear whether the key is for "
            f"that one: give the key's address beside it, as {ADDRESS}"
        )
    key = SecretStr(str(choices.get(KEY, "")))
    return left | {"endpoint": Endpoint(str(choices.get(ADDRESS, "")), key)}


def visitor_endpoint(address: str, key: SecretStr, visitor: str = "") -> Endpoint:
    """Return the endpoint that a visitor typed; one that the operator lists is trusted.

    `visitor` is the token of a browser, of which only a hash is kept.
    """
    allowed = {environment_endpoint().address}
    try:
        for listed in os.environ.get(LISTED, "").split(","):
            if listed.strip():
                allowed.add(Endpoint(listed).address)
    except BadSetting as error:
        raise BadInput(f"{LISTED}: {error.reason}; separate addresses by commas") from None
    typed = Endpoint(address, key, visitor=content_id(visitor) if visitor else "")
    return typed if typed.address in allowed else replace(typed, of_visitor=True)


def secret(variable: str) -> SecretStr:
    """Return a key from the environment. It is not a setting, so no report, store or log contains
    it.
    """
    return SecretStr(os.environ.get(variable, "").strip())


def engine_address(variable: str, default: str = "") -> str:
    """Return the address of an engine: the environment's, which may be private, or the default."""
    return os.environ.get(variable, "").strip() or default


def data_folder() -> Path:
    """Return the folder of pages, runs and caches: ATTRIBUTION_DATA, or the user's data folder."""
    import platformdirs

    return Path(
        os.environ.get("ATTRIBUTION_DATA")
        or platformdirs.user_data_dir("attribution-explorer", appauthor=False)
    )


def models_folder() -> Path:
    """Return the folder of models: ATTRIBUTION_MODELS, or a part of the data folder."""
    return Path(os.environ.get("ATTRIBUTION_MODELS") or data_folder() / "models")


def _column(name: str) -> dict[str, Any]:
    rows = Settings.model_fields.items()
    return {field: row.json_schema_extra[name] for field, row in rows}  # type: ignore[index]


TRUST: dict[str, Trust] = _column("trust") | {ADDRESS: "endpoint", KEY: "endpoint"}
CHANGES: dict[str, Changes] = _column("changes")
LABELS = {name: row.title for name, row in Settings.model_fields.items() if row.title}
HELP = {name: str(row.description) for name, row in Settings.model_fields.items()}
# settings of the decision with their least and most; whole numbers for whole numbers
SLIDERS: dict[str, tuple[float, float]] = {}
for _name, _row in Settings.model_fields.items():
    if CHANGES[_name] == "decision" and len(_row.metadata) == 2:
        SLIDERS[_name] = (_row.metadata[0].ge, _row.metadata[1].le)
DEFAULTS = {name: row.default for name, row in Settings.model_fields.items()}


def trusted(*kinds: Trust) -> tuple[str, ...]:
    """Return the settings of these kinds, in their order."""
    return tuple(name for name, trust in TRUST.items() if trust in kinds)


SECRET = frozenset(trusted("endpoint"))
PRIVATE = SECRET | frozenset(trusted("place"))


def rows() -> list[dict[str, object]]:
    """Return the settings that can be set by name, as `list settings` shows them."""
    hints = get_type_hints(Settings)  # without their limits
    found = []
    for name, row in Settings.model_fields.items():
        if name in SECRET:
            continue
        kind = str(hints[name]) if get_origin(hints[name]) else hints[name].__name__
        default = "" if TRUST[name] == "place" else row.default
        found.append(
            {
                "name": name,
                "type": kind.replace("typing.", ""),
                "default": default,
                "chosen_by": TRUST[name],
                "changes": CHANGES[name],
                "label": row.title or "",
                "note": row.description,
            }
        )
    return found
