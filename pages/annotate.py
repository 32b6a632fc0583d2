"""Annotate: people judge in two stages whether answers are attributable to their sources (R23)."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attribution.errors import AttributionError
from attribution.studies.annotation.project import Annotations, ProjectWork
from attribution.studies.annotation.records import Annotation, Role, finished
from attribution.studies.annotation.tasks import Project, explicature
from pages.ui import frame, state
from pages.ui.components import task as task_view
from pages.ui.frame import note, show, small
from pages.ui.lab.annotate import acts, manage
from pages.ui.lab.annotate.acts import (
    Annotator,
    end_of_queue,
    last_record,
    next_task,
    perform,
    view,
)
from pages.ui.lab.annotate.figures import models_view, results_view
from pages.ui.lab.annotate.manage import guidelines

JUDGE, ADJUDICATE, AUDIT, PROJECT, RESULTS, MODELS = (
    "Judge",
    "Adjudicate",
    "Audit",
    "Project",
    "Results",
    "Models",
)
ROLES: dict[str, Role] = {JUDGE: "annotation", ADJUDICATE: "adjudication", AUDIT: "audit"}


def bar(saved: Annotations, projects: list[Project]) -> tuple[Project, ProjectWork, str, str]:
    """Draw the choice of project, person and view, and return them."""
    ids = [project.id for project in projects]
    if acts.text(acts.PROJECT) not in ids:
        acts.choose(project=ids[0])
    project = projects[ids.index(acts.text(acts.PROJECT))]
    work, titles = saved.work(project), {p.id: p.name for p in projects}
    first, second, third = st.columns([2, 2, 5], vertical_alignment="bottom")
    chosen = first.selectbox(
        "Project",
        ids,
        ids.index(project.id),
        format_func=lambda id: titles[id],
        key=f"annotate_project-{project.id}",
        help="The project whose tasks you judge.",
    )
    if chosen != project.id:
        acts.choose(project=chosen, who="")
        st.rerun()
    people = sorted({*work.annotators, *work.leads})
    who = acts.text(acts.WHO)
    labels = {name: f"{name} (lead)" if name in work.leads else name for name in people}
    named = second.selectbox(
        "You are",
        people,
        people.index(who) if who in people else None,
        format_func=lambda n: labels.get(n, n),
        placeholder="Name or code",
        accept_new_options=True,
        key=f"annotate_who-{project.id}-{who}",
        help="Choose your name, or type a new one to join.",
    )
    if named and named != who:
        join(saved, project, named, people)
    views = [JUDGE, *([ADJUDICATE, AUDIT] if who in work.leads else []), PROJECT, RESULTS, MODELS]
    shown = (
        acts.text(acts.VIEW)
        if acts.text(acts.VIEW) in views
        else (JUDGE if who and work.tasks else PROJECT)
    )
    with third:
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
    return project, work, who if who in people else "", shown


def join(saved: Annotations, project: Project, name: str, people: list[str]) -> None:
    """Continue under this name; a new one becomes an annotator's."""
    if name not in people:
        try:
            (name,) = saved.add_members(project.id, [name]) or [""]
        except AttributionError as error:
            note("You could not be added", error.public(), label="contradicted")
            return
    acts.choose(who=name)
    st.rerun()


def judge(saved: Annotations, project: Project, work: ProjectWork, annotator: Annotator) -> None:
    """Draw one task, or the end of the queue."""
    queue = annotator.queue(saved, work)
    done = work.done(annotator.name, annotator.role)
    shown = next_task(queue, done, state.get(acts.AT))
    total = len(done.intersection(queue))
    place = (
        f"{queue.index(shown) + 1 if shown else len(queue):,} of {len(queue):,} · {total:,} done"
    )
    key = f"annotate-{project.id}-{annotator.role}-{annotator.name}"
    notice, proposal = acts.text(acts.NOTICE), ""
    if shown is None:
        act = task_view(end_of_queue(place, ending(work, annotator, queue), notice), key=key)
    else:
        task, last = saved.task(shown), last_record(saved, project.id, annotator, shown)
        assert task is not None
        if state.get(acts.PROPOSAL) == shown:
            with st.spinner("Looking for references …"):
                proposal = explicature(task)
        data = view(
            project,
            work.stage,
            task,
            annotator.name,
            annotator.role,
            last,
            place=place,
            notice=notice,
            proposal=proposal,
            handled=acts.text(acts.HANDLED),
            others=others(saved, project, work, annotator, shown),
        )
        act = task_view(data, key=key)
    if act:
        outcome = perform(saved, work, annotator, queue, shown, act)
        state.put(acts.AT, outcome.task)
        state.put(acts.NOTICE, outcome.notice)
        state.put(acts.HANDLED, str(act.get("id", ""))[:40] if isinstance(act, dict) else "")
        state.put(acts.PROPOSAL, outcome.task if outcome.propose else None)
        st.rerun()
    show(guidelines())


def others(
    saved: Annotations, project: Project, work: ProjectWork, annotator: Annotator, task: str
) -> list[Annotation]:
    """Return the judgements beside a task: all of them for adjudicators, those of the others in the
    pilot's review.
    """
    if annotator.role == "audit" or (annotator.role == "annotation" and work.stage != "review"):
        return []
    judged = finished(saved.judgements(project.id, task_id=task))
    return (
        judged
        if annotator.role == "adjudication"
        else [j for j in judged if j.annotator != annotator.name]
    )


def ending(work: ProjectWork, annotator: Annotator, queue: list[str]) -> str:
    if annotator.role == "adjudication":
        return (
            "No disagreement is left to decide."
            if queue
            else "The annotators have not disagreed so far."
        )
    if annotator.role == "audit":
        return (
            "The audit sample is done."
            if queue
            else "Nothing to audit yet: no task in the sample has been judged."
        )
    if queue:
        waits = {
            "pilot": "The lead now reviews the pilot.",
            "review": "",
            "production": "Thank you.",
        }[work.stage]
        return f"You have finished your queue. {waits}".strip()
    if not work.tasks:
        return "The project has no tasks yet. Import some under “Project”."
    return "There is no task for you at this stage."


def page() -> None:
    """Draw the view of one project; without any, the form of a new one."""
    saved = acts.open_annotations()
    projects = saved.projects()
    if not projects:
        manage.draw_outcome()
        manage.new_project(saved, first=True)
        return
    project, work, who, shown = bar(saved, projects)
    state.show_address(project=project.id, view=shown, **({"who": who} if who else {}))
    manage.draw_outcome()
    if shown in ROLES:
        if not who:
            note("Who are you?", "Choose your name above, or type a new one.")
            show(guidelines())
            return
        if shown == JUDGE and who not in work.annotators:
            small(
                f"{who} is a lead and has no queue. Add the name as an annotator under “Project” to judge tasks too."
            )
            return
        judge(saved, project, work, Annotator(who, ROLES[shown]))
    elif shown == PROJECT:
        manage.project_view(saved, project, work)
    elif shown == RESULTS:
        results_view(saved, project, work)
    else:
        models_view(saved, project, work)


if __name__ == "__main__":
    frame.begin(
        "annotate",
        "Annotation",
        "People judge whether an answer is supported by its source: first whether the answer can be understood, then, "
        "with the source, whether all of it is supported (AIS, Rashkin et al. 2023).",
        **{name: partial(state.put, key) for name, key in acts.NAMES.items()},
    )
    try:
        page()
    except AttributionError as error:
        note("The page cannot be shown", error.public(), label="contradicted")
