from collections.abc import Sequence

import pytest

from attribution.studies.answers.run_changes import counts, run_changes
from attribution.types import AnalystLabel, AnalystVerdict, Claim, Evidence, Page, Report
from attribution.verdicts import decide
from tests.make import both, claim, evidence, page

NILE, TOWER = claim("The Nile is the longest river."), claim("The tower has three levels.")
PAGE = page("The Nile is long.", title="Rivers")


def report(
    pieces: Sequence[Evidence] = (),
    claims: Sequence[Claim] = (NILE,),
    pages: Sequence[Page] = (PAGE,),
    threshold: float = 0.5,
    verifier: str = "small",
    answer: str = "",
) -> Report:
    verdicts = [
        decide(c, [e for e in pieces if e.claim_id == c.id], both(threshold)) for c in claims
    ]
    settings: dict[str, object] = {"threshold": threshold, "contradiction_threshold": threshold}
    return Report(
        id="r",
        created_at="",
        question="",
        answer=answer or " ".join(c.text for c in claims),
        settings=settings,
        versions={"verifier": verifier},
        claims=tuple(claims),
        pages=tuple(pages),
        evidence=tuple(pieces),
        verdicts=tuple(verdicts),
    )


def piece(
    entailed: float,
    contradicted: float,
    relation: str,
    of: Page = PAGE,
    start: int = 0,
    to: Claim = NILE,
) -> Evidence:
    return evidence(to, entailed, contradicted, relation, page_id=of.id, start=start)


SUPPORTS, SAYS_NOTHING = piece(0.7, 0.1, "entailed"), piece(0.7, 0.1, "no_relation")
ELSEWHERE = page("Another text.", "https://example.org/b", "Elsewhere")
CHANGED = page("The Nile is short.", title="Rivers")


@pytest.mark.parametrize(
    ("before", "after", "kinds", "words"),
    [
        (
            report([SUPPORTS]),
            report([SAYS_NOTHING], threshold=0.8),
            ["thresholds"],
            "minimum support score 0.50, now 0.80; minimum contradiction score 0.50, now 0.80",
        ),
        (
            report([SUPPORTS]),
            report([piece(0.2, 0.1, "no_relation")], verifier="base"),
            ["judgement"],
            "A passage of “Rivers” is judged differently by another verifier: support 0.70, now 0.20.",
        ),
        (
            report([piece(0.1, 0.2, "no_relation")]),
            report([SUPPORTS]),
            ["judgement"],
            "A passage of “Rivers” is judged differently: support 0.10, now 0.70.",
        ),
        (
            report(),
            report([SUPPORTS]),
            ["not_compared", "passage"],
            "was not among those compared before",
        ),
        (
            report([SUPPORTS]),
            report([], pages=()),
            ["not_compared", "lost_page"],
            "“Rivers” gave support before",
        ),
        (
            report([piece(0.1, 0.1, "no_relation", ELSEWHERE)], pages=[ELSEWHERE]),
            report([SUPPORTS]),
            ["new_page"],
            "“Rivers” gives support now",
        ),
        (
            report([SUPPORTS]),
            report([piece(0.1, 0.8, "contradicted", CHANGED)], pages=[CHANGED]),
            ["changed_page"] * 2,
            "“Rivers” has changed since; a passage of it gives contradiction now.",
        ),
        (
            report([SUPPORTS]),
            report(claims=[NILE.model_copy(update={"worthiness": "opinion"})]),
            ["worthiness"],
            "Now it is not checked: An opinion",
        ),
    ],
)
def test_a_change_is_explained(before: Report, after: Report, kinds: list[str], words: str) -> None:
    (change,) = run_changes(before, after).claims
    assert change.changed and [cause.kind for cause in change.causes] == kinds
    assert words in " ".join(cause.text for cause in change.causes)
    (back,) = run_changes(after, before).claims
    assert back.changed and back.causes


def test_another_wording_is_a_reason_of_its_own() -> None:
    enriched = NILE.model_copy(update={"enriched": "The Nile in Africa is the longest river."})
    (change,) = run_changes(
        report([SUPPORTS]), report([piece(0.1, 0.1, "no_relation")], [enriched])
    ).claims
    assert [cause.kind for cause in change.causes] == ["wording", "judgement"]


def test_equal_runs_have_no_change() -> None:
    same = run_changes(report([SUPPORTS], [NILE, TOWER]), report([SUPPORTS], [NILE, TOWER]))
    assert counts(same.claims) == (0, 2, 0, 0) and same.settings == same.versions == ()
    assert not any(change.causes for change in same.claims)


def test_claims_are_matched_by_their_words_and_by_their_place() -> None:
    reworded = claim("The Nile is the longest river of all.")
    result = run_changes(report(claims=[NILE, TOWER]), report(claims=[TOWER, reworded]))
    assert [(c.before, c.after) for c in result.claims] == [(TOWER, TOWER), (NILE, reworded)]
    other = claim("Completely different words.")
    result = run_changes(
        report(claims=[NILE, TOWER], answer="A"), report(claims=[other, TOWER], answer="B")
    )
    assert counts(result.claims) == (0, 1, 1, 1) and result.claims[-1].before == NILE
    result = run_changes(
        report(claims=[NILE], answer=NILE.text), report(claims=[other], answer=NILE.text)
    )
    assert counts(result.claims) == (0, 1, 0, 0)  # the same characters of the same answer


def test_settings_and_models_that_differ_are_listed() -> None:
    result = run_changes(report(threshold=0.5), report(threshold=0.6, verifier="base"))
    assert result.settings == (("contradiction_threshold", 0.5, 0.6), ("threshold", 0.5, 0.6))
    assert result.versions == (("verifier", "small", "base"),)


def test_a_claim_without_a_verdict_is_said_to_be_without() -> None:
    unfinished = report([SUPPORTS]).model_copy(update={"verdicts": ()})
    (change,) = run_changes(unfinished, report([SUPPORTS])).claims
    assert (change.was, change.now) == (None, "supported") and "not reached" in change.causes[
        0
    ].text


def judged(label: AnalystLabel, note: str = "", at: str = "") -> Report:
    own = AnalystVerdict(
        claim_id=NILE.id, statement=NILE.text, label=label, badge="supported", note=note, at=at
    )
    return report([SUPPORTS]).model_copy(update={"judgements": (own,)})


def test_the_analyst_s_other_verdict_is_a_change_of_its_own() -> None:
    (change,) = run_changes(report([SUPPORTS]), judged("contradicted", "<b>no</b>")).claims
    assert change.judged_otherwise and not change.changed and change.judgements[0] is None
    assert [c.text for c in change.causes] == [
        "The analyst's verdict was none, now contradicted “<b>no</b>”."
    ]
    (change,) = run_changes(judged("unclear"), judged("unclear", at="later")).claims
    assert not change.judged_otherwise and not change.causes
    (change,) = run_changes(judged("unclear"), report([piece(0.1, 0.1, "no_relation")])).claims
    assert change.changed and [c.kind for c in change.causes] == ["judgement", "analyst"]
    assert (
        run_changes(judged("unclear"), report(claims=[TOWER])).claims[1].judgements[0] is not None
    )
