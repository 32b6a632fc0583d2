"""Evoked errors: a test set of grounded answers and altered twins."""

from __future__ import annotations

import json
from functools import partial

import streamlit as st

from attribution.errors import BadInput
from attribution.reports.html import plural
from attribution.studies.groundedness.test_sets import Grounded, Made
from attribution.studies.groundedness.twins import ERROR_TYPES, KINDS
from pages.ui import benchmark as benchmark_state
from pages.ui import evoke, state
from pages.ui import run as run_state
from pages.ui.form import start_and_stop
from pages.ui.frame import copy_line, lead, link, note, progress_bar, section, show, small, status_line, styles

POLL = 0.5  # seconds between looks at a set in progress
SHOWN = 30  # twins on the page
_ROW = {
    "question": "When was it built?",
    "context": "The tower was built in 1889.",
    "response": "The tower was built in 1889.",
}
SAMPLE = json.dumps(_ROW) + "\n"


def source() -> list[Grounded]:
    """The grounded answers to alter."""
    last = evoke.of_last_run()
    options = (["The last run on Explore"] if last else []) + ["A file"]
    chosen = st.segmented_control(
        "Grounded answers from",
        options,
        default=options[0],
        key="evoke_source",
        required=True,
        help="Answers that their context supports: only from those can a twin with one known error be made.",
    )
    if chosen != "A file" and last:
        count = plural(len(last.response.splitlines()), "sentence")
        small(f"{count} that the run found supported, with the passages that support them.")
        return [last]
    small("A JSON Lines file with a context and a response on each line, where the context supports the response.")
    st.download_button(
        "Download a sample file", SAMPLE, "grounded.jsonl", "application/json", on_click="ignore", key="sample"
    )
    upload = st.file_uploader(
        "Answers and their contexts", ["jsonl", "json", "txt"], key="evoke_upload", help="As in the sample file."
    )
    if upload is None:
        return []
    try:
        answers, problems = evoke.of_file(upload.getvalue())
    except BadInput as error:
        note("This file cannot be used", str(error), label="contradicted")
        return []
    if problems:
        note(f"{plural(len(problems), 'line')} cannot be used", *problems[:10])
    return answers


def form(running: bool) -> None:
    with st.container(key="form"):
        options, buttons = st.columns([5, 1])
        with options:
            answers = source()
            kinds = st.pills(
                "Errors",
                list(KINDS),
                selection_mode="multi",
                default=list(KINDS),
                key="evoke_kinds",
                wrap=True,
                format_func=str.capitalize,
                help="; ".join(f"{kind.capitalize()}: {meaning}" for kind, meaning in KINDS.items()) + ".",
            )
            by = "Rules"
            if evoke.llm_ready():
                by = st.segmented_control(
                    "Altered by", ["Rules", "Language model"], default="Rules", key="evoke_by", required=True,
                    help="Rules work in English and send nothing anywhere. The language model gets context and answer.",
                )  # fmt: skip
            seed = st.number_input(
                "Seed", 0, 9999, 0, key="evoke_seed", help="Another seed alters other words.", width=160
            )
        with buttons:
            start_and_stop(
                "Make the set",
                partial(evoke.start, answers, list(kinds), int(seed), by == "Language model"),
                evoke.RESULT,
                running,
                ready=bool(answers and kinds),
                stop_help="The twins that are done are kept.",
            )


def live(polling: bool) -> None:
    """The set as it stands."""
    if polling != evoke.is_running():
        st.rerun()  # the form has to change too
    now = evoke.current()
    if reason := evoke.notice():
        note("The saved set cannot be shown", reason)
    if now is None:
        return
    if now.running:
        status_line(
            f"{'Stopping' if now.stopping else 'Altering'} … {now.set.done} of {plural(now.total, 'answer')} done"
        )
        progress_bar(now.set.done / max(1, now.total), "Progress of the test set")
        return
    if now.error:
        note("The set could not be finished", now.error, label="contradicted", detail=now.detail)
    own = evoke.owns()
    if now.set.done < now.total:
        note("Not complete", f"{now.set.done} of {plural(now.total, 'answer')} done.")
        if own:
            st.button("Go on", on_click=evoke.go_on, key="go_on", type="primary",
                      help="Alter the answers that are missing, with the same choices.")  # fmt: skip
    if not own:
        copy_line("set", "complete it and change the types of its errors", evoke.copy)
    if not now.set.made:
        return
    status_line(evoke.summary(now.set.made))
    link("This set has an address of its own.", key="link", **state.address("evoked"))
    with st.container(horizontal=True):
        if st.button(
            "Open in Benchmark", key="to_benchmark", type="primary", help="Measure groundedness methods on this set."
        ):
            benchmark_state.give("Evoked errors", evoke.as_lines(now.set.made).encode())
            st.switch_page("pages/benchmark.py")
        st.download_button(
            "Download the test set",
            evoke.as_lines(now.set.made),
            "test_set.jsonl",
            "application/json",
            on_click="ignore",
            key="download",
            help="JSON Lines, one response on each line, as the benchmark reads them.",
        )
    small("Read the twins before you measure with them: now and then an altered sentence is still true.")
    twins = [m for m in now.set.made if m.twin]
    section("Twins")
    for made in twins[:SHOWN]:
        one(made, own)
    if len(twins) > SHOWN:
        small(f"The first {SHOWN} of {len(twins):,}; the file has all.")
    if now.set.problems:
        with st.expander(f"{plural(len(now.set.problems), 'answer')} without one of the errors"):
            for problem in now.set.problems[:100]:
                small(problem)


def one(made: Made, own: bool) -> None:
    """A twin and its type, which the owner of the set can change."""
    show(evoke.twin(made))
    types = ["", *ERROR_TYPES]
    key = f"type-{made.id}"
    st.selectbox(
        "Type of error",
        types,
        types.index(made.error_type),
        format_func=evoke.type_word,
        key=key,
        on_change=lambda: evoke.label(made.id, state.selected(key) or ""),
        help=" ".join(f"{evoke.type_word(n)}: {text}" for n, text in ERROR_TYPES.items()),
        width=320,
        disabled=not own,
    )


state.begin("evoke", run=run_state.load, evoked=evoke.show)
styles()
lead(
    "A method that finds unsupported answers has to be measured on some. This page takes answers that their sources "
    "support, and makes twins with one error each, whose place is known."
)
running = evoke.is_running()
form(running)
st.fragment(live, run_every=POLL if running else None)(running)
