"""Check whether the sources that an answer cites say what it cites them for."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import ValidationError

from attribution.evidence.matching import Matcher
from attribution.evidence.near_duplicates import nearest_evidence
from attribution.evidence.sources import source_names
from attribution.review.citation_marks import Cited, Mark, attach, find
from attribution.review.cited_sources import NO_TEXT, Problem, Unread, read_sources
from attribution.settings import Settings
from attribution.store.database import now
from attribution.store.store import Store
from attribution.text.references import AnswerSource
from attribution.types import Claim, Evidence, Frozen, Page, Report, content_id
from attribution.verdicts import decide
from attribution.verifiers import policy_of

KIND = "citations"  # of the saved result
STOPPED = Unread("unreachable", "The check was stopped before this source was read.")

Outcome = Literal["supported", "contradicted", "not_supported"] | Problem
UNREAD: tuple[Problem, ...] = ("dead", "unreachable", "unnamed")
Standing = Literal[
    "cited_supported",
    "cited_not_supported",
    "cited_unreachable",
    "uncited_supported",
    "uncited_unsupported",
]


class Citation(Frozen):
    """One claim and one source that it cites."""

    claim_id: str
    source: str  # its key
    outcome: Outcome
    reason: str
    page_id: str = ""
    evidence: Evidence | None = None  # the passage that decides, or the one to read


class CitedClaim(Frozen):
    """A claim with the citation marks attached to it."""

    claim_id: str
    standing: Standing
    marks: tuple[int, ...] = ()  # indices into `marks` of the report


class Figures(Frozen):
    """Citation recall and precision, with the counts behind them."""

    claims: int  # whose cited sources were all read, or one of them supports it
    supported: int  # by a source that they cite
    citations: int  # of those claims
    useful: int  # whose source supports the claim
    recall: float | None = None  # None: nothing could be decided
    precision: float | None = None


class CitationReport(Frozen):
    """Everything found about the citations of one run."""

    claims_id: str  # see `claims_id`; a different one means that the claims have changed since
    created_at: str
    verifier: str
    marks: tuple[Mark, ...]
    sources: tuple[AnswerSource, ...]
    pages: tuple[Page, ...]  # of the sources, without their texts
    citations: tuple[Citation, ...]
    claims: tuple[CitedClaim, ...]  # the checked ones, in their order
    figures: Figures
    unattached: tuple[int, ...] = ()  # marks attached to no checked claim
    listed: str = ""  # the sources that were added to those of the answer
    stopped: bool = False

    def to_json(self) -> str:
        """Return the report as JSON: everything but the texts of the pages."""
        return self.model_dump_json(indent=1, exclude={"pages": {"__all__": {"text"}}})


@dataclass(frozen=True)
class Step:
    """`done` of `total` sources read, then judged."""

    stage: Literal["read", "judge"]
    done: int
    total: int


def claims_id(report: Report) -> str:
    """Return a hash of everything in a run that a check depends on."""
    claims = (f"{c.id} {c.statement} {c.checked}" for c in report.claims)
    names = ("threshold", "contradiction_threshold", "verifier", "top_k")
    return content_id(report.answer, *claims, *(str(report.settings.get(name)) for name in names))


def saved(report: Report, store: Store) -> CitationReport | None:
    """Return the saved check of a run, or None if there is none for its current claims."""
    body = store.results.load(KIND, report.id)
    if not body:
        return None
    try:
        result = CitationReport.model_validate_json(body)
    except ValidationError:  # saved by another version
        return None
    return result if result.claims_id == claims_id(report) else None


def check(
    report: Report,
    settings: Settings,
    store: Store,
    stop: threading.Event | None = None,
    listed: str = "",
    save: bool = True,
) -> Iterator[Step | CitationReport]:
    """Check the citations of a finished run.

    Args:
        stop: If it is set, the check ends early: sources that were not read count as unreachable.
        listed: Sources that the answer doesn't list, one per line.
        save: Keep the result with the run.

    Yields:
        Steps, then the result.

    Raises:
        NotYours: The run is somebody else's, and the result should be saved.
    """
    store = Store(store.database, store.rights.by)
    stop = stop or threading.Event()
    should_save = save and bool(report.id)
    if should_save:
        store.rights.check_change(report.id)
    subject = _Subject.of(report, listed)
    sources = subject.cited_sources
    pages: dict[str, Page | Unread] = {}
    yield Step("read", 0, len(sources))
    for source, page in read_sources(sources, report.pages, settings, store, stop):
        pages[source.key] = page
        yield Step("read", len(pages), len(sources))
    judge = _Judge(report, settings, store)
    citations: list[Citation] = []
    for done, source in enumerate(sources):
        yield Step("judge", done, len(sources))
        page = STOPPED if stop.is_set() else pages.get(source.key, STOPPED)
        citations += judge.citations(source.key, page, subject.citing(source.key))
    yield Step("judge", len(sources), len(sources))
    read_pages = [page for page in pages.values() if isinstance(page, Page)]
    result = subject.result(report, citations, read_pages).model_copy(
        update={"verifier": judge.version, "stopped": stop.is_set()}
    )
    if should_save:
        store.results.save(KIND, report.id, result.to_json())
    yield result


class _Judge:
    """Judges claims by single sources, as the run does."""

    def __init__(self, report: Report, settings: Settings, store: Store) -> None:
        self.version = report.versions.get("verifier", "")
        self._report = report
        self._settings = settings
        self._store = store
        # A citation is of one source, however many the policy asks for.
        self._policy = policy_of(settings).with_settings({"least_sources": 1})

    def citations(
        self, key: str, page: Page | Unread, claims: Sequence[Claim]
    ) -> Iterator[Citation]:
        """Yield what a source says of each claim that cites it."""
        if isinstance(page, Unread):
            yield from (_unread(claim, key, page) for claim in claims)
            return
        evidence = self._evidence(page, claims)
        for claim in claims:
            pieces = evidence.get(claim.id)
            yield (
                _unread(claim, key, NO_TEXT)
                if pieces is None
                else self._citation(claim, key, page, pieces)
            )

    def _evidence(self, page: Page, claims: Sequence[Claim]) -> dict[str, tuple[Evidence, ...]]:
        """Return the run's own evidence from the page, or compare claims without any with it."""
        evidence: dict[str, tuple[Evidence, ...]] = {}
        for claim in claims:
            pieces = [
                e for e in self._report.evidence if e.claim_id == claim.id and e.page_id == page.id
            ]
            if pieces:
                evidence[claim.id] = tuple(pieces)
        others = [claim for claim in claims if claim.id not in evidence]
        if others and page.text:
            matcher = Matcher(self._settings, self._store, self._report.question)
            matcher.add(page)
            self.version = matcher.verifier.version
            for claim, matches in zip(others, matcher.match(others), strict=True):
                evidence[claim.id] = matches
        return evidence

    def _citation(self, claim: Claim, key: str, page: Page, pieces: Sequence[Evidence]) -> Citation:
        verdict = decide(claim, pieces, self._policy)
        outcome: Outcome = "not_supported"
        if verdict.label in ("supported", "contradicted"):
            outcome = verdict.label
        return Citation(
            claim_id=claim.id,
            source=key,
            outcome=outcome,
            reason=verdict.reason,
            page_id=page.id,
            evidence=nearest_evidence(pieces, verdict.label, {page.id: page}),
        )


def _unread(claim: Claim, key: str, problem: Unread) -> Citation:
    return Citation(claim_id=claim.id, source=key, outcome=problem.outcome, reason=problem.reason)


@dataclass(frozen=True)
class _Subject:
    """The claims to check, outside lists of sources, and the sources that each cites."""

    cited: Cited
    claims: Sequence[Claim]
    marks: Mapping[str, tuple[int, ...]]  # of a claim
    listed: str

    @classmethod
    def of(cls, report: Report, listed: str) -> _Subject:
        cited = find(report.answer, listed, source_names(pages=report.pages))
        claims = []
        for claim in report.claims:
            is_listed = bool(claim.spans) and cited.lists.holds(claim.spans[0][0])
            if claim.checked and not is_listed:
                claims.append(claim)
        return cls(cited, claims, attach(report.answer, cited, claims), listed)

    def keys(self, claim_id: str) -> list[str]:
        """Return the keys of the sources that a claim cites, each once."""
        keys: dict[str, None] = {}
        for index in self.marks.get(claim_id, ()):
            keys |= dict.fromkeys(self.cited.marks[index].sources)
        return list(keys)

    def citing(self, key: str) -> list[Claim]:
        return [claim for claim in self.claims if key in self.keys(claim.id)]

    @property
    def cited_sources(self) -> list[AnswerSource]:
        """The sources that a claim cites."""
        keys = {key for claim in self.claims for key in self.keys(claim.id)}
        return [source for source in self.cited.sources if source.key in keys]

    def result(
        self, report: Report, citations: Sequence[Citation], pages: Sequence[Page]
    ) -> CitationReport:
        supported = {v.claim_id for v in report.verdicts if v.label == "supported"}
        claims: list[CitedClaim] = []
        in_order: list[Citation] = []
        for claim in self.claims:
            of_claim = [c for c in citations if c.claim_id == claim.id]
            in_order += of_claim
            claims.append(
                CitedClaim(
                    claim_id=claim.id,
                    standing=_standing(of_claim, claim.id in supported),
                    marks=self.marks.get(claim.id, ()),
                )
            )
        attached = {index for indices in self.marks.values() for index in indices}
        return CitationReport(
            claims_id=claims_id(report),
            created_at=now(),
            verifier="",
            marks=self.cited.marks,
            sources=self.cited.sources,
            pages=tuple({p.id: p.model_copy(update={"text": ""}) for p in pages}.values()),
            citations=tuple(in_order),
            claims=tuple(claims),
            figures=_figures(claims, in_order),
            unattached=tuple(n for n in range(len(self.cited.marks)) if n not in attached),
            listed=self.listed,
        )


def _standing(citations: Sequence[Citation], is_supported_elsewhere: bool) -> Standing:
    if not citations:
        return "uncited_supported" if is_supported_elsewhere else "uncited_unsupported"
    outcomes = {citation.outcome for citation in citations}
    if "supported" in outcomes:
        return "cited_supported"
    return "cited_unreachable" if outcomes & set(UNREAD) else "cited_not_supported"


def _figures(claims: Sequence[CitedClaim], citations: Sequence[Citation]) -> Figures:
    decided = {c.claim_id for c in claims if c.standing != "cited_unreachable"}
    supported = sum(c.standing == "cited_supported" for c in claims)
    read = [c for c in citations if c.claim_id in decided and c.outcome not in UNREAD]
    useful = sum(c.outcome == "supported" for c in read)
    return Figures(
        claims=len(decided),
        supported=supported,
        citations=len(read),
        useful=useful,
        recall=supported / len(decided) if decided else None,
        precision=useful / len(read) if read else None,
    )
