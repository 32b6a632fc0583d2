"""Compare two checked answers to one question."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import TypeAdapter

from attribution import events
from attribution.embedders import EMBEDDERS
from attribution.evidence import GatherStep
from attribution.pipeline.experiment import Fields
from attribution.pipeline.run import run
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.answers.agreement import Match, align
from attribution.types import UNCHECKED, Claim, Label, Page, Report, Turn
from attribution.verifiers import VERIFIERS
from attribution.verifiers.pairs import CachedVerifier

Side = Literal["first", "second", "both", "neither"]
One = Literal["first", "second"]
SIDES: tuple[One, ...] = ("first", "second")


@dataclass(frozen=True)
class TwoAnswers:
    """The reports of two answers, and how their claims relate."""

    first: Report
    second: Report
    matches: tuple[Match, ...]

    @property
    def contradictions(self) -> tuple[Match, ...]:
        return tuple(m for m in self.matches if m.agreement == "contradiction")

    @property
    def agreements(self) -> tuple[Match, ...]:
        return tuple(m for m in self.matches if m.agreement != "contradiction")

    def report(self, side: One) -> Report:
        """Return the report of one answer."""
        return self.first if side == "first" else self.second

    def labels(self, side: One, match: Match) -> list[Label]:
        """Return the verdicts on the match's claims of one answer."""
        labels = {verdict.claim_id: verdict.label for verdict in self.report(side).verdicts}
        ids = match.first if side == "first" else match.second
        return [labels.get(claim_id, "not_reached") for claim_id in ids]

    def alone(self, side: One) -> tuple[Claim, ...]:
        """Return the checked claims of one answer that the other neither states nor contradicts."""
        matched = {claim_id for match in self.matches for claim_id in getattr(match, side)}
        return tuple(c for c in self.report(side).claims if c.checked and c.id not in matched)

    def supported(self, match: Match) -> Side | None:
        """Return the side that the sources support; None if a claim was not compared with them."""
        first, second = (self.labels(side, match) for side in SIDES)
        if any(label in UNCHECKED for label in (*first, *second)):
            return None
        is_first, is_second = set(first) == {"supported"}, set(second) == {"supported"}
        if is_first:
            return "both" if is_second else "first"
        return "second" if is_second else "neither"


def compare_reports(first: Report, second: Report, settings: Settings, store: Store) -> TwoAnswers:
    """Compare two answers that have been checked; their pages and verdicts stay as they are."""
    verifier = CachedVerifier(VERIFIERS.build(settings.verifier, settings), store)
    embedder = EMBEDDERS.build(settings.embedder, settings)
    return TwoAnswers(first, second, align(first, second, embedder, verifier))


@dataclass(frozen=True)
class _GivenPages:
    """An evidence source with the same pages for every claim."""

    pages: tuple[Page, ...]

    def gather(
        self, claims: Sequence[Claim], question: str, stop: threading.Event
    ) -> Iterator[GatherStep]:
        ids = tuple(claim.id for claim in claims)
        yield GatherStep("fetch", 1, 1, claim_ids=ids, pages=self.pages, complete=ids)


def compare_answers(
    question: str,
    first: str,
    second: str,
    settings: Settings,
    store: Store,
    context: Sequence[Turn] = (),
) -> TwoAnswers:
    """Check two answers, and then both against the pages that were found for either.

    Args:
        context: The conversation before the question.

    Raises:
        BadInput: An answer is empty, too long or not text.
    """
    pages: dict[str, Page] = {}
    for answer in (first, second):
        report = _finished(run(question, answer, settings, store, context=context))
        pages |= {page.id: page for page in report.pages}
    source = _GivenPages(tuple(pages.values()))
    reports: list[Report] = []
    for answer in (first, second):
        steps = run(question, answer, settings, store, source=source, context=context)
        reports.append(_finished(steps))
    return compare_reports(reports[0], reports[1], settings, store)


def _finished(steps: Iterator[events.Event]) -> Report:
    *_, last = steps
    assert isinstance(last, events.Finished)
    return last.report


def json_data(result: TwoAnswers) -> Fields:
    """Return JSON-serialisable data: both reports without the texts of their pages, the matches
    with the side that the sources support, and what only one answer says.
    """
    matches: list[Fields] = TypeAdapter(tuple[Match, ...]).dump_python(result.matches, mode="json")
    for match, fields in zip(result.matches, matches, strict=True):
        fields["supported"] = result.supported(match)
    data: Fields = {"matches": matches}
    for side in SIDES:
        report = result.report(side)
        data[side] = report.model_dump(mode="json", exclude={"pages": {"__all__": {"text"}}})
        data[f"only_{side}"] = [claim.id for claim in result.alone(side)]
    return data
