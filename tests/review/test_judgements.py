import json

import pytest

from attribution.files import parse_rows
from attribution.policy import DecisionPolicy
from attribution.review.judgements import AgreedShare, agreement, benchmark_rows
from attribution.studies.annotation.tasks import tasks_of_judged
from attribution.studies.groundedness.labelled_set import OPTIONAL, REQUIRED, labelled_set
from attribution.types import LABELS, AnalystLabel, AnalystVerdict, Claim, Label, Report
from attribution.verdicts import agreeing, decide
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
    measured = agreement([first, run((0.8, "supported"))])
    assert measured.badges == {"supported": AgreedShare(2, 3), "no_relation": AgreedShare(1, 1)}
    assert measured.all == AgreedShare(3, 4)
    assert measured.words.startswith("The analyst agrees with 3 of 4 judged badges (75%;")


def test_claims_that_nobody_judged_or_compared_do_not_count() -> None:
    assert agreement([]).words == ""
    assert agreement([run((0.9, None))]).words == ""
    first = run((0.9, "supported"))
    verdict = first.verdicts[0].model_copy(update={"label": "not_checked"})
    assert agreement([first.model_copy(update={"verdicts": (verdict,)})]).all == AgreedShare(0, 0)


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
    labelled = labelled_set(parse_rows(text.encode(), REQUIRED, OPTIONAL))
    assert not labelled.problems
    assert [(r.response, r.grounded, r.error_type) for r in labelled.rows] == [
        ("Claim 0 is this.", True, ""),
        ("Claim 1 is this.", False, "contradicted"),
        ("Claim 2 is this.", False, "unclear"),
        ("Claim 0 is this.", False, "unclear"),
    ]
    assert {r.context for r in labelled.rows} == {("The Nile is long.",)}
    assert len({r.group for r in labelled.rows}) == 2


def test_the_later_judgement_on_a_claim_counts() -> None:
    later = run((0.9, "unclear"), at="2026-11-02")
    (row,) = benchmark_rows([later, run((0.9, "supported"), at="2026-11-01")])
    assert row["grounded"] is False
    assert row["error_type"] == "unclear"


def test_the_judged_claims_are_tasks_without_the_verdicts() -> None:
    report = run((0.9, "supported"), (0.9, None), (0.1, "contradicted"), note="a note")
    tasks = list(tasks_of_judged([report], "p"))
    assert [(t.answer, t.unit, t.source) for t in tasks] == [
        ("Claim 0 is this.", "claim", PAGE.text),
        ("Claim 2 is this.", "claim", PAGE.text),
    ]
    for task in tasks:
        assert "note" not in task.model_dump_json()
        assert "contradicted" not in task.model_dump_json()


@pytest.mark.parametrize("change", [{"claim_id": "gone"}, {"statement": "other words"}])
def test_a_report_holds_judgements_of_its_own_claims_alone(change: dict[str, str]) -> None:
    report = run((0.9, "supported"))
    fields = json.loads(report.to_json())
    assert Report.model_validate(fields).judgements == report.judgements
    fields["judgements"][0] |= change
    with pytest.raises(ValueError, match="not one a claim"):
        Report.model_validate(fields)
