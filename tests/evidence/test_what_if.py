"""A finished run under other choices: pure, from stored probabilities."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.evidence.what_if import VALUES, courses, differing, page_languages, sites, what_if
from attribution.policy import Counted, DecisionPolicy
from attribution.types import Claim, Evidence, Page, Probabilities, Relation, Report
from attribution.verdicts import decide, recolour, relation
from tests.make import claim, page

THRESHOLDS = DecisionPolicy(0.5, 0.6)
MADE = THRESHOLDS
OLD = page(
    "The old text of the bridge.",
    url="https://old.example/",
    site="old.example",
    published="1999-05-01",
)
NEW = page(
    "The new text of the bridge.",
    url="https://new.example/",
    site="new.example",
    published="2024-01-31T08:00:00",
)
UNDATED = page("A text without a date.", url="https://un.example/", site="un.example")
PAGES = (OLD, NEW, UNDATED)


def piece(
    c: Claim,
    entailed: float,
    contradicted: float,
    of: Page,
    similarity: float = 0.5,
    text: str = "",
) -> Evidence:
    p = Probabilities(
        entailed=entailed,
        contradicted=contradicted,
        no_relation=max(0.0, 1 - entailed - contradicted),
    )
    text = text or of.text
    return Evidence(
        claim_id=c.id,
        page_id=of.id,
        start=0,
        end=len(text),
        text=text,
        similarity=similarity,
        relation=relation(p, THRESHOLDS),
        probabilities=p,
        sentence=(0, len(text)),
        difference="the claim says “2”, the source “3”" if contradicted > entailed else "",
    )


def report(
    *evidence: Evidence, claims: tuple[Claim, ...] = (claim(),), pages: tuple[Page, ...] = PAGES
) -> Report:
    settings: dict[str, object] = {"threshold": 0.5, "contradiction_threshold": 0.6}
    verdicts = tuple(
        decide(c, [e for e in evidence if e.claim_id == c.id], THRESHOLDS) for c in claims
    )
    return Report(
        id="r",
        created_at="",
        question="",
        answer="A",
        settings=settings,
        versions={},
        claims=claims,
        pages=pages,
        evidence=evidence,
        verdicts=verdicts,
    )


def choose(policy: DecisionPolicy, rule: str = "both", **counted: object) -> DecisionPolicy:
    return replace(policy, aggregation=rule, counted=Counted(**counted))


def label(looked: Report) -> str:
    return looked.verdicts[0].label


YES, YES_TOO = piece(claim(), 0.9, 0.05, OLD, 0.9), piece(claim(), 0.8, 0.1, UNDATED, 0.7)
NO = piece(claim(), 0.05, 0.9, NEW, 0.8)


@pytest.mark.parametrize(
    ("rule", "one_each", "two_to_one"),
    [
        ("both", "conflicting", "conflicting"),
        ("strictest", "contradicted", "contradicted"),
        ("most_frequent", "conflicting", "supported"),
        ("any", "supported", "supported"),
    ],
)
def test_where_passages_disagree_a_rule_decides(rule: str, one_each: str, two_to_one: str) -> None:
    choices = choose(THRESHOLDS, rule)
    assert label(what_if(report(YES, NO), choices)) == one_each
    looked = what_if(report(YES, NO, YES_TOO), choices)
    assert label(looked) == two_to_one
    assert looked.verdicts[0].confidence == {"supported": 0.9, "contradicted": 0.9}.get(
        two_to_one, 0.9
    )
    assert (
        label(what_if(report(YES), choices)) == "supported"
        and label(what_if(report(NO), choices)) == "contradicted"
    )


def test_the_nearest_passages_alone() -> None:
    run = report(NO, YES, YES_TOO)
    assert (
        label(what_if(run, choose(THRESHOLDS, top_k=1))) == "supported"
    )  # the nearest is not the first
    assert label(what_if(run, choose(THRESHOLDS, top_k=2))) == "conflicting"
    assert what_if(run, choose(THRESHOLDS, top_k=3)).evidence == run.evidence


def test_sites_dates_and_languages() -> None:
    run = report(YES, NO)
    assert sites(run) == ["new.example", "old.example"]
    assert (
        label(what_if(run, choose(THRESHOLDS, without_sites=frozenset(["new.example"]))))
        == "supported"
    )
    assert label(what_if(run, choose(THRESHOLDS, published_from="2024-01-31"))) == "contradicted"
    assert label(what_if(run, choose(THRESHOLDS, published_to="2024-01-30"))) == "supported"
    undated = report(YES_TOO, NO)
    assert label(what_if(undated, choose(THRESHOLDS, published_from="2000-01-01"))) == "conflicting"
    assert (
        label(what_if(undated, choose(THRESHOLDS, published_from="2000-01-01", dated=True)))
        == "contradicted"
    )
    german = choose(THRESHOLDS, languages=frozenset(["de"]))
    assert label(what_if(run, german, {OLD.id: "de", NEW.id: "en"})) == "supported"
    assert label(what_if(run, german, {NEW.id: "en"})) == "supported"  # an unknown language stays
    nothing = what_if(
        run, choose(THRESHOLDS, without_sites=frozenset(["new.example", "old.example"]))
    )
    assert (
        label(nothing) == "missing"
        and nothing.verdicts[0].reason == "What if: all 2 passages are left out."
    )


def test_languages_are_told_from_the_text() -> None:
    german = page("Die Brücke wurde im Jahr 1931 eröffnet und seitdem immer wieder neu gestrichen.")
    assert page_languages([german, page("7 9 11")]) == {german.id: "de"}


def test_copies_of_one_text_and_passages_that_say_the_same_count_once() -> None:
    copies = tuple(p.model_copy(update={"origin": OLD.id}) for p in (OLD, NEW))
    copied = report(
        piece(claim(), 0.9, 0.0, OLD, text="It is long, says one."),
        piece(claim(), 0.8, 0.0, NEW, text="A river of length."),
        piece(claim(), 0.0, 0.9, UNDATED),
        pages=(*copies, UNDATED),
    )
    frequent = choose(THRESHOLDS, "most_frequent")
    assert label(what_if(copied, frequent)) == "conflicting"
    assert (
        label(what_if(copied.model_copy(update={"pages": (OLD, NEW, UNDATED)}), frequent))
        == "supported"
    )
    same = report(
        *(
            piece(claim(), p, 0.0, of, text="The Nile is long.")
            for p, of in ((0.8, OLD), (0.9, NEW))
        )
    )
    once = what_if(same, choose(THRESHOLDS, duplicates_once=True))
    assert (
        len(once.evidence) == 1
        and once.verdicts[0].reason == "1 of 1 passage supports it, none contradicts it."
    )


def test_what_was_not_compared_stays() -> None:
    opinion = claim("I like it.", "opinion")
    run = report(claims=(opinion, claim()))
    assert run.verdicts[1].label == "missing"
    assert what_if(run, choose(DecisionPolicy(0.9, 0.9), "any", top_k=1)).verdicts == run.verdicts


CLAIMS = tuple(claim(f"Claim {n} is this.") for n in range(3))


@st.composite
def reports(draw: st.DrawFn) -> Report:
    pieces = []
    for c in CLAIMS:
        for _ in range(draw(st.integers(0, 4))):
            entailed = draw(st.floats(0, 1))
            contradicted = draw(st.floats(0, 1)) * (1 - entailed)
            pieces.append(
                piece(
                    c, entailed, contradicted, draw(st.sampled_from(PAGES)), draw(st.floats(0, 1))
                )
            )
    return report(*pieces, claims=CLAIMS)


@given(reports(), st.floats(0.34, 0.99), st.floats(0.34, 0.99))
def test_the_defaults_change_nothing_and_thresholds_alone_recolour(
    run: Report, support: float, against: float
) -> None:
    assert what_if(run, MADE) is run
    assert differing(run, run) == 0
    moved = DecisionPolicy(support, against)
    assert what_if(run, moved) == (
        run if moved == DecisionPolicy.of(run.settings) else recolour(run, moved)
    )
    every = choose(
        moved, "both", top_k=4, duplicates_once=False
    )  # more than any claim has: nothing is left out
    assert what_if(run, every).verdicts == recolour(run, moved).verdicts


@given(
    reports(),
    st.sampled_from(VALUES),
    st.integers(1, 4),
    st.sampled_from(["both", "strictest", "any"]),
    st.booleans(),
)
def test_a_course_is_the_verdicts_at_every_value(
    run: Report, other: float, k: int, rule: str, once: bool
) -> None:
    choices = choose(DecisionPolicy(other, other), rule, top_k=k, duplicates_once=once)
    plain = THRESHOLDS  # passes through the thresholds of the run itself
    for chosen, side in ((choices, "support"), (choices, "contradiction"), (plain, "support")):
        found = courses(run, chosen, side)
        for value in VALUES:
            moved = replace(chosen, **{side: value})
            for verdict in what_if(run, moved).verdicts:
                assert verdict == [v for at, v in found[verdict.claim_id] if at <= value][-1]


@given(
    reports(),
    st.integers(1, 4),
    st.sampled_from(["both", "strictest", "most_frequent", "any"]),
    st.booleans(),
)
def test_a_look_is_made_of_the_run_alone(run: Report, k: int, rule: str, once: bool) -> None:
    looked = what_if(run, choose(THRESHOLDS, rule, top_k=k, duplicates_once=once))
    assert all(e in run.evidence for e in looked.evidence)
    assert [v.claim_id for v in looked.verdicts] == [
        v.claim_id for v in run.verdicts
    ] and looked.claims == run.claims
    assert all(sum(e.claim_id == c.id for e in looked.evidence) <= k for c in CLAIMS)
    relations: dict[str, set[Relation]] = {
        c.id: {e.relation for e in looked.evidence if e.claim_id == c.id} for c in CLAIMS
    }
    for verdict in looked.verdicts:
        if verdict.label == "conflicting":
            assert (
                rule in ("both", "most_frequent")
                and {"entailed", "contradicted"} <= relations[verdict.claim_id]
            )
