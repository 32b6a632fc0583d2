from __future__ import annotations

import pytest

from attribution.claims.coreference import is_expletive, mentions, outward_pronouns
from attribution.text.parse import parse


@pytest.mark.parametrize(
    ("text", "pronouns"),
    [
        ("He was born in 1899.", ["He"]),
        ("Hitchcock said that he was tired.", []),
        ("When he was twenty, Newton left Cambridge.", []),  # cataphora
        ("It protects it.", ["It", "it"]),
        ("The shield protects it.", ["it"]),  # not the subject of its own verb
        ("It rained.", []),
        ("It is clear that prices rise.", []),
        ("A tenant must pay their rent.", []),
        ("IT departments grow.", []),
        ("Paris is the capital of France.", []),
    ],
)
def test_pronouns_that_refer_to_something_outside(text: str, pronouns: list[str]) -> None:
    assert [t.text for t in outward_pronouns(parse(text))] == pronouns


@pytest.mark.parametrize(
    ("text", "expletive"),
    [("It snows.", True), ("It seems that he left.", True), ("It took him ten years to win.", True),
     ("It is likely that he won.", True), ("It is a tower.", False), ("It fell.", False)],
)  # fmt: skip
def test_an_it_that_refers_to_nothing(text: str, expletive: bool) -> None:
    assert is_expletive(parse(text)[0]) is expletive


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Alfred Hitchcock left.", "he"), ("Marie Curie left.", "she"), ("Mr Smith left.", "he"),
        ("Dr Smith left.", "person"), ("Hitchcock left.", "name"), ("The director left.", "person"),
        ("The mother left.", "she"), ("The tower fell.", "thing"), ("The towers fell.", "things"),
        ("The directors left.", "people"), ("The Treaty of Versailles failed.", "thing"),
    ],
)  # fmt: skip
def test_the_kind_of_a_mention_says_which_pronouns_fit(text: str, kind: str) -> None:
    assert next(mentions(parse(text))).kind == kind


def test_a_mention_knows_its_place_and_role() -> None:
    doc = parse("The tower of Pisa is old.")
    (tower, *_) = mentions(doc)
    assert tower.text == "the tower of Pisa" and doc.text[tower.start : tower.end] == "The tower of Pisa"
    assert tower.subject and tower.definite and tower.whole and (tower.head, tower.role) == ("tower", "nsubj")


def test_coordinated_mentions_are_also_one_of_many() -> None:
    found = {m.text: m.kind for m in mentions(parse("Ann and Ben left."))}
    assert found["Ann and Ben"] == "many" and "Ann" in found and "Ben" in found


def test_an_owner_is_a_mention_of_its_own() -> None:
    assert "Curie" in [m.text for m in mentions(parse("Curie's husband died."))]
