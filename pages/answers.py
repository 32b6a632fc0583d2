"""Two answers: what both say, what only one says, where they disagree, and which of the two the sources support."""

from __future__ import annotations

import streamlit as st

from attribution.reports.html import el
from attribution.reports.provenance import date
from pages.ui import answers, choices, run_results, state
from pages.ui.answer_view import requested_place, source_dialog
from pages.ui.answers import NAMES, AnswersProgress, disagreements, others, pair_view, summary
from pages.ui.compare_results import draw
from pages.ui.form import Examples, earlier_turns, question_field, start_and_stop
from pages.ui.frame import lead, link, note, plot, show, styles
from pages.ui.run import preload
from pages.ui.run_results import bar, not_used, status, what_failed
from pages.ui.sidebar import sidebar

POLL = 0.5  # seconds between looks at a comparison in progress


def form(running: bool, compact: bool) -> None:
    """The question, both answers and the buttons, which stay where they are."""
    with st.container(key="form"):
        question_field(
            "The question that both answer (optional)",
            "It helps to understand claims that depend on it.",
            Examples(
                answers.EXAMPLE,
                answers.examples(),
                answers.choose_example,
                "Fill in a question with two answers that the built-in library covers.",
            ),
        )
        earlier_turns()
        boxes, buttons = st.columns([5, 1])
        columns = boxes.columns(2)
        for column, name, label in zip(columns, (state.ANSWER, state.SECOND), NAMES, strict=True):
            column.text_area(
                label,
                state.initial(name) or "",
                key=state.key(name),
                height=168 if compact else 300,
                placeholder="Paste an answer to the question",
                help="Its claims are checked against the sources and held against those of the other answer.",
            )
        with buttons:
            start_and_stop(
                "Compare",
                answers.start,
                answers.ANSWERS,
                running,
                answers.is_ready(),
                "The verdicts so far are kept.",
            )
        if isinstance(problem := choices.settings(), str):
            note("Not ready yet", problem)


def live(polling: bool) -> None:
    """The comparison as it stands."""
    if polling != answers.is_running():
        st.rerun()  # the form has to change too
    if reason := answers.notice():
        note("The saved comparison cannot be shown", reason)
    now = answers.current()
    if now is None:
        lead(
            "Paste two answers to one question, or choose an example. Their [claims] are checked against the same "
            "[sources] and held against each other. What they disagree about comes first, with what the sources say."
        )
        return
    with st.container(key="outcome"):  # whatever it holds, what follows stays in its place and is not drawn anew
        outcome(now)
    if now.result is None:
        return
    result, running = now.result, now.running
    against = disagreements(result, running)
    with st.container(key="against"):
        if against["groups"]:
            draw(against, key="answers_against")
    clicked = pair_view(result, run=now.run.key, running=running, key="answers_pair")
    draw(others(result, running), key="answers_others")
    if running:
        return
    what_failed(result.report.failures)
    downloads(now)
    if place := requested_place(result.report, clicked.open):
        source_dialog(*place)


def outcome(now: AnswersProgress) -> None:
    """How far it is, or what was found."""
    run, result = now.run, now.result
    if run.rejected:
        note("These answers cannot be compared", run.rejected, label="contradicted", detail=run.detail)
    elif run.error:
        title = "The comparison could not be finished" if result else "The comparison could not start"
        note(title, run.error, label="contradicted", detail=run.detail)
    elif not run.running and (changed := answers.differences(now)):
        note("The form has changed", f"Changed since this result: {', '.join(changed)}. Compare again to update it.")
    if run.running:
        status(run, run.report)
        bar(run, run.report)
    elif result:
        report = result.report
        early = "Stopped early; the results so far are kept. " if report.stopped else ""
        show(el("p", early + summary(result), class_="ax-status", role="status"))
        if report.created_at:
            link(f"{choices.method(report)}, {date(report.created_at)}", key="link", **state.address("answers"))
        plot(
            run_results.bars(list(zip(NAMES, (result.first, result.second), strict=True)), state.is_dark()),
            "answers_chart",
            summary(result),
        )
        not_used(report)


def downloads(now: AnswersProgress) -> None:
    """The result to take along."""
    assert now.result is not None
    files = (
        ("Markdown", answers.as_markdown(now.result), "answers.md", "text/markdown"),
        ("JSON", answers.as_json(now.result), "answers.json", "application/json"),
    )
    for column, (name, content, file, kind) in zip(st.columns(len(files)), files, strict=True):
        column.download_button(
            f"Download {name}",
            content,
            file,
            kind,
            on_click="ignore",
            key=f"download-{name}",
            width="stretch",
            help="The same comparison as a file.",
        )


state.begin("answers", answers=answers.load)
styles()
sidebar()
running = answers.is_running()  # asked once, so that form and result agree
form(running, compact=running or answers.current() is not None)
st.fragment(live, run_every=POLL if running else None)(running)
preload()
