"""Show what people judged in tables."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attribution.review.judgements import wilson
from attribution.studies.annotation import exchange, figures
from attribution.studies.annotation.figures import (
    Agreement,
    CountedJudgements,
    Measure,
    TaskShare,
    agreement,
)
from attribution.studies.annotation.project import Annotations
from attribution.studies.annotation.tasks import Project
from attribution.studies.results import ResultTable
from attribution.text_files import Cell
from pages.ui.frame import note, result_table, show, small

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
    for table in tables:
        show(result_table(table))
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
        partial(exchange.labelled_set, tasks, counted.answers),
        f"people-{project.id}.jsonl",
        "application/jsonl",
        on_click="ignore",
        key="labelled_set",
        help="What people decided, for the Benchmark page.",
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
    low, high = (100 * bound for bound in wilson(share.part, share.whole))
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
