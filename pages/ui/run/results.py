"""A run around its answer: progress, totals, figures and failures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import streamlit as st

from attribution.exports import Exported
from attribution.types import Failure, Report
from pages.ui import state
from pages.ui.answer.cards import totals
from pages.ui.citations.view import citations_panel
from pages.ui.edit.actions import edited_claims
from pages.ui.export.view import menu
from pages.ui.frame import plot, progress_bar, show
from pages.ui.html.render import Child, Node, el, plural, table, told
from pages.ui.run import chart
from pages.ui.run.job import RunProgress
from pages.ui.run.page_changes import page_changes
from pages.ui.run.usage import budget, llm_costs
from pages.ui.slot import store

STEPS = {  # of a run, with their shares of the progress bar
    "segment": ("Finding claims", 0.03),
    "search": ("Searching and reading pages", 0.27),
    "embed": ("Loading models and comparing passages", 0.2),
    "verify": ("Checking claims", 0.5),
}
STAGES = {
    "segment": "Finding claims",
    "worth": "Check-worthiness",
    "worthiness": "Check-worthiness",
    "independence": "Claims that need context",
    "enrichment": "Adding context",
    "coherence": "Coherence",
    "queries": "Writing queries",
    "search": "Search",
    "fetch": "Reading pages",
    "gather": "Searching and reading pages",
    "embed": "Comparing passages",
    "verify": "Checking claims",
    "load": "Loading models",
}


def _step(now: RunProgress) -> str:
    step = {"worth": "segment", "fetch": "search"}.get(now.stage, now.stage)
    return step if step in STEPS else "segment"


def _units(now: RunProgress, step: str) -> tuple[int, int]:
    """Units done and in all. A search that led to downloads continues in them."""
    return max((now.units.get(name, (0, 0)) for name in {step, "fetch" if step == "search" else step}), default=(0, 0))


def status(now: RunProgress, report: Report) -> None:
    """One line that says what is being done and how far it is, or what was found."""
    spent = budget(report)
    if not now.running:
        facts = [
            plural(len(report.pages), "page"),
            f"{plural(report.usage.pairs, 'passage')} judged" if report.usage.pairs else "",
            f"{now.seconds:.1f} s"
            if now.seconds >= 0.05 and not report.edits
            else "",  # an edit's time is not the run's
            spent,
        ]
        early = "Stopped early; the results so far are kept. " if report.stopped else ""
        quiet = el("span", " · ".join(filter(None, facts)), class_="quiet")
        show(el("p", el("span", early + totals(report)), quiet, class_="ax-status"))
        return
    if now.stage == "queue":
        waits = f"Waiting: place {now.units['queue'][0]} in the queue of this server. Stop takes it out."
        show(el("p", waits, class_="ax-status", role="status"))
        return
    results = {
        "segment": plural(len(report.claims), "claim"),
        "search": plural(len(report.pages), "page"),
        "embed": "passages compared",
    }
    names, current = list(STEPS), _step(now)
    parts: list[Child] = []
    for name, (doing, _) in STEPS.items():
        done, total = _units(now, name)
        if names.index(name) < names.index(current):
            parts.append(el("span", f"✓ {results[name]}", class_="step"))
        elif name == current:
            parts.append(el("span", f"{doing} {done} of {total}" if total else f"{doing} …", class_="step now"))
        else:
            parts.append(el("span", doing, class_="step"))
    clock = f"{'Stopping … ' if now.stopping else ''}{now.seconds:.0f} s"
    parts.append(el("span", " · ".join(filter(None, (clock, spent))), class_="quiet"))
    show(el("p", *parts, class_="ax-status", role="status"))


def bar(now: RunProgress, report: Report) -> None:
    """The progress bar of a run; in the same place, the shares of the verdicts when it has ended."""
    with st.container(key="slot"):
        if now.running:
            current = _step(now)
            (done, total), before = _units(now, current), list(STEPS)[: list(STEPS).index(current)]
            share = sum(STEPS[name][1] for name in before) + STEPS[current][1] * (done / total if total else 0)
            progress_bar(share, "Progress of the run")
        elif report.verdicts:
            plot(chart.bars([("", report)], state.is_dark()), "chart", totals(report))


def details(report: Report) -> None:
    """Figures, failures and the menu of exports."""
    with st.container(key="below"):
        citations_panel(report)
        what_failed(report.failures)
        with st.expander("Figures behind the bar"):
            show(el("p", totals(report), class_="ax-quiet-inline"))
            show(chart.figures(report))
            show(table(("Step", "Time"), _times(report)))
        if costs := llm_costs(report):
            with st.expander("Cost of the language model"):
                show(costs)
        page_changes(report)
        menu(exported(report))


def exported(report: Report) -> Exported:
    """The run for an export; title and note, which anyone who is sent the file can read, for its owner alone."""
    about = store().description(report.id)
    return Exported(report, about.title, about.note, edited_claims(report))


def what_failed(failures: Sequence[Failure]) -> None:
    """The failures, folded."""
    if failures:
        with st.expander(f"What did not work ({len(failures)})"):
            show(failure_table(failures))


def failure_table(failures: Iterable[Failure]) -> Node:
    """What did not work, a row each, with the words of other libraries folded."""
    rows = ((STAGES.get(f.stage, f.stage), f.subject, told(f.message, f.detail)) for f in failures)
    return table(("Step", "Subject", "What happened"), rows)


def _times(report: Report) -> Iterable[tuple[str, str]]:
    """The seconds of each step."""
    times: dict[str, float] = defaultdict(float)
    for stage, seconds in report.timings.items():
        times[STAGES.get(stage, stage.capitalize())] += seconds
    return ((step, f"{seconds:.1f} s") for step, seconds in times.items())
