"""Claims with given passages → verdicts: the decision of a run, without its search."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from attribution.errors import BadInput
from attribution.evidence.compounds import with_predicates
from attribution.evidence.fact_checks import stated, with_rulings
from attribution.evidence.judging import as_evidence, judge_pairs, read_plainly, relevance
from attribution.evidence.origins import with_origins
from attribution.models import reranker
from attribution.models.reranker import Relevance
from attribution.policy import DecisionPolicy
from attribution.text.genres import genre_of
from attribution.text.lines import readable
from attribution.text.urls import canonical, is_web, site
from attribution.text.words import composed
from attribution.types import Claim, Evidence, Page, Pair, Strength, Verdict, content_id
from attribution.verdicts import decide
from attribution.verifiers.calibration import strength_of
from attribution.verifiers.pairs import Reads

_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3}|_{1,3})(?=\S)([^*_\n]+)(?<=\S)\1(?![\w*])")
FIELDS = ("text", "url", "title")
FORM = (
    'expected "text" or {"text": …, "url": …, "title": …}, where address and title may be left out'
)


class Passage(NamedTuple):
    """A text, and where it is from if that is known: its page's address and title, or that of its
    section too.
    """

    text: str
    url: str = ""
    title: str = ""

    @classmethod
    def of(cls, given: object) -> Passage:
        """Return a passage given as one, as a text or as {"text", "url", "title"}; an address or
        title may be None.

        Raises BadInput for others.
        """
        if isinstance(given, Passage):
            return given
        fields = {"text": given} if isinstance(given, str) else given
        if not isinstance(fields, Mapping):
            raise BadInput(f"a passage is {type(fields).__name__}: {FORM}")
        fields = {name: value for name, value in fields.items() if value is not None}
        if wrong := next(
            (n for n, v in fields.items() if n not in FIELDS or not isinstance(v, str)), ""
        ):
            found = (
                f"a {wrong} of type {type(fields[wrong]).__name__}"
                if wrong in FIELDS
                else f"the field {wrong!r}"
            )
            raise BadInput(f"a passage has {found}: {FORM}")
        if not fields.get("text", "").strip():
            raise BadInput(
                f"a passage has {'an empty text' if 'text' in fields else 'no text'}: {FORM}"
            )
        return cls(**{**fields, "text": readable(fields["text"])})


@dataclass(frozen=True)
class GivenClaim:
    """A claim, and the passages it is compared with, best first; headings are those above it in its
    answer.
    """

    text: str  # without its Markdown emphasis it is compared
    passages: Sequence[Passage | str | Mapping[str, str]]
    headings: tuple[str, ...] = ()


@dataclass(frozen=True)
class JudgedClaim:
    """The verdict with its strength, and the evidence behind it: one piece for each passage, in
    order.
    """

    verdict: Verdict
    evidence: tuple[Evidence, ...]
    strength: Strength | None = None  # of a supported or contradicted claim

    def fields(self) -> dict[str, object]:
        """Return the row that the command line and the server give."""
        return {
            **self.verdict.model_dump(include={"label", "confidence", "reason"}),
            "strength": self.strength,
            "evidence": [
                e.model_dump(include={"relation", "probabilities"}) for e in self.evidence
            ],
        }


def judge(
    claims: Sequence[GivenClaim],
    verifier: Reads,
    policy: DecisionPolicy,
    found: bool = True,
) -> Iterator[JudgedClaim]:
    """Yield one verdict a claim, in order; the pairs of all claims go to the verifier together.

    A passage that occurs twice counts once, and so do copies and passages of one address. Relevance
    weighs passages
    that a search has `found`; the context that an answer was written from is relevant. Raises BadInput for a claim or passage that is empty or too long.
    """
    claims = [replace(c, text=_EMPHASIS.sub(r"\2", composed(c.text))) for c in claims]
    given = [[Passage.of(p) for p in c.passages] for c in claims]
    pages = [_pages(passages) for passages in given]
    evidence = _evidence(claims, pages, verifier, policy, found)

    def read(parts: Sequence[tuple[int, str]]) -> list[tuple[Evidence, ...]]:
        of_parts = [replace(claims[i], text=part) for i, part in parts]
        return _evidence(of_parts, [pages[i] for i, _ in parts], verifier, policy, found)

    own, version = [_claim(c) for c in claims], getattr(verifier, "version", "")
    pieces = with_predicates(own, evidence, policy, read)
    for claim, passages, of_pages, of_claim in zip(own, given, pages, pieces, strict=True):
        verdict = decide(claim, of_claim, policy)
        judged = JudgedClaim(verdict, tuple(of_claim), strength_of(version, verdict))
        of_passages = dict(
            zip(of_pages, judged.evidence, strict=False)
        )  # those of its parts come last
        yield replace(judged, evidence=tuple(of_passages[passage] for passage in passages))


def _claim(given: GivenClaim) -> Claim:
    return Claim(
        id=content_id(given.text), text=given.text, spans=(), worthiness="factual", independent=True
    )


def _evidence(
    claims: Sequence[GivenClaim],
    pages: Sequence[Mapping[Passage, Page]],
    verifier: Reads,
    policy: DecisionPolicy,
    found: bool,
) -> list[tuple[Evidence, ...]]:
    """Return the evidence that each distinct passage of a claim is; all pairs go to the verifier
    together.
    """
    plain = policy.decision == "plain"
    read = [
        (c, p, page)
        for c, of_claim in zip(claims, pages, strict=True)
        for p, page in of_claim.items()
    ]
    texts = [
        stated(p.title) if page.genre == "fact check" and p.title and not plain else p.text
        for _, p, page in read
    ]
    pairs: list[Pair] = [
        (claim.text, text, p.title) if p.title and text == p.text else (claim.text, text)
        for (claim, p, _), text in zip(read, texts, strict=True)
    ]
    judged = (
        read_plainly([pair[:2] for pair in pairs], verifier)
        if plain
        else judge_pairs(pairs, verifier)
    )
    if not plain:
        judged = with_rulings(pairs, judged, [page for *_, page in read], verifier)
    relevances = relevance(
        pairs,
        judged,
        Relevance() if found and policy.weighed_by_relevance and reranker.installed() else None,
    )
    pieces = iter(
        as_evidence(
            _claim(claim).id, page, text, 0, 1.0, pair, of_pair, weight, claim.headings, policy
        )
        for (claim, _, page), text, pair, of_pair, weight in zip(
            read, texts, pairs, judged, relevances, strict=True
        )
    )
    return [tuple(islice(pieces, len(of_claim))) for of_claim in pages]


def _pages(passages: Sequence[Passage]) -> dict[Passage, Page]:
    """Return the page of each passage as far as it is known, with its origin; those of one address
    have the same id.
    """
    pages = {
        p: Page(
            id=content_id(canonical(p.url) if p.url else p.text),
            url=p.url,
            title=p.title,
            site=site(p.url),
            kind="web" if is_web(p.url) else "document",
            fetched_at="",
            sha256="",
            text=p.text,
            genre=genre_of(p.url, p.title, p.text),
        )
        for p in passages
    }
    return dict(zip(pages, with_origins(list(pages.values())), strict=True))
