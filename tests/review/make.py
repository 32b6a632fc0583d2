"""Reports for tests: an answer, its claims by their words, and a verdict for each."""

from attribution.types import Claim, Evidence, Label, Page, Report, Verdict
from tests.make import page

SOURCE = page(
    "The tower was finished in 1889. It is 330 m high.",
    "https://example.org/t(1)",
    "A [tower] | *title*",
)


def claim(answer: str, words: str, **fields: object) -> Claim:
    start = answer.index(words)
    span = (start, start + len(words))
    values = {
        "id": f"c{start}",
        "text": words,
        "spans": (span,),
        "sentence": span,
        "worthiness": "factual",
    }
    return Claim(**values | fields)


def evidence(of: Claim, relation: str, source: Page = SOURCE) -> Evidence:
    p = {"entailed": 0.0, "contradicted": 0.0, "no_relation": 0.0} | {relation: 1.0}
    return Evidence(
        claim_id=of.id,
        page_id=source.id,
        start=0,
        end=len(source.text),
        text=source.text,
        similarity=0.9,
        relation=relation,
        probabilities=p,
        sentence=(0, 31),
    )


def report(answer: str, *claims: tuple[Claim, Label]) -> Report:
    relations = {"supported": "entailed", "contradicted": "contradicted"}
    return Report(
        id="0" * 16,
        created_at="2026-11-01T10:00:00+00:00",
        question="",
        answer=answer,
        settings={},
        versions={},
        claims=tuple(c for c, _ in claims),
        pages=(SOURCE,),
        evidence=tuple(evidence(c, relations.get(label, "no_relation")) for c, label in claims),
        verdicts=tuple(
            Verdict(claim_id=c.id, label=label, confidence=0.9, reason="") for c, label in claims
        ),
    )
