"""Two answers: what both say, what only one says, where they disagree, and which of the two the
sources support.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import streamlit as st

from attribution.events import Event, RunStarted
from attribution.reports import html
from attribution.reports.html import el, plural
from attribution.reports.trail import date
from attribution.settings import LIMITS, ROOT
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
from attribution.text.markdown import escape_markdown
from attribution.types import UNCHECKED, Claim, Report
from pages.ui import choices, frame, run_results, state
from pages.ui.answer_view import requested_place, source_dialog, view
from pages.ui.background import Work
from pages.ui.compare.results import claim_data, look_of
from pages.ui.components import answer_pair, claim_rows, link
from pages.ui.files import downloads
from pages.ui.form import Examples, question_field
from pages.ui.frame import note, plot, show
from pages.ui.job_page import JobPage
from pages.ui.options import source_row
from pages.ui.run import RunProgress, blank, follow, preload
from pages.ui.run_results import not_used, status, what_failed
from pages.ui.state import store, unowned_store

NAMES = ("Answer A", "Answer B")
SIDES: tuple[Literal["first", "second"], ...] = ("first", "second")
EXAMPLE = "answers_example"
Compare = Callable[[str, str, str, threading.Event], Iterator[Event | TwoAnswersReady]]


@dataclass(frozen=True)
class AnswersProgress(RunProgress):
    """A run over the claims of both answers at one moment."""

    answers: tuple[str, str] = ("", "")
    ready: TwoAnswersReady | None = None  # None until all claims are known

    @property
    def result(self) -> TwoAnswers | None:
        """Return the comparison with the verdicts so far."""
        if self.ready is None or self.ready.finished:
            return self.ready.result if self.ready else None
        return with_report(self.ready.result, self.report)


def read(database: Store, id: str) -> AnswersProgress | None:
    """Load a saved comparison."""
    if (result := load_answers(database, id)) is None:
        return None
    answers, ready = (
        (result.first.answer, result.second.answer),
        TwoAnswersReady(result, finished=True),
    )
    return AnswersProgress(
        result.first, id, accepted=True, running=False, answers=answers, ready=ready
    )


JOB = JobPage("answers", "comparison", read)


def open_result(id: str) -> None:
    """Show the comparison in the address, and fill in its form."""
    if now := JOB.open(id):
        choices.restore(now.report.model_copy(update={"answer": now.answers[0]}))
        state.fill(second=now.answers[1])
        if not now.running:
            JOB.remember(replace(now, documents=choices.documents()))  # as the form has them now


def work(
    initial: AnswersProgress, compare: Compare, save: Callable[[TwoAnswers], None]
) -> Work[AnswersProgress]:
    """Compare the answers, and save the result when it is finished."""

    def compared(event: Event | TwoAnswersReady) -> Mapping[str, object] | None:
        match event:
            case RunStarted():
                return {}  # the comparison has an address of its own
            case TwoAnswersReady():
                if event.finished:
                    save(event.result)
                return {"ready": event}
        return None

    def compare_both(stop: threading.Event, update: Callable[..., AnswersProgress]) -> None:
        follow(compare(initial.report.question, *initial.answers, stop), initial, update, compared)

    return compare_both


def start() -> None:
    """Compare the answers in the form."""
    settings, documents, context = choices.settings(), choices.documents(), choices.turns()
    if isinstance(settings, str):
        return
    question, *answers = (
        state.value(name) or "" for name in (state.QUESTION, state.ANSWER, state.SECOND)
    )
    id, browser, database, parts = new_run_id(), state.browser(), store(), unowned_store()

    def compare(
        question: str, first: str, second: str, stop: threading.Event
    ) -> Iterator[Event | TwoAnswersReady]:
        from attribution.pipeline.run import in_turn

        going = partial(
            compare_answers, question, first, second, settings, parts, documents, stop, context
        )
        return in_turn(browser, stop, going)

    report = blank(question, answers[0], settings)
    initial = AnswersProgress(report, id, documents=documents, answers=(answers[0], answers[1]))
    JOB.launch(
        initial, work(initial, compare, partial(save_answers, database, id)), id, lasting=True
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


def form(running: bool) -> None:
    """Draw the question, both answers and the buttons."""
    compact = running or JOB.current() is not None
    help = "Fill in a question with two answers that the built-in library covers."
    with st.container(key="form"):
        question_field(
            "The question that both answer (optional)",
            "It helps to understand claims that depend on it.",
            Examples(EXAMPLE, examples(), choose_example, help),
        )
        for column, name, label in zip(
            st.columns(2), (state.ANSWER, state.SECOND), NAMES, strict=True
        ):
            column.text_area(
                label,
                state.initial(name) or "",
                key=state.key(name),
                height=168 if compact else 300,
                placeholder="Paste an answer to the question",
                help="Its claims are checked against the sources and compared with those of the other answer.",
                max_chars=LIMITS.answer,
            )
        with st.container(
            key="form_row", horizontal=True, vertical_alignment="center", gap="small"
        ):
            source_row()
            JOB.buttons("Compare", start, running, choices.is_ready())
        if isinstance(problem := choices.settings(), str):
            note("Not ready yet", problem)


def result(now: AnswersProgress) -> None:
    """Draw the disagreements first, then both answers, then what they share."""
    found = now.result and recolour_answers(now.result, choices.policy(now.result.report))
    with st.container(key="outcome"):  # what follows keeps its place, and is not drawn anew
        outcome(now, found)
    if found is None:
        return
    against = disagreements(found, now.running)
    with st.container(key="against"):
        if against["groups"]:
            claim_rows(against, key="answers_against")
    clicked = answer_pair(pair(found, run=now.key, running=now.running), key="answers_pair")
    claim_rows(others(found, now.running), key="answers_others")
    if now.running:
        return
    what_failed(found.report.failures)
    downloads(
        {
            "Markdown": (as_markdown(found), "answers.md", "text/markdown"),
            "JSON": (as_json(found), "answers.json", "application/json"),
        }
    )
    if place := requested_place(found.report, clicked):
        source_dialog(*place)


def outcome(now: AnswersProgress, found: TwoAnswers | None) -> None:
    """Draw how far it is, or what was found."""
    if now.rejected:
        note(
            "These answers cannot be compared",
            now.rejected,
            label="contradicted",
            detail=now.detail,
        )
    elif found and not (now.running or now.error) and (changed := differences(now)):
        note(
            "These results are for an earlier version",
            f"Changed since: {', '.join(changed)}. Compare again.",
        )
    if now.running:
        status(now, now.report)
    elif found:
        early = "Stopped early; the results so far are kept. " if found.report.stopped else ""
        show(el("p", early + summary(found), class_="ax-status", role="status"))
        if found.report.created_at:
            link(
                f"{choices.method(found.report)}, {date(found.report.created_at)}",
                **state.address(JOB.name),
            )
        named = list(zip(NAMES, (found.first, found.second), strict=True))
        plot(run_results.bars(named, state.is_dark()), "answers_chart", summary(found))
        not_used(found.report)


def differences(now: AnswersProgress) -> list[str]:
    """Return the inputs that have changed since a comparison, as named in the form."""
    report = now.report.model_copy(update={"answer": now.answers[0]})
    changed = [
        "Answer A" if name == "Answer" else name
        for name in choices.differences(report, now.documents)
    ]
    return changed + (["Answer B"] if (state.value(state.SECOND) or "") != now.answers[1] else [])


# --- in words ---


def agreement(match: Match, side: int) -> str:
    """Describe how the other answer treats a claim of this one, as in “Answer B says the same”."""
    more = ("first_more", "second_more")[1 - side] == match.agreement
    words = {
        "contradiction": "contradicts it",
        "same": "says the same",
        "overlap": "says part of it, and something else",
    }
    return words.get(match.agreement, "says more" if more else "says part of it")


def extent(match: Match) -> str:
    """State which of the two says more; empty if they say the same."""
    return {
        "first_more": f"{NAMES[0]} says more.",
        "second_more": f"{NAMES[1]} says more.",
        "overlap": "Each says something that the other does not.",
    }.get(match.agreement, "")


def disagreement(match: Match, result: TwoAnswers, running: bool) -> str:
    """Describe how two answers differ, and which one the sources support."""
    first, second = (" and ".join(f"“{text}”" for text in words) for words in match.differs)
    what = f"{NAMES[0]} says {first}, {NAMES[1]} says {second}. " if first and second else ""
    if not result.decided(match):
        return what + (
            "The sources are still being read."
            if running
            else "The sources were not read for both claims."
        )
    return (
        what
        + {
            "first": f"The sources support {NAMES[0]}.",
            "second": f"The sources support {NAMES[1]}.",
            "both": "The sources support both. Read the passages.",
            "neither": "The sources support neither. Read the passages.",
        }[result.supported(match)]
    )


def as_markdown(result: TwoAnswers) -> str:
    """Return the whole comparison as Markdown: disagreements, claims of both answers, claims of
    only one.
    """
    out = ["# Two answers", ""]
    if result.report.question.strip():
        out += [f"Question: {escape_markdown(result.report.question)}", ""]
    out += [escape_markdown(summary(result)), ""]
    if result.contradictions:
        out += ["## Where they disagree", ""]
        for match in result.contradictions:
            out += [
                escape_markdown(disagreement(match, result, False)),
                "",
                *_both(match, result),
                "",
            ]
    if result.agreements:
        out += ["## Both say", ""]
        for match in result.agreements:
            out += [
                *([escape_markdown(words), ""] if (words := extent(match)) else []),
                *_both(match, result),
                "",
            ]
    for name, report, alone in (
        (NAMES[0], result.first, result.alone("first")),
        (NAMES[1], result.second, result.alone("second")),
    ):
        if alone:
            out += [f"## Only {name} says", "", *_lines(alone, report), ""]
    return "\n".join(out)


def _both(match: Match, result: TwoAnswers) -> Iterator[str]:
    for name, report, ids in (
        (NAMES[0], result.first, match.first),
        (NAMES[1], result.second, match.second),
    ):
        yield from _lines([c for c in report.claims if c.id in ids], report, f"{name}: ")


def _lines(claims: Sequence[Claim], report: Report, before: str = "") -> Iterator[str]:
    verdicts = {v.claim_id: v for v in report.verdicts}
    for claim in claims:
        look = look_of(verdicts.get(claim.id), report)
        yield f"- {before}{look.icon} {look.word}: {escape_markdown(claim.statement)}"


def as_json(result: TwoAnswers) -> str:
    """Return everything in the form of the command `answers`."""
    return json.dumps(json_data(result), ensure_ascii=False, indent=1)


def summary(result: TwoAnswers) -> str:
    """Summarise the comparison in a few sentences."""
    parts = [
        f"{name}: {_counts(report)}."
        for name, report in zip(NAMES, (result.first, result.second), strict=True)
    ]
    against = result.contradictions
    if not against:
        parts.append("No contradiction between the two was found.")
    else:
        parts.append(
            f"They disagree in {plural(len(against), 'place')}{_backing(result, against)}."
        )
    return " ".join(parts)


def _counts(report: Report) -> str:
    verdicts = {v.claim_id: v.label for v in report.verdicts}
    checked: Sequence[Claim] = [
        c for c in report.claims if verdicts.get(c.id, "not_reached") not in UNCHECKED
    ]
    supported = sum(verdicts[c.id] == "supported" for c in checked)
    contradicted = sum(verdicts[c.id] == "contradicted" for c in checked)
    also = f", {contradicted} contradicted" if contradicted else ""
    return f"{supported} of {plural(len(checked), 'checked claim')} supported{also}"


def _backing(result: TwoAnswers, matches: Sequence[Match]) -> str:
    """State which answer the sources support in these disagreements."""
    sides = [result.supported(m) for m in matches if result.decided(m)]
    found = [
        (name, sides.count(side)) for name, side in zip(NAMES, SIDES, strict=True) if side in sides
    ]
    if len(matches) == 1 and found:
        return f", where the sources support {found[0][0]}"
    counted = " and ".join(f"{name} in {count}" for name, count in found)
    return f"; the sources support {counted} of them" if counted else ""


# --- side by side ---


def pair(result: TwoAnswers, *, run: str, running: bool) -> dict[str, object]:
    """Return plain data for the component."""
    partners: dict[str, list[str]] = {}
    for match in result.matches:
        for own, others in ((match.first, match.second), (match.second, match.first)):
            for claim in own:
                partners.setdefault(claim, []).extend(others)
    sides = []
    for number, report in enumerate((result.first, result.second)):
        data = view(report, run=f"{run}-{number}", running=running)
        data["panels"] = {
            i: _panel(panel, i, number, result) for i, panel in data["panels"].items()
        }
        data["first"] = ""  # select nothing before a click: two panels would open at once
        sides.append(data)
    return {"names": list(NAMES), "sides": sides, "partners": partners}


def _panel(panel: list[object], claim: str, side: int, result: TwoAnswers) -> list[object]:
    """Add the other answer's matching claims to a panel of Explore."""
    texts = {c.id: c.statement for c in result.report.claims}
    notes = []
    for match in result.matches:
        own, others = (match.first, match.second)[:: -1 if side else 1]
        if claim in own:
            quoted = " ".join(f"“{texts[i]}”" for i in others if i in texts)
            words = f"{NAMES[1 - side]} {agreement(match, side)}: "
            notes.append(
                html.data(el("p", words, el("span", quoted, dir="auto"), class_="reason other"))
            )
    head, text, *rest = panel[2:]
    return [panel[0], panel[1], head, text, *notes, *rest]


Row = dict[str, object]
Groups = dict[str, list[str] | list[Row]]


def disagreements(result: TwoAnswers, running: bool) -> Groups:
    """Return the claims that contradict each other, for `claim_rows`."""
    rows = [
        _row(f"c{n}", disagreement(match, result, running), match, result, running)
        for n, match in enumerate(result.contradictions)
    ]
    return {
        "names": list(NAMES),
        "groups": [_group("Where they disagree", rows, False)] if rows else [],
    }


def others(result: TwoAnswers, running: bool) -> Groups:
    """Return the claims that both answers make, and those of only one, for `claim_rows`."""
    both = [
        _row(f"b{n}", extent(match), match, result, running)
        for n, match in enumerate(result.agreements)
    ]
    groups = [_group("Both say", both, True)] if both else []
    pages = {p.id: p for p in result.report.pages}
    for side, name, report in zip(SIDES, NAMES, (result.first, result.second), strict=True):
        rows: list[Row] = [
            {
                "key": f"{side}{n}",
                "pieces": [""],
                "bare": True,
                "cells": [[claim_data(c, report, pages, (), running)]],
            }
            for n, c in enumerate(result.alone(side))
        ]
        if rows:
            groups.append(_group(f"Only {name} says", rows, True))
    return {"names": list(NAMES), "groups": groups}


def _group(title: str, rows: list[Row], folded: bool) -> Row:
    return {"title": f"{title} · {len(rows)}", "folded": folded, "rows": rows}


def _row(key: str, note: str, match: Match, result: TwoAnswers, running: bool) -> Row:
    pages = {p.id: p for p in result.report.pages}
    cells = [
        [claim_data(c, report, pages, (), running) for c in report.claims if c.id in ids]
        for report, ids in ((result.first, match.first), (result.second, match.second))
    ]
    return {"key": key, "pieces": [note], "bare": not note, "cells": cells}


if __name__ == "__main__":
    frame.begin(
        "answers",
        "Compare two answers",
        "Check the [claims] of two answers to one question against the same [sources], and see where they disagree and "
        "which one the sources support.",
        answers=open_result,
    )
    JOB.draw(form, result)
    preload()
