"""Show the responses behind the figures of a benchmark, and its progress."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from attribution.reports import html
from attribution.reports.html import Node, badge, el, plural
from attribution.studies.groundedness import METHODS
from attribution.studies.groundedness.evaluation import (
    Evaluation,
    MethodFigures,
    Outcome,
    SavedBenchmark,
    Tuning,
)
from attribution.studies.groundedness.evaluation import ScoredRow as Scored
from attribution.studies.groundedness.labelled_set import LabelledRow, LabelledSet
from attribution.studies.groundedness.report import duration, ranked
from pages.ui.background import JobProgress

SHOWN = 60  # responses shown at once
CONTEXT = 6_000  # characters of a context that are shown
PROMPTS = {"lynx": 1, "claims_verify": 2, "selfcheck_multi": 5, "refchecker": 1}


@dataclass(frozen=True)
class BenchmarkProgress(JobProgress):
    """The state of a benchmark at one moment."""

    labelled: LabelledSet
    saved: SavedBenchmark  # with the outcomes so far
    evaluation: Evaluation  # of the finished methods; at the end, of all

    @property
    def total(self) -> int:
        """Return the total number of outcomes, unless a method is left out on the way."""
        return len(self.labelled.rows) * len(self.saved.methods)

    def missing(self) -> list[str]:
        """Return the methods that have not scored every row."""
        counts, rows = self.counts(), len(self.labelled.rows)
        return [m for m in self.saved.methods if counts[m] < rows and m not in self.saved.left_out]

    def counts(self) -> Counter[str]:
        """Count the rows that each method has scored."""
        return Counter(outcome.method for outcome in self.saved.outcomes)

    def doing(self) -> str:
        done = f"{len(self.saved.outcomes)} of {self.total} scores"
        return f"{'Stopping after this response' if self.stopping else done} …"

    def share(self) -> float:
        return len(self.saved.outcomes) / self.total if self.total else 0.0


def progress_table(now: BenchmarkProgress) -> Node:
    """Tabulate the progress of each method."""
    counts, total = now.counts(), len(now.labelled.rows)
    rows = []
    for method in now.saved.methods:
        status = now.saved.left_out.get(method) or f"{counts[method]} of {total}"
        rows.append((METHODS[method].label, status))
    return html.table(("Method", "Responses"), rows)


def summary(now: BenchmarkProgress) -> str:
    """Summarise the benchmark in a sentence or two."""
    figures = ranked(now.evaluation)
    if not figures:
        return "No method has figures yet."
    best, label = figures[0], METHODS[figures[0].method].label
    tested = plural(best.test, "test response")
    text = f"Best macro F1 on {tested}: {best.macro_f1:.2f}, {label}."
    timed = [f for f in figures if f.seconds is not None]
    quick = min(timed, key=lambda f: f.seconds or 0.0, default=best)
    if quick.method != best.method:
        label, time = METHODS[quick.method].label, duration(quick.seconds)
        text += f" Fastest: {label}, {time} a response, macro F1 {quick.macro_f1:.2f}."
    return text


@dataclass(frozen=True)
class ResponseScore:
    """A test response with what a method found."""

    row: LabelledRow
    outcome: Outcome
    figures: MethodFigures

    @property
    def is_wrong(self) -> bool:
        tuning = Tuning(self.figures.reading, self.figures.threshold)
        return not Scored(self.row, self.outcome).is_right(tuning)

    @property
    def is_flagged(self) -> bool:
        return self.is_wrong == self.row.grounded

    @property
    def order(self) -> tuple[bool, float, int]:
        """Wrong ones first, the surest of them first."""
        distance = abs(self.outcome.scores[self.figures.reading] - self.figures.threshold)
        return not self.is_wrong, -distance, self.row.line


def scored_rows(now: BenchmarkProgress, method: str) -> list[ResponseScore]:
    """Return the test responses that a method has scored, those to look at first."""
    rows = {row.id: row for row in now.labelled.rows if row.split == "test"}
    figures = {f.method: f for f in now.evaluation.figures}
    if method not in figures:
        return []
    outcomes = [o for o in now.saved.outcomes if o.method == method and o.row in rows]
    scored = [ResponseScore(rows[o.row], o, figures[method]) for o in outcomes if not o.error]
    return sorted(scored, key=lambda one: one.order)


def row_list(scored: list[ResponseScore]) -> Node:
    """List responses with label and the method's decision, and with the texts when opened."""
    wrong = sum(one.is_wrong for one in scored)
    words = f"{wrong} of {plural(len(scored), 'test response')} misclassified; open one to read it."
    head = el("p", words, class_="ax-quiet")
    return el("section", head, *map(_row, scored[:SHOWN]), class_="ax-behind")


def _row(scored: ResponseScore) -> Node:
    row, outcome, figures = scored.row, scored.outcome, scored.figures
    label = "supported" if row.grounded else "contradicted"
    flag = "flagged" if scored.is_flagged else "passed"
    word = f"{'wrongly' if scored.is_wrong else 'correctly'} {flag}"
    excerpt = " ".join(row.response.split())[:160]
    summary = el(
        "summary",
        badge(label, word="Grounded" if row.grounded else "Ungrounded"),
        " ",
        el("span", word, class_="wrong" if scored.is_wrong else "right"),
        " ",
        el("span", excerpt, dir="auto"),
    )
    facts = [
        f"line {row.line}",
        f"score {outcome.scores[figures.reading]:.3f}, threshold {figures.threshold:.3f}",
        duration(outcome.seconds),
        f"error: {row.error_type}" if row.error_type else "",
    ]
    question = el("p", el("strong", "Question "), el("span", row.question, dir="auto"))
    response = el("span", row.response, dir="auto")
    context = [el("blockquote", text[:CONTEXT], dir="auto") for text in row.context]
    return el(
        "details",
        summary,
        el("p", " · ".join(filter(None, facts)), class_="ax-quiet"),
        question if row.question.strip() else None,
        el("p", el("strong", "Response "), response),
        el("h4", "Context"),
        *context,
    )
