"""Verifiers beside people on the same tasks, and people's answers as a labelled set."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import streamlit as st

from attribution.evaluation.ais import models
from attribution.evaluation.ais import test_set as test_sets
from attribution.evaluation.ais.project import Annotations, Work
from attribution.evaluation.ais.tasks import Project, Task
from attribution.evaluation.evoked_errors.twin import ERROR_TYPES
from attribution.settings import Settings
from attribution.storage.store import Store
from attribution.verifiers import VERIFIERS
from pages.ui import state
from pages.ui.annotate import state as own
from pages.ui.annotate.figures.cells import Cell, Figures, Number
from pages.ui.annotate.figures.results import opened
from pages.ui.annotate.figures.tables import Found, confusion_table, count, number
from pages.ui.annotate.job import VerifyJob
from pages.ui.benchmark import state as benchmark_state
from pages.ui.evoke.view import type_word
from pages.ui.form import choices
from pages.ui.frame import note, progress_bar, section, small, status_line
from pages.ui.html.render import as_sentence, plural
from pages.ui.slot import store

POLL = 1.0  # seconds between looks at a verifier at work
TYPED = 50  # tasks whose error can be named at once


def models_view(kept: Annotations, project: Project, work: Work) -> None:
    """Verifiers beside people, and people's answers as a labelled set."""
    found = Found(kept, project, work)
    job = own.VERIFY.job()
    running = own.VERIFY.is_running()
    judged = [task for task, answer in found.answers.items() if answer in ("attributable", "not_attributable")]
    if not judged:
        note("Nothing to compare yet", "People have to decide about some tasks first.")
        return
    names = [name for name, step in choices.missing(VERIFIERS).items() if not step and name != "auto"]
    first, second, third = st.columns([3, 1, 1], vertical_alignment="bottom")
    name = first.selectbox("Verifier", names, format_func=lambda n: VERIFIERS[n].label, key="models_verifier",
                           help="It judges the same tasks as the people, from the same source.")  # fmt: skip
    if second.button("Compare", type="primary", disabled=running, key="models_start", width="stretch",
                     help="Let it judge all tasks that people decided."):  # fmt: skip
        start(kept, project, name, judged)
        st.rerun()
    third.button("Stop", disabled=not running, on_click=own.VERIFY.stop, key="models_stop", width="stretch",
                 help="The verdicts so far are kept.")  # fmt: skip
    st.fragment(waiting, run_every=POLL if running else None)(running)
    if job and not running and job.progress().error:
        now = job.progress()
        note("The verifier could not finish; its verdicts are kept", as_sentence(now.error), label="contradicted",
             detail=now.detail)  # fmt: skip
    compared(found)
    test_set(kept, project, found, judged)


def test_set(kept: Annotations, project: Project, found: Found, judged: Sequence[str]) -> None:
    """What people decided, for the benchmark; what is wrong with an answer can be named by hand."""
    section("As a test set")
    small(
        f"{plural(len(judged), 'decided task')} in the form that the benchmark of groundedness methods reads: "
        "question, source, response, whether people called it attributable, and the type of error. The sentences of "
        "one response become one row."
    )
    wrong = [task for task in judged if found.answers[task] == "not_attributable"]
    types = test_sets.error_types(store(), project.id)
    if wrong:
        with st.expander(f"Types of errors: {len(set(types) & set(wrong))} of {len(wrong)} named"):
            for task in wrong[:TYPED]:
                st.selectbox(
                    " ".join(found.tasks[task].answer.split())[:200], ["", *ERROR_TYPES],
                    ["", *ERROR_TYPES].index(types.get(task, "")), format_func=type_word, key=f"error_type-{task}",
                    on_change=name_error, args=(project.id, task), help=" ".join(ERROR_TYPES.values()),
                )  # fmt: skip
            if len(wrong) > TYPED:
                small(f"The first {TYPED} of {len(wrong):,}.")

    def made() -> str:
        return test_sets.labelled_set(kept.tasks(project.id, sources=True), found.answers, types)

    left, right = st.columns(2)
    if left.button("Open in Benchmark", key="to_benchmark", type="primary", width="stretch",
                   help="Measure groundedness methods on what people decided."):  # fmt: skip
        benchmark_state.give(f"People's answers: {project.name}", made().encode())
        st.switch_page("pages/benchmark.py")
    right.download_button(
        "Export a labelled set", made, f"people-{project.id}.jsonl", "application/jsonl", on_click="ignore",
        key="labelled_set", width="stretch", help="The same set as JSON Lines.",
    )  # fmt: skip


def name_error(project_id: str, task_id: str) -> None:
    """Keep the type that was chosen."""
    test_sets.put_error_type(store(), project_id, task_id, str(state.selected(f"error_type-{task_id}") or ""))


def start(kept: Annotations, project: Project, name: str, judged: Sequence[str]) -> None:
    """Verify the judged tasks in the background."""
    settings = Settings.from_environment(verifier=name)
    tasks = [task for task in kept.tasks(project.id, sources=True).values() if task.id in set(judged)]

    def verify(tasks: Sequence[Task], stop: threading.Event) -> Iterator[models.TaskVerdict]:
        return models.verify(tasks, settings, Store.open(settings.database_url), stop)

    own.VERIFY.start(VerifyJob(name, tasks, verify))


def waiting(polling: bool) -> None:
    """How far the verifier is."""
    if polling and not own.VERIFY.is_running():
        st.rerun()
    if (job := own.VERIFY.job()) and job.running:
        now = job.progress()
        doing = "Stopping after this task" if now.stopping else f"{VERIFIERS[now.verifier].label} reads the tasks"
        status_line(f"{doing}: {now.done:,} of {now.total:,} …")
        progress_bar(now.done / now.total if now.total else 0, "Progress of the verifier")


def compared(found: Found) -> None:
    """One row for each verifier, and a table of its verdicts by people's answers."""
    verdicts = models.saved(store(), list(found.answers))
    table = Figures(
        "Verifiers beside people",
        "“Supported” against “attributable”, on tasks that people found interpretable. α treats people and verifier as "
        "two annotators.",
        ("Verifier", "Tasks", "Agreement", "Disagreements", "α", "Precision", "Recall"),
    )
    confusions: list[Figures] = []
    by_id: dict[str, models.TaskVerdict] = {}
    for verifier, own_verdicts in verdicts.items():
        row = models.against(verifier, own_verdicts, found.answers)
        if not row.tasks:
            continue
        by_id |= {verdict.task_id: verdict for verdict in own_verdicts}
        called = tuple(task for (_, label), tasks in row.cells.items() if label == "supported" for task in tasks)
        right = tuple(task for (answer, _), tasks in row.cells.items() if answer == "attributable" for task in tasks)
        of = ((row.alpha, row.tasks), (row.precision, called), (row.recall, right))
        figure: list[Cell] = ["–" if value is None else Number(f"{value:.2f}", tasks) for value, tasks in of]
        share = number(len(row.equal) / len(row.tasks), row.equal, len(row.tasks))
        differing = count(row.differing) if row.differing else "0"
        table.rows.append((verifier.partition(" ")[0], count(row.tasks), share, differing, *figure))
        confusions.append(confusion_table(row))
    if table.rows:
        opened([table, *confusions], found, "models", by_id)
