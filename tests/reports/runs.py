"""A run to export: two claims with evidence, one without a place, and a page of a PDF."""

from attribution.edits import Edit, Reword
from attribution.reports import Exported
from attribution.types import (
    AnalystVerdict,
    Claim,
    Evidence,
    Page,
    Probabilities,
    Report,
    Verdict,
    content_id,
)

ANSWER = (
    "# Tower\n\nIt was **finished** in 1889 [1]. It is 300 m tall.\n\n- It stands in *Paris*.\n"
)
QUOTE = "The tower was finished in 1889."


def run(
    answer: str = ANSWER,
    question: str = "When was the tower finished?",
    text: str = QUOTE,
    title: str = "The tower",
    url: str = "https://example.org/tower",
    site: str = "example.org",
    spans: tuple[tuple[int, int], ...] | None = None,
) -> Report:
    """Every foreign text of it can be chosen."""
    place = (
        spans
        if spans is not None
        else ((answer.find("It"), answer.find(".")),)
        if "It" in answer
        else ()
    )
    claims = (
        Claim(id="c1", text=text, spans=place, worthiness="factual", enriched=f"{text} indeed"),
        Claim(id="c2", text=text, spans=(), worthiness="opinion"),
    )
    pages = tuple(
        Page(
            id=f"p{n}",
            url=address,
            title=title,
            site=site,
            kind="web",
            fetched_at="2026-11-01T10:00:00+00:00",
            sha256=content_id(text),
            published="2020-05-07",
            text=text,
            breaks=breaks,
        )
        for n, (address, breaks) in enumerate(((url, ()), (f"{url}/other.pdf", (0,))))
    )
    p = Probabilities(entailed=0.9, contradicted=0.05, no_relation=0.05)
    evidence = tuple(
        Evidence(
            claim_id="c1",
            page_id=page.id,
            start=0,
            end=len(text),
            text=text,
            similarity=0.8,
            relation="entailed",
            probabilities=p,
            sentence=(0, len(text)),
            query=text,
            searcher="duckduckgo",
            rank=1,
        )
        for page in pages
    )
    verdicts = (
        Verdict(
            claim_id="c1", label="supported", confidence=0.9, reason=f"1 of 2 passages: {text}"
        ),
        Verdict(claim_id="c2", label="not_checked", confidence=0.0, reason=text),
    )
    return Report(
        id="0123456789abcdef",
        created_at="2026-11-02T08:00:00+00:00",
        question=question,
        answer=answer,
        settings={"sources": ["web"], "threshold": 0.54},
        versions={"verifier": text, "pipeline": "3"},
        claims=claims,
        pages=pages,
        evidence=evidence,
        verdicts=verdicts,
    )


def judged(report: Report, note: str = "") -> Report:
    """The run with verdicts of an analyst, who sees the first claim otherwise than the model."""
    judgements = tuple(
        AnalystVerdict(
            claim_id=claim.id,
            statement=claim.statement,
            label="contradicted",
            badge="unclear",
            note=note,
            at="2026-11-03T08:00:00+00:00",
        )
        for claim in report.claims
    )
    return report.model_copy(update={"judgements": judgements})


def edited(report: Report) -> Report:
    """The run after an edit of its first claim."""
    claim = report.claims[0]
    edit = Edit(at="", change=Reword(claim_id=claim.id, text=claim.text), claims=(claim.id,))
    return report.model_copy(update={"edits": (edit,)})


def hostile(text: str, address: str = "https://example.org/tower") -> Exported:
    """A run in which every foreign text is this one."""
    long_enough = text or "x"
    report = run(
        long_enough,
        long_enough,
        long_enough,
        long_enough,
        address,
        long_enough,
        ((0, len(long_enough)),),
    )
    return Exported(
        edited(judged(report, long_enough)),
        title=long_enough,
        note=long_enough,
    )
