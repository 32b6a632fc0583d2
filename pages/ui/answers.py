"""Build the parts of the Two answers page: job, saved state, answers side by side, download."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from attribution.events import Event, RunStarted
from attribution.reports import html
from attribution.reports.html import el, plural
from attribution.settings import ROOT, Settings
from attribution.store.runs import new_run_id
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
from attribution.types import UNCHECKED, Claim, Document, Report
from pages.ui import background, choices, state
from pages.ui.answer_view import SCRIPTS, STYLES, view
from pages.ui.compare_results import claim_data, look_of
from pages.ui.run import RunJob, RunProgress
from pages.ui.slot import Slot, store, unowned_store

NAMES = ("Answer A", "Answer B")
SIDES: tuple[Literal["first", "second"], ...] = ("first", "second")


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
        return what + ("The sources are still being read." if running else "The sources were not read for both.")
    return (
        what
        + {
            "first": f"The sources support {NAMES[0]}.",
            "second": f"The sources support {NAMES[1]}.",
            "both": "The sources support both: read the passages.",
            "neither": "The sources support neither: read the passages.",
        }[result.supported(match)]
    )


CompareAnswers = Callable[[str, str, str, threading.Event], Iterator[Event | TwoAnswersReady]]


@dataclass(frozen=True)
class AnswersProgress:
    """The state of a comparison of two answers at one moment."""

    run: RunProgress  # of all claims together
    result: TwoAnswers | None = None  # with the verdicts so far; None until all claims are known

    @property
    def running(self) -> bool:
        return self.run.running


class AnswersJob:
    """A run over the claims of both answers, saved under its id when it ends."""

    def __init__(
        self,
        id: str,
        question: str,
        answers: tuple[str, str],
        settings: Settings,
        documents: Sequence[Document],
        compare: CompareAnswers,
        save: Callable[[TwoAnswers], None],
    ) -> None:
        self.id, self.question, self.answers = id, question, answers
        self._ready: TwoAnswersReady | None = None  # replaced as a whole, and only by the job's thread

        def run(
            question: str, _answer: str, _settings: Settings, _documents: Sequence[Document], stop: threading.Event
        ) -> Iterator[Event]:
            for event in compare(question, *answers, stop):
                match event:
                    case RunStarted():
                        pass  # the comparison has an address of its own
                    case TwoAnswersReady():
                        self._ready = event
                        if event.finished:
                            save(event.result)
                    case _:
                        yield event

        self._job = RunJob(question, answers[0], settings, documents, run)
        background.register(id, self)

    def stop(self) -> None:
        """Ask the run to end with the verdicts it has."""
        self._job.stop()

    @property
    def running(self) -> bool:
        return self._job.running

    def progress(self) -> AnswersProgress:
        ready, run = self._ready, self._job.progress()
        if ready is None or ready.finished:
            return AnswersProgress(run, ready.result if ready else None)
        return AnswersProgress(run, with_report(ready.result, run.report))


EXAMPLE = "answers_example"
ANSWERS = Slot[AnswersJob, AnswersProgress]("answers")
is_running, notice = ANSWERS.is_running, ANSWERS.notice


@st.cache_data(show_spinner=False)
def examples() -> list[dict[str, Any]]:
    """Return questions with two answers each, from the examples folder."""
    lines = (ROOT / "examples" / "pairs.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def choose_example() -> None:
    """Fill in an example with the sources it is meant for."""
    example = examples()[int(st.session_state[EXAMPLE])]
    state.fill(question=example["question"], turns="", answer=example["first"], second=example["second"])
    choices.fill_sources(example["sources"])


def texts() -> tuple[str, str, str]:
    """Return the question and both answers in the form."""
    question, first, second = (state.value(name) or "" for name in (state.QUESTION, state.ANSWER, state.SECOND))
    return question, first, second


def is_ready() -> bool:
    """Return True if a comparison can be started."""
    return not isinstance(choices.settings(), str) and not choices.turns_problem()


def start() -> None:
    """Compare the answers in the form."""
    settings, documents = choices.settings(), choices.documents()
    if isinstance(settings, str) or is_running():
        return
    browser, (question, *answers), context = state.browser(), texts(), choices.turns()
    id, database, parts = new_run_id(), store(), unowned_store()

    def compare(question: str, first: str, second: str, stop: threading.Event) -> Iterator[Event | TwoAnswersReady]:
        from attribution.run.run import in_turn

        going = partial(compare_answers, question, first, second, settings, parts, documents, stop, context)
        return in_turn(browser, stop, going)

    save = partial(save_answers, database, id)
    ANSWERS.start(AnswersJob(id, question, (answers[0], answers[1]), settings, documents, compare, save))


def load(id: str) -> None:
    """Show the comparison in the address, saved or in progress, and fill in its form."""
    if job := ANSWERS.running(id):
        blank = job.progress().run.report
        _restore(blank.model_copy(update={"question": job.question, "answer": job.answers[0]}), job.answers[1])
    elif result := ANSWERS.saved(lambda database: load_answers(database, id)):
        _restore(result.first, result.second.answer)
        run = RunProgress(result.report, id, accepted=True, running=False, documents=choices.documents())
        ANSWERS.show(AnswersProgress(run, result))


def _restore(report: Report, second: str) -> None:
    choices.restore(report)
    state.fill(second=second)


def current() -> AnswersProgress | None:
    """Return the comparison to show, with the thresholds of the sliders."""
    job = ANSWERS.job()
    now = job.progress() if job else ANSWERS.shown()
    if job:
        state.show_address(answers=job.id)
    if now is None or now.result is None:
        return now
    return replace(now, result=recolour_answers(now.result, choices.thresholds()))


def differences(now: AnswersProgress) -> list[str]:
    """Return the inputs that have changed since a comparison, as named in the form."""
    if now.result is None:
        return []
    changed = choices.differences(now.result.first, now.run.documents)
    names = {"Answer": "Answer A"}
    second = ["Answer B"] if texts()[2] != now.result.second.answer else []
    return [names.get(label, label) for label in changed] + second


def as_markdown(result: TwoAnswers) -> str:
    """Return the whole comparison as Markdown: disagreements, claims of both answers, claims of only one."""
    out = ["# Two answers", ""]
    if result.report.question.strip():
        out += [f"Question: {escape_markdown(result.report.question)}", ""]
    out += [escape_markdown(summary(result)), ""]
    if result.contradictions:
        out += ["## Where they disagree", ""]
        for match in result.contradictions:
            out += [escape_markdown(disagreement(match, result, False)), "", *_both(match, result), ""]
    if result.agreements:
        out += ["## Both say", ""]
        for match in result.agreements:
            out += [*([escape_markdown(words), ""] if (words := extent(match)) else []), *_both(match, result), ""]
    for name, report, alone in (
        (NAMES[0], result.first, result.alone("first")),
        (NAMES[1], result.second, result.alone("second")),
    ):
        if alone:
            out += [f"## Only {name} says", "", *_lines(alone, report), ""]
    return "\n".join(out)


def _both(match: Match, result: TwoAnswers) -> Iterator[str]:
    for name, report, ids in ((NAMES[0], result.first, match.first), (NAMES[1], result.second, match.second)):
        yield from _lines([c for c in report.claims if c.id in ids], report, f"{name}: ")


def _lines(claims: Sequence[Claim], report: Report, before: str = "") -> Iterator[str]:
    verdicts = {v.claim_id: v for v in report.verdicts}
    for claim in claims:
        look = look_of(verdicts.get(claim.id))
        yield f"- {before}{look.icon} {look.word}: {escape_markdown(claim.statement)}"


def as_json(result: TwoAnswers) -> str:
    """Return everything in the form of the command `answers`."""
    return json.dumps(json_data(result), ensure_ascii=False, indent=1)


_STATIC = Path(__file__).parent / "static"
_SIDE = '<section class="side"><h3></h3><div class="root"></div></section>'
_pair = st.components.v2.component(
    "attribution.answers",
    html=f'<div class="pairs"><div class="pair">{_SIDE * 2}</div></div>',
    css=STYLES + (_STATIC / "answers.css").read_text("utf-8"),
    js=SCRIPTS + (_STATIC / "answers.js").read_text("utf-8"),
)


def pair_view(result: TwoAnswers, *, run: str, running: bool, key: str) -> Any:
    """Draw both answers; a claim's counterparts are highlighted with it. `open` has the clicked item."""

    def ignore() -> None:  # without a callback Streamlit reports no click
        pass

    return _pair(data=pair(result, run=run, running=running), key=key, on_open_change=ignore)


def pair(result: TwoAnswers, *, run: str, running: bool) -> dict[str, Any]:
    """Return plain data for the component."""
    partners: dict[str, list[str]] = {}
    for match in result.matches:
        for own, others in ((match.first, match.second), (match.second, match.first)):
            for claim in own:
                partners.setdefault(claim, []).extend(others)
    sides = []
    for number, report in enumerate((result.first, result.second)):
        data = view(report, run=f"{run}-{number}", running=running)
        data["panels"] = {i: _panel(panel, i, number, result) for i, panel in data["panels"].items()}
        data["first"] = ""  # select nothing before a click: two panels would open at once
        sides.append(data)
    return {"names": list(NAMES), "sides": sides, "partners": partners}


def _panel(panel: Any, claim: str, side: int, result: TwoAnswers) -> Any:
    """Add the other answer's matching claims to a panel of Explore."""
    texts = {c.id: c.statement for c in result.report.claims}
    said = []
    for match in result.matches:
        own, others = (match.first, match.second)[:: -1 if side else 1]
        if claim in own:
            quoted = " ".join(f"“{texts[i]}”" for i in others if i in texts)
            words = f"{NAMES[1 - side]} {agreement(match, side)}: "
            said.append(html.data(el("p", words, el("span", quoted, dir="auto"), class_="reason other")))
    head, text, *rest = panel[2:]
    return [panel[0], panel[1], head, text, *said, *rest]


# --- the rows ---


def disagreements(result: TwoAnswers, running: bool) -> dict[str, Any]:
    """Return the claims that contradict each other, for the component of the Compare page."""
    pages = {p.id: p for p in result.report.pages}
    rows = [
        _row(f"c{n}", disagreement(match, result, running), match, result, pages, running)
        for n, match in enumerate(result.contradictions)
    ]
    return {"names": list(NAMES), "groups": [_group("Where they disagree", rows, False)] if rows else []}


def others(result: TwoAnswers, running: bool) -> dict[str, Any]:
    """Return the claims that both answers make, and those of only one, for the same component."""
    pages = {p.id: p for p in result.report.pages}
    both = [_row(f"b{n}", extent(match), match, result, pages, running) for n, match in enumerate(result.agreements)]
    groups = [_group("Both say", both, True)] if both else []
    for number, side in enumerate(("first", "second")):
        alone = result.alone("first" if side == "first" else "second")
        report = result.second if number else result.first
        rows = [
            {"key": f"{side}{n}", "pieces": [""], "bare": True, "cells": [[claim_data(c, report, pages, (), running)]]}
            for n, c in enumerate(alone)
        ]
        if rows:
            groups.append(_group(f"Only {NAMES[number]} says", rows, True))
    return {"names": list(NAMES), "groups": groups}


def _group(title: str, rows: list[dict[str, Any]], folded: bool) -> dict[str, Any]:
    return {"title": f"{title} · {len(rows)}", "folded": folded, "rows": rows}


def _row(key: str, note: str, match: Match, result: TwoAnswers, pages: Any, running: bool) -> dict[str, Any]:
    cells = []
    for report, ids in ((result.first, match.first), (result.second, match.second)):
        claims = [c for c in report.claims if c.id in ids]
        cells.append([claim_data(c, report, pages, (), running) for c in claims])
    return {"key": key, "pieces": [note], "bare": not note, "cells": cells}


# --- in words ---


def summary(result: TwoAnswers) -> str:
    """Summarise the comparison in a few sentences."""
    parts = [f"{name}: {_counts(report)}." for name, report in zip(NAMES, (result.first, result.second), strict=True)]
    against = result.contradictions
    if not against:
        parts.append("No claim of one was found to contradict a claim of the other.")
    else:
        parts.append(f"They disagree in {plural(len(against), 'place')}{_backing(result, against)}.")
    return " ".join(parts)


def _counts(report: Report) -> str:
    verdicts = {v.claim_id: v.label for v in report.verdicts}
    checked: Sequence[Claim] = [c for c in report.claims if verdicts.get(c.id, "not_reached") not in UNCHECKED]
    supported = sum(verdicts[c.id] == "supported" for c in checked)
    contradicted = sum(verdicts[c.id] == "contradicted" for c in checked)
    also = f", {contradicted} contradicted" if contradicted else ""
    return f"{supported} of {plural(len(checked), 'checked claim')} supported{also}"


def _backing(result: TwoAnswers, matches: Sequence[Match]) -> str:
    """State which answer the sources support in these disagreements."""
    sides = [result.supported(m) for m in matches if result.decided(m)]
    found = [(name, sides.count(side)) for name, side in zip(NAMES, SIDES, strict=True) if side in sides]
    if len(matches) == 1 and found:
        return f", where the sources support {found[0][0]}"
    counted = " and ".join(f"{name} in {count}" for name, count in found)
    return f"; the sources support {counted} of them" if counted else ""
