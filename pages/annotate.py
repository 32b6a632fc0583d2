"""Annotate: people judge in two stages whether answers are attributable to their sources (R23)."""

from __future__ import annotations

import streamlit as st

from attribution.errors import AttributionError
from attribution.studies.annotation.project import Annotations, Work
from attribution.studies.annotation.records import Judgement, finished
from attribution.studies.annotation.tasks import Project
from pages.ui import state
from pages.ui.annotate import acts as own
from pages.ui.annotate import manage
from pages.ui.annotate.acts import Seat, last_record, next_task, perform
from pages.ui.annotate.figures import models_view, results_view
from pages.ui.annotate.manage import guidelines
from pages.ui.annotate.task import finished as end_of_queue
from pages.ui.annotate.task import task_view, view
from pages.ui.frame import lead, note, show, small, styles

JUDGE, ADJUDICATE, AUDIT, PROJECT, RESULTS, MODELS = (
    "Judge", "Adjudicate", "Audit", "Project", "Results", "Models",
)  # fmt: skip
ROLES = {JUDGE: "annotation", ADJUDICATE: "adjudication", AUDIT: "audit"}
INTRODUCTION = (
    "People judge whether an answer is supported by its source, in two steps: first whether the answer can be "
    "understood, then, with the source, whether all of it is supported (AIS, Rashkin et al. 2023). Several annotators "
    "work at once, each in a browser of their own."
)


def bar(kept: Annotations, projects: list[Project]) -> tuple[Project, Work, str, str]:
    """Which project, who is here, and what to show."""
    ids = [project.id for project in projects]
    if own.text(own.PROJECT) not in ids:
        own.choose(project=ids[0])
    project = projects[ids.index(own.text(own.PROJECT))]
    work, titles = kept.work(project), {p.id: p.name for p in projects}
    first, second, third = st.columns([2, 2, 5], vertical_alignment="bottom")
    chosen = first.selectbox(
        "Project", ids, ids.index(project.id), format_func=lambda id: titles[id],
        key=f"annotate_project-{project.id}", help="Whose tasks are judged.",
    )  # fmt: skip
    if chosen != project.id:
        own.choose(project=chosen, who="")
        st.rerun()
    people = sorted({*work.annotators, *work.leads})
    who = own.text(own.WHO)
    labels = {name: f"{name} (lead)" if name in work.leads else name for name in people}
    named = second.selectbox(
        "You are", people, people.index(who) if who in people else None, format_func=lambda n: labels.get(n, n),
        placeholder="Name or code", accept_new_options=True, key=f"annotate_who-{project.id}-{who}",
        help="Choose your name, or type a new one to take part.",
    )  # fmt: skip
    if named and named != who:
        join(kept, project, named, people)
    views = [JUDGE, *([ADJUDICATE, AUDIT] if who in work.leads else []), PROJECT, RESULTS, MODELS]
    shown = own.text(own.VIEW) if own.text(own.VIEW) in views else (JUDGE if who and work.tasks else PROJECT)
    with third:
        picked = st.segmented_control(
            "View", views, default=shown, required=True, key=f"annotate_view-{project.id}-{who}-{shown}",
            label_visibility="collapsed", wrap=True,
        )  # fmt: skip
    if picked and picked != shown:
        own.choose(view=picked)
        st.rerun()
    return project, work, who if who in people else "", shown


def join(kept: Annotations, project: Project, name: str, people: list[str]) -> None:
    """Go on under this name; a new one becomes an annotator's."""
    if name not in people:
        try:
            (name,) = kept.add_members(project.id, [name]) or [""]
        except AttributionError as error:
            note("You could not be added", str(error), label="contradicted")
            return
    own.choose(who=name)
    st.rerun()


def judge(kept: Annotations, project: Project, work: Work, seat: Seat) -> None:
    """One task, or the end of the queue."""
    queue = seat.queue(kept, work)
    done = work.done(seat.name, seat.role)
    shown = next_task(queue, done, state.get(own.AT))
    total = len(done.intersection(queue))
    place = f"{queue.index(shown) + 1 if shown else len(queue):,} of {len(queue):,} · {total:,} done"
    key = f"annotate-{project.id}-{seat.role}-{seat.name}"
    notice, proposal = own.text(own.NOTICE), ""
    if shown is None:
        act = task_view(end_of_queue(place, ending(work, seat, queue), notice), key=key)
    else:
        task, last = kept.task(shown), last_record(kept, project.id, seat, shown)
        assert task is not None
        if state.get(own.PROPOSAL) == shown:
            with st.spinner("Looking for references …"):
                proposal = manage.explicature(task)
        data = view(
            project, work.stage, task, seat.name, seat.role, last, place=place, notice=notice, proposal=proposal,
            handled=own.text(own.HANDLED),
            others=others(kept, project, work, seat, shown),
        )  # fmt: skip
        act = task_view(data, key=key)
    if act:
        outcome = perform(kept, work, seat, queue, shown, act)
        state.put(own.AT, outcome.task)
        state.put(own.NOTICE, outcome.notice)
        state.put(own.HANDLED, str(act.get("id", ""))[:40] if isinstance(act, dict) else "")
        state.put(own.PROPOSAL, outcome.task if outcome.propose else None)
        st.rerun()
    show(guidelines())


def others(kept: Annotations, project: Project, work: Work, seat: Seat, task: str) -> list[Judgement]:
    """The judgements beside a task: for adjudicators all, their own as annotators too; in the pilot's review those of
    the others."""
    if seat.role == "audit" or (seat.role == "annotation" and work.stage != "review"):
        return []
    judged = finished(kept.judgements(project.id, task_id=task))
    return judged if seat.role == "adjudication" else [j for j in judged if j.annotator != seat.name]


def ending(work: Work, seat: Seat, queue: list[str]) -> str:
    if seat.role == "adjudication":
        return "No disagreement is left." if queue else "The annotators have not disagreed so far."
    if seat.role == "audit":
        return "The audit sample is done." if queue else "Nothing to audit yet: no task of the sample has been judged."
    if queue:
        waits = {"pilot": "The lead now reviews the pilot.", "review": "", "production": "Thank you."}[work.stage]
        return f"You have finished your queue. {waits}".strip()
    if not work.tasks:
        return "The project has no tasks yet. Import some under “Project”."
    return "There is no task for you at this stage."


def page() -> None:
    """The view of one project; without any, how to begin."""
    kept = own.kept()
    projects = kept.projects()
    if not projects:
        lead(INTRODUCTION)
        manage.told()
        manage.new_project(kept, first=True)
        return
    project, work, who, shown = bar(kept, projects)
    state.show_address(project=project.id, view=shown, **({"who": who} if who else {}))
    manage.told()
    if shown in ROLES:
        if not who:
            lead(INTRODUCTION)
            note("Who are you?", "Choose your name above, or type a new one.")
            show(guidelines())
            return
        if shown == JUDGE and who not in work.annotators:
            small(f"{who} is a lead and has no queue. Add the name as an annotator under “Project” to judge tasks too.")
            return
        judge(kept, project, work, Seat(who, ROLES[shown]))  # type: ignore[arg-type]
    elif shown == PROJECT:
        manage.project_view(kept, project, work)
    elif shown == RESULTS:
        results_view(kept, project, work)
    else:
        models_view(kept, project, work)


own.begin()
styles()
try:
    page()
except AttributionError as error:
    note("The page cannot be shown", str(error), label="contradicted")
