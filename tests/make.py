"""Small values for tests."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attribution.edits import Edit, Reword
from attribution.events import finished as finished
from attribution.fetching.sandbox import DOCUMENT_SECONDS, FileReader
from attribution.store.store import Store
from attribution.types import (
    AnalystLabel,
    AnalystVerdict,
    Claim,
    Evidence,
    Label,
    Page,
    Probabilities,
    Provenance,
    Report,
    Verdict,
    Worthiness,
    content_id,
)
from attribution.verdicts import DecisionPolicy


def page(
    text: str, url: str = "https://example.org/a", title: str = "A title", **fields: Any
) -> Page:
    sha = hashlib.sha256(text.encode()).hexdigest()
    made = {
        "id": content_id(url, sha),
        "site": "example.org",
        "kind": "web",
        "fetched_at": "2026-11-01T10:00:00+00:00",
    }
    return Page(**{**made, "url": url, "title": title, "sha256": sha, "text": text, **fields})


def reading() -> FileReader:
    """A reader of files that nobody stops."""
    return FileReader("", DOCUMENT_SECONDS)


def report(answer: str = "", **fields: Any) -> Report:
    """A run's report with no more than is given."""
    made = {
        "id": "0" * 16,
        "created_at": "2026-11-01T10:00:00+00:00",
        "question": "q",
        "settings": {},
        "versions": {},
    }
    return Report(**{**made, "answer": answer, **fields})


def claim(
    text: str = "The Nile is long.", worthiness: Worthiness | None = "factual", **fields: Any
) -> Claim:
    made = {"id": content_id(text), "spans": ((0, len(text)),), "worthiness": worthiness}
    return Claim(**{"text": text, **made, **fields})


def check_claims(answer: str, claims: Sequence[Claim]) -> None:
    """What every segmenter promises, whatever it was given."""
    normal = [(" ".join(one.text.casefold().split()), one.context) for one in claims]
    assert len(set(normal)) == len({one.id for one in claims}) == len(claims)
    for one in claims:
        assert any(character.isalnum() for character in one.text)
        assert one.text == one.text.strip()
        assert all(0 <= start < end <= len(answer) for start, end in one.spans)
        if one.spans:
            assert one.sentence is not None
            assert 0 <= one.sentence[0] < one.sentence[1] <= len(answer)


def evidence(
    c: Claim, entailed: float, contradicted: float, relation: str, **fields: Any
) -> Evidence:
    p = Probabilities(
        entailed=entailed, contradicted=contradicted, no_relation=1 - entailed - contradicted
    )
    made = {
        "page_id": "p",
        "start": 0,
        "end": 4,
        "text": "text",
        "similarity": 0.5,
        "sentence": (0, 4),
    }
    return Evidence(
        **{**made, "claim_id": c.id, "relation": relation, "probabilities": p, **fields}
    )


def verdict(of: Claim, label: Label = "supported", confidence: float = 0.9) -> Verdict:
    return Verdict(claim_id=of.id, label=label, confidence=confidence, reason="because")


def assessment(of: Claim, label: AnalystLabel | None, note: str = "") -> AnalystVerdict:
    """Return an assessment of a claim by the analyst."""
    return AnalystVerdict(
        claim_id=of.id, statement=of.statement, label=label, badge=None, note=note, at=""
    )


def judged(*claims: tuple[Claim, Label], answer: str = "", **fields: Any) -> Report:
    """A report of claims, each with a verdict."""
    verdicts = tuple(verdict(one, label) for one, label in claims)
    return report(answer, claims=tuple(one for one, _ in claims), verdicts=verdicts, **fields)


def labels(report: Report) -> dict[str, Label]:
    """The label of each claim by its text."""
    texts = {claim.id: claim.text for claim in report.claims}
    return {texts[verdict.claim_id]: verdict.label for verdict in report.verdicts}


def json_lines(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON Lines, which may hold other ends of lines."""
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def both(threshold: float) -> DecisionPolicy:
    """The same threshold for support and for contradiction."""
    return DecisionPolicy(threshold, threshold)


def comparable(report: Report) -> str:
    """report.json without what differs between equal runs: id, times, and how much came from the
    cache.
    """
    usage = report.usage.model_copy(update={"cached_pairs": 0})
    return report.model_copy(
        update={"id": "", "created_at": "", "timings": {}, "usage": usage}
    ).to_json()


def save_run(store: Store, report: Report) -> None:
    """Save a finished run."""
    store.runs.start(report)
    store.runs.finish(report)


def save_version(store: Store, report: Report, claim_id: str) -> None:
    """Save a report as a version of its run, as an edit of one claim does."""
    change = Reword(claim_id=claim_id, text=report.claims[0].text)
    edit = Edit(at=report.created_at, change=change, claims=(claim_id,))
    shown = store.runs.shown_version(report.id)
    edited = report.model_copy(update={"edits": (edit,)})
    store.runs.save_edit(edited, Provenance(), shown)
