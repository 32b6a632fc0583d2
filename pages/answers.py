"""Two answers: what both say, what only one says, where they disagree, and which of the two the
sources support.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import streamlit as st

from attribution.events import Event
from attribution.reports.html import plural
from attribution.settings import ROOT
from attribution.store.runs import new_run_id
from attribution.store.store import Store
from attribution.studies.answers.agreement import Match
from attribution.studies.answers.two_answers import (
    TwoAnswers,
    TwoAnswersReady,
    compare_answers,
    json_data,
    load_answers,
    recolour_answers,
    save_answers,
    with_report,
)
from attribution.types import UNCHECKED, Claim, Report
from pages.ui import choices, frame, state
from pages.ui.components import claim_rows
from pages.ui.downloads import File, downloads
from pages.ui.form import Examples, form
from pages.ui.frame import note
from pages.ui.job_page import JobPage
from pages.ui.run_control import RunProgress, blank, comparison_work, preload
from pages.ui.run_results import comparison_outcome, status, what_failed
from pages.ui.segmenter_columns import Row, claim_data
from pages.ui.state import store, unowned_store

NAMES = ("Answer A", "Answer B")
SIDES: tuple[Literal["first", "second"], ...] = ("first", "second")
EXAMPLE = "answers_example"
AnswersEvent = Event | TwoAnswersReady


@dataclass(frozen=True)
class AnswersProgress(RunProgress):
    """A run over the claims of both answers at one moment."""

    second: str = ""  # the other answer
    ready: TwoAnswersReady | None = None  # None until all claims are known

    @property
    def result(self) -> TwoAnswers | None:
        """Return the comparison with the verdicts so far."""
        if self.ready is None:
            return None
        if self.ready.finished:
            return self.ready.result
        return with_report(self.ready.result, self.report)


def read(database: Store, id: str) -> AnswersProgress | None:
    """Load a saved comparison."""
    result = load_answers(database, id)
    if result is None:
        return None
    return AnswersProgress(
        result.first,
        id,
        accepted=True,
        running=False,
        second=result.second.answer,
        ready=TwoAnswersReady(result, finished=True),
    )


JOB = JobPage("answers", "comparison", read)


def open_result(id: str) -> None:
    """Show the comparison in the address, and fill in its form."""
    now = JOB.open(id)
    if now:
        choices.restore(now.report)
        state.fill(second=now.second)


def start() -> None:
    """Compare the answers in the form."""
    settings = choices.settings()
    if isinstance(settings, str):
        return
    names = ("question", "answer", "second")
    question, first, second = (state.value(name) or "" for name in names)
    documents, turns = choices.documents(), choices.turns()
    browser, parts, id = state.browser(), unowned_store(), new_run_id()

    def events(stop: threading.Event) -> Iterator[AnswersEvent]:
        from attribution.pipeline.run import in_turn

        answers = (question, first, second)
        start = partial(
            compare_answers,
            *answers,
            settings,
            parts,
            documents,
            stop,
            turns,
        )
        return in_turn(browser, stop, start)

    report = blank(question, first, settings)
    initial = AnswersProgress(
        report,
        id,
        documents=documents,
        second=second,
    )
    database = store()

    def save(ready: TwoAnswersReady) -> None:
        save_answers(database, id, ready.result)

    work = comparison_work(events, TwoAnswersReady, save)
    JOB.launch(
        initial,
        work,
        id,
        lasting=True,
    )


# --- the page ---


@st.cache_data(show_spinner=False)
def examples() -> list[dict[str, str]]:
    """Return questions with two answers each, from the examples folder."""
    lines = (ROOT / "examples" / "pairs.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def choose_example() -> None:
    """Fill in an example with the sources it is meant for."""
    example = examples()[int(st.session_state[EXAMPLE])]
    state.fill(
        question=example["question"], turns="", answer=example["first"], second=example["second"]
    )
    choices.fill_sources(example["sources"])


def draw_form(running: bool) -> None:
    """Draw the question, both answers and the buttons."""
    help = "Fill in a question with two answers that the built-in library covers."
    form(
        start="Compare",
        on_start=start,
        job=JOB,
        compact=running or JOB.current() is not None,
        running=running,
        ready=choices.is_ready(),
        answers=dict(zip(NAMES, ("answer", "second"), strict=True)),
        examples=Examples(EXAMPLE, examples(), choose_example, help),
    )


def result(now: AnswersProgress) -> None:
    """Draw the disagreements first, then what both say, then what only one says."""
    comparison = now.result
    if comparison:
        comparison = recolour_answers(comparison, choices.policy(comparison.report))
    with st.container(key="outcome"):  # what follows keeps its place, and is not drawn anew
        outcome(now, comparison)
    if comparison is None:
        return
    against = disagreements(comparison, now.running)
    with st.container(key="against"):
        if against["groups"]:
            claim_rows(against, key="answers_against")
    claim_rows(shared_and_alone(comparison, now.running), key="answers_others")
    if now.running:
        return
    what_failed(comparison.report.failures)
    data = json.dumps(json_data(comparison), ensure_ascii=False, indent=1)
    downloads({"JSON": File(data, "answers.json", "application/json")})


def outcome(now: AnswersProgress, comparison: TwoAnswers | None) -> None:
    """Draw how far it is, or what was found."""
    if now.rejected:
        title = "These answers cannot be compared"
        note(
            title,
            now.rejected,
            label="contradicted",
            detail=now.detail,
        )
    elif now.running:
        status(now, now.report)
    elif comparison:
        comparison_outcome(summary(comparison), comparison.report, JOB.name)


# --- in words ---


def extent(match: Match) -> str:
    """State which of the two says more; empty if they say the same."""
    words = {
        "first_more": f"{NAMES[0]} says more.",
        "second_more": f"{NAMES[1]} says more.",
        "overlap": "Each says something that the other does not.",
    }
    return words.get(match.agreement, "")


def disagreement(match: Match, result: TwoAnswers, running: bool) -> str:
    """Describe how two answers differ, and which one the sources support."""
    first, second = (" and ".join(f"“{text}”" for text in words) for words in match.differs)
    what = f"{NAMES[0]} says {first}, {NAMES[1]} says {second}. " if first and second else ""
    if not result.decided(match):
        state = "are still being read" if running else "were not read for both claims"
        return f"{what}The sources {state}."
    support = {
        "first": f"support {NAMES[0]}.",
        "second": f"support {NAMES[1]}.",
        "both": "support both. Read the passages.",
        "neither": "support neither. Read the passages.",
    }
    return f"{what}The sources {support[result.supported(match)]}"


def summary(result: TwoAnswers) -> str:
    """Summarise the comparison in a few sentences."""
    reports = zip(NAMES, (result.first, result.second), strict=True)
    parts = [f"{name}: {_counts(report)}." for name, report in reports]
    against = result.contradictions
    if against:
        places = plural(len(against), "place")
        parts.append(f"They disagree in {places}{_backing(result, against)}.")
    else:
        parts.append("No contradiction between the two was found.")
    return " ".join(parts)


def _counts(report: Report) -> str:
    verdicts = {v.claim_id: v.label for v in report.verdicts}
    labels = [verdicts.get(claim.id, "not_reached") for claim in report.claims]
    checked = [label for label in labels if label not in UNCHECKED]
    contradicted = checked.count("contradicted")
    also = f", {contradicted} contradicted" if contradicted else ""
    supported = checked.count("supported")
    return f"{supported} of {plural(len(checked), 'checked claim')} supported{also}"


def _backing(result: TwoAnswers, matches: Sequence[Match]) -> str:
    """State which answer the sources support in these disagreements."""
    sides = [result.supported(match) for match in matches if result.decided(match)]
    named = zip(NAMES, SIDES, strict=True)
    counts = [(name, sides.count(side)) for name, side in named if side in sides]
    if len(matches) == 1 and counts:
        return f", where the sources support {counts[0][0]}"
    counted = " and ".join(f"{name} in {count}" for name, count in counts)
    return f"; the sources support {counted} of them" if counted else ""


# --- the rows ---


def disagreements(result: TwoAnswers, running: bool) -> Row:
    """Return the claims that contradict each other, for `claim_rows`."""
    rows = [
        _row(
            f"c{n}",
            disagreement(match, result, running),
            match,
            result,
            running,
        )
        for n, match in enumerate(result.contradictions)
    ]
    groups = [_group("Where they disagree", rows, False)] if rows else []
    return {"names": list(NAMES), "groups": groups}


def shared_and_alone(result: TwoAnswers, running: bool) -> Row:
    """Return the claims that both answers make, and those of only one, for `claim_rows`."""
    both = [
        _row(
            f"b{n}",
            extent(match),
            match,
            result,
            running,
        )
        for n, match in enumerate(result.agreements)
    ]
    groups = [_group("Both say", both, True)] if both else []
    pages = {page.id: page for page in result.report.pages}
    for side, name, report in zip(
        SIDES,
        NAMES,
        (result.first, result.second),
        strict=True,
    ):
        rows: list[Row] = []
        for claim in result.alone(side):
            cell = claim_data(
                claim,
                report,
                pages,
                running=running,
            )
            rows.append({"key": claim.id, "pieces": [""], "bare": True, "cells": [[cell]]})
        if rows:
            groups.append(_group(f"Only {name} says", rows, True))
    return {"names": list(NAMES), "groups": groups}


def _group(title: str, rows: list[Row], folded: bool) -> Row:
    return {"title": f"{title} · {len(rows)}", "folded": folded, "rows": rows}


def _row(key: str, note: str, match: Match, result: TwoAnswers, running: bool) -> Row:
    pages = {page.id: page for page in result.report.pages}

    def cells(report: Report, ids: Sequence[str]) -> list[Row]:
        claims: list[Claim] = [claim for claim in report.claims if claim.id in ids]
        return [
            claim_data(
                claim,
                report,
                pages,
                running=running,
            )
            for claim in claims
        ]

    both = [cells(result.first, match.first), cells(result.second, match.second)]
    return {"key": key, "pieces": [note], "bare": not note, "cells": both}


if __name__ == "__main__":
    frame.begin(
        "answers",
        "Compare two answers",
        "Check the [claims] of two answers to one question against the same [sources], and see "
        "where they disagree and which one the sources support.",
        answers=open_result,
    )
    JOB.draw(draw_form, result)
    preload()
