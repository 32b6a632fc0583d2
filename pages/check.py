"""Check: an answer, its claims, the verdict on each, and the evidence behind it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from attribution.edits import Judge
from attribution.reports.actions import Opened, edited_claims, requested
from attribution.reports.html import badge, el, look
from attribution.types import Report
from pages.ui import choices, form, frame, run_control, state
from pages.ui.answer_view import TABS, answer_view, opened, proposed, requested_claim, view
from pages.ui.check.agreement_panel import agreement_panel
from pages.ui.check.citations_panel import citations_panel
from pages.ui.check.claim_editing import edit_dialog, edit_menu, take_step
from pages.ui.check.correction_cards import correction_cards, revised_answer
from pages.ui.check.page_picture import pictured
from pages.ui.check.recheck import recheck_menu
from pages.ui.downloads import export_menu
from pages.ui.frame import DEMO, copy_line, note, show, styles
from pages.ui.run_results import (
    continue_button,
    cost,
    details,
    exported,
    is_unfinished,
    notices,
    share_menu,
    status,
)

if TYPE_CHECKING:
    from streamlit.components.v2.bidi_component.state import ComponentResult

POLL = 0.5  # seconds between updates of a run in progress
INTRODUCTION = (
    "See which [claims] of an answer the [sources] support, which they contradict, and for which "
    "nothing was found, each with the sentence that decides."
)
EDITING, OPENED = "editing", "opened"  # run whose form is open; source beside the answer
LEGEND = ("supported", "contradicted", "unclear", "missing")
VIEW = "answer_view"


# --- the form ---


def analyse_form(running: bool) -> None:
    """Draw the form, with the estimate of a run and the reason why the last one did not start."""
    folded = is_folded()
    st.html(f"<style>.st-key-form {{ {'display: none !important' if folded else ''} }}</style>")
    # a folded form has no estimate, whose end draws the page again and closes a dialog
    form.form(
        start="Analyse",
        on_start=analyse,
        job=run_control.RUN,
        compact=run_control.current() is not None,
        running=running,
        ready=choices.is_ready(),
        estimate=None if folded else partial(cost, running),
        explore=True,
    )
    problem = run_control.problem()
    if problem:
        note(
            problem.title,
            problem.reason,
            label=problem.label,
            detail=problem.detail,
        )
    run_control.RUN.draw_notice()


def analyse() -> None:
    """Start a run with the form, which then folds into a line."""
    state.put(EDITING, "")
    run_control.analyse()


def new_check() -> None:
    """Show the empty form."""
    run_control.RUN.clear()
    state.fill(question="", answer="", turns="")


def demo() -> None:
    """Analyse the example with errors, and explain the result step by step."""
    choices.fill_example(state.examples()[0])
    state.renew(DEMO)
    analyse()


def is_folded() -> bool:
    """Return True if the form is a line above a run: it stays on the page, hidden, and loses
    nothing.
    """
    now = run_control.current()
    return now is not None and state.get(EDITING) != now.key and not run_control.problem()


def folded_form(running: bool) -> None:
    """Draw question and sources in one line, with what can be done."""
    now = run_control.current()
    if now is None:
        return
    question = now.report.question or "No question"
    sources = el("span", f" · {choices.sources_words(now.report)}", class_="quiet")
    line = el(
        "p",
        el("strong", question, dir="auto"),
        sources,
        class_="ax-folded",
        title=question,
    )
    show(line)
    if running:
        st.button(
            "Stop" if run_control.RUN.is_own() else "Stop watching",
            on_click=run_control.RUN.stop,
            key="stop",
            help="The results so far are kept. (key: s)",
        )
        return
    if not run_control.problem():  # which keeps the form open
        folded = is_folded()
        st.button(
            "Change" if folded else "Close",
            on_click=state.put,
            args=(EDITING, now.key if folded else ""),
            key="edit_form",
            help="Change the question, the answer, the sources or the options.",
        )
    st.button(
        "New check",
        on_click=new_check,
        key="new_check",
        help="Begin with another answer. This run stays in History; sources and options stay.",
    )


def first_visit() -> None:
    """Offer the examples, and explain the badges."""
    with st.container(key="examples"):
        form.example_cards(demo)
    pairs = (
        el("div", el("span", badge(name)), el("span", look(name).help, class_="help"))
        for name in LEGEND
    )
    show(el("section", *pairs, class_="ax-key"))


# --- the result ---


def clicked(name: str) -> Any:
    """Return what was clicked in the answer."""
    return getattr(st.session_state.get(VIEW), name, None)


def live(polling: bool) -> None:
    """Draw the result, and redraw it while a run is in progress.

    One fragment, not one for the progress and one for the answer: Streamlit loses updates when two
    timers coincide.
    """
    withdrawn = run_control.withdraw()
    if withdrawn or polling != run_control.is_running():  # the form has to change too
        st.rerun()
    now = run_control.current()
    if now is None:
        return
    ended = not now.running and not is_unfinished(now)
    editable = ended and run_control.is_own()
    judged = judge(now.report) if editable else None
    now = run_control.current()  # with that verdict, so that the claim shows it at once
    if now is None:
        st.rerun()
    report = now.report if now.running else choices.relabelled(now.report)
    status(now, report)
    with st.container(key="notices"):
        if ended and not editable:
            copy_line("run", "edit it", run_control.copy)
        continue_button(now)
        notices(now, report)
    result = draw_answer(now, report, editable, judged.claim_id if judged else "")
    if ended:
        agreement_panel(report)
    if editable:
        recheck_menu(report)  # below the answer, which begins at the top
    if judged:
        st.rerun()  # export, undo and edits around the answer have another run now
    if editable:
        carry_out(now.report, result)


def judge(report: Report) -> Judge | None:
    """Keep the analyst's verdict that a click gives, and return it."""
    change = requested(report, clicked("edit"))
    if not isinstance(change, Judge):
        return None
    run_control.judge(change)
    return change


def draw_answer(
    now: run_control.RunProgress, report: Report, editable: bool, only: str
) -> ComponentResult:
    """Draw the answer with the source that was opened; `only` is the claim that has changed."""
    ended = not now.running and not is_unfinished(now)
    draw = partial(
        view,
        report,
        edited_claims(report),
        run=now.key,
        running=now.running,
        editable=editable,
        tabs=TABS if ended else TABS[:2],
    )
    data = run_control.cached_view(
        now,
        editable,
        only,
        lambda before: draw(provenance=run_control.provenance(now), before=before),
    )
    source = clicked("open")
    if source:
        state.put(OPENED, (now.key, source))
    if ended:
        data = proposed(data, correction_cards(report, editable))
        run_key, source = state.get(OPENED) or ("", None)
        if run_key == now.key:
            data = opened(data, report, source)
            data = pictured(data, report, source) if editable else data
    return answer_view(data, key=VIEW)


def carry_out(report: Report, result: ComponentResult) -> None:
    """Make the change, or take the step, that a click in the answer asks for."""
    match requested(report, result.edit):
        case None | Judge():
            pass
        case "undo":
            run_control.undo()
            st.rerun()
        case "redo":
            run_control.redo()
            st.rerun()
        case Opened() as opening:
            edit_dialog(report, opening.claim)
        case change:
            run_control.edit(change)
            st.rerun()
    claim = requested_claim(report, result.step)
    if claim:
        take_step(str(result.step.get("step")), claim, report)


def menus(report: Report) -> None:
    """Draw the menus of a finished run, at the right above the answer."""
    if not report.id:
        return
    share_menu(report)
    if report.verdicts:
        export_menu(exported(choices.relabelled(report)))
        if run_control.is_own():
            edit_menu(report)


def page() -> None:
    """Draw the form and the result."""
    run_control.withdraw()
    polling = run_control.is_running()  # asked once, so that form and result agree
    finished = None if polling else run_control.current()
    heading = st.empty()  # always there and emptied at once, so that nothing moves later
    with st.container(
        key="folded",
        horizontal=True,
        vertical_alignment="center",
        gap="small",
    ):
        folded_form(polling)
    if run_control.current() is None:
        with heading.container():
            frame.head("Check an answer against sources", INTRODUCTION)
    else:
        heading.empty()
    analyse_form(running=polling)
    if run_control.current() is None:
        first_visit()
        return
    report = choices.relabelled(finished.report) if finished else None
    with st.container(key="stage"):
        result = st.container(key="result")
        row = st.container(
            key="actions", horizontal=True, horizontal_alignment="right", gap="small"
        )
        side = st.container(key="side")
        if finished:
            with row:
                menus(finished.report)
        if report and report.verdicts:
            with side, st.container(key="side_revised"):
                revised_answer(report)
            with side, st.container(key="side_citations"):
                citations_panel(report)
        with result:  # drawn after the panels, whose choices it shows
            st.fragment(live, run_every=POLL if polling else None)(polling)
    if report and report.verdicts:
        details(report)


if __name__ == "__main__":
    state.begin("check", run=run_control.load)
    styles("check", "check")
    page()
