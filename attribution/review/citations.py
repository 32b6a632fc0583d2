"""Check whether the sources that an answer cites say what it cites them for.

Their pages are read from the run, the store or the web."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, get_args
from urllib.parse import quote

from markdown_it.common.utils import unescapeAll

from attribution.errors import FetchFailed, StageFailure
from attribution.evidence.matching import Matcher
from attribution.evidence.search import Budget
from attribution.evidence.sources import source_names
from attribution.fetching.fetcher import Fetcher
from attribution.review.citation_marks import Cited, Mark, attach, find
from attribution.settings import Settings
from attribution.store.database import now
from attribution.store.store import Store
from attribution.text.marks import AnswerSource, name_of, without_end
from attribution.text.urls import canonical, site
from attribution.types import Claim, Evidence, Frozen, Label, Page, Report
from attribution.verdicts import DecisionPolicy, decide, nearest_evidence
from attribution.verifiers.calibration import assessments

Problem = Literal["dead", "unreachable", "unnamed"]
MOST_IN_BRACKETS = 20  # characters of a source's key

Outcome = Literal["supported", "contradicted", "not_supported"] | Problem
UNREAD = frozenset(get_args(Problem))
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

    created_at: str
    verifier: str
    marks: tuple[Mark, ...]
    sources: tuple[AnswerSource, ...]
    pages: tuple[Page, ...]  # of the sources
    citations: tuple[Citation, ...]
    claims: tuple[CitedClaim, ...]  # the checked ones, in their order
    figures: Figures

    def to_json(self) -> str:
        """Return the report as JSON: everything but the texts of the pages."""
        return self.model_dump_json(indent=1, exclude={"pages": {"__all__": {"text"}}})


def check(report: Report, settings: Settings, store: Store) -> CitationReport:
    """Check the citations of a finished run; cited pages that it didn't read are fetched."""
    subject = _Subject.of(report)
    pages = read_sources(subject.cited_sources, report.pages, settings, store)
    judge = _Judge(report, settings, store)
    citations: list[Citation] = []
    for key, page in pages.items():
        citing = [claim for claim in subject.claims if key in subject.keys(claim.id)]
        citations += judge.citations(key, page, citing)
    read_pages = {page.id: page for page in pages.values() if isinstance(page, Page)}
    return subject.result(report, citations, tuple(read_pages.values()), judge.version)


class _Judge:
    """Judges claims by single sources, as the run does."""

    def __init__(self, report: Report, settings: Settings, store: Store) -> None:
        self.version = report.versions.get("verifier", "")
        self._report = report
        self._labels = _shown_labels(report)
        self._settings = settings
        self._store = store
        self._policy = DecisionPolicy.of(dict(settings))

    def citations(
        self, key: str, page: Page | Unread, claims: Sequence[Claim]
    ) -> Iterator[Citation]:
        """Yield what a source says of each claim that cites it."""
        evidence = self._evidence(page, claims) if isinstance(page, Page) else {}
        problem = NO_TEXT if isinstance(page, Page) else page
        for claim in claims:
            if isinstance(page, Page) and claim.id in evidence:
                pieces = evidence[claim.id]
                verdict = decide(claim, pieces, self._policy)
                yield Citation(
                    claim_id=claim.id,
                    source=key,
                    outcome=_outcome(verdict.label, self._labels.get(claim.id, "")),
                    reason=verdict.reason,
                    page_id=page.id,
                    evidence=nearest_evidence(pieces, verdict.label),
                )
            else:
                yield Citation(
                    claim_id=claim.id,
                    source=key,
                    outcome=problem.outcome,
                    reason=problem.reason,
                )

    def _evidence(self, page: Page, claims: Sequence[Claim]) -> dict[str, Sequence[Evidence]]:
        """Return the run's own evidence from the page, or compare claims without any with it."""
        evidence: dict[str, Sequence[Evidence]] = {}
        for piece in self._report.evidence:
            if piece.page_id == page.id:
                evidence[piece.claim_id] = [*evidence.get(piece.claim_id, ()), piece]
        others = [claim for claim in claims if claim.id not in evidence]
        if others and page.text:
            matcher = Matcher(self._settings, self._store, self._report.question)
            matcher.add(page)
            self.version = matcher.verifier.version
            for claim, matches in zip(others, matcher.match(others), strict=True):
                evidence[claim.id] = matches
        return evidence


def _outcome(label: Label, of_claim: str) -> Outcome:
    """Return what a source says of a claim; it never says the opposite of the claim's verdict."""
    if label == "supported" and of_claim != "contradicted":
        return "supported"
    if label == "contradicted" and of_claim != "supported":
        return "contradicted"
    return "not_supported"


# --- the line in a claim's card ---

SAYS: dict[Outcome, str] = {
    "supported": "says so",
    "contradicted": "says otherwise",
    "not_supported": "doesn't say so",
    "unnamed": "the answer doesn't say what it is",
    "unreachable": "isn't among the sources that were read",
}
SILENT = "doesn't mention it"
EXCLUDED = "its passage is excluded"


def citation_lines(report: Report) -> dict[str, str]:
    """Say for each claim that cites sources what these say of it, by the claim's own evidence."""
    subject = _Subject.of(report)
    if not subject.cited.marks:
        return {}
    pages = {source.key: known_page(source, report.pages) for source in subject.cited.sources}
    policy = DecisionPolicy.of(report.settings)
    labels = _shown_labels(report)
    lines: dict[str, str] = {}
    excluded = {(piece.claim_id, piece.page_id) for piece in report.excluded}
    for claim in subject.claims:
        keys = subject.keys(claim.id)
        if not keys:
            continue
        pieces = report.evidence_of(claim.id)
        said: dict[str, str] = {}
        for source in subject.cited.sources:
            page = pages[source.key]
            if page is None:
                said[source.key] = SAYS["unreachable" if source.url or source.text else "unnamed"]
                continue
            of_page = [piece for piece in pieces if piece.page_id == page.id]
            label = decide(claim, of_page, policy).label
            is_related = label not in ("missing", "no_relation")
            outcome = _outcome(label, labels.get(claim.id, ""))
            silent = EXCLUDED if (claim.id, page.id) in excluded else SILENT
            said[source.key] = SAYS[outcome] if is_related else silent
        cited = ", ".join(f"{_shown(key)}: {said[key]}" for key in keys)
        says_so = [key for key in said if said[key] == SAYS["supported"]]
        is_elsewhere = says_so and not set(says_so) & set(keys)
        also = f"; {_shown(says_so[0])} says so" if is_elsewhere else ""
        lines[claim.id] = f"Cites {cited}{also}."
    return lines


def _shown(key: str) -> str:
    """Return a source as a reader of the answer knows it."""
    return f"[{key}]" if len(key) <= MOST_IN_BRACKETS else site(key) or key


@dataclass(frozen=True)
class _Subject:
    """The claims to check, outside lists of sources, and the sources that each cites."""

    cited: Cited
    claims: Sequence[Claim]
    marks: Mapping[str, tuple[int, ...]]  # of a claim

    @classmethod
    def of(cls, report: Report) -> _Subject:
        cited = find(report.answer, source_names(pages=report.pages))
        claims = [
            claim
            for claim in report.claims
            if claim.checked and not (claim.spans and cited.lists.holds(claim.spans[0][0]))
        ]
        return cls(cited, claims, attach(report.answer, cited, claims))

    def keys(self, claim_id: str) -> list[str]:
        """Return the keys of the sources that a claim cites, each once."""
        keys: dict[str, None] = {}
        for index in self.marks.get(claim_id, ()):
            keys |= dict.fromkeys(self.cited.marks[index].sources)
        return list(keys)

    @property
    def cited_sources(self) -> list[AnswerSource]:
        """The sources that a claim cites."""
        keys = {key for claim in self.claims for key in self.keys(claim.id)}
        return [source for source in self.cited.sources if source.key in keys]

    def result(
        self,
        report: Report,
        citations: Sequence[Citation],
        pages: tuple[Page, ...],
        verifier: str,
    ) -> CitationReport:
        labels = _shown_labels(report)
        claims: list[CitedClaim] = []
        in_order: list[Citation] = []
        for claim in self.claims:
            of_claim = [c for c in citations if c.claim_id == claim.id]
            in_order += of_claim
            claims.append(
                CitedClaim(
                    claim_id=claim.id,
                    standing=_standing(of_claim, labels.get(claim.id) == "supported"),
                    marks=self.marks.get(claim.id, ()),
                )
            )
        return CitationReport(
            created_at=now(),
            verifier=verifier,
            marks=self.cited.marks,
            sources=self.cited.sources,
            pages=pages,
            citations=tuple(in_order),
            claims=tuple(claims),
            figures=_figures(claims, in_order),
        )


def _standing(citations: Sequence[Citation], is_supported_elsewhere: bool) -> Standing:
    if not citations:
        return "uncited_supported" if is_supported_elsewhere else "uncited_unsupported"
    outcomes = {citation.outcome for citation in citations}
    if "supported" in outcomes:
        return "cited_supported"
    return "cited_unreachable" if outcomes & UNREAD else "cited_not_supported"


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


# --- the pages of the sources ---

GONE = (404, 410)  # HTTP: nothing is there any more, or never was
NUMBERS = {  # of DOI, arXiv and PubMed, by where they lead
    # not into the address of a link
    "https://doi.org/": re.compile(r"(?<![\w.])(10\.\d{4,9}/(?:(?!\]\()[^\s\"<>{}|\\^`])+)"),
    "https://arxiv.org/abs/": re.compile(
        r"""
        \barxiv(?: \.org/(?:abs|pdf|html)/ | :\s? )
        ( \d{4}\.\d{4,5} | [a-z-]{2,20}(?:\.[A-Z]{2})?/\d{7} )(?!\d)
        """,
        re.IGNORECASE | re.VERBOSE,
    ),
    "https://pubmed.ncbi.nlm.nih.gov/": re.compile(
        r"""
        \b(?: PMID:?\s? | pubmed\.ncbi\.nlm\.nih\.gov/ | ncbi\.nlm\.nih\.gov/pubmed/ )
        ( \d{1,8} )(?!\d)
        """,
        re.IGNORECASE | re.VERBOSE,
    ),
}
# The rest of an address with a DOI
AFTER_DOI = re.compile(r"(?:/(?:full|abstract|pdf|epub)|\.pdf)?(?:[?#].*)?$", re.IGNORECASE)


@dataclass(frozen=True)
class Unread:
    """The reason why a source could not be read."""

    outcome: Problem
    reason: str


UNNAMED = Unread("unnamed", "The answer doesn't say which source this is.")
NOT_FOUND = Unread(
    "unreachable", "The answer gives no address for it, and no document of this run has its name."
)
NO_TEXT = Unread("unreachable", "It is a document of this run, whose text is not in this database.")


def read_sources(
    sources: Sequence[AnswerSource],
    pages: Sequence[Page],
    settings: Settings,
    store: Store,
) -> dict[str, Page | Unread]:
    """Read cited sources: pages of the run as they are, others from the web.

    Args:
        pages: The pages of the run. One without a text is returned as it is.

    Returns:
        The page of each source, or the reason why it could not be read, by the source's key.
    """
    found: dict[str, Page | Unread] = {}
    addresses: dict[str, str] = {}  # of the sources to fetch
    for source in sources:
        address = _address(source)
        addressed = source.model_copy(update={"url": address})
        page = known_page(source, pages) or known_page(addressed, pages)
        if page and (page.text or not address):
            found[source.key] = page
        elif address:
            addresses[source.key] = address
        else:
            found[source.key] = NOT_FOUND if source.text else UNNAMED
    reader = _WebReader(settings, store)
    with ThreadPoolExecutor(settings.workers) as pool:
        fetched = pool.map(reader.read, addresses.values())
        found |= zip(addresses, fetched, strict=True)
    return {source.key: found[source.key] for source in sources}


class _WebReader:
    """Reads pages from the cache, or fetches them within the budget of a run."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._budget = Budget(settings)
        self._fetcher = Fetcher(settings)
        self._cache = store.cache
        self._days = settings.page_days

    def read(self, url: str) -> Page | Unread:
        page = self._cache.page(url, self._days)
        if page is not None:
            return page
        try:
            self._budget.spend("downloads", url)
            page = self._fetcher.fetch(url)
        except StageFailure as error:
            is_gone = isinstance(error, FetchFailed) and error.status in GONE
            return Unread("dead" if is_gone else "unreachable", str(error))
        self._cache.put_pages([page])
        return page


def _address(source: AnswerSource) -> str:
    """Return a source's address, or that of its DOI, arXiv or PubMed number."""
    return source.url or resolver_address(f"{source.text} {source.key}")


def resolver_address(text: str) -> str:
    """Return where the first DOI, arXiv or PubMed number of a text leads, or ""."""
    text = unescapeAll(text)
    for resolver, pattern in NUMBERS.items():
        match = pattern.search(text)
        if match:
            number = without_end(AFTER_DOI.sub("", match[1]))
            return resolver + quote(number, safe="/")
    return ""


def known_page(source: AnswerSource, pages: Sequence[Page]) -> Page | None:
    """Find a source's page in the run, by its address, or by a document's title or file name.

    An article of the built-in library matches only by its own name, not by the pages that its facts
    are from.
    """
    if source.url:
        wanted = canonical(source.url)
        for page in pages:
            if wanted in (canonical(page.url), canonical(page.reference)):
                return page
        return None
    text = source.text.casefold()
    return next((page for page in pages if text and _is_named(page, text)), None)


def _is_named(page: Page, text: str) -> bool:
    title = page.title.casefold()
    if page.facts_from:
        return text.strip("'\"“”*_.,; ") == title or page.cited.casefold() in text
    short, long = sorted((title, text), key=len)
    if len(short) > 3 and _has_name(long, short):
        return True
    # document:NAME, library:FOLDER/NAME, collection:COLLECTION/NAME
    name = re.split(r"[/:]", page.url)[-1].casefold()
    if page.kind == "web" or not name:
        return False
    return name_of(name) == name_of(text) or _has_name(text, name)


def _has_name(text: str, name: str) -> bool:
    """Return True if a name stands in a text, and not within a longer word or file name."""
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text) is not None


def _shown_labels(report: Report) -> dict[str, str]:
    """Return the label of each claim: the analyst's, or else the model's."""
    labels: dict[str, str] = {verdict.claim_id: verdict.label for verdict in report.verdicts}
    return labels | {claim_id: own.label or "" for claim_id, own in assessments(report).items()}
