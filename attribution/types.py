"""The values that flow between the stages. All are frozen; a stage returns new ones.

What crosses a border (report, command line, store) is pydantic; what stays inside is a dataclass.
Offsets count characters (Python's `str` indices), end exclusive.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Span = tuple[int, int]
Relation = Literal["entailed", "contradicted", "no_relation"]
Worthiness = Literal["factual", "opinion", "not_a_claim", "other"]
Label = Literal["supported", "contradicted", "conflicting", "no_relation", "missing", "not_checked"]

RELATIONS: tuple[Relation, ...] = ("entailed", "contradicted", "no_relation")
LABELS: tuple[Label, ...] = ("supported", "contradicted", "conflicting", "no_relation", "missing", "not_checked")


def content_id(*parts: str) -> str:
    """A short id that depends on the parts alone, so that caches and annotations survive a second run."""
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Claim(Frozen):
    """One checkable statement and the characters of the answer it came from."""

    id: str
    text: str
    spans: tuple[Span, ...]  # empty: it is not in the answer
    sentence: Span | None = None  # the sentence of the answer it was drawn from
    alignment: float = Field(1.0, ge=0, le=1)  # how surely the spans are its origin; 1 where it was cut out verbatim
    coherence: float | None = None  # probability that its sentence entails it; None: it is its sentence
    coherent: bool = True  # False: its sentence does not say this, so it is not checked
    worthiness: Worthiness | None = None  # None: not judged yet
    worthiness_reason: str = ""
    independent: bool | None = None  # None: not judged
    independence_reason: str = ""
    enriched: str | None = None  # None: stands as it is

    @property
    def checked(self) -> bool:
        """Is it searched and verified?"""
        return self.worthiness == "factual" and self.coherent

    @property
    def statement(self) -> str:
        """What is searched and verified."""
        return self.enriched or self.text


class Page(Frozen):
    """The extracted text of one source."""

    id: str
    url: str  # http(s) for the web; library:… or document:… for what lies here
    title: str
    site: str
    kind: Literal["web", "library", "document"]
    fetched_at: str  # ISO 8601, UTC
    sha256: str  # of the text, UTF-8
    published: str = ""  # ISO date, where known
    text: str = ""  # left out of report.json; the store keeps it
    reference: str = ""  # an http(s) address to read on: of a library article, or where redirects led
    breaks: tuple[int, ...] = ()  # where each page of a PDF begins, in characters of the text; empty: no pages
    etag: str = ""  # what the server wants to hear to say that nothing has changed
    last_modified: str = ""
    origin: str = ""  # the same for pages of one report that carry the same text; empty: no other does

    def page_number(self, offset: int) -> int | None:
        """The page of a PDF, from 1, that holds that character; None where there are no pages."""
        return max(1, bisect_right(self.breaks, offset)) if self.breaks else None


class Probabilities(Frozen):
    entailed: float = Field(ge=0, le=1)
    contradicted: float = Field(ge=0, le=1)
    no_relation: float = Field(ge=0, le=1)


class Evidence(Frozen):
    """One chunk held against one claim. `text == page.text[start:end]`, and so is the deciding sentence."""

    claim_id: str
    page_id: str
    start: int
    end: int
    text: str
    similarity: float  # cosine of claim and chunk
    relation: Relation
    probabilities: Probabilities
    sentence: Span  # the deciding sentence, in characters of the page
    query: str = ""  # what found the page
    searcher: str = ""
    rank: int = 0  # of the page in that search, from 1
    signals: dict[str, float] = {}  # the verifier's parts


class Verdict(Frozen):
    claim_id: str
    label: Label
    confidence: float  # of the strongest deciding piece; 0 where nothing decided
    reason: str  # the rule that made it, in words
    without_added: Label | None = None  # the verdict without the enrichment's words; None: nothing was added

    @property
    def rests_on_added(self) -> bool:
        """Is it decided only by words that the claim itself does not hold?"""
        return self.without_added is not None and self.without_added != self.label


FailureKind = Literal[
    "search_failed",
    "search_limited",
    "nothing_found",
    "fell_back",
    "budget_spent",
    "robots",
    "excluded",
    "blocked_address",
    "bad_address",
    "unreachable",
    "timed_out",
    "too_large",
    "http_error",
    "server_error",
    "rate_limited",
    "redirect_loop",
    "bad_certificate",
    "paywall",
    "wrong_type",
    "no_text",
    "needs_javascript",
    "encrypted",
    "unreadable",
    "llm_failed",
    "verifier_failed",
    "stage_failed",
]


class Failure(Frozen):
    """Something that did not work; never ends a run and never counts against a claim."""

    stage: str
    subject: str  # the claim, page or query it concerns
    kind: FailureKind
    message: str  # what happened and what to do
    detail: str = Field("", exclude_if=lambda detail: not detail)  # in the words of another library or a server


class LlmUsage(Frozen):
    """What language models cost one stage."""

    calls: int = 0  # requests that brought a reply
    cached: int = 0  # prompts answered from the store
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0  # of all requests; several run at once
    cost: float | None = None  # None: no prices are set

    def since(self, before: LlmUsage) -> LlmUsage:
        """What was spent after `before`."""
        spent = {name: value - (getattr(before, name) or 0) for name, value in self if value is not None}
        return LlmUsage(**spent)


class Usage(Frozen):
    claims: int = 0
    searches: int = 0
    queries: int = 0  # of these, sent to an engine: against max_queries
    pages: int = 0
    downloads: int = 0  # of these, asked for on the web: against max_pages
    seconds: float = 0.0  # wall clock of search and download: against max_seconds
    chunks: int = 0
    pairs: int = 0
    cached_pairs: int = 0
    llm: dict[str, LlmUsage] = {}  # by stage


class Report(Frozen):
    """Everything one run found."""

    id: str
    created_at: str
    question: str
    answer: str
    settings: dict[str, object]
    versions: dict[str, str]
    claims: tuple[Claim, ...] = ()
    pages: tuple[Page, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    failures: tuple[Failure, ...] = ()
    timings: dict[str, float] = {}  # seconds by stage
    usage: Usage = Usage()
    stopped: bool = False

    def to_json(self) -> str:
        """report.json: all but the pages' texts."""
        return self.model_dump_json(indent=1, exclude={"pages": {"__all__": {"text"}}})


@dataclass(frozen=True)
class Trace:
    """How a page was found for a claim."""

    claim_id: str
    page_id: str
    query: str
    searcher: str
    rank: int


class Provenance(Frozen):
    """How a run came by its evidence, beyond what its report shows: what it takes to run it again without a search."""

    traces: tuple[Trace, ...] = ()
    concerns: dict[str, tuple[Failure, ...]] = {}  # claim id → what stood in its way
    chunks: dict[str, tuple[Span, ...]] = {}  # page id → its chunks, in characters of the page
    vectors: tuple[str, ...] = ()  # keys of the store
    judgements: tuple[str, ...] = ()  # keys of the store


@dataclass(frozen=True)
class Chunk:
    """`page.text[start:end] == text`"""

    page_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Segmented:
    """The claims of an answer, and what went wrong on the way: a failed sentence stays in as a claim of its own."""

    claims: tuple[Claim, ...]
    failures: tuple[Failure, ...] = ()
    usage: LlmUsage | None = None  # None: no language model was asked
    version: str = ""  # of prompt and model, where there is one


@dataclass(frozen=True)
class SearchHit:
    """A search result: an address to fetch, or, where the searcher holds the text itself, the page."""

    url: str
    title: str
    rank: int
    searcher: str
    query: str
    snippet: str = ""
    page: Page | None = None


@dataclass(frozen=True)
class Document:
    """A file or pasted text of the user's."""

    name: str
    content: bytes
    media_type: str = ""  # guessed from the name where empty


Pair = tuple[str, str] | tuple[str, str, str]  # claim, evidence and, where it is known, the title of its page


@dataclass(frozen=True)
class Judgement:
    """What a verifier says of one pair; the deciding sentence is in characters of the evidence text."""

    probabilities: Probabilities
    sentence: Span
    signals: dict[str, float] = field(default_factory=dict)
