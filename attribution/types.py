"""Define the values that pass between the stages. Offsets are in characters."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Self, get_args

from pydantic import ConfigDict, Field, field_validator, model_validator

from attribution.edits import NOTE as NOTE
from attribution.edits import AnalystLabel as AnalystLabel
from attribution.edits import Edit
from attribution.edits import Frozen as Frozen
from attribution.edits import Span as Span
from attribution.edits import content_id as content_id
from attribution.edits import quoted as quoted


class LlmUsage(Frozen):
    """The use of a language model by one stage."""

    model_config = ConfigDict(extra="ignore")  # saved runs may have a field that is gone

    calls: int = 0  # requests with a reply
    cached: int = 0  # replies taken from the store
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0  # sum over requests; several run at once

    def since(self, before: LlmUsage) -> LlmUsage:
        """Return the use since `before`."""
        return LlmUsage(**{name: value - getattr(before, name) for name, value in self})

    def __add__(self, other: LlmUsage) -> LlmUsage:
        return LlmUsage(**{name: value + getattr(other, name) for name, value in self})


class Usage(Frozen):
    claims: int = 0
    searches: int = 0
    queries: int = 0  # sent to a search engine; limited by max_queries
    pages: int = 0
    downloads: int = 0  # pages fetched from the web; limited by max_pages
    seconds: float = 0.0  # wall clock of search and download; limited by max_seconds
    chunks: int = 0
    pairs: int = 0
    cached_pairs: int = 0
    llm: dict[str, LlmUsage] = {}  # by stage


# claim, evidence and, if known, the title of its page
Pair = tuple[str, str] | tuple[str, str, str]
Speaker = Literal["user", "assistant"]
Turn = tuple[Speaker, str]  # of a conversation: speaker and text
Relation = Literal["entailed", "contradicted", "no_relation"]
Worthiness = Literal["factual", "opinion", "not_a_claim", "other"]
Label = Literal[
    "supported",
    "contradicted",
    "conflicting",
    "unclear",
    "no_relation",
    "missing",
    "not_reached",
    "not_checked",
]
Strength = Literal["strong", "weak"]
WEAK = "weak_"  # in front of the label of a badge that is not sure: see verifiers/calibration.py
# in the order of reading: errors and doubts, then what nothing was found for
BADGES: tuple[str, ...] = (
    "contradicted",
    f"{WEAK}contradicted",
    "conflicting",
    "unclear",
    "not_reached",
    "missing",
    "no_relation",
    f"{WEAK}supported",
    "supported",
    "not_checked",
)
RELATIONS: tuple[Relation, ...] = get_args(Relation)
LABELS: tuple[Label, ...] = get_args(Label)
Genre = Literal[
    "reference",
    "news",
    "official",
    "paper",
    "fact check",
    "opinion",
    "forum",
    "transcript",
    "social",
    "shop",
    "front page",
    "search page",
    "answer",
    "unknown",
]
# alone they make it likely at most
HEARSAY: tuple[Genre, ...] = ("forum", "opinion", "shop", "social", "transcript")
SILENT: dict[Genre, str] = {  # these neither support nor contradict; why
    "front page": "it is a list of other pages, which changes",
    "search page": "it is a page of search results",
    "answer": "it repeats the answer, or is by a language model",
}
BUILT_IN = "Attribution explorer, built-in library"  # its articles were written for this project …
BUILT_IN_LICENCE = "Apache-2.0"  # … and have its licence (examples/README.md)
# labels of claims without a comparison with sources
UNCHECKED: tuple[Label, ...] = ("not_reached", "not_checked")


class Claim(Frozen):
    """One checkable statement, with the characters of the answer that it comes from."""

    id: str
    text: str
    spans: tuple[Span, ...]  # empty: not found in the answer
    sentence: Span | None = None  # the sentence of the answer it comes from
    # confidence that the spans are its origin; 1 for verbatim text
    alignment: float = Field(1.0, ge=0, le=1)
    times: int = Field(1, ge=1)  # that the segmenter made it of this answer
    # probability that its sentence entails it; None: it is the whole sentence
    coherence: float | None = None
    coherent: bool = True  # False: its sentence does not entail it; the claim is not checked
    worthiness: Worthiness | None = None  # None: not classified yet
    worthiness_reason: str = ""
    independent: bool | None = None  # can it be understood alone? None: not decided
    independence_reason: str = ""
    enriched: str | None = None  # reworded to stand alone (decontextualised); None: unchanged
    context: tuple[str, ...] = ()  # headings, lead-in or caption above it

    @property
    def checked(self) -> bool:
        """True for a claim that is searched for and verified."""
        return self.worthiness == "factual" and self.coherent

    @property
    def statement(self) -> str:
        """The wording that is searched for and verified."""
        return self.enriched or self.text


class Page(Frozen):
    """The extracted text of one source."""

    model_config = ConfigDict(extra="ignore")  # saved runs may have a field that is gone

    id: str
    url: str  # http(s) for the web; library:… or document:… for local texts
    title: str
    site: str
    kind: Literal["web", "library", "document"]
    fetched_at: str  # ISO 8601, UTC
    sha256: str  # of the text, UTF-8
    published: str = ""  # ISO date, where known
    text: str = ""  # kept in the store, not in report.json
    reference: str = ""  # http(s): the original of a local text, or where redirects led
    facts_from: str = ""  # http(s): the source of one of our own articles
    # where each page of a PDF begins, in characters of `text`; empty: no pages
    breaks: tuple[int, ...] = ()
    # shared by the report's pages that go back to one text; empty: it stands alone
    origin: str = ""
    genre: Genre = "unknown"  # who says it: see text/genres.py
    unread: str = ""  # parts of the file that could not be read

    @property
    def name(self) -> str:
        return self.title or self.url

    @property
    def cited(self) -> str:
        """The name for citations; one of our own articles also names the built-in library."""
        return f"{BUILT_IN}: {self.name}" if self.facts_from else self.name

    def page_number(self, offset: int) -> int | None:
        """Return the page number in a PDF, from 1, of this character; None for other documents."""
        return max(1, bisect_right(self.breaks, offset)) if self.breaks else None


class Probabilities(Frozen):
    entailed: float = Field(ge=0, le=1)
    contradicted: float = Field(ge=0, le=1)
    no_relation: float = Field(ge=0, le=1)


class Reservation(Frozen):
    """A note on what speaks against a passage, and the relations that it therefore does not count
    for.
    """

    model_config = ConfigDict(extra="ignore")  # saved runs may have a field that is gone

    relations: tuple[Relation, ...]
    note: str


class Evidence(Frozen):
    """A passage read for one claim: a chunk with the sentence before it. `text ==
    page.text[start:end]`.
    """

    claim_id: str
    page_id: str
    start: int
    end: int
    text: str
    similarity: float  # cosine of claim and chunk
    relation: Relation
    probabilities: Probabilities
    sentence: Span  # the deciding sentence, inside the text, in characters of the page
    query: str = ""  # the query that returned the page
    searcher: str = ""
    rank: int = 0  # of the page in that search, from 1
    about: bool = False  # it is about what the claim is about: see evidence/judging.py
    reservation: Reservation | None = None  # `relation` is what still counts
    signals: dict[str, float] = {}  # the verifier's intermediate figures, for display
    origin: str = ""  # of its page, if others share it
    genre: Genre = "unknown"  # of its page
    steps: tuple[str, ...] = ()  # that changed it

    @property
    def source(self) -> str:
        """What a decision counts as one source: the page with its known copies."""
        return self.origin or self.page_id

    @property
    def deciding_sentence(self) -> str:
        """The text of the deciding sentence."""
        return self.text[self.sentence[0] - self.start : self.sentence[1] - self.start] or self.text


Reader = Literal["first", "second"]


class OtherVerdict(Frozen):
    """The verdict of the verifier that did not decide."""

    reader: Reader
    label: Label
    confidence: float
    reason: str


class Verdict(Frozen):
    claim_id: str
    label: Label
    confidence: float  # of the strongest deciding passage; 0 if none decides
    reason: str  # the rule applied, in words
    other: OtherVerdict | None = None  # of two readers
    strength: Strength | None = None  # None: not graded yet, see verifiers/calibration.py
    assessment: AnalystLabel | None = None  # the analyst's, which is shown in its place

    @property
    def badge(self) -> str:
        """The label, with WEAK in front where it is not sure."""
        return f"{WEAK * (self.strength == 'weak')}{self.label}"


class AnalystVerdict(Frozen):
    """An analyst's assessment of a claim, or a note on it.

    It is removed when the claim is reworded, split, merged or dropped, and stays when the claim
    gets other evidence or another verifier.
    """

    claim_id: str
    statement: str  # the wording that was judged
    label: AnalystLabel | None  # None: a note alone
    badge: Label | None  # the model's at that time; None: it had none
    note: str = Field("", max_length=NOTE)
    at: str  # ISO 8601, UTC


FailureKind = Literal[
    "search_failed",
    "search_limited",
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
    "verifier_fell_back",
    "stage_failed",
    "unsupported_language",
    "source_unread",
    "left_out",
]


class Failure(Frozen):
    """A problem during a run. It never ends the run and never counts against a claim."""

    stage: str
    subject: str  # the claim, page or query concerned
    kind: FailureKind
    message: str  # what happened and what to do
    instead: str = ""  # what was used instead
    detail: str = ""  # in the words of another library or a server

    @field_validator("kind", mode="before")
    @classmethod
    def _known(cls, kind: object) -> object:
        """Replace a kind of another version of the program."""
        return kind if kind in get_args(FailureKind) else "stage_failed"


class SetAside(Frozen):
    """What a person took out of a run and may put back."""

    evidence: tuple[Evidence, ...] = ()  # excluded, for the claim it names


class Report(Frozen):
    """The result of one run."""

    id: str
    created_at: str
    question: str
    context: tuple[Turn, ...] = ()  # the conversation before the question
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
    edits: tuple[Edit, ...] = ()  # made by hand, the earliest first
    set_aside: SetAside | None = None
    judgements: tuple[AnalystVerdict, ...] = ()  # one a claim, in order

    @classmethod
    def read(cls, text: str | bytes) -> Self:
        """Read a report. Fields that only another version of the program has are left out."""
        return cls.model_validate_json(text, extra="ignore")

    @model_validator(mode="after")
    def _judges_its_claims(self) -> Self:
        if self.judgements and self.judgements != self.fitting_judgements():
            raise ValueError(
                "the judgements are not one a claim, on its wording and in the order of the claims"
            )
        return self

    @classmethod
    def blank(cls, question: str, answer: str, settings: dict[str, object]) -> Self:
        """Return a report without results."""
        return cls(
            id="", created_at="", question=question, answer=answer, settings=settings, versions={}
        )

    @property
    def excluded(self) -> tuple[Evidence, ...]:
        """The evidence that a person excluded."""
        return self.set_aside.evidence if self.set_aside else ()

    def evidence_of(self, claim_id: str) -> list[Evidence]:
        """Return the evidence for a claim."""
        return [piece for piece in self.evidence if piece.claim_id == claim_id]

    def fitting_judgements(self) -> tuple[AnalystVerdict, ...]:
        """Return the last judgement on each claim, in the order of the claims, if it is about the
        claim's wording.
        """
        judged = {j.claim_id: j for j in self.judgements}
        found = ((judged.get(claim.id), claim.statement) for claim in self.claims)
        return tuple(j for j, statement in found if j and j.statement == statement)

    def to_json(self) -> str:
        """Return the content of report.json: everything except the text of the pages."""
        return self.model_dump_json(indent=1, exclude={"pages": {"__all__": {"text"}}})


class Chunk(NamedTuple):
    """A part of a page: `page.text[start:end] == text`."""

    page_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Segmented:
    """The claims of an answer. A sentence whose segmentation failed is kept as one claim."""

    claims: tuple[Claim, ...]
    failures: tuple[Failure, ...] = ()
    usage: LlmUsage | None = None  # None: no language model used
    version: str = ""  # of prompt and model, if there is one


@dataclass(frozen=True)
class SearchHit:
    """A search result: a URL to fetch, or the page itself if the searcher has its text."""

    url: str
    title: str
    rank: int
    searcher: str
    query: str
    page: Page | None = None


@dataclass(frozen=True)
class Document:
    """A file or pasted text from the user."""

    name: str
    content: bytes
    media_type: str = ""  # empty: guessed from the name


@dataclass(frozen=True)
class Judgement:
    """A verifier's output for one pair.

    Attributes:
        sentence: The words that decide, in characters of the evidence, if the verifier names them.
    """

    probabilities: Probabilities
    sentence: Span | None = None
    signals: dict[str, float] = field(default_factory=dict)  # intermediate figures, for display


# --- how a run found its evidence ---


@dataclass(frozen=True, order=True)
class Trace:
    """The search that found a page for a claim."""

    claim_id: str
    page_id: str
    query: str
    searcher: str
    rank: int


class Provenance(Frozen):
    """How the evidence of a run was found, beside its report."""

    model_config = ConfigDict(extra="ignore")  # runs saved before this version have more

    traces: tuple[Trace, ...] = ()
    concerns: dict[str, tuple[Failure, ...]] = {}  # claim id → failures that concern it
