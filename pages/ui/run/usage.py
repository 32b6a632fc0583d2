"""What a run has used: its budget for the web, and its language model by step."""

from __future__ import annotations

from collections.abc import Mapping

from attribution.types import LlmUsage, Report
from pages.ui.html.render import Node, plural, table

LLM_STEPS = {
    "segment": "Finding claims",
    "worthiness": "Check-worthiness",
    "independence": "Claims that need context",
    "enrichment": "Adding context",
    "queries": "Writing queries",
    "verify": "Checking claims",
}


def budget(report: Report) -> str:
    """Queries, pages and seconds used of those allowed; empty where the web was not searched."""
    used, allowed = report.usage, report.settings
    if not used.queries and not used.downloads:
        return ""
    parts = (
        (f"{used.queries:,}", "max_queries", "queries"),
        (f"{used.downloads:,}", "max_pages", "web pages"),
        (f"{used.seconds:,.0f}", "max_seconds", "s"),
    )
    return ", ".join(f"{count} of {_limit(allowed.get(name))} {noun}" for count, name, noun in parts)


def _limit(value: object) -> str:
    return f"{value:,.0f}" if isinstance(value, int | float) else "?"


def money(cost: float | None) -> str:
    """In the currency of the prices; empty where there is none."""
    if cost is None:
        return ""
    return f"{cost:,.2f}" if cost >= 0.01 or not cost else "under 0.01"


def total(llm: Mapping[str, LlmUsage]) -> LlmUsage:
    """The sum of all steps."""
    costs = [used.cost for used in llm.values() if used.cost is not None]
    sums = {name: sum(getattr(used, name) for used in llm.values()) for name in LlmUsage.model_fields if name != "cost"}
    return LlmUsage(**sums, cost=sum(costs) if costs else None)


def expected_cost(llm: Mapping[str, LlmUsage]) -> str:
    """What language models would be used for; empty where no new prompt is sent."""
    used = total(llm)
    if not used.calls:
        return ""
    tokens = used.prompt_tokens + used.completion_tokens
    price = f" · {money(used.cost)} at your prices" if used.cost is not None else ""
    return f"{plural(used.calls, 'prompt')}, ~{tokens:,} tokens{price}"


def llm_costs(report: Report) -> Node | None:
    """A row per step and their sum; None where no language model was used."""
    llm = report.usage.llm
    if not llm:
        return None
    rows = [(LLM_STEPS.get(step, step.capitalize()), used) for step, used in llm.items()]
    rows += [("Total", total(llm))] if len(rows) > 1 else []
    price = ["Cost"] if any(used.cost is not None for used in llm.values()) else []
    heads = ("Step", "Prompts", "Cached replies", "Failed", "Input tokens", "Output tokens", "Time", *price)
    return table(heads, (_row(name, used)[: len(heads)] for name, used in rows))


def _row(name: str, used: LlmUsage) -> list[str]:
    counts = (used.calls, used.cached, used.failed, used.prompt_tokens, used.completion_tokens)
    return [name, *(f"{n:,}" for n in counts), f"{used.seconds:.1f} s", money(used.cost)]
