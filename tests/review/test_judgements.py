import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.files import parse_rows
from attribution.policy import DecisionPolicy
from attribution.review.judgements import (
    ENOUGH,
    RIGHT,
    SHOWN,
    AgreedShare,
    agreement,
    benchmark_rows,
    suggested_threshold,
)
from attribution.studies.annotation.tasks import tasks_of_judged
from attribution.studies.groundedness.labelled_set import OPTIONAL, REQUIRED, labelled_set
from attribution.types import LABELS, AnalystLabel, AnalystVerdict, Claim, Label, Report
from attribution.verdicts import agreeing, decide, recolour
from tests.make import claim, evidence, page

PAGE = page("The Nile is long. It flows north.")
HALF = DecisionPolicy(0.5, 0.5)
Judged = tuple[float, AnalystLabel | None]  # probability of support, and the analyst's verdict


def analyst(
    c: Claim, label: AnalystLabel, badge: Label | None, note: str = "", at: str = ""
) -> AnalystVerdict:
    return AnalystVerdict(
        claim_id=c.id, statement=c.statement, label=label, badge=badge, note=note, at=at
    )


def run(*given: Judged, question: str = "q", at: str = "", note: str = "") -> Report:
    """A claim for each probability of support, compared with one passage."""
    claims = [claim(f"Claim {n} is this.") for n in range(len(given))]
    pieces = [
        evidence(
            c,
            p,
            0.0,
            "entailed" if p >= HALF.support else "no_relation",
            page_id=PAGE.id,
            text=PAGE.text[:17],
        )
        for c, (p, _) in zip(claims, given, strict=True)
    ]
    verdicts = [decide(c, [e], HALF) for c, e in zip(claims, pieces, strict=True)]
    own = [
        analyst(c, label, v.label, note, at)
        for c, v, (_, label) in zip(claims, verdicts, given, strict=True)
        if label
    ]
    return Report(
        id="r",
        created_at="2026-11-01T00:00:00+00:00",
        question=question,
        answer=" ".join(c.text for c in claims),
        settings={"threshold": 0.5, "contradiction_threshold": 0.5},
        versions={},
        claims=tuple(claims),
        pages=(PAGE,),
        evidence=tuple(pieces),
        verdicts=tuple(verdicts),
        judgements=tuple(own),
    )


def test_every_badge_of_a_compared_claim_has_a_verdict_that_agrees() -> None:
    assert {label: agreeing(label) for label in LABELS} == {
        "supported": "supported",
        "contradicted": "contradicted",
        "conflicting": "conflicting",
        "unclear": "unclear",
        "no_relation": "unclear",
        "missing": "unclear",
        "not_reached": None,
        "not_checked": None,
    }
    assert agreeing(None) is None


def test_agreement_is_counted_by_badge_over_all_runs() -> None:
    first = run((0.9, "supported"), (0.9, "contradicted"), (0.1, "unclear"), (0.9, None))
    found = agreement([first, run((0.8, "supported"))])
    assert found.badges == {
        "supported": AgreedShare(2, 3),
        "no_relation": AgreedShare(1, 1),
    } and found.all == AgreedShare(3, 4)
    assert (
        found.words
        == "The analyst agrees with 3 of 4 judged badges (75%; 95% interval 30% to 95%)."
    )
    assert agreement([run((0.9, None))]).words == "" == agreement([]).words
    verdict = first.verdicts[0].model_copy(update={"label": "not_checked"})
    assert agreement([first.model_copy(update={"verdicts": (verdict,)})]).all == AgreedShare(0, 0)
    strict = recolour(first, DecisionPolicy(0.95, 0.5))  # the badges as they are shown count
    assert agreement([strict]).badges == {
        "unclear": AgreedShare(0, 2),
        "no_relation": AgreedShare(1, 1),
    }


def test_a_threshold_is_suggested_from_enough_judgements_on() -> None:
    wrong: list[Judged] = [(0.5 + n / 100, "unclear") for n in range(15)]
    right: list[Judged] = [(0.7 + n / 100, "supported") for n in range(15)]
    report = run(*wrong, *right)
    found = suggested_threshold([report], "supported")
    assert found == 0.64  # 15 of 16 are right; 15 of 17, at 0.63, are too few
    assert suggested_threshold([run(*wrong, *right[1:])], "supported") is None  # 29 judgements
    assert suggested_threshold([report], "contradicted") is None  # no badge to judge
    assert (
        suggested_threshold([run(*[(p, "unclear") for p, _ in wrong + right])], "supported") is None
    )


@given(
    st.lists(
        st.tuples(st.floats(0.34, 0.99), st.sampled_from(["supported", "unclear"])),
        min_size=30,
        max_size=36,
    )
)
def test_the_suggested_threshold_is_the_lowest_that_is_right_often_enough(
    given: list[Judged],
) -> None:
    report = run(*given)

    def enough(least: float) -> bool:
        shown = [label for p, label in given if p >= least]
        return len(shown) >= SHOWN and shown.count("supported") >= RIGHT * len(shown)

    assert len(given) >= ENOUGH
    wanted = next((n / 100 for n in range(34, 100) if enough(n / 100)), None)
    assert suggested_threshold([report], "supported") == wanted


def test_the_judged_claims_are_a_labelled_set() -> None:
    report = run(
        (0.9, "supported"),
        (0.9, "contradicted"),
        (0.1, "unclear"),
        (0.9, None),
        (0.9, "conflicting"),
    )
    bare = run((0.9, "supported")).model_copy(update={"evidence": ()})
    hostile = run((0.9, "unclear"), question="", note='"}\n</script>\u2028', at="later")
    rows = benchmark_rows([report, bare, hostile])
    text = "\n".join(json.dumps(row) for row in rows)
    found = labelled_set(parse_rows(text.encode(), REQUIRED, OPTIONAL))
    assert not found.problems and [(r.response, r.grounded, r.error_type) for r in found.rows] == [
        ("Claim 0 is this.", True, ""),
        ("Claim 1 is this.", False, "contradicted"),
        ("Claim 2 is this.", False, "unclear"),
        ("Claim 0 is this.", False, "unclear"),
    ]
    assert {r.context for r in found.rows} == {("The Nile is long.",)}
    assert len({r.group for r in found.rows}) == 2 and len({r.split for r in found.rows[:3]}) == 1
    later = run((0.9, "unclear"), at="2026-11-02")
    (row,) = benchmark_rows([later, run((0.9, "supported"), at="2026-11-01")])
    assert row["grounded"] is False and row["error_type"] == "unclear"  # the later one counts
    assert benchmark_rows([]) == []


def test_the_judged_claims_are_tasks_without_the_verdicts() -> None:
    report = run((0.9, "supported"), (0.9, None), (0.1, "contradicted"), note="a note")
    tasks = list(tasks_of_judged([report], "p"))
    assert [(t.answer, t.unit, t.source) for t in tasks] == [
        ("Claim 0 is this.", "claim", PAGE.text),
        ("Claim 2 is this.", "claim", PAGE.text),
    ]
    assert not any(
        "note" in t.model_dump_json() or "contradicted" in t.model_dump_json() for t in tasks
    )


@pytest.mark.parametrize("change", [{"claim_id": "gone"}, {"statement": "other words"}])
def test_a_report_holds_judgements_of_its_own_claims_alone(change: dict[str, str]) -> None:
    report = run((0.9, "supported"))
    fields = json.loads(report.to_json())
    assert Report.model_validate(fields).judgements == report.judgements
    fields["judgements"][0] |= change
    with pytest.raises(ValueError, match="not one a claim"):
        Report.model_validate(fields)
