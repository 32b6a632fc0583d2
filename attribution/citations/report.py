"""What came of checking an answer's citations, as it is saved and written out."""

from __future__ import annotations

from typing import Literal

from attribution.citations.listed import Source
from attribution.citations.marks import Mark
from attribution.types import Evidence, Frozen, Page

Outcome = Literal["supported", "contradicted", "not_supported", "unreachable", "unnamed"]
Standing = Literal[
    "cited_supported", "cited_not_supported", "cited_unreachable", "uncited_supported", "uncited_unsupported"
]  # fmt: skip


class Citation(Frozen):
    """One claim held against one source that it cites."""

    claim_id: str
    source: str  # its key
    outcome: Outcome
    reason: str
    relevant: bool = True  # False: it does not support the claim, and the claim's other sources do without it
    page_id: str = ""
    evidence: Evidence | None = None  # the passage that supports the claim most, or surely contradicts it


class CitedClaim(Frozen):
    """A claim with the marks that stand on it."""

    claim_id: str
    standing: Standing
    marks: tuple[int, ...] = ()  # in `marks` of the report
    together: bool = False  # the cited sources together support it


class Figures(Frozen):
    """Citation recall and precision (Gao et al. 2023, section 4), each with what it is a share of."""

    claims: int  # factual claims that could be decided
    supported: int  # by their citations together
    citations: int  # of those claims
    useful: int  # of a supported claim, and relevant
    recall: float | None = None  # None: nothing could be decided
    precision: float | None = None

    @classmethod
    def of(cls, claims: int, supported: int, citations: int, useful: int) -> Figures:
        """The counts with their two shares."""
        return cls(
            claims=claims,
            supported=supported,
            citations=citations,
            useful=useful,
            recall=supported / claims if claims else None,
            precision=useful / citations if citations else None,
        )


class CitationReport(Frozen):
    """Everything found about the citations of one run."""

    claims_id: str  # a hash of the claims and thresholds: another one means that they have changed since
    created_at: str
    verifier: str
    marks: tuple[Mark, ...]
    sources: tuple[Source, ...]
    pages: tuple[Page, ...]  # of the sources, without their texts
    citations: tuple[Citation, ...]
    claims: tuple[CitedClaim, ...]  # the factual ones, in their order
    figures: Figures
    unattached: tuple[int, ...] = ()  # marks that stand on no factual claim
    listed: str = ""  # the sources that were added to those of the answer
    stopped: bool = False

    def to_json(self) -> str:
        """As it is saved and written out: everything but the texts of the pages."""
        return self.model_dump_json(indent=1, exclude={"pages": {"__all__": {"text"}}})
