"""Benchmark: how well and how fast groundedness methods separate grounded from ungrounded responses
(T24).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import streamlit as st

from attribution.embedders import EMBEDDERS
from attribution.errors import AttributionError, BadInput
from attribution.evidence.permissions import demanded, of_saved_run
from attribution.files import parse_rows
from attribution.reports.html import el, plural
from attribution.segmenters import SEGMENTERS
from attribution.settings import LIMITS, ROOT, Settings
from attribution.store.runs import new_run_id
from attribution.store.store import Store
from attribution.studies.groundedness import METHODS
from attribution.studies.groundedness.evaluation import (
    LeftOut,
    Outcome,
    SavedBenchmark,
    SavedSet,
    evaluate,
    load_benchmark,
    run,
    save_benchmark,
    save_labelled_set,
    selected,
)
from attribution.studies.groundedness.labelled_set import (
    OPTIONAL,
    REQUIRED,
    LabelledSet,
    labelled_set,
)
from attribution.studies.groundedness.report import f1_by_latency, ranked
from attribution.verifiers import VERIFIERS
from pages.ui import choices, frame, state
from pages.ui.background import Work, in_turns
from pages.ui.choices import explain
from pages.ui.components import link, numbers
from pages.ui.fields import pick, pick_many
from pages.ui.files import downloads
from pages.ui.frame import note, plot, section, show, small, status_line
from pages.ui.job_page import JobPage
from pages.ui.lab import benchmark_results
from pages.ui.lab.benchmark_results import BenchmarkProgress
from pages.ui.options import language_model
from pages.ui.state import store

EXAMPLE_NAME = "The built-in example set"
SAMPLE = (
    '{"question": "Who painted it?", "context": ["Ana painted it in 1901.", "It hangs in Lima."], '
    '"response": "Ana painted it in 1910.", "grounded": false, "error_type": "number"}\n'
)
SAVING = 4.0  # seconds between two saves: a crash costs no more
ROWS = 2_000  # of one benchmark on the page
NUMBER = "benchmark_number"  # the number whose rows are shown
EMBEDDER = "benchmark_embedder"  # key of its box
OFFLINE = ("cos_sim", "quip", "gc", "selfcheck_context", "pipeline")  # selected at first
MODELS = (state.VERIFIER, state.VERIFIER_MODEL, state.SEGMENTER, "embedder")
Run = Callable[[threading.Event], Iterator[Outcome | LeftOut]]


def evaluated(
    labelled: SavedSet, saved: SavedBenchmark, running: bool = False
) -> BenchmarkProgress:
    """Return a benchmark with the figures of its outcomes so far."""
    seen = {o.method for o in saved.outcomes}
    figures = evaluate(labelled.rows, saved.outcomes, [m for m in saved.methods if m in seen])
    return BenchmarkProgress(labelled, saved, figures, running=running)


def read(database: Store, id: str) -> BenchmarkProgress | None:
    """Load a saved benchmark."""
    found = load_benchmark(database, id)
    return evaluated(*found) if found else None


JOB = JobPage("benchmark", "benchmark", read, poll=1.0)


def work(
    labelled: SavedSet, saved: SavedBenchmark, run: Run, save: Callable[[SavedBenchmark], None]
) -> Work[BenchmarkProgress]:
    """Collect and save outcomes one by one; figures follow when a method is done.

    `saved` holds the outcomes of an earlier start, which `run` yields again.
    """

    def measure(stop: threading.Event, update: Callable[..., BenchmarkProgress]) -> None:
        now, last, method = saved, time.monotonic(), ""
        done = {(o.method, o.row): o for o in saved.outcomes}
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
                    done[one.method, one.row] = one
                    now = now.model_copy(update={"outcomes": tuple(done.values())})
                update(saved=now)
                if time.monotonic() - last > SAVING:
                    save(now)
                    last = time.monotonic()
        finally:
            save(now)
            update(saved=now, evaluation=evaluated(labelled, now).evaluation)

    return measure


def settings() -> Settings | str:
    """Return settings with the models of the form and no sources, or a message if they cannot be
    used.
    """
    base = choices.endpoint()
    if isinstance(base, str):
        return base
    given = {
        name: state.value(name)
        for name in (state.VERIFIER, state.SEGMENTER, state.VERIFIER_MODEL, *state.PRICES)
    }
    chosen = {name: value for name, value in given.items() if value not in (None, "")}
    try:
        return demanded({**chosen, "embedder": str(state.selected(EMBEDDER) or "minilm")}, base)
    except AttributionError as error:
        return explain(error)[0]


def start(name: str, labelled: LabelledSet, methods: Sequence[str]) -> None:
    """Run the methods on the responses; a problem is shown in place of the result."""
    chosen, id = settings(), new_run_id()
    if isinstance(chosen, str):
        JOB.refuse(chosen, "The benchmark cannot start")
        return
    try:
        save_labelled_set(store(), id, name, labelled)
        ready, left_out = selected(methods, chosen)
    except AttributionError as error:
        JOB.refuse(error.public(), "The benchmark cannot start")
        return
    reasons = {one.method: one.reason for one in left_out}
    begun = SavedBenchmark(methods=tuple(ready), left_out=reasons, settings=chosen.public())
    state.put(NUMBER, None)
    _launch(id, SavedSet(name=name, rows=labelled.rows, problems=labelled.problems), begun, chosen)


def go_on() -> None:
    """Complete the shown benchmark, with the models it was started with."""
    now, chosen = JOB.current(), settings()
    if now is None:
        return
    try:
        if isinstance(chosen, str):
            raise BadInput(chosen)
        own = {name: value for name, value in now.saved.settings.items() if name in MODELS}
        _launch(JOB.id(), now.labelled, now.saved, of_saved_run(own, chosen))
    except AttributionError as error:
        JOB.refuse(explain(error)[0], "The benchmark cannot be continued")


def _launch(id: str, labelled: SavedSet, saved: SavedBenchmark, chosen: Settings) -> None:
    known = {(o.method, o.row): o for o in saved.outcomes}
    methods = [m for m in saved.methods if not METHODS[m].missing(chosen)]
    browser = state.browser()

    def outcomes(stop: threading.Event) -> Iterator[Outcome | LeftOut]:
        return in_turns(browser, stop, run(labelled.rows, methods, chosen, known, stop))

    save = partial(save_benchmark, store(), id)
    JOB.launch(evaluated(labelled, saved, running=True), work(labelled, saved, outcomes, save), id)


# --- the page ---


def example() -> bytes:
    """Return the labelled set that comes with the project."""
    return (ROOT / "examples" / "groundedness.jsonl").read_bytes()


def read_set(content: bytes) -> LabelledSet | str:
    """Read the labelled responses of a file; return a message if it cannot be used."""
    try:
        found = labelled_set(parse_rows(content, REQUIRED, OPTIONAL))
    except BadInput as error:
        return error.public()
    if len(found.rows) > ROWS:
        count = f"{len(found.rows):,} responses, and this page takes {ROWS:,}"
        return (
            f"The file has {count}: use `python -m attribution benchmark`, or a part of the file."
        )
    return found


def choose_set() -> tuple[str, LabelledSet | None]:
    """Draw the choice of a labelled set, and describe it; None if it cannot be used."""
    uploaded = st.file_uploader(
        "Labelled responses",
        ["jsonl", "json"],
        key="benchmark_file",
        help="JSON Lines, one response on each line. Without a file, the built-in example set is used.",
        max_upload_size=LIMITS.file_mb,
    )
    name, content = benchmark_results.given() or (EXAMPLE_NAME, example())
    if uploaded:
        name, content = uploaded.name, uploaded.getvalue()
    elif benchmark_results.given():
        st.button(
            "Use the built-in example set",
            on_click=benchmark_results.discard,
            key="discard",
            help="Use the set that comes with the project instead.",
        )
    with st.expander("Format of a line"):
        show(el("pre", SAMPLE.strip()))
        small(
            "question, error_type, id, sentences, split and group are optional. context is a text or a list of texts. "
            "Half of the questions are used to tune thresholds, unless split says development or test."
        )
        st.download_button(
            "Download the example set", example(), "groundedness.jsonl", on_click="ignore"
        )
    found = read_set(content)
    if isinstance(found, str):
        note("This file cannot be used", found, label="contradicted")
        return name, None
    test, own = found.of("test"), found.rows
    facts = (
        f"{plural(len(own), 'response')}, {sum(r.grounded for r in own)} of them grounded; "
        f"{len(own) - len(test)} to tune thresholds, {len(test)} to report."
    )
    show(el("p", el("span", el("strong", name, dir="auto"), f": {facts}"), class_="ax-status"))
    if found.problems:
        lines = [f"Line {line}: {problem}" for line, problem in found.problems[:10]]
        more = len(found.problems) - len(lines)
        note(
            f"{plural(len(found.problems), 'line')} left out",
            *lines,
            *([f"{more} more"] if more else []),
        )
    return name, found


def choose_models() -> None:
    """Draw the choice of models for the methods."""
    with st.popover(
        "Models of the methods", key="models_menu", help="What the methods are run with."
    ):
        pick(
            "Verifier",
            state.VERIFIER,
            VERIFIERS,
            "For “Fine-tuned cross-encoder”, SelfCheck and the pipeline.",
        )
        st.selectbox(
            "Embedder",
            choices.ready(EMBEDDERS),
            key=EMBEDDER,
            format_func=lambda name: EMBEDDERS[name].label,
            help="For “Cosine similarity” and the pipeline.",
        )
        pick("Split the answer into", state.SEGMENTER, SEGMENTERS, "For the pipeline.")
        language_model()


def form(running: bool) -> None:
    """Draw the choice of responses and methods, and the buttons."""
    choose_models()
    with st.container(key="form"):
        options, buttons = st.columns([5, 1])
        with options:
            name, found = choose_set()
            offline = [method for method in OFFLINE if method in choices.ready(METHODS)]
            methods = pick_many(
                "Methods",
                METHODS,
                offline,
                "benchmark_methods",
                "How a response is scored against its context.",
            )
        with buttons:
            begin = partial(start, name, found or LabelledSet((), ()), methods)
            JOB.buttons(
                "Measure",
                begin,
                running,
                bool(found and methods),
                "The scores so far can be completed later.",
            )
            if found and (asked := benchmark_results.prompts(methods, len(found.rows))):
                small(
                    f"At least {plural(asked, 'prompt')} to the language model; cached replies cost nothing."
                )


def result(now: BenchmarkProgress) -> None:
    """Draw the progress of each method, what is missing, the figures, and files."""
    if now.running:
        show(benchmark_results.progress_table(now))
        if now.evaluation.figures:
            draw_figures(now)
        return
    if missing := now.missing():
        labels = ", ".join(METHODS[m].label for m in missing)
        known = f"{len(now.saved.outcomes)} of {now.total} scores are done. Incomplete: {labels}"
        JOB.offer_to_continue(known, go_on, "complete it")
    for reasons in (now.saved.left_out, now.evaluation.unmeasured):
        for method, reason in reasons.items():
            note(f"{METHODS[method].label} has no figures", reason)
    if not now.evaluation.figures:
        return
    status_line(benchmark_results.summary(now))
    link(
        f"{now.labelled.name}: {plural(len(now.labelled.rows), 'response')}.",
        **state.address(JOB.name),
    )
    draw_figures(now)
    downloads(
        {
            "figures (JSON)": (
                partial(benchmark_results.figures_json, now),
                "figures.json",
                "application/json",
            ),
            "scores (JSONL)": (
                partial(benchmark_results.rows_jsonl, now),
                "rows.jsonl",
                "application/jsonl",
            ),
            "tables (CSV)": (partial(benchmark_results.tables_csv, now), "tables.csv", "text/csv"),
            "tables (Markdown)": (
                partial(benchmark_results.tables_markdown, now),
                "tables.md",
                "text/markdown",
            ),
        }
    )


def draw_figures(now: BenchmarkProgress) -> None:
    """Draw the tables, the chart, and the responses behind the number that was clicked."""
    number = str(state.get(NUMBER) or "")
    behind = benchmark_results.rows_behind(now, number) if number else None
    by_error = "|error:" in number

    def select(clicked: str) -> None:
        if clicked:
            state.put(NUMBER, clicked)
            st.rerun(scope="fragment" if now.running else "app")

    select(numbers(benchmark_results.quality(now), number, key="benchmark_quality"))
    if behind and not by_error:
        show(benchmark_results.row_list(behind))
    light = ("#33332f", "#d5d1cb", "#2f5d8a", "#ffffff")
    colours = ("#d9d9d4", "#4a4743", "#8fbbe6", "#16202b") if state.is_dark() else light
    if any(f.seconds for f in now.evaluation.figures):
        section("Macro F1 against time")
        figure = f1_by_latency(ranked(now.evaluation), *colours)
        plot(
            figure, f"benchmark_plot_{len(now.evaluation.figures)}", benchmark_results.summary(now)
        )
    if table := benchmark_results.errors(now):
        section("Misclassified test responses by error type")
        select(numbers(table, number, key="benchmark_errors"))
        if behind and by_error:
            show(benchmark_results.row_list(behind))


if __name__ == "__main__":
    frame.begin(
        "benchmark",
        "Benchmark",
        "Measure methods that judge whether a response is grounded in its context, on responses labelled by people; "
        "click a number to read the responses behind it.",
        benchmark=JOB.open,
    )
    JOB.draw(form, result)
