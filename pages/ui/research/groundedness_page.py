"""Benchmark: how well and how fast groundedness methods separate grounded from ungrounded responses
(T24).
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from attribution.errors import AttributionError, BadInput
from attribution.reports import html
from attribution.reports.html import Node, badge, el, plural
from attribution.settings import LIMITS, ROOT, Settings
from attribution.store.runs import new_run_id
from attribution.store.store import Store
from attribution.studies.groundedness import METHODS
from attribution.studies.groundedness.evaluation import (
    BENCHMARK,
    BENCHMARK_SET,
    Evaluation,
    LeftOut,
    MethodFigures,
    Outcome,
    SavedBenchmark,
    Tuning,
    duration,
    error_table,
    evaluate,
    json_report,
    load_benchmark,
    quality_table,
    ranked,
    row_lines,
    run,
    selected,
)
from attribution.studies.groundedness.evaluation import ScoredRow as Scored
from attribution.studies.groundedness.labelled_set import (
    OPTIONAL,
    REQUIRED,
    LabelledRow,
    LabelledSet,
    labelled_set,
)
from attribution.text_files import json_line, parse_rows
from pages.ui import choices, state
from pages.ui.background import JobPage, JobProgress, Work, in_turns
from pages.ui.components import link
from pages.ui.fields import pick_many
from pages.ui.form import advanced_menu
from pages.ui.frame import File, downloads, note, result_table, show, small, status_line
from pages.ui.state import store

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

SHOWN = 60  # responses shown at once
CONTEXT = 6_000  # characters of a context that are shown
PROMPTS = {"lynx": 1, "claims_verify": 2, "selfcheck_multi": 5, "refchecker": 1}


@dataclass(frozen=True)
class BenchmarkProgress(JobProgress):
    """The state of a benchmark at one moment."""

    labelled: LabelledSet
    saved: SavedBenchmark  # with the outcomes so far
    evaluation: Evaluation  # of the finished methods; at the end, of all

    @property
    def total(self) -> int:
        """Return the total number of outcomes, unless a method is left out on the way."""
        return len(self.labelled.rows) * len(self.saved.methods)

    def missing(self) -> list[str]:
        """Return the methods that have not scored every row."""
        counts, rows = self.counts(), len(self.labelled.rows)
        return [m for m in self.saved.methods if counts[m] < rows and m not in self.saved.left_out]

    def counts(self) -> Counter[str]:
        """Count the rows that each method has scored."""
        return Counter(outcome.method for outcome in self.saved.outcomes)

    def doing(self) -> str:
        done = f"{len(self.saved.outcomes)} of {self.total} scores"
        return f"{'Stopping after this response' if self.stopping else done} …"

    def share(self) -> float:
        return len(self.saved.outcomes) / self.total if self.total else 0.0


def progress_table(now: BenchmarkProgress) -> Node:
    """Tabulate the progress of each method."""
    counts, total = now.counts(), len(now.labelled.rows)
    rows = []
    for method in now.saved.methods:
        status = now.saved.left_out.get(method) or f"{counts[method]} of {total}"
        rows.append((METHODS[method].label, status))
    return html.table(("Method", "Responses"), rows)


def summary(now: BenchmarkProgress) -> str:
    """Summarise the benchmark in a sentence or two."""
    figures = ranked(now.evaluation)
    if not figures:
        return "No method has figures yet."
    best, label = figures[0], METHODS[figures[0].method].label
    tested = plural(best.test, "test response")
    text = f"Best macro F1 on {tested}: {best.macro_f1:.2f}, {label}."
    timed = [f for f in figures if f.seconds is not None]
    quick = min(timed, key=lambda f: f.seconds or 0.0, default=best)
    if quick.method != best.method:
        label, time = METHODS[quick.method].label, duration(quick.seconds)
        text += f" Fastest: {label}, {time} a response, macro F1 {quick.macro_f1:.2f}."
    return text


@dataclass(frozen=True)
class ResponseScore:
    """A test response with what a method found."""

    row: LabelledRow
    outcome: Outcome
    figures: MethodFigures

    @property
    def is_wrong(self) -> bool:
        tuning = Tuning(self.figures.reading, self.figures.threshold)
        return not Scored(self.row, self.outcome).is_right(tuning)

    @property
    def is_flagged(self) -> bool:
        return self.is_wrong == self.row.grounded

    @property
    def order(self) -> tuple[bool, float, int]:
        """Wrong ones first, the surest of them first."""
        distance = abs(self.outcome.scores[self.figures.reading] - self.figures.threshold)
        return not self.is_wrong, -distance, self.row.line


def scored_rows(now: BenchmarkProgress, method: str) -> list[ResponseScore]:
    """Return the test responses that a method has scored, those to look at first."""
    rows = {row.id: row for row in now.labelled.rows if row.split == "test"}
    figures = {f.method: f for f in now.evaluation.figures}
    if method not in figures:
        return []
    outcomes = [o for o in now.saved.outcomes if o.method == method and o.row in rows]
    scored = [ResponseScore(rows[o.row], o, figures[method]) for o in outcomes if not o.error]
    return sorted(scored, key=lambda one: one.order)


def row_list(scored: list[ResponseScore]) -> Node:
    """List responses with label and the method's decision, and with the texts when opened."""
    wrong = sum(one.is_wrong for one in scored)
    words = f"{wrong} of {plural(len(scored), 'test response')} misclassified; open one to read it."
    head = el("p", words, class_="ax-quiet")
    return el("section", head, *map(_row, scored[:SHOWN]), class_="ax-behind")


def _row(scored: ResponseScore) -> Node:
    row, outcome, figures = scored.row, scored.outcome, scored.figures
    label = "supported" if row.grounded else "contradicted"
    flag = "flagged" if scored.is_flagged else "passed"
    word = f"{'wrongly' if scored.is_wrong else 'correctly'} {flag}"
    excerpt = " ".join(row.response.split())[:160]
    summary = el(
        "summary",
        badge(label, word="Grounded" if row.grounded else "Ungrounded"),
        " ",
        el("span", word, class_="wrong" if scored.is_wrong else "right"),
        " ",
        el("span", excerpt, dir="auto"),
    )
    facts = [
        f"line {row.line}",
        f"score {outcome.scores[figures.reading]:.3f}, threshold {figures.threshold:.3f}",
        duration(outcome.seconds),
        f"error: {row.error_type}" if row.error_type else "",
    ]
    question = el("p", el("strong", "Question "), el("span", row.question, dir="auto"))
    response = el("span", row.response, dir="auto")
    context = [el("blockquote", text[:CONTEXT], dir="auto") for text in row.context]
    return el(
        "details",
        summary,
        el("p", " · ".join(filter(None, facts)), class_="ax-quiet"),
        question if row.question.strip() else None,
        el("p", el("strong", "Response "), response),
        el("h4", "Context"),
        *context,
    )


# --- the benchmark ---


EXAMPLE_NAME = "The built-in example set"
FORMAT = (
    "A line is an object with response, context and grounded; question, turns, error_type, id, "
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
    measured = [method for method in saved.methods if method in seen]
    figures = evaluate(labelled.rows, saved.outcomes, measured)
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
    return "".join(map(json_line, lines))


def page() -> None:
    """Draw the form and the benchmark."""
    JOB.draw(form, result)
