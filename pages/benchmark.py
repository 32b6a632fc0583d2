"""Benchmark: how well and how fast groundedness methods separate grounded from ungrounded responses (T24)."""

from __future__ import annotations

from functools import partial
from io import BytesIO

import streamlit as st

from attribution.embedders import EMBEDDERS
from attribution.reports.html import el, plural
from attribution.segmenters import SEGMENTERS
from attribution.studies.groundedness import METHODS
from attribution.studies.groundedness.labelled_set import LabelledSet
from attribution.studies.groundedness.report import f1_by_latency, ranked
from attribution.verifiers import VERIFIERS
from pages.ui import benchmark as benchmark_state
from pages.ui import benchmark_results, choices, state
from pages.ui.benchmark import BenchmarkProgress
from pages.ui.form import pick, start_and_stop, unready
from pages.ui.frame import (
    copy_line,
    lead,
    link,
    note,
    numbers,
    plot,
    progress_bar,
    section,
    show,
    small,
    status_line,
    styles,
)
from pages.ui.sidebar import language_model

POLL = 1.0  # seconds between updates of a benchmark in progress
EXAMPLE_NAME = "The built-in example set"
SAMPLE = (
    '{"question": "Who painted it?", "context": ["Ana painted it in 1901.", "It hangs in Lima."], '
    '"response": "Ana painted it in 1910.", "grounded": false, "error_type": "number"}\n'
)


def models() -> None:
    """Draw the choice of models for the methods."""
    with st.sidebar:
        section("Models of the methods")
        pick("Verifier", state.VERIFIER, VERIFIERS, "For “Fine-tuned cross-encoder”, SelfCheck and the pipeline.")
        ready = [name for name, step in choices.missing(EMBEDDERS).items() if not step]
        st.selectbox(
            "Embedder",
            ready,
            format_func=lambda name: EMBEDDERS[name].label,
            key=benchmark_state.EMBEDDER,
            help="For “Cosine similarity” and the pipeline.",
        )
        pick("Split the answer into", state.SEGMENTER, SEGMENTERS, "For the pipeline.")
        language_model()


def labelled() -> tuple[str, LabelledSet | str]:
    """Return the name and the responses of the chosen set, or the reason why it cannot be used."""
    uploaded = st.file_uploader(
        "Labelled responses",
        ["jsonl", "json"],
        key="benchmark_file",
        help="JSON Lines, one response on each line. Without a file, the built-in example set is used.",
    )
    name, content = benchmark_state.given() or (EXAMPLE_NAME, benchmark_state.example())
    if uploaded:
        name, content = uploaded.name, uploaded.getvalue()
    elif benchmark_state.given():
        st.button("Use the built-in example set", on_click=benchmark_state.put_away, key="put_away",
                  help="Put away the set that another page has handed over.")  # fmt: skip
    found = benchmark_state.read(content)
    with st.expander("What a line holds"):
        show(el("pre", SAMPLE.strip()))
        small(
            "question, error_type, id, sentences, split and group may be left out. context is a text or a list of "
            "texts. Half of the questions are used to tune thresholds, unless split says development or test."
        )
        st.download_button(
            "Download the example set", benchmark_state.example(), "groundedness.jsonl", on_click="ignore"
        )
    return name, found


def form(running: bool) -> None:
    """Draw the choice of responses and methods, and the buttons."""
    models()
    with st.container(key="form"):
        options, buttons = st.columns([5, 1])
        with options:
            name, found = labelled()
            described(name, found)
            methods = st.pills(
                "Methods",
                [method for method, step in choices.missing(METHODS).items() if not step],
                selection_mode="multi",
                default=[m for m in benchmark_state.OFFLINE if not choices.missing(METHODS)[m]],
                format_func=lambda method: METHODS[method].label,
                key="benchmark_methods",
                wrap=True,
                help="How a response is scored against its context.",
            )
            unready(METHODS)
        with buttons:
            usable = None if isinstance(found, str) else found
            start_and_stop(
                "Measure",
                partial(benchmark_state.try_start, name, usable, methods),
                benchmark_state.RESULT,
                running,
                ready=usable is not None and bool(methods),
                stop_help="The scores so far are kept, and can be completed later.",
            )
            if usable and (asked := benchmark_results.prompts(methods, len(usable.rows))):
                small(f"At least {plural(asked, 'prompt')} to the language model; replies in the store cost nothing.")


def described(name: str, found: LabelledSet | str) -> None:
    """Describe the content of a set, and the lines that cannot be used."""
    if isinstance(found, str):
        note("This file cannot be used", found, label="contradicted")
        return
    test, own = found.of("test"), found.rows
    facts = (
        f"{plural(len(own), 'response')}, {sum(r.grounded for r in own)} of them grounded; "
        f"{len(own) - len(test)} to tune thresholds, {len(test)} to report."
    )
    show(el("p", el("span", el("strong", name, dir="auto"), f": {facts}"), class_="ax-status"))
    if found.problems:
        lines = [f"Line {line}: {problem}" for line, problem in found.problems[:10]]
        more = len(found.problems) - len(lines)
        note(f"{plural(len(found.problems), 'line')} left out", *lines, *([f"{more} more"] if more else []))


def live(polling: bool) -> None:
    """Draw the current state of the benchmark."""
    now = benchmark_state.current()
    if polling and not (now and now.running):
        st.rerun()  # the form has to change too
    if reason := benchmark_state.notice():
        note("Nothing to show", reason)
    if now is None:
        return
    if now.running:
        done = len(now.saved.outcomes)
        doing = "Stopping after this response" if now.stopping else f"{done} of {now.total} scores"
        status_line(f"{doing} …")
        progress_bar(done / now.total if now.total else 0, "Progress of the benchmark")
        show(benchmark_results.progress_table(now))
    if now.error:
        note("The benchmark could not be finished", now.error, label="contradicted", detail=now.detail)
    if now.running and now.evaluation.figures:
        result(now)


def result(now: BenchmarkProgress) -> None:
    """Draw the tables, the chart, and the responses behind the number that was clicked."""
    selected = benchmark_state.selected_number()
    behind = benchmark_results.rows_behind(now, selected) if selected else None
    by_error = "|error:" in selected
    if clicked := numbers(benchmark_results.quality(now), selected, key="benchmark_quality"):
        benchmark_state.select(clicked)
        st.rerun(scope="fragment" if now.running else "app")
    if behind and not by_error:
        show(benchmark_results.row_list(behind))
    dark = state.is_dark()
    light = ("#33332f", "#d5d1cb", "#2f5d8a", "#ffffff")
    colours = ("#d9d9d4", "#4a4743", "#8fbbe6", "#16202b") if dark else light
    if any(f.seconds for f in now.evaluation.figures):
        section("Macro F1 against time")
        figure = f1_by_latency(ranked(now.evaluation), *colours)
        plot(figure, f"benchmark_plot_{len(now.evaluation.figures)}", benchmark_results.summary(now))
    if table := benchmark_results.errors(now):
        section("Misclassified test responses by error type")
        if clicked := numbers(table, selected, key="benchmark_errors"):
            benchmark_state.select(clicked)
            st.rerun(scope="fragment" if now.running else "app")
        if behind and by_error:
            show(benchmark_results.row_list(behind))


def finished(now: BenchmarkProgress) -> None:
    """Draw a benchmark that is not running: its results, what is missing, and its files."""
    missing = now.missing()
    if missing:
        labels = ", ".join(METHODS[m].label for m in missing)
        note(
            "Not complete",
            f"{len(now.saved.outcomes)} of {now.total} scores are there. Not complete: {labels}",
        )
        if benchmark_state.owns():
            st.button(
                "Go on",
                on_click=benchmark_state.try_go_on,
                key="go_on",
                type="primary",
                help="Compute the scores that are missing, with the models it was started with.",
            )
        else:
            copy_line("benchmark", "complete it", benchmark_state.copy)
    for reasons in (now.saved.left_out, now.evaluation.unmeasured):
        for method, reason in reasons.items():
            note(f"{METHODS[method].label} has no figures", reason)
    if not now.evaluation.figures:
        return
    status_line(benchmark_results.summary(now))
    link(
        f"{now.labelled.name}: {plural(len(now.labelled.rows), 'response')}.", key="link", **state.address("benchmark")
    )
    result(now)
    exports(now)


def exports(now: BenchmarkProgress) -> None:
    """Offer the result as the same files that the command line writes."""
    made = (
        ("Figures (JSON)", benchmark_results.figures_json, "figures.json", "application/json"),
        ("Scores (JSONL)", benchmark_results.rows_jsonl, "rows.jsonl", "application/jsonl"),
        ("Tables (CSV)", benchmark_results.tables_csv, "tables.csv", "text/csv"),
        ("Tables (Markdown)", benchmark_results.tables_markdown, "tables.md", "text/markdown"),
    )
    with st.container(horizontal=True, key="below"):
        for label, make, name, kind in made:
            st.download_button(
                label,
                lambda make=make: BytesIO(make(now).encode()),  # type: ignore[misc]
                name,
                kind,
                on_click="ignore",
                help="The same file that the command line writes.",
                key=f"export_{name}",
            )


state.begin("benchmark", benchmark=benchmark_state.load)
styles()
lead(
    "Benchmark runs methods that judge whether a response is grounded in its context, on responses that people have "
    "labelled. Thresholds are tuned on one half; the figures are those of the other. Click a number to read the "
    "responses behind it."
)
running = benchmark_state.is_running()
form(running)
st.fragment(live, run_every=POLL if running else None)(running)
shown = benchmark_state.current()
if shown and not running and not shown.running:
    finished(shown)
