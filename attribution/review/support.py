"""Judge whether cited sources support a claim: each alone, all together, and all but one.

Citation recall and precision in ALCE are computed from these judgements (Gao et al. 2023, section
4): a claim is
recalled if the concatenation of its citations entails it; a citation is precise if its claim is
recalled, unless it
cannot support the claim by itself while the others can without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from attribution.policy import DecisionPolicy
from attribution.review.citation_marks import Mark
from attribution.review.crossref import CitedWork
from attribution.text.references import AnswerSource
from attribution.types import Evidence, Frozen, Judgement, Page, Pair
from attribution.verdicts import relation

Outcome = Literal["supported", "contradicted", "not_supported", "dead", "unreachable", "unnamed"]
UNREAD: tuple[Outcome, ...] = ("dead", "unreachable", "unnamed")
Standing = Literal[
    "cited_supported",
    "cited_not_supported",
    "cited_unreachable",
    "uncited_supported",
    "uncited_unsupported",
]


class Citation(Frozen):
    """One claim judged against one source that it cites."""

    claim_id: str
    source: str  # its key
    outcome: Outcome
    reason: str
    relevant: bool = (
        True  # False: it does not support the claim, and the claim's other sources do without it
    )
    page_id: str = ""
    evidence: Evidence | None = (
        None  # the passage that supports the claim most, or surely contradicts it
    )


class CitedClaim(Frozen):
    """A claim with the citation marks attached to it."""

    claim_id: str
    standing: Standing
    marks: tuple[int, ...] = ()  # indices into `marks` of the report
    together: bool = False  # the cited sources together support it


class Figures(Frozen):
    """Citation recall and precision (Gao et al. 2023, section 4), with the counts behind them."""

    claims: int  # factual claims that could be decided
    supported: int  # by their citations together
    citations: int  # of those claims
    useful: int  # of a supported claim, and relevant
    recall: float | None = None  # None: nothing could be decided
    precision: float | None = None

    @classmethod
    def of(cls, claims: int, supported: int, citations: int, useful: int) -> Figures:
        """Return the counts with recall and precision."""
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

    # a hash of the claims and thresholds: a different one means that they have changed since
    claims_id: str
    created_at: str
    verifier: str
    marks: tuple[Mark, ...]
    sources: tuple[AnswerSource, ...]
    pages: tuple[Page, ...]  # of the sources, without their texts
    citations: tuple[Citation, ...]
    claims: tuple[CitedClaim, ...]  # the factual ones, in their order
    figures: Figures
    unattached: tuple[int, ...] = ()  # marks attached to no factual claim
    works: tuple[
        CitedWork, ...
    ] = ()  # the published works that cited sources name by an identifier
    listed: str = ""  # the sources that were added to those of the answer
    stopped: bool = False

    def to_json(self) -> str:
        """Return the report as JSON for saving and export: everything but the texts of the pages."""
        return self.model_dump_json(indent=1, exclude={"pages": {"__all__": {"text"}}})


Verify = Callable[[Sequence[Pair]], list[Judgement]]


@dataclass(frozen=True)
class CitedSources:
    """A claim and its cited sources, each as the passages nearest to the claim, with the page's
    title.
    """

    claim: str
    sources: tuple[tuple[tuple[str, str], ...], ...]


@dataclass(frozen=True)
class Support:
    """The support for one claim. Each tuple has an entry for each source, in order."""

    alone: tuple[bool, ...]
    contradicted: tuple[bool, ...]  # a passage surely contradicts the claim, and none supports it
    best: tuple[
        int | None, ...
    ]  # the passage that supports most, or contradicts; None: the source has none
    relevant: tuple[bool, ...]
    together: bool

    @property
    def precise(self) -> int:
        """The number of precise citations."""
        return sum(self.relevant) if self.together else 0


def support(cited: Sequence[CitedSources], verify: Verify, policy: DecisionPolicy) -> list[Support]:
    """Judge the support for each claim, in order. In a concatenation, each source is represented by
    its best passage.

    Sources entail together what one of them entails by itself: a verifier that reads sentence by
    sentence may miss it
    in a longer text.
    """
    pairs: list[Pair] = [
        (h.claim, text, title) for h in cited for source in h.sources for text, title in source
    ]
    judged = iter(verify(pairs))
    singles = [[[next(judged) for _ in source] for source in h.sources] for h in cited]
    alone = [[_alone(source, policy) for source in of_claim] for of_claim in singles]
    sets: list[
        tuple[int, tuple[int, ...]]
    ] = []  # claim and sources whose concatenation has to be read
    for n, of_claim in enumerate(alone):
        readable = tuple(i for i, (_, _, best) in enumerate(of_claim) if best is not None)
        if len(readable) > 1 and not any(supports for supports, _, _ in of_claim):
            sets.append((n, readable))
    joint = _joint(cited, alone, sets, verify, policy)
    rests = [
        (n, tuple(i for i in s if i != left)) for (n, s), yes in joint.items() if yes for left in s
    ]
    joint |= _joint(cited, alone, [(n, s) for n, s in rests if len(s) > 1], verify, policy)
    return [_support(n, of_claim, joint) for n, of_claim in enumerate(alone)]


_Alone = tuple[bool, bool, int | None]  # supports, contradicts, the best passage
_Joint = dict[tuple[int, tuple[int, ...]], bool]


def _alone(judgements: Sequence[Judgement], policy: DecisionPolicy) -> _Alone:
    if not judgements:
        return False, False, None
    relations = [relation(j.probabilities, policy) for j in judgements]
    places = range(len(judgements))
    supporting = max(places, key=lambda i: judgements[i].probabilities.entailed)
    against = max(places, key=lambda i: judgements[i].probabilities.contradicted)
    supports = "entailed" in relations
    contradicts = not supports and relations[against] == "contradicted"
    return supports, contradicts, against if contradicts else supporting


def _joint(
    cited: Sequence[CitedSources],
    alone: Sequence[Sequence[_Alone]],
    sets: Sequence[tuple[int, tuple[int, ...]]],
    verify: Verify,
    policy: DecisionPolicy,
) -> _Joint:
    """Check for each set of sources that the concatenation of their best passages entails the
    claim.
    """

    def text(n: int, i: int) -> str:
        return cited[n].sources[i][alone[n][i][2] or 0][0]

    pairs: list[Pair] = [
        (cited[n].claim, "\n".join(text(n, i) for i in chosen)) for n, chosen in sets
    ]
    relations = [relation(j.probabilities, policy) for j in verify(pairs)] if pairs else []
    return {key: r == "entailed" for key, r in zip(sets, relations, strict=True)}


def _support(n: int, alone: Sequence[_Alone], joint: _Joint) -> Support:
    supports = [yes for yes, _, _ in alone]
    readable = tuple(i for i, (_, _, best) in enumerate(alone) if best is not None)
    together = any(supports) or joint.get((n, readable), False)

    def rest_supports(left: int) -> bool:
        rest = tuple(i for i in readable if i != left)
        return any(supports[i] for i in rest) or joint.get((n, rest), False)

    return Support(
        alone=tuple(supports),
        contradicted=tuple(against for _, against, _ in alone),
        best=tuple(best for _, _, best in alone),
        relevant=tuple(yes or not rest_supports(i) for i, yes in enumerate(supports)),
        together=together,
    )
