"""Benchmark: how well and how fast groundedness methods separate grounded from ungrounded responses
(T24).
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from attribution.errors import AttributionError, BadInput
from attribution.reports.html import el, plural
from attribution.settings import LIMITS, ROOT, Settings
from attribution.store.runs import new_run_id
from attribution.store.store import Store
from attribution.studies.groundedness import METHODS
from attribution.studies.groundedness.evaluation import (
    BENCHMARK,
    BENCHMARK_SET,
    LeftOut,
    Outcome,
    SavedBenchmark,
    evaluate,
    load_benchmark,
    run,
    selected,
)
from attribution.studies.groundedness.labelled_set import (
    OPTIONAL,
    REQUIRED,
    LabelledSet,
    labelled_set,
)
from attribution.studies.groundedness.report import (
    error_table,
    json_report,
    quality_table,
    ranked,
    row_lines,
)
from attribution.text_files import parse_rows
from pages.ui import choices, state
from pages.ui.background import Work, in_turns
from pages.ui.components import link
from pages.ui.downloads import File, downloads
from pages.ui.fields import pick_many
from pages.ui.form_menus import advanced_menu
from pages.ui.frame import note, result_table, show, small, status_line
from pages.ui.job_page import JobPage
from pages.ui.research.benchmark_results import (
    PROMPTS,
    BenchmarkProgress,
    progress_table,
    row_list,
    scored_rows,
    summary,
)
from pages.ui.state import store

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

EXAMPLE_NAME = "The built-in example set"
FORMAT = (
    "A line is an object with response, context and grounded; question, error_type, id, sentences, "
    "split and group are optional. Half of the questions tune thresholds, unless split says "
    "development or test."
)
SAVING = 4.0  # seconds between two saves: a crash costs no more
ROWS = 2_000  # of one benchmark on the page
OFFLINE = ("cos_sim", "quip", "pipeline")  # selected at first
Run = Callable[[threading.Event], Iterator[Outcome | LeftOut]]


def evaluated(
    labelled: LabelledSet, saved: SavedBenchmark, running: bool = False
) -> BenchmarkProgress:
    """Return a benchmark with the figures of its outcomes so far."""
    seen = {o.method for o in saved.outcomes}
    figures = evaluate(labelled.rows, saved.outcomes, [m for m in saved.methods if m in seen])
    return BenchmarkProgress(
        labelled,
        saved,
        figures,
        running=running,
    )


def read(database: Store, id: str) -> BenchmarkProgress | None:
    """Load a saved benchmark."""
    found = load_benchmark(database, id)
    return evaluated(*found) if found else None


JOB = JobPage(
    "benchmark",
    "benchmark",
    read,
    poll=1.0,
)


def work(
    labelled: LabelledSet, saved: SavedBenchmark, run: Run, save: Callable[[SavedBenchmark], None]
) -> Work[BenchmarkProgress]:
    """Collect and save outcomes one by one; figures follow when a method is done."""

    def measure(stop: threading.Event, update: Callable[..., BenchmarkProgress]) -> None:
        now, last, method = saved, time.monotonic(), ""
        save(now)
        try:
            for one in run(stop):
                if method and one.method != method:
                    update(evaluation=evaluated(labelled, now).evaluation)
                method = one.method
                if isinstance(one, LeftOut):
                    now = now.model_copy(
                        update={"left_out": {**now.left_out, one.method: one.reason}}
                    )
                else:
                    now = now.model_copy(update={"outcomes": (*now.outcomes, one)})
                update(saved=now)
                if time.monotonic() - last > SAVING:
                    save(now)
                    last = time.monotonic()
        finally:
            save(now)
            update(saved=now, evaluation=evaluated(labelled, now).evaluation)

    return measure


def start(labelled: LabelledSet, methods: Sequence[str]) -> None:
    """Run the methods on the responses; a problem is shown in place of the result."""
    chosen, id = choices.settings(), new_run_id()
    if isinstance(chosen, str):
        JOB.refuse(chosen, "The benchmark cannot start")
        return
    try:
        BENCHMARK_SET.save(store(), id, labelled)
        ready, left_out = selected(methods, chosen)
    except AttributionError as error:
        JOB.refuse(error.public(), "The benchmark cannot start")
        return
    reasons = {one.method: one.reason for one in left_out}
    begun = SavedBenchmark(methods=tuple(ready), left_out=reasons, settings=chosen.public())
    _launch(id, labelled, begun, chosen)


def _launch(id: str, labelled: LabelledSet, saved: SavedBenchmark, chosen: Settings) -> None:
    methods = [m for m in saved.methods if not METHODS[m].missing(chosen)]
    browser = state.browser()

    def outcomes(stop: threading.Event) -> Iterator[Outcome | LeftOut]:
        return in_turns(
            browser,
            stop,
            run(
                labelled.rows,
                methods,
                chosen,
                stop,
            ),
        )

    save = partial(BENCHMARK.save, store(), id)
    JOB.launch(evaluated(labelled, saved, running=True), work(labelled, saved, outcomes, save), id)


# --- the page ---


def example() -> bytes:
    """Return the labelled set that comes with the project."""
    return (ROOT / "examples" / "groundedness.jsonl").read_bytes()


def read_set(name: str, content: bytes) -> LabelledSet | str:
    """Read the labelled responses of a file; return a message if it cannot be used."""
    try:
        labelled = labelled_set(parse_rows(content, REQUIRED, OPTIONAL), name=name)
    except BadInput as error:
        return error.public()
    if len(labelled.rows) > ROWS:
        count = f"{len(labelled.rows):,} responses, and this page takes {ROWS:,}"
        remedy = "use `python -m attribution benchmark`, or a part of the file"
        return f"The file has {count}: {remedy}."
    return labelled


def choose_set() -> LabelledSet | None:
    """Draw the choice of a labelled set, and describe it; None if it cannot be used."""
    uploaded = st.file_uploader(
        "Labelled responses",
        ["jsonl", "json"],
        key="benchmark_file",
        help="JSON Lines, a response on each line. Without a file, the built-in set is used.",
        max_upload_size=LIMITS.file_mb,
    )
    name, content = EXAMPLE_NAME, example()
    if uploaded:
        name, content = uploaded.name, uploaded.getvalue()
    small(FORMAT)
    labelled = read_set(name, content)
    if isinstance(labelled, str):
        note("This file cannot be used", labelled, label="contradicted")
        return None
    test, rows = labelled.of("test"), labelled.rows
    facts = (
        f"{plural(len(rows), 'response')}, {sum(row.grounded for row in rows)} of them grounded; "
        f"{len(rows) - len(test)} to tune thresholds, {len(test)} to report."
    )
    words = el("span", el("strong", name, dir="auto"), f": {facts}")
    show(el("p", words, class_="ax-status"))
    if labelled.problems:
        lines = [f"Line {line}: {problem}" for line, problem in labelled.problems[:10]]
        note(f"{plural(len(labelled.problems), 'line')} left out", *lines)
    return labelled


def form(running: bool) -> None:
    """Draw the choice of responses and methods, and the buttons."""
    with st.container(key="form"):
        labelled = choose_set()
        offline = [method for method in OFFLINE if method in choices.ready(METHODS)]
        help = "How a response is scored against its context."
        methods = pick_many(
            "Methods",
            METHODS,
            offline,
            "benchmark_methods",
            help,
        )
        begin = partial(start, labelled or LabelledSet(rows=()), methods)
        ready = bool(labelled and methods)
        JOB.buttons(
            "Measure",
            begin,
            running,
            ready,
        )
        advanced_menu()
        prompts = sum(PROMPTS.get(method, 0) for method in methods)
        if labelled and prompts:
            small(
                f"At least {plural(prompts * len(labelled.rows), 'prompt')} to the language model."
            )


def result(now: BenchmarkProgress) -> None:
    """Draw the progress of each method, what is missing, the figures, and files."""
    if now.running:
        show(progress_table(now))
    else:
        missing(now)
    if not now.evaluation.figures:
        return
    tables = (quality_table(now.evaluation), error_table(now.evaluation))
    if not now.running:
        status_line(summary(now))
        rows = plural(len(now.labelled.rows), "response")
        link(f"{now.labelled.name}: {rows}.", **state.address(JOB.name))
    for table in tables:
        show(result_table(table))
    if any(figures.seconds for figures in now.evaluation.figures):
        st.plotly_chart(f1_by_latency(now), key="f1_by_latency", alt=summary(now))
    if now.running:
        return
    method = st.selectbox(
        "Read the responses of",
        [figures.method for figures in ranked(now.evaluation)],
        format_func=lambda name: METHODS[name].label,
        key="benchmark_method",
        help="Misclassified responses come first.",
    )
    show(row_list(scored_rows(now, method)))
    csv = "\n".join(table.csv() for table in tables)
    downloads(
        {
            "figures (JSON)": File(partial(figures_json, now), "figures.json", "application/json"),
            "scores (JSONL)": File(partial(rows_jsonl, now), "rows.jsonl", "application/jsonl"),
            "tables (CSV)": File(csv, "tables.csv", "text/csv"),
        }
    )


def f1_by_latency(now: BenchmarkProgress) -> Figure:
    """Draw macro F1 against the seconds of a response, on a logarithmic axis (T24 Figure 2)."""
    # plotly would use these half imported while another thread imports them
    import numpy  # noqa: F401
    import pandas  # noqa: F401
    from plotly import graph_objects

    measured = [one for one in now.evaluation.figures if one.seconds]
    figure = graph_objects.Figure()
    figure.add_scatter(
        x=[one.seconds for one in measured],
        y=[one.macro_f1 for one in measured],
        text=[one.method for one in measured],
        textposition="top center",
        mode="markers+text",
    )
    figure.update_xaxes(type="log", title="seconds a response (logarithmic)")
    figure.update_yaxes(range=[0, 1.05], title="macro F1")
    return figure


def missing(now: BenchmarkProgress) -> None:
    """Say which methods have no figures or not all scores, and why."""
    incomplete = now.missing()
    if incomplete:
        labels = ", ".join(METHODS[method].label for method in incomplete)
        known = f"{len(now.saved.outcomes)} of {now.total} scores are done. Incomplete: {labels}"
        note("Not complete", known, "Measure again: language models are not asked twice.")
    for method, reason in (now.saved.left_out | now.evaluation.unmeasured).items():
        note(f"{METHODS[method].label} has no figures", reason)


def figures_json(now: BenchmarkProgress) -> str:
    """Return the figures of all methods as JSON."""
    left_out = [LeftOut(method, reason) for method, reason in now.saved.left_out.items()]
    report = json_report(now.labelled, now.evaluation, left_out, now.saved.settings)
    return json.dumps({"name": now.labelled.name, **report}, indent=1, ensure_ascii=False)


def rows_jsonl(now: BenchmarkProgress) -> str:
    """Return the outcome of each method on each response as JSON Lines."""
    lines = row_lines(now.labelled.rows, now.saved.outcomes, now.evaluation)
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def page() -> None:
    """Draw the form and the benchmark."""
    JOB.draw(form, result)
