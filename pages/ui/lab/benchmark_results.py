"""Show the tables, charts and rows of a benchmark, and offer them as files."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from attribution.reports import html
from attribution.reports.html import Child, Node, badge, el, plural
from attribution.studies.groundedness import METHODS, report
from attribution.studies.groundedness.evaluation import (
    GROUNDED,
    Evaluation,
    Interval,
    LeftOut,
    MethodFigures,
    Outcome,
    SavedBenchmark,
    SavedSet,
    flagged,
)
from attribution.studies.groundedness.labelled_set import ERROR_TYPES, LabelledRow, LabelledSet
from attribution.studies.groundedness.report import duration, error_types, ranked
from pages.ui import state
from pages.ui.background import JobProgress
from pages.ui.components import number_button, number_table
from pages.ui.job_page import JobPage
from pages.ui.run_results import money

SHOWN = 60  # responses shown at once
CONTEXT = 6_000  # characters of a context that are shown
ERROR = "error:"  # before an error type


@dataclass(frozen=True)
class BenchmarkProgress(JobProgress):
    """The state of a benchmark at one moment."""

    labelled: SavedSet
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

    def counts(self) -> dict[str, int]:
        """Count the rows that each method has scored."""
        found = dict.fromkeys(self.saved.methods, 0)
        for outcome in self.saved.outcomes:
            found[outcome.method] += 1
        return found

    def doing(self) -> str:
        done = f"{len(self.saved.outcomes)} of {self.total} scores"
        return f"{'Stopping after this response' if self.stopping else done} …"

    def share(self) -> float:
        return len(self.saved.outcomes) / self.total if self.total else 0.0


@dataclass(frozen=True)
class Behind:
    """The responses behind a number, those to look at first."""

    title: str
    figures: MethodFigures | None  # None: of a method without figures
    rows: tuple[tuple[LabelledRow, Outcome], ...]


def rows_behind(now: BenchmarkProgress, number: str) -> Behind | None:
    """Return the responses that METHOD|FIGURE counts; None if there is no such number."""
    method, _, figure = number.partition("|")
    by_row = {row.id: row for row in now.labelled.rows}
    own = [(by_row[o.row], o) for o in now.saved.outcomes if o.method == method and o.row in by_row]
    found = next((f for f in now.evaluation.figures if f.method == method), None)
    label = METHODS[method].label if method in METHODS else ""
    if figure == "failed" and label:
        failed = [(r, o) for r, o in own if o.error]
        return Behind(
            f"{label}: {plural(len(failed), 'response')} that could not be scored",
            found,
            tuple(failed),
        )
    if found is None or not label:
        return None
    scored = [(r, o) for r, o in own if not o.error]
    test = [(r, o) for r, o in scored if r.split == "test"]

    def wrong_first(
        rows: Sequence[tuple[LabelledRow, Outcome]],
    ) -> tuple[tuple[LabelledRow, Outcome], ...]:
        def order(pair: tuple[LabelledRow, Outcome]) -> tuple[bool, float, int]:
            row, outcome = pair
            distance = abs(outcome.scores[found.reading] - found.threshold)
            return not misclassified(row, outcome, found), -distance, row.line

        return tuple(sorted(rows, key=order))

    ungrounded = [(r, o) for r, o in test if not r.grounded]
    flags = [(r, o) for r, o in test if flagged(o, found)]
    development = [(r, o) for r, o in scored if r.split == "development"]
    right = sum(not misclassified(r, o, found) for r, o in test)
    caught = sum(flagged(o, found) for _, o in ungrounded)
    true = sum(not r.grounded for r, _ in flags)
    of_test = (f"{right} of {plural(len(test), 'test response')} classified correctly", test)
    selections = {
        **dict.fromkeys(("macro_f1", "accuracy", "test"), of_test),
        "precision": (f"{true} of {plural(len(flags), 'flagged response')} are ungrounded", flags),
        "recall": (
            f"{caught} of {plural(len(ungrounded), 'ungrounded response')} flagged",
            ungrounded,
        ),
        "threshold": (
            f"the {plural(len(development), 'development response')} that the threshold was tuned on",
            development,
        ),
    }
    if figure in selections:
        title, rows = selections[figure]
        return Behind(f"{label}: {title}", found, wrong_first(rows))
    if order := {"seconds": "longest", "tokens": "most tokens", "cost": "most expensive"}.get(
        figure
    ):
        rows = [(r, o) for r, o in scored if getattr(o, figure) is not None]
        rows.sort(key=lambda pair: (-getattr(pair[1], figure), pair[0].line))
        return Behind(
            f"{label}: {plural(len(rows), 'response')}, {order} first", found, tuple(rows)
        )
    if figure.startswith(ERROR):
        name = figure.removeprefix(ERROR)
        rows = [(r, o) for r, o in test if _kind(r) == name]
        kind = "grounded" if name == GROUNDED else f"“{name}”"
        wrong = f"{sum(misclassified(r, o, found) for r, o in rows)} of {plural(len(rows), f'{kind} test response')}"
        return Behind(f"{label}: {wrong} misclassified", found, wrong_first(rows))
    return None


def _kind(row: LabelledRow) -> str:
    return GROUNDED if row.grounded else row.error_type or "not said"


def misclassified(row: LabelledRow, outcome: Outcome, figures: MethodFigures) -> bool:
    return flagged(outcome, figures) == row.grounded


def row_list(behind: Behind) -> Node:
    """List responses with label and the method's finding, and with the texts when opened."""
    more = f" The first {SHOWN} are shown; the export has all." if len(behind.rows) > SHOWN else ""
    return el(
        "section",
        el("h3", behind.title),
        el("p", f"Open a response to read it.{more}", class_="ax-quiet") if behind.rows else None,
        *(_row(row, outcome, behind.figures) for row, outcome in behind.rows[:SHOWN]),
        class_="ax-behind",
    )


def _row(row: LabelledRow, outcome: Outcome, figures: MethodFigures | None) -> Node:
    label = badge(
        "supported" if row.grounded else "contradicted",
        None,
        "Grounded" if row.grounded else "Ungrounded",
    )
    facts: list[Child] = [f"line {row.line}, {row.split} split"]
    head: list[Child] = [label, " "]
    if outcome.error:
        head.append(badge("missing", None, "Not scored"))
        facts.append(f" · {outcome.error}")
    elif figures is not None:
        wrong, score = misclassified(row, outcome, figures), outcome.scores[figures.reading]
        flag = flagged(outcome, figures)
        word = f"{'wrongly' if wrong else 'correctly'} {'flagged' if flag else 'passed'}"
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
        el(
            "summary",
            *head,
            " ",
            el("span", excerpt[:160] + " …" * (len(excerpt) > 160), dir="auto"),
        ),
        el("p", *facts, class_="ax-quiet"),
        el("p", el("strong", "Question "), el("span", row.question, dir="auto"))
        if row.question.strip()
        else None,
        el("p", el("strong", "Response "), el("span", *response_parts(row, outcome), dir="auto")),
        *(_sentence_labels(row)),
        el("h4", "Context"),
        *(
            el("blockquote", text[:CONTEXT] + " …" * (len(text) > CONTEXT), dir="auto")
            for text in row.context
        ),
    )


def _sentence_labels(row: LabelledRow) -> list[Child]:
    ungrounded = [row.response[s.start : s.end] for s in row.sentences if not s.grounded]
    return [
        el("p", el("strong", "Labelled as ungrounded "), el("span", text, dir="auto"))
        for text in ungrounded
    ]


def response_parts(row: LabelledRow, outcome: Outcome) -> list[Child]:
    """Show the response with a score after each sentence or claim; of overlapping parts, only the
    first.
    """
    pieces: list[Child] = []
    at = 0
    for part in sorted(outcome.parts, key=lambda p: (p.start, p.end)):
        if part.start < at or part.end > len(row.response):
            continue
        pieces += [
            el("span", row.response[at : part.start]),
            el("span", row.response[part.start : part.end]),
        ]
        pieces += [" ", el("span", f"{part.score:.2f}", class_="num", title="score of this part")]
        at = part.end
    return [*pieces, el("span", row.response[at:])]


def figures_json(now: BenchmarkProgress) -> str:
    labelled = LabelledSet(now.labelled.rows, now.labelled.problems)
    left_out = [LeftOut(method, reason) for method, reason in now.saved.left_out.items()]
    made = report.json_report(labelled, now.evaluation, left_out, now.saved.settings)
    return json.dumps({"name": now.labelled.name, **made}, indent=1, ensure_ascii=False) + "\n"


def rows_jsonl(now: BenchmarkProgress) -> str:
    lines = report.row_lines(now.labelled.rows, now.saved.outcomes, now.evaluation)
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def tables_csv(now: BenchmarkProgress) -> str:
    return "\n".join(
        t.csv() for t in (report.quality_table(now.evaluation), report.error_table(now.evaluation))
    )


def tables_markdown(now: BenchmarkProgress) -> str:
    return "\n".join(
        t.markdown()
        for t in (report.quality_table(now.evaluation), report.error_table(now.evaluation))
    )


HEADS = (
    ("Macro F1", "mean of the F1 scores of both classes, grounded and ungrounded"),
    ("Precision", "of the flagged responses, the share that is ungrounded"),
    ("Recall", "of the ungrounded responses, the share that is flagged"),
    ("Accuracy", "share of the test responses classified correctly"),
    ("Time", "median of a response, without loading the model"),
    ("Tokens", "mean of a response, for methods that use a language model"),
    ("Cost", "of the whole run, in your currency"),
    ("Threshold", "a response with a lower score is flagged; tuned on the development split"),
    ("Test", "test responses that the figures are based on"),
    ("Failed", "responses that could not be scored, left out of all figures"),
)


def _number(f: MethodFigures, figure: str, text: str, small: str = "") -> Node:
    return number_button(f"{f.method}|{figure}", text, METHODS[f.method].label, small)


def _share(f: MethodFigures, figure: str, estimate: Interval) -> Child:
    if estimate.value is None:
        return "–"
    few = estimate.low is None or estimate.high is None
    return _number(
        f, figure, f"{estimate.value:.2f}", "" if few else f"{estimate.low:.2f}–{estimate.high:.2f}"
    )


def quality(now: BenchmarkProgress) -> Node:
    """Build a table with a row for each method, best macro F1 first."""
    figures = ranked(now.evaluation)
    shown = [
        any(f.tokens is not None for f in figures),
        any(f.cost is not None for f in figures),
        any(f.failed for f in figures),
    ]
    hidden = {
        head for head, used in zip(("Tokens", "Cost", "Failed"), shown, strict=True) if not used
    }
    heads = [(head, meaning) for head, meaning in HEADS if head not in hidden]
    body = []
    for f in figures:
        cells: dict[str, Child] = {
            "Macro F1": _share(f, "macro_f1", f.macro_f1),
            "Precision": _share(f, "precision", f.precision),
            "Recall": _share(f, "recall", f.recall),
            "Accuracy": _share(f, "accuracy", f.accuracy),
            "Time": "–" if f.seconds is None else _number(f, "seconds", duration(f.seconds)),
            "Tokens": "–" if f.tokens is None else _number(f, "tokens", f"{f.tokens:,.0f}"),
            "Cost": "–" if f.cost is None else _number(f, "cost", money(f.cost)),
            "Threshold": _number(f, "threshold", f"{f.threshold:.2f}", f.reading),
            "Test": _number(f, "test", f"{f.test:,}"),
            "Failed": _number(f, "failed", f"{f.failed:,}") if f.failed else "0",
        }
        name = el("th", METHODS[f.method].label, el("span", f.method, class_="range"))
        body.append(el("tr", name, *(el("td", cells[head]) for head, _ in heads)))
    head_row = el(
        "tr", el("th", "Method"), *(el("th", head, title=meaning) for head, meaning in heads)
    )
    meanings = el("ul", *(el("li", el("strong", head), f": {meaning}") for head, meaning in heads))
    explained = el("details", el("summary", "What the figures mean"), meanings)
    return el("div", number_table("Quality and speed of the methods", head_row, body), explained)


def errors(now: BenchmarkProgress) -> Node | None:
    """Tabulate misclassified test responses by error type (T24 Table 4); None if no type is given."""
    names = error_types(now.evaluation)
    if not [name for name in names if name not in (GROUNDED, "not said")]:
        return None
    body = []
    for f in ranked(now.evaluation):
        found = {e.name: e for e in f.error_types}
        cells: list[Child] = [
            _number(f, f"{ERROR}{name}", f"{found[name].misclassified} of {found[name].rows}")
            if name in found
            else "–"
            for name in names
        ]
        body.append(
            el("tr", el("th", METHODS[f.method].label), *(el("td", cell) for cell in cells))
        )
    heads = [el("th", name or "grounded", dir="auto") for name in names]
    head_row = el("tr", el("th", "Method"), *heads)
    return number_table("Misclassified test responses by error type", head_row, body)


def progress_table(now: BenchmarkProgress) -> Node:
    """Tabulate the progress of each method."""
    counts, total = now.counts(), len(now.labelled.rows)
    rows = []
    for method in now.saved.methods:
        reason = now.saved.left_out.get(method)
        done = counts[method]
        status = reason or (
            "done" if done == total else f"{done} of {total}" if done else "waiting"
        )
        rows.append((METHODS[method].label, status))
    return html.table(("Method", "Responses"), rows)


def summary(now: BenchmarkProgress) -> str:
    """Summarise the benchmark in a sentence or two."""
    figures = [f for f in ranked(now.evaluation) if f.macro_f1.value is not None]
    if not figures:
        return "No method has figures yet."
    best = figures[0]
    label = METHODS[best.method].label
    low, high = best.macro_f1.low, best.macro_f1.high  # None for few responses
    interval = f" ({low:.2f} to {high:.2f})" if low is not None and high is not None else ""
    text = f"Best macro F1 on {plural(best.test, 'test response')}: {best.macro_f1.value:.2f}{interval}, {label}."
    quick = min(
        (f for f in figures if f.seconds is not None), key=lambda f: f.seconds or 0.0, default=None
    )
    if quick and quick.method != best.method:
        label, time = METHODS[quick.method].label, duration(quick.seconds)
        text += f" Fastest: {label}, {time} a response, macro F1 {quick.macro_f1.value:.2f}."
    return text


def prompts(methods: Sequence[str], rows: int) -> int:
    """Return the least number of prompts that the methods send for this number of responses."""
    each: dict[str, int] = {
        "lynx": 1,
        "direct": 1,
        "claims_verify": 2,
        "selfcheck_multi": 5,
        "refchecker": 1,
    }
    return rows * sum(each.get(method, 0) for method in methods)


# --- a labelled set from another page, and the types of its errors ---

GIVEN = "benchmark_given"


def open_in_benchmark(name: str, make: Callable[[], str]) -> None:
    """Draw a button that opens the Benchmark with a labelled set, until a file is chosen there."""
    if st.button(
        "Open in Benchmark",
        key="to_benchmark",
        type="primary",
        help="Measure groundedness methods on it.",
    ):
        state.put(GIVEN, (name, make().encode()))
        JobPage[JobProgress]("benchmark").clear()
        st.switch_page("pages/benchmark.py")


def given() -> tuple[str, bytes] | None:
    """Return the name and content of the set that another page has handed over."""
    found: tuple[str, bytes] | None = state.get(GIVEN)
    return found


def discard() -> None:
    """Use the built-in set again."""
    state.put(GIVEN, None)


def error_type_word(name: str) -> str:
    """Return an error type in plain words."""
    return name.replace("_", " ").capitalize() if name in ERROR_TYPES else "Not labelled"


def choose_error_type(
    label: str, chosen: str, key: str, on_change: Callable[[str], None], disabled: bool
) -> None:
    """Draw the choice of an error type."""
    types = ["", *ERROR_TYPES]
    st.selectbox(
        label,
        types,
        types.index(chosen if chosen in types else ""),
        format_func=error_type_word,
        key=key,
        on_change=lambda: on_change(str(state.selected(key) or "")),
        disabled=disabled,
        width=420,
        help=" ".join(f"{error_type_word(name)}: {text}" for name, text in ERROR_TYPES.items()),
    )
