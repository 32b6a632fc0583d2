"""Test sets: grounded answers and twins with one evoked error each, whose place is known."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from attribution.errors import BadInput, NotYours
from attribution.files import parse_rows
from attribution.llm.client import Llm
from attribution.pipeline.experiment import Result, run_each
from attribution.reports.html import Child, Node, el, plural
from attribution.settings import LIMITS
from attribution.store.runs import new_run_id
from attribution.store.store import Store
from attribution.studies.groundedness.test_sets import (
    EvokedSet,
    Grounded,
    Made,
    load,
    make,
    of_report,
    read,
    save,
)
from attribution.studies.groundedness.twins import KINDS
from attribution.types import Span
from pages.ui import background, choices, frame, run, state, thresholds
from pages.ui.background import Work, in_turns
from pages.ui.components import link
from pages.ui.files import sample
from pages.ui.frame import copy_line, note, section, show, small, status_line
from pages.ui.job_page import JobPage
from pages.ui.lab.benchmark_results import choose_error_type, open_in_benchmark
from pages.ui.state import store

SAVING = 2.0  # seconds between two saved states, the most that a kill can lose
LIMIT = 1000  # answers per file
SHOWN = 30  # twins on the page
SAMPLE = (
    '{"question": "When was it built?", "context": "The tower was built in 1889.", '
    '"response": "The tower was built in 1889."}\n'
)
Make = Callable[
    [Sequence[Grounded], threading.Event], Iterator[Result[tuple[list[Made], list[str]]]]
]  # of each


@dataclass(frozen=True)
class MakeProgress(background.JobProgress):
    """The state of a set at one moment."""

    set: EvokedSet

    @property
    def total(self) -> int:
        return len(self.set.answers)

    def doing(self) -> str:
        done = f"{self.set.done} of {plural(self.total, 'answer')} done"
        return f"{'Stopping' if self.stopping else 'Altering'} … {done}"

    def share(self) -> float:
        return self.set.done / max(1, self.total)


def read_saved(database: Store, id: str) -> MakeProgress | None:
    """Load a saved set."""
    found = load(database, id)
    return MakeProgress(set=found, running=False) if found else None


JOB = JobPage("evoked", "test set", read_saved)


def work(begun: EvokedSet, make: Make, save: Callable[[EvokedSet], None]) -> Work[MakeProgress]:
    """Alter the answers that are not done yet. Stopping keeps those that are."""

    def make_twins(stop: threading.Event, update: Callable[..., MakeProgress]) -> None:
        grown, saved, left = begun, time.monotonic(), begun.answers[begun.done :]
        save(grown)
        try:
            for answer, result in zip(left, make(left, stop), strict=False):
                rows, problems = result.value or ([], [result.problem])
                grown = grown.with_answer(rows, [f"{answer.id}: {problem}" for problem in problems])
                update(set=grown)
                if time.monotonic() - saved > SAVING:
                    save(grown)
                    saved = time.monotonic()
        finally:
            save(grown)

    return make_twins


def start(answers: Sequence[Grounded], kinds: Sequence[str], seed: int, by_llm: bool) -> None:
    """Make a set."""
    _launch(new_run_id(), EvokedSet(tuple(answers), tuple(kinds), seed, by_llm))


def go_on() -> None:
    """Alter the remaining answers, with the options of the first start."""
    if now := JOB.current():
        _launch(JOB.id(), now.set)


def _launch(id: str, begun: EvokedSet) -> None:
    settings, database = choices.endpoint(), store()
    if isinstance(settings, str):
        return
    llm = Llm(settings, database) if begun.by_llm else None
    browser = state.browser()

    def altered(
        answers: Sequence[Grounded], stop: threading.Event
    ) -> Iterator[Result[tuple[list[Made], list[str]]]]:
        def of_one(answer: Grounded) -> tuple[list[Made], list[str]]:
            return next(make([answer], begun.kinds, begun.seed, llm))

        return in_turns(browser, stop, run_each(answers, of_one, stop))

    JOB.launch(MakeProgress(set=begun), work(begun, altered, partial(save, database, id)), id)


def label(row_id: str, error_type: str) -> None:
    """Set the error type of a row by hand, and save it."""
    if (now := JOB.current()) and not now.running:
        labelled = now.set.with_label(row_id, error_type)
        try:
            save(store(), JOB.id(), labelled)
        except NotYours as error:
            JOB.refuse(error.public(), "The type was not saved")
            return
        JOB.show(replace(now, set=labelled))


# --- the page ---


def of_last_run() -> Grounded | None:
    """Return the supported sentences of the session's last run; None if there are none."""
    now = run.current()
    if now is None or now.running or not now.report.id:
        return None
    try:
        return of_report(thresholds.shown(now.report))
    except BadInput:
        return None


def of_file(content: bytes) -> tuple[list[Grounded], list[str]]:
    """Return the grounded answers of a file and the problems of other lines. Raises BadInput if it
    has no lines.
    """
    answers: list[Grounded] = []
    problems: list[str] = []
    rows = parse_rows(content, ["response"], ["question"])
    if len(rows) > LIMIT:
        raise BadInput(
            f"the file has {len(rows):,} answers, and one set takes {LIMIT:,}: split the file"
        )
    for row in rows:
        try:
            answers.append(read(row))
        except BadInput as error:
            problems.append(f"line {row.line}: {error}")
    return answers, problems


def choose_answers() -> list[Grounded]:
    """Draw the choice of the grounded answers to alter."""
    last = of_last_run()
    options = (["The last run on Explore"] if last else []) + ["A file"]
    chosen = st.segmented_control(
        "Grounded answers from",
        options,
        default=options[0],
        key="evoke_source",
        required=True,
        help="Answers that their context supports: only these can be altered.",
    )
    if chosen != "A file" and last:
        count = plural(len(last.response.splitlines()), "sentence")
        small(f"{count} that the run found supported, with the supporting passages.")
        return [last]
    small(
        "A JSON Lines file with a context and a response on each line; the context must support the response."
    )
    sample(SAMPLE, "grounded.jsonl")
    upload = st.file_uploader(
        "Answers and their contexts",
        ["jsonl", "json", "txt"],
        key="evoke_upload",
        help="As in the sample file.",
        max_upload_size=LIMITS.file_mb,
    )
    if upload is None:
        return []
    try:
        answers, problems = of_file(upload.getvalue())
    except BadInput as error:
        note("This file cannot be used", error.public(), label="contradicted")
        return []
    if problems:
        note(f"{plural(len(problems), 'line')} cannot be used", *problems[:10])
    return answers


def form(running: bool) -> None:
    """Draw the answers, the kinds of errors, and the buttons."""
    with st.container(key="form"):
        options, buttons = st.columns([5, 1])
        with options:
            answers = choose_answers()
            kinds = st.pills(
                "Errors",
                list(KINDS),
                selection_mode="multi",
                default=list(KINDS),
                key="evoke_kinds",
                wrap=True,
                format_func=str.capitalize,
                help="; ".join(f"{kind.capitalize()}: {meaning}" for kind, meaning in KINDS.items())
                + ".",
            )
            by, endpoint = "Rules", choices.endpoint()
            if not isinstance(endpoint, str) and endpoint.has_llm:
                by = st.segmented_control(
                    "Altered by",
                    ["Rules", "Language model"],
                    default="Rules",
                    key="evoke_by",
                    required=True,
                    help="Rules work in English and send nothing anywhere. A language model receives context and "
                    "answer.",
                )
            seed = st.number_input(
                "Seed",
                0,
                9999,
                0,
                key="evoke_seed",
                help="Another seed changes different words.",
                width=160,
            )
        with buttons:
            begin = partial(start, answers, list(kinds), int(seed), by == "Language model")
            JOB.buttons(
                "Make the set", begin, running, bool(answers and kinds), "Finished twins are kept."
            )


def result(now: MakeProgress) -> None:
    """Draw the twins and what can be done with the set."""
    if now.running:
        return
    own = JOB.owns()
    if now.set.done < now.total:
        known = f"{now.set.done} of {plural(now.total, 'answer')} done."
        JOB.offer_to_continue(known, go_on, "complete it and change the types of its errors")
    elif not own:
        copy_line(JOB.what, "change the types of its errors", JOB.copy)
    if not now.set.made:
        return
    status_line(summary(now.set.made))
    link("Link to this set", **state.address(JOB.name))
    lines = partial(as_lines, now.set.made)
    with st.container(horizontal=True):
        open_in_benchmark("Evoked errors", lines)
        st.download_button(
            "Download the test set",
            lines,
            "test_set.jsonl",
            "application/json",
            on_click="ignore",
            key="download",
            help="JSON Lines, one response on each line, in the form that the Benchmark reads.",
        )
    small(
        "Read the twins before you measure with them: an altered sentence is sometimes still true."
    )
    twins = [made for made in now.set.made if made.twin]
    section("Twins")
    for made in twins[:SHOWN]:
        show(twin(made))
        choose_error_type(
            "Type of error", made.error_type, f"type-{made.id}", partial(label, made.id), not own
        )
    if len(twins) > SHOWN:
        small(f"The first {SHOWN} of {len(twins):,}; the file has all.")
    if now.set.problems:
        with st.expander(
            f"{plural(len(now.set.problems), 'answer')} in which an error could not be made"
        ):
            for problem in now.set.problems[:100]:
                small(problem)


AROUND = 160  # characters before and after a change


def twin(made: Made) -> Node:
    """Draw one twin: the original words, and their replacement."""
    assert made.twin is not None
    t = made.twin
    before = el("p", *_marked(made.grounded.response, t.original, "del"), dir="auto")
    after = el("p", *_marked(t.response, t.changed, "strong"), dir="auto")
    head = el("p", el("strong", t.kind.capitalize()), f" · {made.id}", class_="ax-quiet")
    return el("div", head, before, after, class_="ax-twin")


def _marked(text: str, spans: Sequence[Span], tag: str) -> list[Child]:
    """Mark the spans in the surrounding text."""
    first, last = max(0, spans[0][0] - AROUND), min(len(text), spans[-1][1] + AROUND)
    parts: list[Child] = ["… " if first else ""]
    at = first
    for start, end in spans:
        parts += [text[at:start], el(tag, text[start:end], class_="ax-changed")]
        at = end
    return [*parts, text[at:last], " …" if last < len(text) else ""]


def summary(made: Sequence[Made]) -> str:
    """Return the number of rows of each kind, in words."""
    twins = [m for m in made if m.twin]
    kinds = [m.twin.kind for m in twins if m.twin]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    grounded = plural(len(made) - len(twins), "grounded answer")
    return f"{grounded}, {plural(len(twins), 'twin')}{f': {counts}' if counts else ''}."


def as_lines(made: Sequence[Made]) -> str:
    """Return the set as JSON Lines."""
    return "".join(json.dumps(m.fields(), ensure_ascii=False) + "\n" for m in made)


if __name__ == "__main__":
    frame.begin(
        "evoke",
        "Test sets with evoked errors",
        "Make a labelled set for the Benchmark: answers that their [sources] support, and twins with one error each, "
        "whose place is known.",
        run=run.load,
        evoked=JOB.open,
    )
    JOB.draw(form, result)
