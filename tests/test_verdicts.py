from __future__ import annotations

import json
from typing import Any

import pytest

from attribution.settings import ROOT
from attribution.types import (
    HEARSAY,
    LABELS,
    Evidence,
    Failure,
    Label,
    Probabilities,
    Reader,
    Report,
    Reservation,
    Verdict,
)
from attribution.verdicts import (
    RULES,
    Case,
    DecisionPolicy,
    agreeing,
    beside,
    counted,
    decide,
    leaning,
    nearest_evidence,
    not_reached,
    recolour,
    relation,
)
from tests.make import assessment, both, claim, evidence, judged, page
from tests.make import report as report_of

FOR, AGAINST, NEITHER = (
    (0.9, 0.05, "entailed"),
    (0.1, 0.8, "contradicted"),
    (0.1, 0.1, "no_relation"),
)


def test_a_missing_verdict_names_the_step_that_failed() -> None:
    failure = Failure(
        stage="search", subject="q", kind="search_failed", message="no network: use the library"
    )
    made = decide(claim(), [], both(0.45), [failure, failure])
    assert (made.label, made.reason) == ("missing", "no network: use the library")


def test_a_passage_under_the_threshold_that_leans_to_a_side_is_unclear() -> None:
    c = claim()
    leans = evidence(c, 0.68, 0.02, "no_relation")
    weaker = evidence(c, 0.02, 0.55, "no_relation")
    verdict = decide(c, [weaker, leans, evidence(c, *NEITHER)], both(0.8))
    assert (verdict.label, verdict.confidence) == ("unclear", 0.68)
    assert "leans towards support" in verdict.reason
    assert "contradiction" in decide(c, [evidence(c, 0.1, 0.6, "no_relation")], both(0.8)).reason
    unrelated = [evidence(c, 0.3, 0.3, "no_relation"), evidence(c, *NEITHER)]
    verdict = decide(c, unrelated, both(0.8))
    assert (verdict.label, verdict.confidence) == ("no_relation", 0.8)


def test_a_refused_claim_is_not_reached_whatever_the_threshold() -> None:
    refused = Failure(
        stage="verify", subject="c", kind="verifier_failed", message="The claim is too long."
    )
    verdict = decide(claim(), [], both(0.5), [refused])
    assert (verdict.label, verdict.reason) == ("not_reached", "The claim is too long.")
    report = report_of(claims=(claim(),), verdicts=(not_reached(claim()),))
    assert "stopped" in report.verdicts[0].reason
    assert recolour(report, both(0.9)).verdicts == report.verdicts


def test_the_threshold_decides_between_a_relation_and_none() -> None:
    p = Probabilities(entailed=0.6, contradicted=0.3, no_relation=0.1)
    assert [relation(p, both(t)) for t in (0.5, 0.6, 0.7)] == [
        "entailed",
        "entailed",
        "no_relation",
    ]
    tied = Probabilities(entailed=0.45, contradicted=0.45, no_relation=0.1)
    assert [relation(tied, DecisionPolicy(*two)) for two in ((0.4, 0.5), (0.5, 0.4))] == [
        "entailed",
        "no_relation",
    ]
    assert leaning(Probabilities(entailed=0.5, contradicted=0, no_relation=0.5)) == "no_relation"


def test_hearsay_alone_supports_nothing() -> None:
    def decided(*genres: str, decision: Any = "weighed") -> str:
        pieces = [evidence(claim(), *FOR, page_id=f"p{n}", genre=g) for n, g in enumerate(genres)]
        return decide(claim(), pieces, DecisionPolicy(decision=decision)).label

    assert decided("forum") == "unclear"
    assert decided(*HEARSAY) == "unclear"
    assert decided("forum", "news") == "supported"
    assert decided("forum", decision="plain") == "supported"


def test_recolouring_uses_the_stored_probabilities_and_keeps_the_rest() -> None:
    c, d = claim(), claim("I like rivers.", "opinion")
    pieces = (evidence(c, 0.7, 0.2, "entailed"),)
    report = report_of(
        settings={"threshold": 0.5},
        claims=(c, d),
        evidence=pieces,
        verdicts=(decide(c, pieces, both(0.5)), decide(d, (), both(0.5))),
    )
    strict = recolour(report, both(0.8))
    assert [v.label for v in strict.verdicts] == ["unclear", "not_checked"]
    assert strict.settings["threshold"] == 0.8
    assert [v.label for v in recolour(strict, both(0.5)).verdicts] == ["supported", "not_checked"]
    assert {v.label for v in strict.verdicts} <= set(LABELS)


def test_a_passage_with_a_reservation_does_not_count_and_says_why() -> None:
    c = claim()
    denied = Reservation(relations=("entailed",), note="the source denies this")
    told = evidence(c, 0.9, 0.05, "no_relation", reservation=denied)
    assert counted(told, both(0.5)) == "no_relation"
    against = evidence(c, *AGAINST, reservation=denied)
    assert counted(against, both(0.5)) == "contradicted"
    doubted = Reservation(relations=("entailed",), note="the source doubts this")
    weaker = evidence(c, 0.6, 0.05, "no_relation", reservation=doubted)
    verdict = decide(c, [weaker, told], both(0.5))
    assert (verdict.label, verdict.confidence) == ("unclear", 0.9)
    assert "the source denies this" in verdict.reason
    assert decide(c, [told, evidence(c, *AGAINST)], both(0.5)).label == "contradicted"


ROWS = [
    [cell.strip(" `") for cell in line.strip("| ").split(" |")]
    for line in (ROOT / "docs" / "verdicts.md")
    .read_text("utf-8")
    .partition("| rule |")[2]
    .splitlines()[2:]
    if line.startswith("|")
]


def _passage(text: str) -> Evidence:
    """A passage of an example in the table: "a -0.80 copy"."""
    page_id, figure, *words = text.split()
    p, side = abs(float(figure)), "contradicted" if figure.startswith("-") else "entailed"
    other = min(p - 0.01, (1 - p) / 2)
    both_sides = (p, other) if side == "entailed" else (other, p)
    made = evidence(claim(), *both_sides, "no_relation", page_id=page_id)
    held = (
        Reservation(relations=("entailed",), note="it speaks of another tower")
        if "held" in words
        else None
    )
    return made.model_copy(
        update={
            "about": "about" in words,
            "reservation": held,
            "origin": "o" if "copy" in words else "",
            "genre": "forum" if "forum" in words else "unknown",
        }
    )


@pytest.mark.parametrize(("rule", "when", "example", "label"), ROWS)
def test_the_decision_table_is_what_the_code_decides(
    rule: str, when: str, example: str, label: str
) -> None:
    parts = [part.strip() for part in example.split(";") if part.strip()]
    chosen = dict(part.split("=") for part in parts if "=" in part)
    settings = {
        name: value if value.isalpha() else json.loads(value) for name, value in chosen.items()
    }
    policy = DecisionPolicy.of(both(0.5).as_settings() | settings)
    c = claim(worthiness="opinion" if "opinion" in parts else "factual")
    c = c.model_copy(update={"coherent": False, "coherence": 0.1} if "incoherent" in parts else {})
    refused = Failure(
        stage="verify", subject="c", kind="verifier_failed", message="The claim is too long."
    )
    pieces = [_passage(part) for part in parts if part[1:2] == " "]
    pieces = [piece.model_copy(update={"relation": counted(piece, policy)}) for piece in pieces]
    made = decide(c, pieces, policy, [refused] * ("refused" in parts))
    assert made.label == label
    assert made.reason
    if side := {"supported": "entailed", "contradicted": "contradicted"}.get(label):
        assert made.confidence == round(
            max(getattr(e.probabilities, side) for e in pieces if e.relation == side), 4
        )
    assert (made.confidence == 0) == (label in ("missing", "not_checked", "not_reached"))
    applies = next(r for r in RULES if r(Case(c, pieces, policy, [refused] * ("refused" in parts))))
    assert applies.__name__.strip("_").replace("_", " ") == rule


def test_every_rule_is_in_the_table_in_its_order() -> None:
    assert [*dict.fromkeys(row[0] for row in ROWS)] == [
        r.__name__.strip("_").replace("_", " ") for r in RULES
    ]


def test_copies_are_told_from_sources_by_the_origin_of_their_pages() -> None:
    copies = [page("The Nile is long.", f"https://{name}.example/") for name in "ab"]
    pieces = tuple(evidence(claim(), *FOR, page_id=one.id) for one in copies)
    report = report_of(
        claims=(claim(),),
        evidence=pieces,
        pages=tuple(copies),
        verdicts=(decide(claim(), pieces, DecisionPolicy()),),
    )
    copied = report.model_copy(
        update={"pages": tuple(p.model_copy(update={"origin": "one"}) for p in copies)}
    )
    (verdict,) = recolour(copied, DecisionPolicy()).verdicts
    assert verdict.reason == "2 of 2 passages support it (2 pages, 1 origin), none contradicts it."
    sure = DecisionPolicy(threshold=0.9)
    assert DecisionPolicy.of(recolour(copied, sure).settings) == sure


def test_a_policy_takes_from_settings_only_what_fits_it() -> None:
    strange: dict[str, object] = {
        "decision": 7,
        "contradiction_threshold": "2",
        "threshold": None,
    }
    assert DecisionPolicy.of(strange) == DecisionPolicy()


@pytest.mark.parametrize(
    ("label", "which", "note"),
    [
        ("supported", "first", "Both verifiers agree."),
        ("no_relation", "first", "A second verifier decided; the first said: no relation."),
        ("unclear", "second", "A second verifier said: unclear."),
    ],
)
def test_the_verdict_of_the_other_verifier_is_kept_and_said(
    label: Label, which: Reader, note: str
) -> None:
    def by(label: Label) -> Verdict:
        return Verdict(claim_id="c", label=label, confidence=0.7, reason="Why.")

    kept = beside(by("supported"), by(label), which)
    assert (kept.label, kept.reason) == ("supported", f"Why. {note}")
    assert kept.other is not None
    assert (kept.other.label, kept.other.reader) == (label, which)
    assert beside(by(label), None) == by(label)


def test_the_passage_to_read_first_decides_or_is_the_nearest() -> None:
    c = claim()
    weak, sure = evidence(c, 0.7, 0.0, "entailed"), evidence(c, 0.9, 0.0, "entailed")
    against = evidence(c, 0.0, 0.95, "contradicted")
    far, near = evidence(c, *NEITHER, similarity=0.2), evidence(c, *NEITHER, similarity=0.8)
    assert nearest_evidence([weak, against, sure], "contradicted") == against
    assert nearest_evidence([far, weak, sure], "supported") == sure
    assert nearest_evidence([far, near], "supported") is None
    assert nearest_evidence([far, near], "unclear") == near
    leaning_far = evidence(c, 0.45, 0.2, "no_relation", similarity=0.1)
    about_far = evidence(c, *NEITHER, similarity=0.1, about=True)
    assert nearest_evidence([near, about_far, leaning_far], "unclear") == leaning_far
    assert nearest_evidence([near, about_far], "unclear") == about_far


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
    c = claim()
    report = judged((c, "supported"), judgements=(assessment(c, "supported"),))
    fields = json.loads(report.to_json())
    fields["judgements"][0] |= change
    with pytest.raises(ValueError, match=message):
        Report.model_validate(fields)
