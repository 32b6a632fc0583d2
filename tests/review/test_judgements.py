import json

import pytest

from attribution.review.judgements import agreement
from attribution.types import LABELS, AnalystLabel, AnalystVerdict, Claim, Label, Report
from attribution.verdicts import DecisionPolicy, agreeing, decide
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


def test_agreement_is_counted_over_all_runs() -> None:
    first = run((0.9, "supported"), (0.9, "contradicted"), (0.1, "unclear"), (0.9, None))
    measured = agreement([first, run((0.8, "supported"))])
    assert (measured.agreed, measured.judged) == (3, 4)
    assert measured.words.startswith("The analyst agrees with 3 of 4 verdicts (75 %;")


def test_claims_that_nobody_judged_or_compared_do_not_count() -> None:
    assert agreement([]).words == ""
    assert agreement([run((0.9, None))]).words == ""
    first = run((0.9, "supported"))
    verdict = first.verdicts[0].model_copy(update={"label": "not_checked"})
    assert agreement([first.model_copy(update={"verdicts": (verdict,)})]).judged == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"claim_id": "gone"}, "not one a claim"),
        ({"statement": "other words"}, "not one a claim"),
        ({"label": "right"}, "label"),
        ({"note": "x" * 2001}, "at most 2000 characters"),
    ],
)
def test_a_report_holds_judgements_of_its_own_claims_alone(
    change: dict[str, str], message: str
) -> None:
    fields = json.loads(run((0.9, "supported")).to_json())
    fields["judgements"][0] |= change
    with pytest.raises(ValueError, match=message):
        Report.model_validate(fields)
