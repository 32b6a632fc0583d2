"""What a comparison measured: a sentence that says it, and a table with a row for every segmenter."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.evaluation.comparison import Column, Comparison, SegmenterResult
from attribution.segmenters import SEGMENTERS
from attribution.types import LABELS, LlmUsage, Report
from pages.ui.html.render import Node, badge, el, plural
from pages.ui.run.spent import money

FIGURES = (  # heading, what it is, field, form
    ("Claims", "factual claims", "claims", "{}"),
    ("Different", "claims that differ in more than case and spacing", "unique", "{}"),
    ("A sentence", "claims for each sentence that states something", "claims_per_sentence", "{:.2f}"),
    ("Characters", "mean length of a claim", "characters_per_claim", "{:.0f}"),
    ("Supported", "supported claims of the answer (DecompScore)", "supported", "{}"),
    ("Coherent", "share of the claims that their own sentence entails", "coherent", "{:.2f}"),
    ("Coverage", "share of the content words that a claim holds", "coverage", "{:.2f}"),
    ("Atomic", "share of the claims that cannot be split further", "atomic", "{:.2f}"),
)
WAITING, NOT_REACHED = "Being checked", "Not reached"  # a claim without a verdict, while others come and after
HEADS = (
    ("Checked", "claims that have a verdict, of those that are to be checked"),
    *((head, meaning) for head, meaning, _, _ in FIGURES),
    ("Time", "to segment"),
    ("Cost", "of a language model"),
)


def figures(
    segmenters: Sequence[str], cut: Sequence[SegmenterResult], comparison: Comparison | None, running: bool
) -> Node:
    """The measures of each segmenter with what it took; of one that is not there yet, how far it is."""
    done = {made.segmenter: made for made in cut}
    columns = {column.segmenter: column for column in comparison.columns} if comparison else {}
    current = next((name for name in segmenters if name not in done), None)
    body = []
    for name in segmenters:
        if name in columns:
            cells = _measured(columns[name])
        elif name in done:
            cells = [f"{plural(len(done[name].segmented.claims), 'claim')} cut", *[""] * len(FIGURES)]
            cells += [_seconds(done[name].seconds), _cost(done[name].segmented.usage)]
        else:
            now = ("cutting …" if name == current else "waiting") if running else "not reached"
            cells = [now, *[""] * (len(HEADS) - 1)]
        body.append(el("tr", el("th", SEGMENTERS[name].label), *(el("td", cell) for cell in cells)))
    heads = el("tr", el("th", ""), *(el("th", head, title=meaning) for head, meaning in HEADS))
    table = el("table", el("thead", heads), el("tbody", *body), class_="ax-table wide")
    meanings = el("ul", *(el("li", el("strong", head), f": {meaning}") for head, meaning in HEADS))
    explained = el("details", el("summary", "What the figures mean"), meanings, class_="ax-unready")
    return el("div", el("div", table, class_="ax-scroll"), explained, class_="ax-figures")


def _measured(column: Column) -> list[str]:
    values = [(getattr(column.figures, field), form) for _, _, field, form in FIGURES]
    cells = ["–" if value is None else form.format(value) for value, form in values]
    return [checked(column.report), *cells, _seconds(column.seconds), _cost(column.usage)]


def checked(report: Report) -> str:
    """How many of the claims that are to be checked have a verdict."""
    known = {v.claim_id for v in report.verdicts}
    wanted = [c for c in report.claims if c.checked]
    return f"{sum(c.id in known for c in wanted)} of {len(wanted)}"


def _seconds(value: float) -> str:
    return f"{value:.1f} s"


def _cost(usage: LlmUsage | None) -> str:
    """Tokens, and money where prices are set."""
    if usage is None:
        return "none"
    tokens = plural(usage.prompt_tokens + usage.completion_tokens, "token")
    return tokens if usage.cost is None else f"{money(usage.cost)} ({tokens})"


def legend(comparison: Comparison, running: bool) -> Node:
    """The verdicts that occur, in words: the columns have room for their icons alone."""
    labels = {v.label for c in comparison.columns for v in c.report.verdicts}
    badges = [badge(label) for label in LABELS if label in labels]
    if any(row.pending for row in comparison.rows):
        badges.append(badge(None, word=WAITING if running else NOT_REACHED))
    return el("p", *badges, class_="ax-legend", aria_label="What the signs mean")


def summary(comparison: Comparison) -> str:
    """What the comparison found, and what of it is not finished."""
    rows = [r for r in comparison.rows if any(r.claims)]
    flips, unfinished = sum(r.flips for r in rows), sum(r.pending for r in rows)
    counts = "; ".join(
        f"{SEGMENTERS[c.segmenter].label}: {plural(c.figures.claims, 'claim')}" for c in comparison.columns
    )
    of = f"{plural(len(rows) - unfinished, 'sentence')}{' that are finished' if unfinished else ''}"
    found = f"The verdict depends on the cut in {flips} of {of}."
    if unfinished == len(rows):
        found = f"Of {plural(len(rows), 'sentence')} none is finished."
    return f"{counts}. {found}"
