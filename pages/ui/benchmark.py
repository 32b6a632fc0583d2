"""Run the methods of a benchmark in the background, and save the result under an address."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from attribution.errors import AttributionError, BadInput
from attribution.evidence.strangers import demanded, of_saved_run
from attribution.files import parse_rows
from attribution.settings import ROOT, Settings
from attribution.store.runs import new_run_id
from attribution.studies.groundedness import METHODS
from attribution.studies.groundedness.evaluation import (
    Evaluation,
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
from attribution.studies.groundedness.labelled_set import OPTIONAL, REQUIRED, LabelledSet, labelled_set
from pages.ui import background, choices, state
from pages.ui.choices import explain
from pages.ui.slot import Slot, store

SAVING = 4.0  # seconds between two saves: a crash costs no more
Run = Callable[[threading.Event], Iterator[Outcome | LeftOut]]


@dataclass(frozen=True)
class BenchmarkProgress(background.Progress):
    """The state of a benchmark at one moment."""

    labelled: SavedSet
    saved: SavedBenchmark  # with the outcomes so far
    evaluation: Evaluation  # of the finished methods; at the end, of all

    @property
    def total(self) -> int:
        """The total number of outcomes, unless a method is left out on the way."""
        return len(self.labelled.rows) * len(self.saved.methods)

    @property
    def complete(self) -> bool:
        """True if every method has scored every row or was left out."""
        return not self.missing()

    def missing(self) -> list[str]:
        """Return the methods that have not scored every row."""
        counts = self.counts()
        rows = len(self.labelled.rows)
        return [m for m in self.saved.methods if counts[m] < rows and m not in self.saved.left_out]

    def counts(self) -> dict[str, int]:
        """Count the rows that each method has scored."""
        found = dict.fromkeys(self.saved.methods, 0)
        for outcome in self.saved.outcomes:
            found[outcome.method] += 1
        return found


class BenchmarkJob(background.Job[BenchmarkProgress]):
    """A benchmark job, saved under its id. Outcomes come one by one; figures follow when a method is done."""

    def __init__(
        self, id: str, labelled: SavedSet, saved: SavedBenchmark, run: Run, save: Callable[[SavedBenchmark], None]
    ) -> None:
        """Start the job; `saved` holds the outcomes of an earlier start, which `run` yields again."""
        self.id = id
        kept = {(o.method, o.row): o for o in saved.outcomes}

        def work(stop: threading.Event, update: Callable[..., BenchmarkProgress]) -> None:
            now, done, last, method = saved, dict(kept), time.monotonic(), ""
            save(now)
            try:
                for one in run(stop):
                    if one.method != method:
                        if method:
                            update(evaluation=_evaluated(labelled, now))
                        method = one.method
                    if isinstance(one, LeftOut):
                        now = now.model_copy(update={"left_out": {**now.left_out, one.method: one.reason}})
                    else:
                        done[one.method, one.row] = one
                        now = now.model_copy(update={"outcomes": tuple(done.values())})
                    update(saved=now)
                    if time.monotonic() - last > SAVING:
                        save(now)
                        last = time.monotonic()
            finally:
                save(now)
                update(saved=now, evaluation=_evaluated(labelled, now))

        super().__init__("benchmark", BenchmarkProgress(labelled, saved, _evaluated(labelled, saved)), work)
        background.register(id, self)


def _evaluated(labelled: SavedSet, saved: SavedBenchmark) -> Evaluation:
    """Evaluate the outcomes so far."""
    seen = {o.method for o in saved.outcomes}
    return evaluate(labelled.rows, saved.outcomes, [m for m in saved.methods if m in seen])


def finished(labelled: SavedSet, saved: SavedBenchmark) -> BenchmarkProgress:
    """Return a saved benchmark for display."""
    return BenchmarkProgress(labelled, saved, _evaluated(labelled, saved), running=False)


def by_place(outcomes: Sequence[Outcome]) -> Mapping[tuple[str, str], Outcome]:
    """Index outcomes by method and row."""
    return {(o.method, o.row): o for o in outcomes}


EXAMPLE = "groundedness.jsonl"  # in examples/
GIVEN = "benchmark_given"  # the name and content of a set from another page
ROWS = 2_000  # of one benchmark on the page
RESULT = Slot[BenchmarkJob, BenchmarkProgress]("benchmark")
is_running, notice = RESULT.is_running, RESULT.notice
NUMBER = "benchmark_number"  # the number whose rows are shown
EMBEDDER = "benchmark_embedder"  # key of its box
OFFLINE = ("cos_sim", "quip", "gc", "selfcheck_context", "pipeline")  # selected at first


def example() -> bytes:
    """Return the labelled set that comes with the project."""
    return (ROOT / "examples" / EXAMPLE).read_bytes()


def give(name: str, content: bytes) -> None:
    """Hand over this set for the benchmark, until a file is chosen or the set is put away."""
    state.put(GIVEN, (name, content))
    RESULT.start(None)
    RESULT.show(None)


def given() -> tuple[str, bytes] | None:
    """Return the set that another page has handed over."""
    found: tuple[str, bytes] | None = state.get(GIVEN)
    return found


def put_away() -> None:
    state.put(GIVEN, None)


def read(content: bytes) -> LabelledSet | str:
    """Read the labelled responses of a file; return a message if it cannot be used."""
    try:
        labelled = labelled_set(parse_rows(content, REQUIRED, OPTIONAL))
    except BadInput as error:
        return str(error)
    if len(labelled.rows) > ROWS:
        found = f"{len(labelled.rows):,} responses, and this page takes {ROWS:,}"
        return f"The file has {found}: use `python -m attribution benchmark`, or a part of the file."
    return labelled


def settings() -> Settings | str:
    """Return settings with the models of the form and no sources, or a message if they cannot be used."""
    base = choices.endpoint()
    if isinstance(base, str):
        return base
    given = {name: state.value(name) for name in (state.VERIFIER, state.SEGMENTER, state.VERIFIER_MODEL, *state.PRICES)}
    chosen = {name: value for name, value in given.items() if value not in (None, "")}
    embedder = str(st.session_state.get(EMBEDDER) or "minilm")
    try:
        return demanded({**chosen, "embedder": embedder}, base)
    except AttributionError as error:
        return explain(error)[0]


def start(name: str, labelled: LabelledSet, methods: Sequence[str], chosen: Settings) -> None:
    """Run the methods on the responses."""
    if is_running() or not methods:
        return
    id, kept = new_run_id(), SavedSet(name=name, rows=labelled.rows, problems=labelled.problems)
    save_labelled_set(store(), id, name, labelled)
    ready, left_out = selected(methods, chosen)
    begun = SavedBenchmark(
        methods=tuple(ready), left_out={one.method: one.reason for one in left_out}, settings=chosen.public()
    )
    state.put(NUMBER, None)
    RESULT.start(_job(id, kept, begun, chosen))


def go_on(now: BenchmarkProgress, chosen: Settings) -> None:
    """Complete a stopped or interrupted benchmark with the models it was started with."""
    if is_running():
        return
    id = str(state.address("benchmark").get("benchmark") or new_run_id())
    own = {n: v for n, v in now.saved.settings.items() if n in ("verifier", "verifier_model", "embedder", "segmenter")}
    try:
        RESULT.start(_job(id, now.labelled, now.saved, of_saved_run(own, chosen)))
    except AttributionError as error:
        RESULT.refuse(f"it cannot be continued: {explain(error)[0]}")


def _job(id: str, labelled: SavedSet, saved: SavedBenchmark, chosen: Settings) -> BenchmarkJob:
    database = store()
    before = by_place(saved.outcomes)
    methods = [m for m in saved.methods if not METHODS[m].missing(chosen)]

    def work(stopped: threading.Event) -> Iterator[Outcome | LeftOut]:
        return run(labelled.rows, methods, chosen, before, stopped)

    return BenchmarkJob(id, labelled, saved, work, partial(save_benchmark, database, id))


def load(id: str) -> None:
    """Show the benchmark in the address, saved or in progress; `notice` says why if it cannot be shown."""
    if RESULT.running(id):
        return
    if found := RESULT.saved(lambda database: load_benchmark(database, id)):
        RESULT.show(finished(*found))


def owns() -> bool:
    return RESULT.owns("benchmark")


def copy() -> None:
    RESULT.copy("benchmark", load)


def current() -> BenchmarkProgress | None:
    """Return the benchmark to show: the last one started, else the one in the address."""
    job = RESULT.job()
    if job is None:
        return RESULT.shown()
    state.show_address(benchmark=job.id)
    return job.progress()


def select(number: str) -> None:
    """Show the rows behind a number, given as METHOD|FIGURE."""
    state.put(NUMBER, number)


def selected_number() -> str:
    return str(state.get(NUMBER) or "")


def try_start(name: str, labelled: LabelledSet | None, methods: Sequence[str]) -> None:
    """Start the benchmark of the form; a problem is shown in place of the result."""
    chosen = settings()
    if isinstance(chosen, str) or labelled is None:
        RESULT.refuse(chosen if isinstance(chosen, str) else "The file cannot be used.")
        return
    try:
        start(name, labelled, methods, chosen)
    except AttributionError as error:
        RESULT.refuse(str(error))


def try_go_on() -> None:
    """Complete the shown benchmark."""
    now, chosen = current(), settings()
    if isinstance(chosen, str):
        RESULT.refuse(chosen)
    elif now is not None:
        go_on(now, chosen)
