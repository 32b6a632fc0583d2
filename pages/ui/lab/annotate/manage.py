"""Show the project view: progress, people, tasks, stages, files, guidelines."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path

import streamlit as st
import yaml

from attribution.errors import AttributionError
from attribution.reports.html import Node, el, plural, scrolling, table
from attribution.settings import LIMITS
from attribution.store.history import HistoryQuery
from attribution.studies.annotation import exchange
from attribution.studies.annotation import tasks as annotation_tasks
from attribution.studies.annotation.project import Annotations, ProjectWork
from attribution.studies.annotation.records import Role
from attribution.studies.annotation.tasks import FORMS, STAGES, UNITS, Project, Task, parse_tasks
from pages.ui import state
from pages.ui.frame import note, section, show, small
from pages.ui.lab.annotate import acts
from pages.ui.state import store


@cache
def guidelines() -> Node:
    """Return the guidelines, examples and keys, folded."""
    texts = yaml.safe_load((Path(__file__).parent / "guidelines.yaml").read_text("utf-8"))
    keys = [
        el("div", el("dt", el("code", key)), el("dd", what)) for key, what in texts["keys"].items()
    ]
    return el(
        "details",
        el("summary", "Guidelines, examples and keys"),
        el("ol", *(el("li", step) for step in texts["steps"])),
        el("div", *map(_case, texts["cases"]), class_="ax-cases"),
        el("dl", *keys, class_="ax-keys"),
        class_="ax-guidelines",
    )


def _case(case: Mapping[str, str]) -> Node:
    parts = (("User", "question"), ("Response", "response"), ("Source", "source"))
    lines = [
        el("p", el("strong", f"{label}: "), case[name]) for label, name in parts if name in case
    ]
    return el("div", el("h4", case["case"]), *lines, el("p", case["why"], class_="why"))


STAGE_NOTES = {
    "pilot": "Everybody judges the same first tasks, with a justification.",
    "review": "Everybody sees the pilot's judgements beside their own, and can change their own.",
    "production": "Each remaining task goes to as many annotators as the overlap says.",
}
LISTED = 12  # problems of a file that are shown
RUNS = 200  # offered for import, the newest


def draw_outcome() -> None:
    """Show the result of the last import or change."""
    if outcome := state.get(acts.OUTCOME):
        title, lines, good = outcome
        note(title, *lines, label="supported" if good else "contradicted")
        state.put(acts.OUTCOME, None)


def new_project(saved: Annotations, first: bool = False) -> None:
    """Show the form of a new project; importing another machine's file makes one too."""
    with st.form(f"new_project-{state.count(acts.ROUND)}", border=False):
        section("New project")
        name = st.text_input("Name", max_chars=80, help="The name in the list of projects.")
        one, two, three, four = st.columns(4)
        form = one.selectbox(
            "Form", list(FORMS), format_func=FORMS.__getitem__, help="How a task is shown."
        )
        overlap = two.number_input(
            "Overlap",
            1,
            20,
            5,
            help="How many annotators judge each task after the pilot; five in the paper.",
        )
        pilot = three.number_input(
            "Pilot tasks",
            0,
            1000,
            0,
            help="Tasks that everybody judges first, with a justification. 0: no pilot.",
        )
        audit = four.number_input(
            "Audit, %", 0, 100, 10, help="The share of judged tasks that a lead judges again."
        )
        seed = one.number_input(
            "Seed", 0, 10**6, 0, help="Decides the order of the tasks and who gets which."
        )
        leads = two.text_input(
            "Leads",
            help="Names, separated by commas. Leads adjudicate and audit.",
            max_chars=LIMITS.line,
        )
        people = three.text_input(
            "Annotators",
            help="Names or codes, separated by commas. Others can join later.",
            max_chars=LIMITS.line,
        )
        words = st.text_area(
            "Instructions",
            height=80,
            help="Shown above each task, beside the guidelines.",
            max_chars=LIMITS.text,
        )
        if st.form_submit_button("Create the project", type="primary"):
            try:
                project = saved.create(
                    name,
                    form=form,
                    overlap=int(overlap),
                    pilot=int(pilot),
                    audit=audit / 100,
                    seed=int(seed),
                    instructions=dict.fromkeys(STAGES, words.strip()) if words.strip() else {},
                )
                saved.add_members(project.id, people.split(","))
                saved.add_members(project.id, leads.split(","), lead=True)
            except AttributionError as error:
                note("The project was not created", error.public(), label="contradicted")
                return
            acts.choose(project=project.id, who="", view="Project")
            acts.finish_input(f"“{project.name}” was created", "Import tasks next.")
            st.rerun()
    if first:
        files(saved, None)


def project_view(saved: Annotations, project: Project, work: ProjectWork) -> None:
    """Show the whole project view."""
    facts = f"{FORMS[project.form]} · {plural(len(work.tasks), 'task')} · overlap {project.overlap} · seed {project.seed}"
    pilot = f" · {plural(len(work.pilot), 'pilot task')}" if project.pilot else ""
    small(f"{facts}{pilot} · audit of {project.audit:.0%} of the judged tasks")
    left, right = st.columns(2, gap="large")
    with left:
        section("Progress")
        show(progress(work))
        people_form(saved, project)
        if project.pilot:
            stages(saved, project, work)
    with right:
        tasks_form(saved, project)
        section("Files")
        files(saved, project)
    with st.expander("New project"):
        new_project(saved)


def progress(work: ProjectWork) -> Node:
    """Return a table of the tasks done and queued for each annotator, and for each lead's audit."""
    rows = []
    people: list[tuple[str, Role]] = [(n, "annotation") for n in work.annotators]
    people += [(n, "audit") for n in work.leads]
    for name, role in people:
        queue = work.queue(name, role)
        done = len(work.done(name, role).intersection(queue))
        bar = el(
            "progress",
            class_="ax-bar",
            value=done,
            max=max(len(queue), 1),
            aria_label=f"Progress of {name}",
        )
        what = "lead, audit" if role == "audit" else "annotator"
        rows.append((name, what, f"{done:,} of {len(queue):,}", bar))
    if not rows:
        return el("p", "Nobody has joined yet.", class_="ax-quiet")
    return scrolling(
        table(("Name", "Role", "Done", "Progress"), rows, "ax-table wide"), "Progress by annotator"
    )


def people_form(saved: Annotations, project: Project) -> None:
    with st.form(f"people-{state.count(acts.ROUND)}", border=False):
        names = st.text_input(
            "Add people",
            placeholder="Names or codes, separated by commas",
            help="Annotators get a queue; leads adjudicate and audit.",
            max_chars=LIMITS.line,
        )
        first, second = st.columns(2)
        annotators = first.form_submit_button(
            "Add annotators", width="stretch", help="Annotators get a queue of tasks."
        )
        leads = second.form_submit_button(
            "Add leads", width="stretch", help="Leads adjudicate and audit."
        )
    if annotators or leads:
        try:
            added = saved.add_members(project.id, names.split(","), lead=bool(leads))
        except AttributionError as error:
            note("Nobody was added", error.public(), label="contradicted")
            return
        acts.finish_input(
            f"{plural(len(added), 'name')} added" if added else "Type a name first",
            good=bool(added),
        )
        st.rerun()


def stages(saved: Annotations, project: Project, work: ProjectWork) -> None:
    section("Stage")
    chosen = st.segmented_control(
        "Stage",
        STAGES,
        default=work.stage,
        required=True,
        format_func=str.capitalize,
        key=f"stage-{work.stage}",
        help="Pilot and production have separate results.",
        label_visibility="collapsed",
    )
    small(STAGE_NOTES[work.stage])
    if chosen and chosen != work.stage:
        saved.begin_stage(project.id, chosen)
        st.rerun()


def tasks_form(saved: Annotations, project: Project) -> None:
    """Show the form that imports tasks from a file, or from the visitor's own runs."""
    section("Import tasks")
    origin = st.segmented_control(
        "From",
        ["A file", "Runs"],
        default="A file",
        required=True,
        key="tasks_from",
        label_visibility="collapsed",
    )
    if origin == "A file":
        uploaded = st.file_uploader(
            "JSON Lines",
            ["jsonl", "json", "txt"],
            key=f"tasks_file-{state.count(acts.ROUND)}",
            help="One object on each line, with “answer” and “source”, and optionally “question”, “context”, “system”, "
            "“dataset”, “item”, “time”, “title”, “url”, “unit”. See docs/annotation.md.",
            max_upload_size=LIMITS.file_mb,
        )
        if uploaded and st.button(
            "Import", type="primary", key="tasks_import", help="Existing tasks stay as they are."
        ):
            try:
                tasks, problems = parse_tasks(uploaded.getvalue(), project.id)
            except AttributionError as error:
                note("Nothing was imported", error.public(), label="contradicted")
                return
            imported(saved, tasks, problems)
        return
    own_runs = store().history.find(HistoryQuery(state="finished", limit=RUNS)).rows
    runs = {
        row.id: f"{row.created_at[:16].replace('T', ' ')} · {row.name[:90]}" for row in own_runs
    }
    if not runs:
        small("No runs yet: analyse an answer on the Explore page first.")
        return
    chosen = st.multiselect(
        "Runs",
        list(runs),
        format_func=runs.__getitem__,
        key=f"tasks_runs-{state.count(acts.ROUND)}",
        help="Your finished runs, newest first.",
    )
    one, two, three = st.columns(3)
    unit = one.selectbox(
        "One task for each",
        UNITS,
        2,
        key="tasks_unit",
        help="What is judged: the answer, or its parts.",
    )
    system = two.text_input(
        "System", key="tasks_system", help="Which system wrote the answers.", max_chars=LIMITS.name
    )
    dataset = three.text_input(
        "Data set",
        key="tasks_dataset",
        help="Results are shown by data set.",
        max_chars=LIMITS.name,
    )
    if st.button(
        "Import",
        type="primary",
        disabled=not chosen,
        key="tasks_import_runs",
        help="Make tasks of these runs.",
    ):
        made: list[Task] = []
        failed = []
        for run in chosen:
            report = store().runs.load(run)
            of_run: list[Task] = []
            if report is not None:
                of_run += annotation_tasks.tasks_of_run(
                    report, project.id, unit, system.strip(), dataset.strip()
                )
            made += of_run
            failed += [] if of_run else [f"“{runs[run]}” has no claim with evidence"]
        imported(saved, made, failed)


def imported(saved: Annotations, tasks: list[Task], problems: list[str]) -> None:
    """Save tasks, and report the result."""
    new = saved.add_tasks(tasks)
    same = f", {len(tasks) - new:,} already existed" if len(tasks) > new else ""
    more = [f"and {len(problems) - LISTED:,} more lines"] if len(problems) > LISTED else []
    acts.finish_input(
        f"{plural(new, 'task')} imported{same}", *problems[:LISTED], *more, good=bool(tasks)
    )
    st.rerun()


def files(saved: Annotations, project: Project | None) -> None:
    """Draw the export of all records, and the import of an export."""
    if project:
        st.download_button(
            "Export JSONL",
            partial(exchange.to_jsonl, saved, project),
            f"annotations-{project.id}.jsonl",
            on_click="ignore",
            key="export_JSONL",
            width="stretch",
            help="Every record of the project, to import here or elsewhere.",
        )
    uploaded = st.file_uploader(
        "Import or merge an export",
        ["jsonl"],
        key=f"merge_file-{state.count(acts.ROUND)}",
        help="A file made by “Export”, here or elsewhere. Judgements are added; none is replaced.",
        max_upload_size=LIMITS.file_mb,
    )
    if uploaded and st.button(
        "Import the export", type="primary", key="merge", help="Add the records that are new."
    ):
        try:
            merged = exchange.merge(saved, uploaded.getvalue())
        except AttributionError as error:
            note("Nothing was imported", error.public(), label="contradicted")
            return
        counts = f"{plural(merged.tasks, 'task')} and {plural(merged.judgements, 'record')} of judgements added"
        acts.choose(
            project=merged.project.id,
            who="" if project is None else acts.text(acts.WHO),
            view="Project",
        )
        acts.finish_input(f"“{merged.project.name}”: {counts}", *merged.problems[:LISTED])
        st.rerun()
