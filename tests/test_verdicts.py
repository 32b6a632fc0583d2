from __future__ import annotations

from typing import Any

import pytest

from attribution.policy import DecisionPolicy
from attribution.settings import ROOT
from attribution.types import (
    HEARSAY,
    LABELS,
    Claim,
    Evidence,
    Failure,
    Part,
    Probabilities,
    Reservation,
    Verdict,
)
from attribution.verdicts import (
    RULES,
    Case,
    counted,
    decide,
    leaning,
    not_reached,
    recolour,
    relation,
)
from tests.make import both, claim, page
from tests.make import evidence as made_evidence
from tests.make import report as report_of

DIFFERENCE = "the claim says “2”, the source “3”"
FOR, AGAINST, NEITHER = (
    (0.9, 0.05, "entailed"),
    (0.1, 0.8, "contradicted"),
    (0.1, 0.1, "no_relation"),
)


def evidence(
    c: Claim, entailed: float, contradicted: float, relation: str, **changes: Any
) -> Evidence:
    """A piece of evidence; one that contradicts names what differs."""
    difference = DIFFERENCE if relation == "contradicted" else ""
    return made_evidence(
        c, entailed, contradicted, relation, **{"difference": difference, **changes}
    )


def test_the_reason_counts_passages_in_plain_english() -> None:
    def reason(*pieces: Any) -> str:
        return decide(claim(), [evidence(claim(), *p) for p in pieces], both(0.45)).reason

    assert reason(FOR) == "1 of 1 passage supports it, none contradicts it."
    assert (
        reason(FOR, FOR, AGAINST) == f"2 of 3 passages support it, 1 contradicts it: {DIFFERENCE}."
    )
    assert (
        reason(AGAINST, NEITHER)
        == f"1 of 2 passages contradicts it, none supports it: {DIFFERENCE}."
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
    verdict = decide(c, [leans, evidence(c, *NEITHER)], both(0.8))
    assert (verdict.label, verdict.confidence) == ("unclear", 0.68)
    assert verdict.reason == "Related passages are inconclusive, leaning towards support."
    assert "contradiction" in decide(c, [evidence(c, 0.1, 0.6, "no_relation")], both(0.8)).reason
    assert decide(c, [evidence(c, 0.3, 0.3, "no_relation")], both(0.8)).label == "no_relation"


def test_a_contradiction_has_its_own_threshold_and_says_what_differs() -> None:
    c = claim()
    against = evidence(c, 0.1, 0.7, "no_relation", difference=DIFFERENCE)
    report = report_of(
        claims=(c,), evidence=(against,), verdicts=(decide(c, [against], DecisionPolicy(0.5, 0.8)),)
    )
    assert report.verdicts[0].label == "unclear"
    (verdict,) = recolour(report, DecisionPolicy(0.5, 0.6)).verdicts
    assert verdict.label == "contradicted" and verdict.reason.endswith(
        ": the claim says “2”, the source “3”."
    )
    assert DecisionPolicy.of(recolour(report, DecisionPolicy(0.5, 0.6)).settings) == DecisionPolicy(
        0.5, 0.6
    )
    earlier = report.model_copy(update={"settings": {"threshold": 0.45}})
    assert DecisionPolicy.of(earlier.settings) == both(0.45)  # it had one for both


def test_a_claim_that_the_verifier_refused_or_the_run_did_not_reach_is_not_reached_whatever_the_threshold() -> (
    None
):
    refused = Failure(
        stage="verify", subject="c", kind="verifier_failed", message="The claim is too long."
    )
    verdict = decide(claim(), [], both(0.5), [refused])
    assert (verdict.label, verdict.reason) == ("not_reached", "The claim is too long.")
    report = report_of(claims=(claim(),), verdicts=(not_reached(claim()),))
    assert (
        "stopped" in report.verdicts[0].reason
        and recolour(report, both(0.9)).verdicts == report.verdicts
    )


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


def test_the_weakest_part_of_a_claim_of_several_sentences_decides() -> None:
    yes, no = (
        Probabilities(entailed=p, contradicted=0.05, no_relation=0.95 - p) for p in (0.9, 0.1)
    )

    def decided(*pieces: tuple[Any, ...]) -> Verdict:
        """The verdict by passages, each with its genre and its probabilities for the two parts."""
        made = [
            evidence(
                claim(),
                *FOR,
                page_id=genre,
                genre=genre,
                parts=(
                    Part(statement="It is long.", probabilities=one),
                    Part(statement="It is deep.", probabilities=two),
                ),
            )
            for genre, one, two in pieces
        ]
        return decide(claim(), made, both(0.5))

    assert (
        decided(("news", yes, yes)).label == "supported"
        and decided(("news", no, no)).label == "no_relation"
    )
    partly = decided(("news", yes, no))
    assert partly.label == "unclear" and partly.reason.startswith(
        "Its weakest part is “It is deep.” Nothing related"
    )
    assert decided(
        ("news", yes, no), ("forum", no, yes)
    ).hearsay  # of equal parts, the one that is only said counts


def test_support_by_hearsay_alone_or_without_a_value_of_the_claim_says_so() -> None:
    def decided(*changes: dict[str, object], decision: Any = "weighed") -> Verdict:
        pieces = [evidence(claim(), *FOR, page_id=f"p{n}", **c) for n, c in enumerate(changes)]
        return decide(claim(), pieces, DecisionPolicy(decision=decision))

    forum, news = {"genre": "forum", "lacks": ("3",)}, {"genre": "news", "lacks": ("3", "May")}
    assert (
        decided(forum).hearsay
        and decided(forum, forum).hearsay
        and not decided(forum, news).hearsay
    )
    assert decided(*({"genre": genre} for genre in HEARSAY)).hearsay  # of every kind together too
    both_lack = decided(forum, news)
    assert both_lack.lacks == ("3",) and both_lack.reason.endswith(
        "No passage that supports it has “3”."
    )
    plain = decided(forum, decision="plain")
    assert not plain.hearsay and not plain.lacks


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


def test_the_verdict_on_the_claim_as_written_follows_the_threshold() -> None:
    c = claim(enriched="The Nile in Africa is long.")
    own = Probabilities(entailed=0.6, contradicted=0.1, no_relation=0.3)
    pieces = (evidence(c, 0.9, 0.05, "entailed", as_written=own),)
    report = report_of(
        settings={"threshold": 0.5},
        claims=(c,),
        evidence=pieces,
        verdicts=(decide(c, pieces, both(0.5)),),
    )
    assert report.verdicts[0].without_added == "supported" and not report.verdicts[0].rests_on_added
    (strict,) = recolour(report, both(0.7)).verdicts
    assert (strict.label, strict.without_added) == (
        "supported",
        "unclear",
    ) and strict.rests_on_added


def test_one_page_that_contradicts_without_a_value_that_differs_is_not_enough() -> None:
    c = claim()
    alone = evidence(c, *AGAINST, difference="")
    verdict = decide(c, [alone, evidence(c, *NEITHER)], both(0.5))
    assert (verdict.label, verdict.confidence) == (
        "unclear",
        0.8,
    ) and "seems to contradict" in verdict.reason
    second = alone.model_copy(update={"page_id": "q"})
    assert decide(c, [alone, second], both(0.5)).label == "contradicted"
    assert decide(c, [alone, evidence(c, *FOR)], both(0.5)).label == "supported"


def test_a_passage_with_a_reservation_does_not_count_and_says_why() -> None:
    c = claim()
    denied = Reservation(relations=("entailed",), note="the source denies this")
    told = evidence(c, 0.9, 0.05, "no_relation", reservation=denied)
    assert counted(told.probabilities, denied, both(0.5)) == "no_relation"
    assert counted(evidence(c, *AGAINST).probabilities, denied, both(0.5)) == "contradicted"
    verdict = decide(c, [told], both(0.5))
    assert verdict.label == "unclear" and "the source denies this" in verdict.reason
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
    """A passage of an example in the table: "a -0.80 differs"."""
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
    genre = next(
        (g for word, g in (("forum", "forum"), ("factcheck", "fact check")) if word in words),
        "unknown",
    )
    of_page = {"origin": "o" if "copy" in words else "", "genre": genre}
    differs = DIFFERENCE if {"differs", "factcheck"} & set(words) else ""
    return made.model_copy(
        update={"about": "about" in words, "reservation": held, "difference": differs} | of_page
    )


@pytest.mark.parametrize(("rule", "when", "example", "label"), ROWS)
def test_the_decision_table_is_what_the_code_decides(
    rule: str, when: str, example: str, label: str
) -> None:
    parts = [part.strip() for part in example.split(";") if part.strip()]
    chosen = dict(part.split("=") for part in parts if "=" in part)
    settings = {
        name: value if value.isalpha() or "_" in value else float(value)
        for name, value in chosen.items()
    }
    policy = both(0.5).with_settings(settings)
    c = claim(worthiness="opinion" if "opinion" in parts else "factual")
    c = c.model_copy(update={"coherent": False, "coherence": 0.1} if "incoherent" in parts else {})
    refused = Failure(
        stage="verify", subject="c", kind="verifier_failed", message="The claim is too long."
    )
    pieces = [_passage(part) for part in parts if part[1:2] == " "]
    pieces = [
        e.model_copy(update={"relation": counted(e.probabilities, e.reservation, policy)})
        for e in pieces
    ]
    made = decide(c, pieces, policy, [refused] * ("refused" in parts))
    assert made.label == label and made.reason
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


def test_copies_are_one_source_where_several_are_asked_for() -> None:
    copies = [page("The Nile is long.", f"https://{name}.example/") for name in "ab"]
    pieces = tuple(evidence(claim(), *FOR, page_id=one.id) for one in copies)
    report = report_of(
        claims=(claim(),),
        evidence=pieces,
        pages=tuple(copies),
        verdicts=(decide(claim(), pieces, DecisionPolicy()),),
    )
    two = DecisionPolicy(least_sources=2)
    assert recolour(report, two).verdicts[0].label == "supported"
    copied = report.model_copy(
        update={"pages": tuple(p.model_copy(update={"origin": "one"}) for p in copies)}
    )
    (verdict,) = recolour(copied, two).verdicts
    reason = (
        "2 of 2 passages support it (2 pages, 1 origin), but 2 independent sources are asked for."
    )
    assert (verdict.label, verdict.reason) == ("unclear", reason)
    assert DecisionPolicy.of(recolour(copied, two).settings) == two


def test_a_policy_takes_from_settings_only_what_fits_it() -> None:
    strange: dict[str, object] = {
        "aggregation": "loudest",
        "decision": 7,
        "least_sources": "2",
        "threshold": None,
    }
    assert DecisionPolicy(0.6).with_settings(strange) == DecisionPolicy(0.6)


FAILS = "Its part “It merged.” fails. 1 of 1 passage contradicts it, none supports it"


@pytest.mark.parametrize(
    ("parts", "label", "reason"),
    [
        (
            (FOR, FOR),
            "supported",
            "Each of its 2 parts is supported. Of the weakest: 1 of 1 passage supports it",
        ),
        ((FOR, AGAINST), "contradicted", FAILS),
        ((NEITHER, AGAINST), "contradicted", FAILS),
        ((FOR, NEITHER), "unclear", "Supported except for “It merged.”"),
        ((NEITHER, NEITHER), "no_relation", "Nothing related was found in 1 passage."),
    ],
)
def test_a_claim_that_is_left_open_is_decided_by_its_parts(
    parts: Any, label: str, reason: str
) -> None:
    c = claim()
    named = zip(("It was dissolved.", "It merged."), parts, strict=True)
    pieces = [evidence(c, *NEITHER), *(evidence(c, *part, part=name) for name, part in named)]
    found = decide(c, pieces, both(0.45))
    assert found.label == label and reason in found.reason
    assert (
        decide(c, [evidence(c, *FOR), *pieces], both(0.45)).label == "supported"
    )  # read as a whole
