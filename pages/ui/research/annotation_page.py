"""Annotate: people judge in two stages whether answers are attributable to their sources (R23)."""

from __future__ import annotations

import streamlit as st

from attribution.errors import AttributionError
from attribution.studies.annotation.project import Annotations, ProjectWork
from attribution.studies.annotation.records import Annotation, Role, finished
from attribution.studies.annotation.tasks import Project
from pages.ui import state
from pages.ui.components import task as task_view
from pages.ui.frame import note, show, small
from pages.ui.research import acts, manage
from pages.ui.research.acts import (
    Annotator,
    end_of_queue,
    last_record,
    next_task,
    perform,
    view,
)
from pages.ui.research.manage import guidelines, results_view

JUDGE, ADJUDICATE, AUDIT = "Judge", "Adjudicate", "Audit"
PROJECT, RESULTS = "Project", "Results"
ROLES: dict[str, Role] = {JUDGE: "annotation", ADJUDICATE: "adjudication", AUDIT: "audit"}


def choose_project(projects: list[Project]) -> Project:
    """Draw the choice of the project, and return it."""
    by_id = {project.id: project for project in projects}
    chosen = acts.text(acts.PROJECT)
    if chosen not in by_id:
        acts.choose(project=projects[0].id)
        chosen = projects[0].id
    selected = st.selectbox(
        "Project",
        list(by_id),
        list(by_id).index(chosen),
        format_func=lambda id: by_id[id].name,
        key=f"annotate_project-{chosen}",
        help="The project whose tasks you judge.",
    )
    if selected != chosen:
        acts.choose(project=selected, who="")
        st.rerun()
    return by_id[chosen]


def choose_person(saved: Annotations, project: Project, work: ProjectWork) -> str:
    """Draw the choice of the person, and return it; a new name joins as an annotator."""
    people = sorted({*work.annotators, *work.leads})
    who = acts.text(acts.WHO)
    named = st.selectbox(
        "You are",
        people,
        people.index(who) if who in people else None,
        format_func=lambda name: f"{name} (lead)" if name in work.leads else name,
        placeholder="Name or code",
        accept_new_options=True,
        key=f"annotate_who-{project.id}-{who}",
        help="Choose your name, or type a new one to join.",
    )
    if not named or named == who:
        return who if who in people else ""
    if named not in people:
        try:
            (named,) = saved.add_members(project.id, [named]) or [""]
        except AttributionError as error:
            note("You could not be added", error.public(), label="contradicted")
            return ""
    acts.choose(who=named)
    st.rerun()


def choose_view(project: Project, work: ProjectWork, who: str) -> str:
    """Draw the choice of the view, and return it."""
    leading = [ADJUDICATE, AUDIT] if who in work.leads else []
    views = [JUDGE, *leading, PROJECT, RESULTS]
    shown = acts.text(acts.VIEW)
    if shown not in views:
        shown = JUDGE if who and work.tasks else PROJECT
    picked = st.segmented_control(
        "View",
        views,
        default=shown,
        required=True,
        key=f"annotate_view-{project.id}-{who}-{shown}",
        label_visibility="collapsed",
        wrap=True,
    )
    if picked and picked != shown:
        acts.choose(view=picked)
        st.rerun()
    return shown


def judge(saved: Annotations, project: Project, work: ProjectWork, annotator: Annotator) -> None:
    """Draw one task, or the end of the queue."""
    queue = annotator.queue(saved, work)
    done = work.done(annotator.name, annotator.role)
    shown = next_task(queue, done, state.get(acts.AT))
    number = queue.index(shown) + 1 if shown else len(queue)
    place = f"{number:,} of {len(queue):,} · {len(done.intersection(queue)):,} done"
    key = f"annotate-{project.id}-{annotator.role}-{annotator.name}"
    task = saved.task(shown) if shown else None
    notice = acts.text(acts.NOTICE)
    if task is None:
        data = end_of_queue(place, ending(work, annotator, queue), notice)
    else:
        data = view(
            project,
            work.stage,
            task,
            annotator,
            last_record(saved, project.id, annotator, task.id),
            place=place,
            notice=notice,
            handled=acts.text(acts.HANDLED),
            others=others(
                saved,
                project,
                work,
                annotator,
                task.id,
            ),
        )
    act = task_view(data, key=key)
    if act:
        outcome = perform(
            saved,
            work,
            annotator,
            queue,
            shown,
            act,
        )
        state.put(acts.AT, outcome.task)
        state.put(acts.NOTICE, outcome.notice)
        handled = str(act.get("id", ""))[:40] if isinstance(act, dict) else ""
        state.put(acts.HANDLED, handled)
        st.rerun()
    show(guidelines(project.form))


def others(
    saved: Annotations, project: Project, work: ProjectWork, annotator: Annotator, task: str
) -> list[Annotation]:
    """Return the judgements beside a task: all of them for adjudicators, those of the others in the
    pilot's review.
    """
    judged = finished(saved.judgements(project.id, task_id=task))
    if annotator.role == "adjudication":
        return judged
    if annotator.role == "annotation" and work.stage == "review":
        return [j for j in judged if j.annotator != annotator.name]
    return []


def ending(work: ProjectWork, annotator: Annotator, queue: list[str]) -> str:
    """Say why there is no further task."""
    if annotator.role == "adjudication":
        left = "No disagreement is left to decide."
        return left if queue else "The annotators have not disagreed so far."
    if annotator.role == "audit":
        nothing = "Nothing to audit yet: no task in the sample has been judged."
        return "The audit sample is done." if queue else nothing
    if queue:
        review = " The lead now reviews the pilot." if work.stage == "pilot" else ""
        return f"You have finished your queue.{review}"
    if not work.tasks:
        return "The project has no tasks yet. Import some under “Project”."
    return "There is no task for you at this stage."


def page() -> None:
    """Draw the view of one project; without any, the form of a new one."""
    saved = acts.open_annotations()
    projects = saved.projects()
    if not projects:
        manage.draw_outcome()
        manage.new_project(saved)
        return
    first, second, third = st.columns([2, 2, 5], vertical_alignment="bottom")
    with first:
        project = choose_project(projects)
    work = saved.work(project)
    with second:
        who = choose_person(saved, project, work)
    with third:
        shown = choose_view(project, work, who)
    state.show_address(project=project.id, view=shown, **({"who": who} if who else {}))
    manage.draw_outcome()
    if shown == PROJECT:
        manage.project_view(saved, project, work)
    elif shown == RESULTS:
        results_view(saved, project)
    elif not who:
        note("Who are you?", "Choose your name above, or type a new one.")
        show(guidelines(project.form))
    elif shown == JUDGE and who not in work.annotators:
        small(f"{who} is a lead and has no queue. Add the name as an annotator under “Project”.")
    else:
        judge(saved, project, work, Annotator(who, ROLES[shown]))
