"""Check: an answer, its claims, the verdict on each, and the sentence that decides."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast, get_args

import streamlit as st

from attribution.edits import Judge
from attribution.reports.cards import StepRequest, requested
from attribution.reports.html import badge, el, plural
from attribution.reports.looks import look
from attribution.review.revision import Unsupported
from attribution.store.runs import source_names
from attribution.text.passages import beginning
from attribution.types import LABELS, Report
from pages.ui import choices, form, frame, run_control, state
from pages.ui.answer_list import source_words
from pages.ui.answer_view import View, answer_view, opened, pictured, view, with_revision
from pages.ui.claim_editing import edit_history, offered_corrections, recheck_buttons, take_step
from pages.ui.frame import copy_line, note, show, styles
from pages.ui.help import demo_steps
from pages.ui.run_results import (
    continue_button,
    cost,
    export_and_share,
    is_unfinished,
    notices,
    run_state,
)
from pages.ui.state import store

if TYPE_CHECKING:
    from streamlit.components.v2.bidi_component.state import ComponentResult

POLL = 0.5  # seconds between updates of a run in progress
INTRODUCTION = (
    "See which [claims] the [sources] support or contradict, each with the sentence that decides."
)
EDITING, OPENED, UNSUPPORTED, DEMO = "editing", "opened", "unsupported", "demo"  # page values
JUDGED = "judged"  # the number of the last verdict of the analyst that was kept
VIEW = "answer_view"


# --- the form ---


def check_form(running: bool) -> None:
    """Draw the form. Behind a result it stays on the page, hidden, and loses nothing."""
    folded = is_folded()
    hidden = (
        ".st-key-main { display: none !important }" if folded else ".st-key-stage { --sheet: none }"
    )
    st.html(f"<style>{hidden}</style>")
    # a hidden form has no estimate, whose end draws the page again and closes a dialog
    form.form(
        start="Check the answer",
        on_start=check,
        job=run_control.RUN,
        compact=run_control.current() is not None,
        running=running,
        ready=choices.is_ready(),
        estimate=None if folded else partial(cost, running),
        is_check=True,
    )
    now = run_control.current()
    if now and not folded and not running and run_control.is_own():
        recheck_buttons(now.report)


def problems() -> None:
    """Say why a run could not start or finish."""
    problem = run_control.problem()
    if problem and problem.rejected in (None, run_control.text()):
        note(problem.title, problem.reason, label=problem.label, detail=problem.detail)
    run_control.RUN.draw_notice()


def check() -> None:
    """Start a run with the form, which then gives way to the result."""
    state.put(EDITING, "")
    run_control.analyse()


def new_check() -> None:
    """Show the empty form."""
    run_control.RUN.clear()
    state.put(EDITING, "")
    state.fill(question="", answer="", turns="")


def edit_form() -> None:
    """Show the form with everything that the shown run was made with."""
    now = run_control.current()
    if now is not None:
        choices.restore(now.report)
        state.put(EDITING, now.key)


def close_form() -> None:
    """Show the run again."""
    state.put(EDITING, "")


def demo() -> None:
    """Check the example with errors, and explain the result step by step."""
    choices.fill_example(state.examples()[0])
    check()
    number, _ = state.get(DEMO) or (0, "")
    job = run_control.RUN.job()
    if job is not None:
        state.put(DEMO, (number + 1, job.progress().key))


def is_folded() -> bool:
    """Return True if a run is shown in place of the form."""
    now, problem = run_control.current(), run_control.problem()
    is_rejected = problem is not None and problem.rejected is not None
    return now is not None and state.get(EDITING) != now.key and not is_rejected


def first_visit() -> None:
    """Offer the examples, and explain the badges."""
    with st.container(key="examples"):
        form.example_cards(demo)
    rows = []
    for name in LABELS:
        rows.append(el("div", el("span", badge(name)), el("span", look(name).help, class_="help")))
    show(el("details", el("summary", "What the badges mean"), *rows, class_="ax-key"))


# --- the header of a run ---


def header(running: bool) -> None:
    """Draw the title and the sources of a run in one line, with what can be done."""
    now = run_control.current()
    if now is None:
        return
    report = now.report
    title = report.question or beginning(report.answer)
    sources = source_words(source_names(report))
    if any(page.kind != "document" for page in report.pages):
        sources += f", {plural(len(report.pages), 'page')}"
    heading = el("h2", title, dir="auto", title=title)
    show(el("div", heading, el("span", sources, class_="quiet"), class_="ax-run"))
    if running:
        st.button(
            "Stop" if run_control.RUN.is_own() else "Stop watching",
            on_click=run_control.RUN.stop,
            key="stop",
            help="The results so far are kept. (Esc)",
        )
        return
    is_own = run_control.is_own()
    if is_own and store().runs.shown_version(report.id) > 1:
        st.button(
            "Undo",
            on_click=run_control.undo,
            key="undo",
            icon=":material/undo:",
            help="Take your last edit or assessment back. (Ctrl+Z)",
        )
    folded = is_folded()
    st.button(
        "Edit" if folded else "Close",
        on_click=edit_form if folded else close_form,
        key="edit_form",
        icon=":material/edit:" if folded else ":material/close:",
        help="Question, answer, sources and options: change them, and check again.",
    )
    if report.id:
        with st.popover(
            "Export", key="export", help="Download the run, share it, or see how it was made."
        ):
            export_and_share(choices.relabelled(report))
            if is_own:
                edit_history(report)
    st.button(
        "New",
        on_click=new_check,
        key="new_check",
        icon=":material/add:",
        help="Check another answer against the same sources. This run stays under Answers.",
    )


# --- the result ---


def clicked(name: str) -> Any:
    """Return what was clicked in the answer."""
    return getattr(st.session_state.get(VIEW), name, None)


def live(polling: bool) -> None:
    """Draw the result, and redraw it while a run is in progress.

    One fragment, not one for the progress and one for the answer: Streamlit loses updates when two
    timers coincide.
    """
    if run_control.withdraw() or polling != run_control.is_running():  # the header changes too
        st.rerun()
    now = run_control.current()
    if now is None:
        return
    ended = not now.running and not is_unfinished(now)
    editable = ended and run_control.is_own()
    judged = editable and judge(now)
    now = run_control.current()  # with that verdict, so that the claim shows it at once
    if now is None:
        st.rerun()
    report = now.report if now.running else choices.relabelled(now.report)
    with st.container(key="notices"):
        problems()
        if ended and not editable:
            copy_line("run", "edit it", run_control.copy)
        continue_button(now)
        notices(now, report)
    result = draw_answer(now, report, editable)
    if editable:
        carry_out(now.report, result)
    if judged:
        st.rerun()  # export and undo around the answer have another run now


def judge(now: run_control.RunProgress) -> bool:
    """Keep the analyst's verdicts that are new; True if there are any.

    The browser sends each one, with a number that rises, until it is confirmed.
    """
    click = clicked("judge")
    if not isinstance(click, Mapping) or click.get("run") != now.key:
        return False
    before = last = state.get(JUDGED) or 0
    for number, request in click.get("requests", ()):
        change = requested(now.report, request)
        if number > before and isinstance(change, Judge):
            run_control.judge(change)
            last = max(last, number)
    state.put(JUDGED, last)
    return last > before


def draw_answer(now: run_control.RunProgress, report: Report, editable: bool) -> ComponentResult:
    """Draw the answer with what stands beside it."""

    def draw() -> View:
        return view(
            report,
            run=now.key,
            running=now.running,
            editable=editable,
            provenance=run_control.provenance(now),
        )

    data = run_control.cached_view(now, editable, draw) | {"judged": state.get(JUDGED) or 0}
    if now.running:
        data = data | {"head": {**data["head"], "progress": run_state(now)._asdict()}}
        return answer_view(data, key=VIEW)
    source = clicked("open")
    if source:
        state.put(OPENED, (now.key, source))
    run_key, source = state.get(OPENED) or ("", None)
    if run_key == now.key:
        data = opened(data, report, source)
        data = pictured(data, report, source) if editable else data
    data = data | {"demo": demonstration(now, report)}
    if editable:
        offers = offered_corrections(now)
        data = data | {"corrections": {name: offer.value for name, offer in offers.items()}}
    if clicked("tab") == "revised":
        data = with_revision(data, report, unsupported())
    return answer_view(data, key=VIEW)


def demonstration(now: run_control.RunProgress, report: Report) -> View | None:
    """Return the steps of the demo, if this is its run."""
    number, run_key = state.get(DEMO) or (0, "")
    if run_key != now.key or now.error or not report.verdicts:
        return None
    return {"number": number, "steps": [list(step) for step in demo_steps(report)]}


def unsupported() -> Unsupported:
    """Return what becomes of sentences without a source in the revised answer."""
    action, _, choice = str(clicked("edit") or "").partition(":")
    if action == UNSUPPORTED and choice in get_args(Unsupported):
        state.put(UNSUPPORTED, choice)
    return cast(Unsupported, state.get(UNSUPPORTED) or "mark")


def next_answer(report: Report) -> None:
    """Show the next answer with a claim to review, if there is one."""
    run_id = store().history.next_to_review(report.id)
    if run_id:
        run_control.open_run(run_id)
        state.show_address(run=run_id)
        st.rerun()
    st.toast("Every claim of every answer is reviewed.")


def carry_out(report: Report, result: ComponentResult) -> None:
    """Make the change, or take the step, that a click in the answer asks for."""
    if result.edit == "answer:next":
        next_answer(report)
        return
    match requested(report, result.edit):
        case None | Judge():
            pass
        case "undo":
            run_control.undo()
            st.rerun()
        case StepRequest() as request:
            take_step(request, report)
        case change:
            run_control.edit(change)
            st.rerun()


def page(has_moved: bool) -> None:
    """Draw the form, or a run in its place.

    Every part has its place whatever is shown, and is emptied at once: nothing of the form stands
    for a moment in the result.
    """
    run_control.follow_address(has_moved)
    run_control.withdraw()
    polling = run_control.is_running()  # asked once, so that form and result agree
    has_run = run_control.current() is not None
    with st.container(key="header", horizontal=True, vertical_alignment="center", gap="small"):
        header(polling)
    with st.container(key="main"):
        heading, examples = st.empty(), st.container(key="below_form")
        if not has_run:
            with heading.container():
                frame.head("Check an answer against sources", INTRODUCTION)
        with examples:
            check_form(polling)
            offer = st.empty()
            if not has_run:
                with offer.container():
                    problems()
                    first_visit()
    if has_run:
        with st.container(key="stage"):
            st.fragment(live, run_every=POLL if polling else None)(polling)


if __name__ == "__main__":
    has_moved = state.begin("check")
    styles("check")
    page(has_moved)
