"""What a comparison measured: a sentence that says it, and a table with a row for every segmenter."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.evaluation.comparison import Column, Comparison, SegmenterResult
from attribution.segmenters import SEGMENTERS
from attribution.types import LABELS, LlmUsage, Report
from pages.ui.html.render import Node, badge, el, plural, scrolling
from pages.ui.run.usage import money

FIGURES = (  # heading, what it is, field, form
    ("Claims", "factual claims", "claims", "{}"),
    ("Distinct claims", "claims that differ in more than case and spacing", "unique", "{}"),
    ("Claims per sentence", "claims for each sentence that states something", "claims_per_sentence", "{:.2f}"),
    ("Mean length", "of a claim, in characters", "characters_per_claim", "{:.0f}"),
    ("Supported", "claims of the answer that the sources support", "supported", "{}"),
    ("Coherent", "share of the claims that are entailed by their own sentence", "coherent", "{:.2f}"),
    ("Coverage", "share of the answer's content words that occur in a claim", "coverage", "{:.2f}"),
    ("Atomic", "share of the claims that cannot be split further", "atomic", "{:.2f}"),
)
WAITING, NOT_REACHED = "Being checked", "Not reached"  # a claim without a verdict, while others come and after
HEADS = (
    ("Checked", "claims with a verdict, of those worth checking"),
    *((head, meaning) for head, meaning, _, _ in FIGURES),
    ("Time", "to segment"),
    ("Cost", "of a language model"),
)


def figures(
    segmenters: Sequence[str], results: Sequence[SegmenterResult], comparison: Comparison | None, running: bool
) -> Node:
    """A row per segmenter with its measures, time and cost; for one that is not done, how far it is."""
    done = {result.segmenter: result for result in results}
    columns = {column.segmenter: column for column in comparison.columns} if comparison else {}
    current = next((name for name in segmenters if name not in done), None)
    body = []
    for name in segmenters:
        if name in columns:
            cells = _measured(columns[name])
        elif name in done:
            cells = [f"{plural(len(done[name].segmented.claims), 'claim')} found", *[""] * len(FIGURES)]
            cells += [_seconds(done[name].seconds), _cost(done[name].segmented.usage)]
        else:
            now = ("splitting …" if name == current else "waiting") if running else "not reached"
            cells = [now, *[""] * (len(HEADS) - 1)]
        body.append(el("tr", el("th", SEGMENTERS[name].label), *(el("td", cell) for cell in cells)))
    heads = el("tr", el("th", "Segmenter"), *(el("th", head, title=meaning) for head, meaning in HEADS))
    table = el("table", el("thead", heads), el("tbody", *body), class_="ax-table wide")
    meanings = el("ul", *(el("li", el("strong", head), f": {meaning}") for head, meaning in HEADS))
    explained = el("details", el("summary", "What the figures mean"), meanings, class_="ax-unready")
    return el("div", scrolling(table, "Figures of the segmenters"), explained, class_="ax-figures")


def _measured(column: Column) -> list[str]:
    values = [(getattr(column.figures, field), form) for _, _, field, form in FIGURES]
    cells = ["–" if value is None else form.format(value) for value, form in values]
    return [_checked(column.report), *cells, _seconds(column.seconds), _cost(column.usage)]


def _checked(report: Report) -> str:
    """How many of the claims worth checking have a verdict."""
    verdicts = {v.claim_id for v in report.verdicts}
    claims = [c for c in report.claims if c.checked]
    return f"{sum(c.id in verdicts for c in claims)} of {len(claims)}"


def _seconds(value: float) -> str:
    return f"{value:.1f} s"


def _cost(usage: LlmUsage | None) -> str:
    """Tokens, and money where prices are set."""
    if usage is None:
        return "none"
    tokens = plural(usage.prompt_tokens + usage.completion_tokens, "token")
    return tokens if usage.cost is None else f"{money(usage.cost)} ({tokens})"


def legend(comparison: Comparison, running: bool) -> Node:
    """The verdicts that occur, in words: the columns have room for icons only."""
    labels = {v.label for c in comparison.columns for v in c.report.verdicts}
    badges = [badge(label) for label in LABELS if label in labels]
    if any(row.pending for row in comparison.rows):
        badges.append(badge(None, word=WAITING if running else NOT_REACHED))
    return el("p", *badges, class_="ax-legend", aria_label="What the icons mean")


def summary(comparison: Comparison) -> str:
    """What the comparison found, and how much of it is not finished."""
    rows = [r for r in comparison.rows if any(r.claims)]
    flips, unfinished = sum(r.flips for r in rows), sum(r.pending for r in rows)
    counts = "; ".join(
        f"{SEGMENTERS[c.segmenter].label}: {plural(c.figures.claims, 'claim')}" for c in comparison.columns
    )
    of = f"{plural(len(rows) - unfinished, 'sentence')}{' that are finished' if unfinished else ''}"
    result = f"The verdict depends on how the answer is split in {flips} of {of}."
    if unfinished == len(rows):
        result = f"None of {plural(len(rows), 'sentence')} is finished."
    return f"{counts}. {result}"
