"""What a run has used: its budget of the web, and its language model by step."""

from __future__ import annotations

from collections.abc import Mapping

from attribution.types import LlmUsage, Report
from pages.ui.html.render import Node, el, plural

# The steps that can ask a language model, as an analyst would call them.
ASKED = {
    "segment": "Finding claims",
    "worthiness": "What is worth checking",
    "independence": "What can stand alone",
    "enrichment": "What the others mean",
    "queries": "What to search for",
    "verify": "Checking claims",
}


def budget(report: Report) -> str:
    """Queries, pages and seconds used of those allowed; empty where the web was not asked."""
    used, allowed = report.usage, report.settings
    if not used.queries and not used.downloads:
        return ""
    parts = (
        (f"{used.queries:,}", "max_queries", "queries"),
        (f"{used.downloads:,}", "max_pages", "pages of the web"),
        (f"{used.seconds:,.0f}", "max_seconds", "s"),
    )
    return ", ".join(f"{n} of {_allowed(allowed.get(name))} {noun}" for n, name, noun in parts)


def _allowed(value: object) -> str:
    return f"{value:,.0f}" if isinstance(value, int | float) else "?"


def money(cost: float | None) -> str:
    """In the currency of the prices that were set; empty where none is."""
    if cost is None:
        return ""
    return f"{cost:,.2f}" if cost >= 0.01 or not cost else "under 0.01"


def total(llm: Mapping[str, LlmUsage]) -> LlmUsage:
    """All steps together."""
    costs = [used.cost for used in llm.values() if used.cost is not None]
    sums = {name: sum(getattr(used, name) for used in llm.values()) for name in LlmUsage.model_fields if name != "cost"}
    return LlmUsage(**sums, cost=sum(costs) if costs else None)


def expected(llm: Mapping[str, LlmUsage]) -> str:
    """What language models would take; empty where none is asked anything new."""
    used = total(llm)
    if not used.calls:
        return ""
    tokens = used.prompt_tokens + used.completion_tokens
    price = f" · {money(used.cost)} at your prices" if used.cost is not None else ""
    return f"{plural(used.calls, 'prompt')}, ~{tokens:,} tokens{price}"


def costs(report: Report) -> Node | None:
    """A row a step, and their sum; None where no language model was asked."""
    llm = report.usage.llm
    if not llm:
        return None
    rows = [(ASKED.get(step, step.capitalize()), used) for step, used in llm.items()]
    rows += [("Together", total(llm))] if len(rows) > 1 else []
    priced = any(used.cost is not None for used in llm.values())
    heads = (
        "Step",
        "Prompts",
        "Kept replies",
        "Failed",
        "Tokens in",
        "Tokens out",
        "Time",
        *(["Cost"] if priced else []),
    )
    return el(
        "table",
        el("thead", el("tr", *(el("th", head) for head in heads))),
        el("tbody", *(_row(name, used, priced) for name, used in rows)),
        class_="ax-table",
    )


def _row(name: str, used: LlmUsage, priced: bool) -> Node:
    counts = (used.calls, used.cached, used.failed, used.prompt_tokens, used.completion_tokens)
    cells = [name, *(f"{n:,}" for n in counts), f"{used.seconds:.1f} s", *([money(used.cost)] if priced else [])]
    return el("tr", *(el("td", cell) for cell in cells))
