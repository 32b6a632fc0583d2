"""The labelled responses behind a number of the tables. Imports no streamlit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attribution.evaluation.groundedness import METHODS
from attribution.evaluation.groundedness.figures import GROUNDED, MethodFigures, flagged
from attribution.evaluation.groundedness.labelled_set import LabelledRow
from attribution.evaluation.groundedness.outcomes import Outcome
from attribution.evaluation.groundedness.report import duration
from pages.ui.benchmark.job import BenchmarkProgress
from pages.ui.html.render import Child, Node, badge, el, plural

SHOWN = 60  # responses at once
LONGEST = 6_000  # characters of a context that are shown
ERROR = "error:"  # before an error type


@dataclass(frozen=True)
class Behind:
    """The responses behind a number, those that need a look first."""

    title: str
    figures: MethodFigures | None  # None: of a method without figures
    rows: tuple[tuple[LabelledRow, Outcome], ...]


def rows_behind(now: BenchmarkProgress, number: str) -> Behind | None:
    """The responses that METHOD|FIGURE counts; None where there is no such number."""
    method, _, figure = number.partition("|")
    by_row = {row.id: row for row in now.labelled.rows}
    own = [(by_row[o.row], o) for o in now.saved.outcomes if o.method == method and o.row in by_row]
    found = next((f for f in now.evaluation.figures if f.method == method), None)
    label = METHODS[method].label if method in METHODS else ""
    if figure == "failed" and label:
        failed = [(r, o) for r, o in own if o.error]
        return Behind(f"{label}: {plural(len(failed), 'response')} that could not be scored", found, tuple(failed))
    if found is None or not label:
        return None
    scored = [(r, o) for r, o in own if not o.error]
    test = [(r, o) for r, o in scored if r.split == "test"]

    def wrong_first(rows: Sequence[tuple[LabelledRow, Outcome]]) -> tuple[tuple[LabelledRow, Outcome], ...]:
        return tuple(
            sorted(
                rows,
                key=lambda pair: (
                    not misclassified(pair[0], pair[1], found),
                    -abs(pair[1].scores[found.reading] - found.threshold),
                    pair[0].line,
                ),
            )
        )

    if figure in ("macro_f1", "accuracy", "test"):
        right = sum(not misclassified(r, o, found) for r, o in test)
        title = f"{label}: {right} of {plural(len(test), 'test response')} classified rightly"
        return Behind(title, found, wrong_first(test))
    if figure == "precision":
        rows = [(r, o) for r, o in test if flagged(o, found)]
        right = sum(not r.grounded for r, _ in rows)
        return Behind(
            f"{label}: {right} of {plural(len(rows), 'flagged response')} are ungrounded", found, wrong_first(rows)
        )
    if figure == "recall":
        rows = [(r, o) for r, o in test if not r.grounded]
        right = sum(flagged(o, found) for _, o in rows)
        return Behind(
            f"{label}: {right} of {plural(len(rows), 'ungrounded response')} flagged", found, wrong_first(rows)
        )
    if figure == "threshold":
        rows = [(r, o) for r, o in scored if r.split == "development"]
        title = f"{label}: the {plural(len(rows), 'development response')} that the threshold was tuned on"
        return Behind(title, found, wrong_first(rows))
    if figure in ("seconds", "tokens", "cost"):
        of = {"seconds": "longest first", "tokens": "most tokens first", "cost": "dearest first"}[figure]
        rows = [(r, o) for r, o in scored if getattr(o, figure) is not None]
        rows.sort(key=lambda pair: (-getattr(pair[1], figure), pair[0].line))
        return Behind(f"{label}: {plural(len(rows), 'response')}, {of}", found, tuple(rows))
    if figure.startswith(ERROR):
        name = figure.removeprefix(ERROR)
        rows = [(r, o) for r, o in test if _kind(r) == name]
        wrong = sum(misclassified(r, o, found) for r, o in rows)
        kind = "grounded" if name == GROUNDED else f"“{name}”"
        title = f"{label}: {wrong} of {plural(len(rows), f'{kind} test response')} misclassified"
        return Behind(title, found, wrong_first(rows))
    return None


def _kind(row: LabelledRow) -> str:
    return GROUNDED if row.grounded else row.error_type or "not said"


def misclassified(row: LabelledRow, outcome: Outcome, figures: MethodFigures) -> bool:
    return flagged(outcome, figures) == row.grounded


def row_list(behind: Behind) -> Node:
    """Each response with its label, what the method found, and the texts when it is opened."""
    more = f" The first {SHOWN} are shown; the export has all." if len(behind.rows) > SHOWN else ""
    return el(
        "section",
        el("h3", behind.title),
        el("p", f"Open a response to read it.{more}", class_="ax-quiet") if behind.rows else None,
        *(_row(row, outcome, behind.figures) for row, outcome in behind.rows[:SHOWN]),
        class_="ax-behind",
    )


def _row(row: LabelledRow, outcome: Outcome, figures: MethodFigures | None) -> Node:
    label = badge("supported" if row.grounded else "contradicted", None, "Grounded" if row.grounded else "Ungrounded")
    facts: list[Child] = [f"line {row.line}, {row.split} split"]
    head: list[Child] = [label, " "]
    if outcome.error:
        head.append(badge("missing", None, "Not scored"))
        facts.append(f" · {outcome.error}")
    elif figures is not None:
        wrong, score = misclassified(row, outcome, figures), outcome.scores[figures.reading]
        flag = flagged(outcome, figures)
        word = f"{'wrongly' if wrong else 'rightly'} {'flagged' if flag else 'let pass'}"
        head.append(el("span", word, class_="wrong" if wrong else "right"))
        facts.append(f" · score {score:.3f}, threshold {figures.threshold:.3f}")
    if outcome.seconds is not None:
        facts.append(f" · {duration(outcome.seconds)}")
    if outcome.tokens:
        facts.append(f" · {plural(outcome.tokens, 'token')}")
    if row.error_type:
        facts.append(f" · error: {row.error_type}")
    excerpt = " ".join(row.response.split())
    return el(
        "details",
        el("summary", *head, " ", el("span", excerpt[:160] + " …" * (len(excerpt) > 160), dir="auto")),
        el("p", *facts, class_="ax-quiet"),
        el("p", el("strong", "Question "), el("span", row.question, dir="auto")) if row.question.strip() else None,
        el("p", el("strong", "Response "), el("span", *response_parts(row, outcome), dir="auto")),
        *(_sentence_labels(row)),
        el("h4", "Context"),
        *(el("blockquote", text[:LONGEST] + " …" * (len(text) > LONGEST), dir="auto") for text in row.context),
    )


def _sentence_labels(row: LabelledRow) -> list[Child]:
    ungrounded = [row.response[s.start : s.end] for s in row.sentences if not s.grounded]
    return [el("p", el("strong", "Labelled as ungrounded "), el("span", text, dir="auto")) for text in ungrounded]


def response_parts(row: LabelledRow, outcome: Outcome) -> list[Child]:
    """The response, each scored sentence or claim followed by its score; of parts that overlap the first."""
    pieces: list[Child] = []
    at = 0
    for part in sorted(outcome.parts, key=lambda p: (p.start, p.end)):
        if part.start < at or part.end > len(row.response):
            continue
        pieces += [el("span", row.response[at : part.start]), el("span", row.response[part.start : part.end])]
        pieces += [" ", el("span", f"{part.score:.2f}", class_="num", title="score of this part")]
        at = part.end
    return [*pieces, el("span", row.response[at:])]
