"""Verdicts on claims with given passages."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from attribution.cli.main import main
from attribution.errors import BadInput
from attribution.pipeline.judge import GivenClaim, Passage, judge
from attribution.settings import ROOT, Settings
from attribution.types import HEARSAY
from attribution.verifiers import VERIFIERS, Verifier
from tests.make import both

TOWER = "The Eiffel Tower in Paris was completed in 1889."
BEES = "Honey bees dance to tell each other where the flowers are."


@pytest.fixture(scope="module")
def verifier() -> Verifier:
    embedded = VERIFIERS.build("embedded-small", Settings())
    return embedded


def test_each_claim_gets_the_verdict_of_its_own_passages(verifier: Verifier) -> None:
    claims = [
        GivenClaim("The Eiffel Tower was completed in 1889.", (BEES, TOWER)),
        GivenClaim("The Eiffel Tower was completed in 1889.", (BEES,)),
        GivenClaim("The Eiffel Tower was completed in 1889.", ()),
    ]
    judged = list(judge(claims, verifier, both(0.45)))
    assert [j.verdict.label for j in judged] == ["supported", "no_relation", "missing"]
    assert [e.text for e in judged[0].evidence] == [BEES, TOWER]
    assert [e.relation for e in judged[0].evidence] == ["no_relation", "entailed"]


def test_a_passage_given_twice_counts_once(verifier: Verifier) -> None:
    (judged,) = judge(
        [GivenClaim("The Eiffel Tower was completed in 1889.", (TOWER, TOWER))],
        verifier,
        both(0.45),
    )
    assert len(judged.evidence) == 2 and judged.verdict.reason.startswith("1 of 1 passage")


def test_emphasis_is_no_part_of_a_claim(verifier: Verifier) -> None:
    (judged,) = judge(
        [GivenClaim("The **Eiffel Tower** was completed in __1889__.", (TOWER,))],
        verifier,
        both(0.45),
    )
    assert judged.verdict.label == "supported"


def test_empty_passages_are_refused(verifier: Verifier) -> None:
    with pytest.raises(BadInput, match="empty"):
        list(judge([GivenClaim("A claim.", (" ",))], verifier, both(0.45)))


def test_the_command_gives_a_bad_row_an_error_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"claim": "The Eiffel Tower was completed in 1889.", "passages": [TOWER], "id": 7},
        {"claim": "The Eiffel Tower was completed in 1889.", "passages": "not a list"},
        {"claim": "The Eiffel Tower was completed in 1889."},
        {"passages": [TOWER]},
        {"claim": "word " * 2000, "passages": [TOWER]},
    ]
    given, made = tmp_path / "claims.jsonl", tmp_path / "out.jsonl"
    given.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert main(["judge", "--input", str(given), "--output", str(made)]) == 1
    first, *bad = [json.loads(line) for line in made.read_text(encoding="utf-8").splitlines()]
    assert (
        first["id"] == 7
        and first["label"] == "supported"
        and 0 < first["confidence"] <= 1
        and first["reason"]
    )
    assert first["evidence"][0]["relation"] == "entailed"
    assert set(first["evidence"][0]["probabilities"]) == {"entailed", "contradicted", "no_relation"}
    assert [row["line"] for row in bad] == [2, 3, 4, 5] and all(row["error"] for row in bad)
    assert "1 done, 4 failed" in capsys.readouterr().err


RUMOURS = [
    json.loads(line) for line in (ROOT / "tests/data/rumours.jsonl").read_text("utf-8").splitlines()
]


def test_no_rumour_is_strongly_supported_and_what_is_true_is_supported(verifier: Verifier) -> None:
    claims = [GivenClaim(row["claim"], row["passages"]) for row in RUMOURS]
    for row, judged in zip(RUMOURS, judge(claims, verifier, both(0.5)), strict=True):
        label, genre = judged.verdict.label, judged.evidence[0].genre
        assert genre == row["genre"]
        assert (label == "supported") is (row["true"] or genre in HEARSAY), row
        assert judged.strength == "weak" or row["true"] or label != "supported", row
        if genre in HEARSAY:
            assert judged.verdict.hearsay
            assert f"Only {genre} pages say so" in judged.verdict.reason


def test_copies_and_passages_of_one_address_are_one_source(verifier: Verifier) -> None:
    claim, against = (
        "The Eiffel Tower was completed in 1889.",
        "The Eiffel Tower was completed in 1925.",
    )
    copies = [
        {"text": f"{TOWER} {end}", "url": "https://a.example/tower"}
        for end in ("It is tall.", "A view!", "Go!")
    ]
    (judged,) = judge([GivenClaim(claim, [*copies, against])], verifier, both(0.45))
    assert len({e.source for e in judged.evidence}) == 2 and judged.verdict.label != "supported"


@pytest.mark.parametrize(
    ("passage", "found"),
    [
        (7, "is int"),
        (None, "is NoneType"),
        ({"title": "t"}, "has no text"),
        ({"text": " "}, "has an empty text"),
        ({"text": "a", "page": "b"}, "has the field 'page'"),
        ({"text": 1}, "has a text of type int"),
    ],
)
def test_a_passage_of_another_form_is_refused(passage: object, found: str) -> None:
    with pytest.raises(BadInput, match=f'a passage {found}: expected "text" or'):
        Passage.of(passage)


def test_an_address_that_is_not_known_may_be_none() -> None:
    assert Passage.of({"text": "a", "url": None, "title": None}) == Passage("a")


def test_two_pages_of_one_publisher_are_not_independent(verifier: Verifier) -> None:
    claim, words = "The Eiffel Tower was completed in 1889.", f"{BEES} {TOWER}"
    for host, label in (("www.a-news.com", "unclear"), ("b-news.com", "supported")):
        passages = [
            {"text": TOWER, "url": "https://a-news.com/1"},
            {"text": words, "url": f"https://{host}/2"},
        ]
        (judged,) = judge(
            [GivenClaim(claim, passages)], verifier, replace(both(0.45), least_sources=2)
        )
        assert judged.verdict.label == label and (judged.strength is None) == (label == "unclear")


def test_a_fact_check_that_quotes_a_claim_does_not_support_it(verifier: Verifier) -> None:
    quoting = {
        "text": "Tea cures fever.",
        "url": "https://fullfact.org/health/tea",
        "title": "Tea and fever",
    }
    (judged,) = judge([GivenClaim("Tea cures fever.", [quoting])], verifier, both(0.45))
    assert judged.verdict.label == "unclear"
    assert "a fact check" in judged.verdict.reason
