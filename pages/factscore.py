"""FActScore: the share of an answer's facts that a knowledge source supports, by decomposer and verifier."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from attribution.claims.enrichment import turns_of
from attribution.errors import AttributionError, BadInput, Stopped
from attribution.events import Event, Progress, Queued, StageStarted
from attribution.evidence.permissions import of_saved_run
from attribution.files import Row
from attribution.pipeline.experiment import run_each
from attribution.pipeline.snapshot import Snapshot
from attribution.reports.html import plural
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.store.runs import new_run_id
from attribution.store.store import Store
from attribution.studies.factscore.answer import (
    GAMMA,
    MAX_CHOICES,
    AnswerScored,
    FrozenPages,
    ScoredAnswer,
    score_answer,
)
from attribution.studies.factscore.experiment import Scored, load, save
from attribution.studies.results import failure
from attribution.verifiers import VERIFIERS
from pages.ui import background, choices, frame, run, state
from pages.ui.background import Work
from pages.ui.choices import explain
from pages.ui.components import link, numbers
from pages.ui.fields import pick_many
from pages.ui.files import downloads, many_answers
from pages.ui.form import form
from pages.ui.frame import note, section, show, small, status_line
from pages.ui.job_page import JobPage
from pages.ui.lab import factscore_results
from pages.ui.run import preload
from pages.ui.state import store, unowned_store

STAGES = {
    "segment": "Splitting", "worth": "Classifying", "queries": "Writing queries", "search": "Searching",
    "fetch": "Downloading", "embed": "Reading", "verify": "Judging facts",
}  # fmt: skip
SAMPLE = '{"question": "Where does the Nile flow?", "answer": "It flows north.", "system": "model A"}\n'
DECOMPOSERS, CHECKERS, FROZEN = "factscore_decomposers", "factscore_verifiers", "factscore_frozen"
NUMBER = "factscore_number"  # the number whose rows are shown
Score = Callable[[Row, threading.Event], Iterator[Event | AnswerScored]]


@dataclass(frozen=True)
class ScoreProgress(background.Progress):
    """The scores at one moment."""

    scored: Scored
    stage: str = ""  # of the answer in progress
    units: tuple[int, int] = (0, 0)  # done and total of that stage

    @property
    def total(self) -> int:
        return len(self.scored.rows) or len(self.scored.answers)

    @property
    def done(self) -> int:
        return self.scored.done or len(self.scored.answers)

    def doing(self) -> str:
        done, total = self.units
        if self.stage == "queue":
            return f"Waiting: place {done} in the queue of this server. Stop takes it out."
        units = f" {done} of {total}" if total else ""
        doing = "Stopping" if self.stopping else f"{STAGES.get(self.stage, 'Starting')}{units}"
        return f"{doing} … {self.done} of {plural(self.total, 'answer')} scored"

    def share(self) -> float:
        done, total = self.units
        return (self.done + (done / total if total else 0)) / max(1, self.total)


def read(database: Store, id: str) -> ScoreProgress | None:
    """Load saved scores."""
    scored = load(database, id)
    return ScoreProgress(scored=scored, running=False) if scored else None


JOB = JobPage("factscore", "scoring", read)


def work(begun: Scored, score: Score, save: Callable[[Scored], None]) -> Work[ScoreProgress]:
    """Score the answers that are not done yet, and save after each; one in progress when it is stopped is left out."""

    def score_answers(stop: threading.Event, update: Callable[..., ScoreProgress]) -> None:
        def score_row(row: Row) -> ScoredAnswer:
            if row.error:
                raise BadInput(row.error)
            return _scored(score(row, stop), update)

        scored, rows = begun, begun.rows[begun.done :]
        save(scored)
        for row, result in zip(rows, run_each(rows, score_row, stop), strict=False):
            if result.value is None:
                scored = scored.with_failure(failure(row, result.problem))
            else:
                scored = scored.with_answer(result.value)
            update(scored=scored, stage="", units=(0, 0))
            save(scored)

    return score_answers


def _scored(steps: Iterator[Event | AnswerScored], update: Callable[..., ScoreProgress]) -> ScoredAnswer:
    """Return the answer of the last step; Stopped without one."""
    for step in steps:
        match step:
            case AnswerScored(answer):
                return answer
            case Queued(place):
                update(stage="queue", units=(place, 0))
            case StageStarted(stage):
                update(stage=stage, units=(0, 0))
            case Progress(stage, done, total):
                update(stage=stage, units=(done, total))
    raise Stopped("the scoring was stopped")


def start() -> None:
    """Score the answer in the form."""
    question, answer = run.text()
    start_many([Row(1, {"question": question, "answer": answer, "turns": list(choices.turns())})])


def start_many(rows: Sequence[Row]) -> None:
    """Score the answers of a file."""
    settings = choices.settings()
    if isinstance(settings, str):
        return
    frozen = last_run_id() if state.selected(FROZEN) else ""
    names = (tuple(decomposers()), tuple(verifiers()))
    state.put(NUMBER, None)
    _launch(new_run_id(), Scored(*names, rows=tuple(rows), settings=settings.public(), frozen=frozen), settings)


def go_on() -> None:
    """Score the answers that are missing, as it was begun; keys and documents come from the form."""
    settings, shown = choices.settings(), JOB.current()
    if isinstance(settings, str) or shown is None:
        return
    try:
        _launch(JOB.id(), shown.scored, of_saved_run(shown.scored.settings, settings))
    except AttributionError as error:
        JOB.refuse(explain(error)[0], "The scoring cannot be continued")


def _launch(id: str, begun: Scored, settings: Settings) -> None:
    database, parts, documents, browser = store(), unowned_store(), choices.documents(), state.browser()

    def score(row: Row, stop: threading.Event) -> Iterator[Event | AnswerScored]:
        from attribution.pipeline.run import in_turn

        source = FrozenPages(Snapshot.of(database, begun.frozen)) if begun.frozen else None
        question, answer, system = (str(row.fields.get(name) or "") for name in ("question", "answer", "system"))
        scored = partial(
            score_answer, question, answer, settings, begun.segmenters, begun.verifiers, parts, system=system,
            context=turns_of(row.fields.get("turns")), documents=documents, source=source, stop=stop,
        )  # fmt: skip
        return in_turn(browser, stop, scored)

    JOB.launch(ScoreProgress(scored=begun), work(begun, score, partial(save, database, id)), id)


# --- the page ---


def decomposers() -> list[str]:
    """Return the decomposers to score with: those selected, else the first two that are ready."""
    ready, selected = choices.ready(SEGMENTERS), state.selected(DECOMPOSERS)
    return [name for name in selected if name in ready] if selected is not None else ready[:2]


def verifiers() -> list[str]:
    """Return the verifiers to score with: those selected, else that of the options."""
    ready, selected = choices.ready(VERIFIERS), state.selected(CHECKERS)
    return [name for name in (selected if selected is not None else [state.value(state.VERIFIER)]) if name in ready]


def is_ready() -> bool:
    """Return True if scoring can be started."""
    return choices.is_ready() and all(1 <= len(names) <= MAX_CHOICES for names in (decomposers(), verifiers()))


def last_run_id() -> str:
    """Return the session's last run, whose pages can serve as the knowledge source; empty if there is none."""
    last = run.current()
    return last.report.id if last and not last.running and last.report.pages else ""


def choose_methods() -> None:
    """Draw the choice of decomposers and verifiers."""
    pick_many("Decomposers", SEGMENTERS, decomposers(), DECOMPOSERS,
              "How facts are drawn from the answer: the rows of the table.")  # fmt: skip
    pick_many("Verifiers", VERIFIERS, verifiers(), CHECKERS,
              "What decides whether a source supports a fact: the columns of the table.")  # fmt: skip
    if last_run_id():
        st.checkbox(
            "Use the pages of the last run on Explore", key=FROZEN,
            help="Nothing is searched or downloaded: every fact is compared with these pages.",
        )  # fmt: skip
    for noun, names in (("decomposer", decomposers()), ("verifier", verifiers())):
        if not 1 <= len(names) <= MAX_CHOICES:
            small(f"{plural(len(names), noun)} selected: select one to {MAX_CHOICES}.")


def result(now: ScoreProgress) -> None:
    """Draw what could not be scored, the tables, the facts behind a score, and files."""
    if failed := now.scored.failed:
        lines = [f"Line {line}: {error}" if now.total > 1 else error for line, _, error in failed[:20]]
        note(f"{plural(len(failed), 'answer')} could not be scored", *lines)
    if now.running:
        return
    if now.done < now.total:
        known = f"{now.done} of {plural(now.total, 'answer')} scored."
        JOB.offer_to_continue(known, go_on, "complete it", is_ready())
    if not now.scored.answers:
        if not (now.error or failed):
            note("Nothing was scored", "It was stopped before the first answer was finished.")
        return
    scored, penalty = now.scored, state.selected("gamma")
    gamma = float(GAMMA if penalty is None else penalty)
    status_line(factscore_results.summary(scored, gamma))
    link("Link to these scores", **state.address(JOB.name))
    results = factscore_results.all_tables(scored, gamma, scored.failed)
    selected = str(state.get(NUMBER) or factscore_results.FIRST)
    for place, one in enumerate(results):
        with st.expander(one.title, expanded=place < 4):
            if clicked := numbers(factscore_results.table_node(scored, one, place), selected, key=f"factscore_{place}"):
                state.put(NUMBER, clicked)
                st.rerun()
    if found := factscore_results.found(scored, results, selected):
        section(factscore_results.title(found))
        small("Click a number to read the facts behind it.")
        show(factscore_results.rows(scored, found))
    downloads(
        {
            "Markdown": ("\n".join(t.markdown() for t in results), "factscore.md", "text/markdown"),
            "CSV": (factscore_results.as_csv(scored), "factscore.csv", "text/csv"),
            "JSON Lines": (factscore_results.as_lines(scored), "factscore.jsonl", "application/json"),
        }
    )


def draw_form(running: bool) -> None:
    """Draw the answer, the methods and the length penalty."""
    form(
        start="Score", on_start=start, job=JOB, compact=True, running=running, ready=is_ready(),
        options=choose_methods,
    )  # fmt: skip
    st.number_input(
        "Length penalty below", 0, 100, GAMMA, key="gamma", width=220,
        help="Answers with fewer facts than this score less (gamma of FActScore). 0 means no penalty. The tables "
        "change at once.",
    )  # fmt: skip


if __name__ == "__main__":
    frame.begin(
        "factscore", "FActScore",
        "Measure the share of an answer's facts that the [sources] support, and how it depends on how the answer is "
        "split and on who judges.",
        run=run.load, factscore=JOB.open,
    )  # fmt: skip
    running = JOB.draw(draw_form, result)
    about = "A JSON Lines file: one object on each line, with an answer and, optionally, a question and a system."
    many_answers("Score", start_many, is_ready() and not running, about, SAMPLE, "question", "system")
    preload()
