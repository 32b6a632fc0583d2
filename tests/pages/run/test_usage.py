"""What a run used, in words and rows."""

from __future__ import annotations

from attribution.reports.html import html
from attribution.types import LlmUsage, Report, Usage
from pages.ui.run_results import budget, expected_cost, llm_costs

LLM = {
    "segment": LlmUsage(calls=3, cached=1, prompt_tokens=1200, completion_tokens=300, seconds=4.5, cost=0.002),
    "queries": LlmUsage(calls=9, failed=2, prompt_tokens=900, completion_tokens=90, seconds=1.5, cost=1.5),
}
ALLOWED = {"max_queries": 300, "max_pages": 40, "max_seconds": 600.0}


def report(**usage: object) -> Report:
    return Report(
        id="r", created_at="", question="", answer="", settings=ALLOWED, versions={}, usage=Usage(**usage)
    )  # fmt: skip


def test_the_budget_is_shown_where_the_web_was_asked() -> None:
    assert budget(report(searches=9, seconds=1.0)) == ""
    used = report(queries=12, downloads=20, seconds=13.6)
    assert budget(used) == "12 of 300 queries, 20 of 40 web pages, 14 of 600 s"
    assert budget(used.model_copy(update={"settings": {}})).startswith("12 of ? queries")  # an earlier version's run


def test_costs_stand_by_step_with_their_sum() -> None:
    table = html(llm_costs(report(llm=LLM)))
    assert table.count("<tr>") == 4
    for cell in ("Finding claims", "Writing queries", "Total", "12", "2,100", "6.0 s", "under 0.01", "1.50"):
        assert f'<td dir="auto">{cell}</td>' in table
    free = html(llm_costs(report(llm={"queries": LlmUsage(calls=1)})))
    assert "Cost" not in free and "Total" not in free
    assert llm_costs(report()) is None


def test_what_is_to_be_expected_cost() -> None:
    assert expected_cost(LLM) == "12 prompts, ~2,490 tokens · 1.50 at your prices"
    assert expected_cost({"queries": LlmUsage(calls=1, prompt_tokens=80)}) == "1 prompt, ~80 tokens"
    assert expected_cost({}) == expected_cost({"queries": LlmUsage(cached=9)}) == ""
