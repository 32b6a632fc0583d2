"""Show a project: progress, people, tasks, stages, files, guidelines, and what people judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import streamlit as st
import yaml
from streamlit.delta_generator import DeltaGenerator

from attribution.errors import AttributionError
from attribution.reports.html import Node, el, plural, scrolling, table
from attribution.settings import LIMITS
from attribution.store.history import HistoryQuery
from attribution.studies.annotation import figures
from attribution.studies.annotation.figures import (
    Agreement,
    CountedJudgements,
    Measure,
    TaskShare,
    agreement,
)
from attribution.studies.annotation.project import (
    Annotations,
    ProjectWork,
    labelled_set,
    to_jsonl,
)
from attribution.studies.annotation.records import Role
from attribution.studies.annotation.tasks import (
    FORMS,
    STAGES,
    Form,
    Project,
    Task,
    parse_tasks,
    tasks_of_run,
)
from attribution.studies.results import ResultTable
from attribution.text_files import Cell
from pages.ui import state
from pages.ui.frame import note, result_table, section, show, small
from pages.ui.research import acts
from pages.ui.state import store

STAGE_NOTES = {
    "pilot": "Everybody judges the same first tasks, with a justification.",
    "review": "Everybody sees the pilot's judgements beside their own, and can change their own.",
    "production": "Each remaining task goes to as many annotators as the overlap says.",
}
LISTED = 12  # problems of a file that are shown
RUNS = 200  # offered for import, the newest


@cache
def guidelines(form: Form = "qa") -> Node:
    """Return the guidelines and examples of a form, and the keys, folded."""
    texts = yaml.safe_load((Path(__file__).parent / "guidelines.yaml").read_text("utf-8"))
    keys = [
        el("div", el("dt", el("code", key)), el("dd", what)) for key, what in texts["keys"].items()
    ]
    own = texts[form]
    return el(
        "details",
        el("summary", "Guidelines, examples and keys"),
        el("ol", *(el("li", step) for step in own["steps"])),
        el("div", *map(_case, own["cases"]), class_="ax-cases"),
        el("dl", *keys, class_="ax-keys"),
        class_="ax-guidelines",
    )


def _case(case: Mapping[str, str]) -> Node:
    parts = {"User": "question", "Response": "response", "Source": "source"}
    lines = [
        el("p", el("strong", f"{label}: "), case[name])
        for label, name in parts.items()
        if name in case
    ]
    return el("div", el("h4", case["case"]), *lines, el("p", case["why"], class_="why"))


def draw_outcome() -> None:
    """Show the result of the last import or change."""
    outcome = state.get(acts.OUTCOME)
    if outcome:
        title, lines, good = outcome
        note(title, *lines, label="supported" if good else "contradicted")
        state.put(acts.OUTCOME, None)


def _names(label: str, help: str) -> list[str]:
    """Draw a field for names, and return them."""
    placeholder = "Names or codes, separated by commas"
    typed = st.text_input(
        label,
        placeholder=placeholder,
        help=help,
        max_chars=LIMITS.line,
    )
    return typed.split(",")


def new_project(saved: Annotations) -> None:
    """Show the form of a new project."""
    with st.form(f"new_project-{state.count(acts.ROUND)}", border=False):
        section("New project")
        name = st.text_input("Name", max_chars=80, help="The name in the list of projects.")
        fields = _project_fields()
        leads = _names("Leads", "They adjudicate and audit.")
        people = _names("Annotators", "They get a queue of tasks. Others can join later.")
        submitted = st.form_submit_button("Create the project", type="primary")
    if submitted:
        try:
            project = saved.create(name, **fields)
            saved.add_members(project.id, people)
            saved.add_members(project.id, leads, lead=True)
        except AttributionError as error:
            note("The project was not created", error.public(), label="contradicted")
            return
        acts.choose(project=project.id, who="", view="Project")
        _finish(f"“{project.name}” was created", "Import tasks next.")


def _project_fields() -> dict[str, Any]:
    """Draw the fields of a project, and return their values."""
    columns = st.columns(5)
    form = columns[0].selectbox(
        "Form",
        list(FORMS),
        format_func=FORMS.__getitem__,
        help="How a task is shown.",
    )
    help = "How many annotators judge each task after the pilot; five in the paper."
    overlap = _number(columns[1], "Overlap", 1, 20, 5, help)
    help = "Tasks that everybody judges first, with a justification. 0: no pilot."
    pilot = _number(columns[2], "Pilot tasks", 0, 1000, 0, help)
    help = "The share of judged tasks that a lead judges again."
    audit = _number(columns[3], "Audit, %", 0, 100, 10, help)
    help = "Decides the order of the tasks and who gets which."
    seed = _number(columns[4], "Seed", 0, 10**6, 0, help)
    words = st.text_area(
        "Instructions",
        height=80,
        help="Shown above each task, beside the guidelines.",
        max_chars=LIMITS.text,
    ).strip()
    return {
        "form": form,
        "overlap": overlap,
        "pilot": pilot,
        "audit": audit / 100,
        "seed": seed,
        "instructions": dict.fromkeys(STAGES, words) if words else {},
    }


def _number(
    column: DeltaGenerator, label: str, least: int, most: int, default: int, help: str
) -> int:
    return int(column.number_input(label, least, most, default, help=help))


def _finish(title: str, *lines: str, good: bool = True) -> None:
    """Empty the inputs, and say in the next run of the page what came of them."""
    state.renew(acts.ROUND)
    state.put(acts.OUTCOME, (title, lines, good))
    st.rerun()


def project_view(saved: Annotations, project: Project, work: ProjectWork) -> None:
    """Show the whole project view."""
    facts = [
        FORMS[project.form],
        plural(len(work.tasks), "task"),
        f"overlap {project.overlap}",
        f"seed {project.seed}",
        plural(len(work.pilot), "pilot task") if project.pilot else "",
        f"audit of {project.audit:.0%} of the judged tasks",
    ]
    small(" · ".join(filter(None, facts)))
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
    people: list[tuple[str, Role]] = [(name, "annotation") for name in work.annotators]
    people += [(name, "audit") for name in work.leads]
    rows = []
    for name, role in people:
        queue = work.queue(name, role)
        done = len(work.done(name, role).intersection(queue))
        label, most = f"Progress of {name}", max(len(queue), 1)
        bar = el(
            "progress",
            class_="ax-bar",
            value=done,
            max=most,
            aria_label=label,
        )
        what = "lead, audit" if role == "audit" else "annotator"
        rows.append((name, what, f"{done:,} of {len(queue):,}", bar))
    if not rows:
        return el("p", "Nobody has joined yet.", class_="ax-quiet")
    heads = ("Name", "Role", "Done", "Progress")
    return scrolling(table(heads, rows, "ax-table wide"), "Progress by annotator")


def people_form(saved: Annotations, project: Project) -> None:
    """Draw the form that adds people."""
    with st.form(f"people-{state.count(acts.ROUND)}", border=False):
        names = _names("Add people", "Annotators get a queue; leads adjudicate and audit.")
        annotators = st.form_submit_button("Add as annotators")
        leads = st.form_submit_button("Add as leads")
    if not annotators and not leads:
        return
    try:
        added = saved.add_members(project.id, names, lead=bool(leads))
    except AttributionError as error:
        note("Nobody was added", error.public(), label="contradicted")
        return
    title = f"{plural(len(added), 'name')} added" if added else "Type a name first"
    _finish(title, good=bool(added))


def stages(saved: Annotations, project: Project, work: ProjectWork) -> None:
    """Draw the choice of the stage."""
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


# --- tasks and files ---


def tasks_form(saved: Annotations, project: Project) -> None:
    """Show the form that imports tasks from a file, or from the visitor's own runs."""
    section("Import tasks")
    file, runs = st.tabs(["A file", "Runs"])
    with file:
        _tasks_of_file(saved, project)
    with runs:
        _tasks_of_runs(saved, project)


def _tasks_of_file(saved: Annotations, project: Project) -> None:
    uploaded = st.file_uploader(
        "JSON Lines",
        ["jsonl", "json", "txt"],
        key=f"tasks_file-{state.count(acts.ROUND)}",
        help="One object on each line, with “answer” and “source”, and optionally “question”, "
        "“turns”, “system”, “dataset”, “item”, “time”, “title”, “url”, “unit”.",
        max_upload_size=LIMITS.file_mb,
    )
    help = "Existing tasks stay as they are."
    if not uploaded or not st.button(
        "Import",
        type="primary",
        key="tasks_import",
        help=help,
    ):
        return
    try:
        tasks, problems = parse_tasks(uploaded.getvalue(), project.id)
    except AttributionError as error:
        note("Nothing was imported", error.public(), label="contradicted")
        return
    imported(saved, project, tasks, problems)


def _tasks_of_runs(saved: Annotations, project: Project) -> None:
    rows = store().history.find(HistoryQuery(state="finished", limit=RUNS)).rows
    runs = {row.id: f"{row.created_at[:16].replace('T', ' ')} · {row.name[:90]}" for row in rows}
    if not runs:
        small("No runs yet: check an answer first.")
        return
    chosen = st.multiselect(
        "Runs",
        list(runs),
        format_func=runs.__getitem__,
        key=f"tasks_runs-{state.count(acts.ROUND)}",
        help="Your finished runs, newest first. Each claim with evidence is a task.",
    )
    if not st.button(
        "Import these runs", type="primary", disabled=not chosen, key="tasks_import_runs"
    ):
        return
    tasks: list[Task] = []
    problems = []
    for run in chosen:
        report = store().runs.load(run)
        of_run: list[Task] = []
        if report:
            of_run = list(tasks_of_run(report, project.id))
        tasks += of_run
        if not of_run:
            problems.append(f"“{runs[run]}” has no claim with evidence")
    imported(saved, project, tasks, problems)


def imported(
    saved: Annotations, project: Project, tasks: Sequence[Task], problems: Sequence[str]
) -> None:
    """Save tasks, and report the result."""
    if project.pilot and saved.positions(project.id):
        _finish(
            "Nothing imported", "The pilot is drawn from all tasks, and it has begun.", good=False
        )
        return
    new = saved.add_tasks(tasks)
    title = f"{plural(new, 'task')} imported"
    if len(tasks) > new:
        title += f", {len(tasks) - new:,} already existed"
    lines = list(problems[:LISTED])
    if len(problems) > LISTED:
        lines.append(f"and {len(problems) - LISTED:,} more lines")
    _finish(title, *lines, good=bool(tasks))


def files(saved: Annotations, project: Project) -> None:
    """Draw the export of all records."""
    st.download_button(
        "Export JSONL",
        partial(to_jsonl, saved, project),
        f"annotations-{project.id}.jsonl",
        on_click="ignore",
        key="export_JSONL",
        help="Every record of the project: settings, people, tasks, judgements.",
    )


# --- results ---


WORDS: dict[Measure, str] = {
    "flagged": "Flagged",
    "interpretable": "Interpretable",
    "attributable": "AIS",
}
BASES = (
    "Each task counts once, with what most annotators said or the adjudicator decided. The second "
    "share is of the tasks that were not flagged, the third of those. In brackets: 95 % intervals. "
    "α is Krippendorff's, for nominal labels."
)


def results_view(saved: Annotations, project: Project) -> None:
    """Draw all tables."""
    part = "Production"
    if project.pilot:
        part = st.segmented_control(
            "Judgements of",
            ["Production", "Pilot"],
            default="Production",
            required=True,
            key="results_part",
            help="Pilot and production have separate results.",
        )
    counted = CountedJudgements.of(saved, project, part == "Pilot")
    if not counted.judgements:
        note("No results yet", "They appear as soon as the first task is judged.")
        return
    tables = [
        share_table(counted),
        agreement_table(counted),
        audit_table(counted),
        pace_table(counted),
    ]
    tables = [table for table in tables if table.rows]
    small(BASES)
    for one in tables:
        show(result_table(one))
    st.download_button(
        "Export the tables as CSV",
        "\n".join(table.csv() for table in tables),
        f"results-{project.id}.csv",
        "text/csv",
        on_click="ignore",
        key="results_csv",
    )
    tasks = saved.tasks(project.id, sources=True)
    st.download_button(
        "Export a labelled set",
        partial(labelled_set, tasks, counted.answers),
        f"people-{project.id}.jsonl",
        "application/jsonl",
        on_click="ignore",
        key="labelled_set",
        help="What people decided, to measure groundedness methods by.",
    )


def share_table(counted: CountedJudgements) -> ResultTable:
    """Tabulate the shares of each system (R23 Table 3, 4 and 5)."""
    rows: list[tuple[Cell, ...]] = []
    for row in figures.rows(counted.tasks, counted.answers):
        tasks = row.shares["flagged"].whole + row.undecided
        shares = [_share(row.shares[name]) for name in WORDS]
        rows.append((row.dataset or "–", row.system or "–", tasks, *shares, row.undecided))
    heads = ("Data set", "System", "Tasks", *WORDS.values(), "Undecided")
    return ResultTable("Attribution", heads, tuple(rows))


def _share(share: TaskShare) -> str:
    if not share.whole:
        return "–"
    low, high = share.interval
    return f"{share.percent:.1f} % of {share.whole:,} [{low:.1f}, {high:.1f}]"


def agreement_table(counted: CountedJudgements) -> ResultTable:
    """Tabulate pairwise agreement and α: for all, and by data set (R23 Table 6)."""
    groups = {"All": counted.judgements}
    by_dataset = counted.by_dataset()
    if len(by_dataset) > 1:
        groups |= {f"Data set {name or '–'}": own for name, own in by_dataset.items()}
    rows = tuple((name, *_agreement(agreement(group))) for name, group in groups.items())
    heads = ("Of", "Tasks", "Pairs", "Pairwise agreement", "α", "Disagreements")
    return ResultTable("Agreement", heads, rows)


def _agreement(measured: Agreement) -> tuple[Cell, ...]:
    share = f"{100 * measured.pairwise:.1f} %" if measured.pairwise is not None else "–"
    alpha = f"{measured.alpha:.3f}" if measured.alpha is not None else "–"
    return measured.tasks, measured.pairs, share, alpha, measured.differing


def audit_table(counted: CountedJudgements) -> ResultTable:
    """Tabulate the share of audited judgements with the lead's answer (R23 Table 7)."""
    share = figures.audited(counted.all, counted.audits)
    rows = ((share.whole, f"{share.part} of {share.whole}"),) if share.whole else ()
    return ResultTable("Audit", ("Judgements", "Same answers"), rows)


def pace_table(counted: CountedJudgements) -> ResultTable:
    """Tabulate the mean seconds of a task, without pauses (R23 Table 8)."""
    rows: list[tuple[Cell, ...]] = []
    for pace in figures.paces(counted.all, counted.pilot):
        if pace.seconds is not None:
            rows.append((pace.period.capitalize(), pace.judgements, f"{pace.seconds:.1f} s"))
    return ResultTable("Seconds a task", ("Period", "Judgements", "Seconds"), tuple(rows))
