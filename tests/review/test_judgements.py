import json

import pytest

from attribution.review.judgements import agreement
from attribution.types import LABELS, AnalystLabel, Label, Report
from attribution.verdicts import agreeing
from tests.make import assessment, claim, judged

Judged = tuple[Label, AnalystLabel | None]  # the verdict of the model, and the analyst's


def run(*given: Judged) -> Report:
    claims = [claim(f"Claim {n} is this.") for n in range(len(given))]
    own = [assessment(c, label) for c, (_, label) in zip(claims, given, strict=True) if label]
    both = [(c, label) for c, (label, _) in zip(claims, given, strict=True)]
    return judged(*both, judgements=tuple(own))


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


def test_agreement_is_counted_over_all_claims_that_were_judged_and_compared() -> None:
    first = run(
        ("supported", "supported"),
        ("supported", "contradicted"),
        ("no_relation", "unclear"),
        ("supported", None),
        ("not_checked", "supported"),
    )
    measured = agreement([first, run(("supported", "supported"))])
    assert (measured.agreed, measured.judged) == (3, 4)
    assert measured.words.startswith("The analyst agrees with 3 of 4 verdicts (75 %;")
    assert agreement([]).words == ""


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
    fields = json.loads(run(("supported", "supported")).to_json())
    fields["judgements"][0] |= change
    with pytest.raises(ValueError, match=message):
        Report.model_validate(fields)
