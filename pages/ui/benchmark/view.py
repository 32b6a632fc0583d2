"""The tables of a benchmark, in which every number is a button."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.evaluation.groundedness import METHODS
from attribution.evaluation.groundedness.figures import GROUNDED, Estimate, MethodFigures
from attribution.evaluation.groundedness.report import duration, error_types, ranked
from pages.ui.benchmark.job import BenchmarkProgress
from pages.ui.benchmark.rows import ERROR
from pages.ui.html import render
from pages.ui.html.render import Child, Node, el, plural
from pages.ui.numbers import number
from pages.ui.run.usage import money

HEADS = (
    ("Macro F1", "mean of the F1 scores of both classes, grounded and ungrounded"),
    ("Precision", "of the flagged responses, the share that is ungrounded"),
    ("Recall", "of the ungrounded responses, the share that is flagged"),
    ("Accuracy", "share of the test responses classified rightly"),
    ("Time", "median of a response, without loading the model"),
    ("Tokens", "mean of a response, of a language model"),
    ("Cost", "of the whole run, in your currency"),
    ("Threshold", "a response with a lower score is flagged; tuned on the development split"),
    ("Test", "responses that the figures are about"),
    ("Failed", "responses that could not be scored, left out of all figures"),
)


def _number(f: MethodFigures, figure: str, text: str, small: str = "") -> Node:
    return number(f"{f.method}|{figure}", text, METHODS[f.method].label, small)


def _share(f: MethodFigures, figure: str, estimate: Estimate) -> Child:
    if estimate.value is None:
        return "–"
    return _number(f, figure, f"{estimate.value:.2f}", f"{estimate.low:.2f}–{estimate.high:.2f}")


def quality(now: BenchmarkProgress) -> Node:
    """A row for each method, best macro F1 first."""
    figures = ranked(now.evaluation)
    shown = [
        any(f.tokens is not None for f in figures),
        any(f.cost is not None for f in figures),
        any(f.failed for f in figures),
    ]
    hidden = {head for head, used in zip(("Tokens", "Cost", "Failed"), shown, strict=True) if not used}
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
    head_row = el("tr", el("th", "Method"), *(el("th", head, title=meaning) for head, meaning in heads))
    made = el("table", el("thead", head_row), el("tbody", *body))
    meanings = el("ul", *(el("li", el("strong", head), f": {meaning}") for head, meaning in heads))
    explained = el("details", el("summary", "What the figures mean"), meanings)
    scrolling = el(
        "div", made, class_="scroll", role="region", tabindex=0, aria_label="Quality and speed of the methods"
    )
    return el("div", scrolling, explained)


def errors(now: BenchmarkProgress) -> Node | None:
    """Misclassified test responses by error type (T24, table 4); None where no type is given."""
    names = error_types(now.evaluation)
    if not [name for name in names if name not in (GROUNDED, "not said")]:
        return None
    body = []
    for f in ranked(now.evaluation):
        found = {e.name: e for e in f.error_types}
        cells: list[Child] = [
            _number(f, f"{ERROR}{name}", f"{found[name].misclassified} of {found[name].rows}") if name in found else "–"
            for name in names
        ]
        body.append(el("tr", el("th", METHODS[f.method].label), *(el("td", cell) for cell in cells)))
    heads = [el("th", name or "grounded", dir="auto") for name in names]
    made = el("table", el("thead", el("tr", el("th", "Method"), *heads)), el("tbody", *body))
    label = "Misclassified test responses by error type"
    return el("div", made, class_="scroll", role="region", tabindex=0, aria_label=label)


def progress_table(now: BenchmarkProgress) -> Node:
    """How far each method is."""
    counts, total = now.counts(), len(now.labelled.rows)
    rows = []
    for method in now.saved.methods:
        reason = now.saved.left_out.get(method)
        done = counts[method]
        state = reason or ("done" if done == total else f"{done} of {total}" if done else "waiting")
        rows.append((METHODS[method].label, state))
    return render.table(("Method", "Responses"), rows)


def summary(now: BenchmarkProgress) -> str:
    """What the benchmark found, in a sentence or two."""
    figures = [f for f in ranked(now.evaluation) if f.macro_f1.value is not None]
    if not figures:
        return "No method has figures yet."
    best = figures[0]
    label = METHODS[best.method].label
    text = (
        f"Best macro F1 on {plural(best.test, 'test response')}: {best.macro_f1.value:.2f} "
        f"({best.macro_f1.low:.2f} to {best.macro_f1.high:.2f}), {label}."
    )
    quick = min((f for f in figures if f.seconds is not None), key=lambda f: f.seconds or 0.0, default=None)
    if quick and quick.method != best.method:
        label, time = METHODS[quick.method].label, duration(quick.seconds)
        text += f" Fastest: {label}, {time} a response, macro F1 {quick.macro_f1.value:.2f}."
    return text


def prompts(methods: Sequence[str], rows: int) -> int:
    """The least number of prompts that the methods send for so many responses."""
    each: dict[str, int] = {"lynx": 1, "direct": 1, "claims_verify": 2, "selfcheck_multi": 5, "refchecker": 1}
    return rows * sum(each.get(method, 0) for method in methods)
