import time
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from attribution.reports.html import html
from attribution.types import Failure, FailureKind, Label, LlmUsage, Report, Usage
from pages.ui.run_control import RunProgress
from pages.ui.run_results import budget, expected_cost, failure_table, llm_cost, run_state
from tests import make
from tests.pages.jobs import text


def test_what_a_library_said_is_folded_and_escaped() -> None:
    told = {"stage": "fetch", "kind": "unreachable", "message": "The site cannot be found."}
    plain = Failure(subject="https://a.example", **told)
    detailed = Failure(subject="https://b.example", detail="DNSError('<script>')", **told)

    first, second = html(failure_table([plain, detailed])).split("<tr>")[2:]
    assert "<details" not in first
    folded = (
        '<summary>Details</summary><p dir="auto">DNSError(&#x27;&lt;script&gt;&#x27;)</p></details>'
    )
    assert f'The site cannot be found.<details class="ax-detail">{folded}' in second


LLM = {
    "segment": LlmUsage(calls=3, cached=1, prompt_tokens=1200, completion_tokens=300, seconds=4.5),
    "enrichment": LlmUsage(calls=9, failed=2, prompt_tokens=900, completion_tokens=90, seconds=1.5),
}
ALLOWED = {"max_queries": 300, "max_pages": 40, "max_seconds": 600.0}


def report(**usage: object) -> Report:
    return make.report(settings=ALLOWED, usage=Usage(**usage))


def test_the_budget_is_shown_where_the_web_was_asked() -> None:
    assert budget(report(searches=9, seconds=1.0)) == ""
    used = report(queries=12, downloads=20, seconds=13.6)
    assert budget(used) == "12 of 300 queries, 20 of 40 web pages, 14 of 600 s"
    assert budget(used.model_copy(update={"settings": {}})).startswith(
        "12 of ? queries"
    )  # an earlier version's run


def test_what_language_models_cost_and_are_expected_to_is_summed() -> None:
    words = "Language model: 12 prompts, 2,490 tokens, 2 failed, 6.0 s."
    assert llm_cost(report(llm=LLM)) == words
    assert expected_cost(LLM) == "12 prompts, ~2,490 tokens"
    assert llm_cost(report()) == expected_cost({"enrichment": LlmUsage(cached=9)}) == ""


def failed(stage: str, subject: str, kind: FailureKind, message: str) -> Failure:
    return Failure(stage=stage, subject=subject, kind=kind, message=message)


SEARCH = failed("search", "q", "search_failed", "SearXNG could not be asked")
NOTICES: dict[
    str, tuple[list[Failure], Label, list[str], list[str]]
] = {  # failures, badge, what is said, what not
    "a document": (
        [
            failed("fetch", "scan.pdf", "no_text", "scan.pdf may be scanned: run `ocrmypdf`"),
            failed("fetch", "https://a.example", "unreachable", "a.example is down"),
        ],
        "supported",
        [
            "1 of 1 document could not be read: scan.pdf",
            "may be scanned: run <code>ocrmypdf</code>",
        ],
        ["a.example"],
    ),
    "an engine": (
        [failed("search", "one", "fell_back", "one is down, so two was asked instead")],
        "supported",
        ["Not every search worked", "One is down, so two was asked instead."],
        [],
    ),
    "a search": (
        [SEARCH],
        "supported",
        ["Not every search worked", SEARCH.message],
        ["The web could not be searched"],
    ),
    "all searches": (
        [SEARCH],
        "missing",
        ["The web could not be searched", SEARCH.message],
        ["Not every search"],
    ),
    "nothing": ([], "missing", ["Nothing was found for any claim"], []),
    "an opinion": ([], "not_checked", ["No claim worth checking"], ["Nothing was found"]),
}


@pytest.mark.parametrize("case", NOTICES)
def test_what_failed_is_named_above_the_result(case: str) -> None:
    def page(case: str) -> None:
        from attribution.types import Document
        from pages.ui import run_results
        from pages.ui.run_control import RunProgress
        from tests.make import claim, evidence, judged
        from tests.pages.ui.test_run_results import NOTICES

        failures, label, *_ = NOTICES[case]
        pieces = (evidence(claim(), 0.9, 0.05, "entailed"),) * (label == "supported")
        now = judged((claim(), label), evidence=pieces, failures=tuple(failures))
        run_results.notices(
            RunProgress(report=now, running=False, documents=(Document("scan.pdf", b"%PDF"),)), now
        )

    app = AppTest.from_function(page, args=(case,), default_timeout=60).run()
    assert [words for words in NOTICES[case][2] if words not in text(app)] == []
    assert [words for words in NOTICES[case][3] if words in text(app)] == []


def test_the_time_left_is_told_by_the_claims_that_are_done() -> None:
    now = RunProgress(report(), stage="verify", began=time.monotonic() - 8)
    words = [run_state(replace(now, units={"verify": (done, 12)})).words for done in (0, 4)]
    assert words == ["Claim 1 of 12", "Claim 5 of 12, about 16 s left"]
