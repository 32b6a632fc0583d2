from attribution.types import Report
from pages.ui.check.demo import demo_steps
from tests.reports.test_cards import FEWER, RIVETS, judged


def test_the_demo_tells_of_claims_that_have_these_verdicts() -> None:
    report = judged(RIVETS, "contradicted", (FEWER, "contradicted"))
    steps = demo_steps(report)
    wrong = next(step for step in steps if step.title == "Wrong")
    assert wrong.action == "claim:1"
    assert "The source says 2.5 million, not 4.5 million." in wrong.text
    assert {step.title for step in steps}.isdisjoint({"OK", "No source", "For you to decide"})


def test_the_demo_of_a_run_without_verdicts_has_no_claim_to_show() -> None:
    empty = Report(id="r", created_at="", question="", answer="", settings={}, versions={})
    assert not any(step.action.startswith("claim:") for step in demo_steps(empty))
