"""FActScore: the share of an answer's facts that a knowledge source supports, by decomposer and verifier."""

from __future__ import annotations

import streamlit as st

from attribution.errors import BadInput
from attribution.files import Row, parse_rows
from attribution.reports.html import plural
from attribution.segmenters import SEGMENTERS
from attribution.studies.factscore.answer import GAMMA, MAX_CHOICES
from attribution.verifiers import VERIFIERS
from pages.ui import choices, factscore_results, state
from pages.ui import factscore as scores
from pages.ui import run as run_state
from pages.ui.downloads import downloads
from pages.ui.factscore import ScoreProgress
from pages.ui.form import form, unready
from pages.ui.frame import copy_line, lead, link, note, numbers, progress_bar, section, show, small, status_line, styles
from pages.ui.run import preload
from pages.ui.sidebar import sidebar

POLL = 0.5  # seconds between looks at scores in progress
ANSWERS = 500  # of one file, at most
STAGES = {
    "segment": "Splitting", "worth": "Classifying", "queries": "Asking for queries", "search": "Searching",
    "fetch": "Downloading", "embed": "Reading", "verify": "Judging facts",
}  # fmt: skip
SAMPLE = '{"question": "Where does the Nile flow?", "answer": "It flows north.", "system": "model A"}\n'


def methods() -> None:
    """Which decomposers and verifiers make the table."""
    ready = [name for name, step in choices.missing(SEGMENTERS).items() if not step]
    st.pills(
        "Decomposers",
        ready,
        selection_mode="multi",
        default=scores.decomposers(),
        key=scores.DECOMPOSERS,
        format_func=lambda name: SEGMENTERS[name].label,
        help="How facts are drawn from the answer: the rows of the table.",
    )
    unready(SEGMENTERS)
    able = [name for name, step in choices.missing(VERIFIERS).items() if not step]
    st.pills(
        "Verifiers",
        able,
        selection_mode="multi",
        default=scores.verifiers(),
        key=scores.CHECKERS,
        format_func=lambda name: VERIFIERS[name].label,
        help="Who decides whether a source supports a fact: the columns of the table. All read the same pages.",
    )
    if scores.last_run_id():
        st.checkbox(
            "Use the pages of the last run on Explore",
            key=scores.FROZEN,
            help="Nothing is searched or downloaded: every fact is held against these pages.",
        )
    for noun, names in (("decomposer", scores.decomposers()), ("verifier", scores.verifiers())):
        if not 1 <= len(names) <= MAX_CHOICES:
            small(f"{plural(len(names), noun)} selected: select one to {MAX_CHOICES}.")


def live(polling: bool) -> None:
    """The scores as they stand."""
    if polling != scores.is_running():
        st.rerun()  # the form has to change too
    now = scores.current()
    if reason := scores.notice():
        note("The saved scores cannot be shown", reason)
    if now is None:
        lead(
            "FActScore is the share of an answer's facts that the sources support. It depends on how the answer is "
            "split and on who judges: choose decomposers and verifiers, and read the table."
        )
        return
    if now.running:
        running(now)
    if now.error:
        note("The scores could not be finished", now.error, label="contradicted", detail=now.detail)
    if failed := now.scored.failed:
        lines = [f"Line {line}: {error}" if now.total > 1 else error for line, _, error in failed[:20]]
        note(f"{plural(len(failed), 'answer')} could not be scored", *lines)
    if now.done < now.total and not now.running:
        note("Not complete", f"{now.done} of {plural(now.total, 'answer')} scored.")
        if scores.owns():
            st.button("Go on", on_click=scores.go_on, key="go_on", type="primary", disabled=not scores.is_ready(),
                      help="Score the answers that are missing, with the same choices.")  # fmt: skip
        else:
            copy_line("scores", "complete them", scores.copy)
    if now.scored.answers and not now.running:
        result(now)
    elif not (now.running or now.error or failed):
        note("Nothing was scored", "It was stopped before the first answer was done.")


def running(now: ScoreProgress) -> None:
    done, total = now.units
    share = f" {done} of {total}" if total else ""
    if now.stage == "queue":
        status_line(f"Waiting: place {done} in the queue of this server. Stop takes it out.")
        return
    doing = "Stopping" if now.stopping else f"{STAGES.get(now.stage, 'Starting')}{share}"
    status_line(f"{doing} … {now.done} of {plural(now.total, 'answer')} scored")
    progress_bar((now.done + (done / total if total else 0)) / max(1, now.total), "Progress of the scores")


def result(now: ScoreProgress) -> None:
    """Tables, the facts behind a score, and files."""
    scored = now.scored
    gamma = float(state.selected("gamma") if state.selected("gamma") is not None else GAMMA)
    status_line(factscore_results.summary(scored, gamma))
    link("These scores have an address of their own.", key="link", **state.address("factscore"))
    results = factscore_results.all_tables(scored, gamma, scored.failed)
    selected = str(state.get(scores.NUMBER) or factscore_results.FIRST)
    for place, one in enumerate(results):
        with st.expander(one.title, expanded=place < 4):
            if clicked := numbers(factscore_results.table_node(scored, one, place), selected, key=f"factscore_{place}"):
                state.put(scores.NUMBER, clicked)
                st.rerun()
    if found := factscore_results.found(scored, results, selected):
        section(factscore_results.title(found))
        small("Click a number to read what stands behind it.")
        show(factscore_results.rows(scored, found))
    files = {
        "Markdown": ("\n".join(t.markdown() for t in results), "factscore.md", "text/markdown"),
        "CSV": (factscore_results.as_csv(scored), "factscore.csv", "text/csv"),
        "JSON Lines": (factscore_results.as_lines(scored), "factscore.jsonl", "application/json"),
    }
    downloads(files)


def many(running: bool) -> None:
    """The same over the answers of a file."""
    with st.expander("Many answers at once"):
        small("A JSON Lines file: one object per line, with an answer, and if you like a question and a system.")
        st.download_button(
            "Download a sample file", SAMPLE, "answers.jsonl", "application/json", on_click="ignore", key="sample"
        )
        upload = st.file_uploader(
            "Answers", ["jsonl", "json", "txt"], key=scores.UPLOAD, help=f"As in the sample file; at most {ANSWERS}."
        )
        rows: list[Row] = []
        if upload is not None:
            try:
                rows = parse_rows(upload.getvalue(), ["answer"], ["question", "system"])
                if len(rows) > ANSWERS:
                    found, rows = len(rows), []
                    raise BadInput(f"the file has {found:,} answers, and the page takes {ANSWERS}: split the file")
            except BadInput as error:
                note("This file cannot be used", str(error), label="contradicted")
        st.button(
            f"Score {plural(len(rows), 'answer')}" if rows else "Score the answers",
            on_click=scores.start_many,
            args=(rows,),
            disabled=running or not rows or not scores.is_ready(),
            key="start_many",
        )


state.begin("factscore", run=run_state.load, factscore=scores.show)
styles()
sidebar(segmenter=False)
polling = scores.is_running()  # asked once, so that form and result agree
form(
    start="Score",
    on_start=scores.start,
    slot=scores.RESULT,
    compact=True,
    running=polling,
    ready=scores.is_ready(),
    options=methods,
    turns=True,
)
st.number_input(
    "Length penalty below",
    0,
    100,
    GAMMA,
    key="gamma",
    help="Answers with fewer facts than this score less (gamma of FActScore). 0 is no penalty. It changes the tables "
    "at once.",
    width=220,
)
st.fragment(live, run_every=POLL if polling else None)(polling)
many(polling)
preload()
