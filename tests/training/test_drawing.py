from __future__ import annotations

import random
from dataclasses import replace

from training import data, drawing


def encyclopaedia() -> list[data.Pair]:
    """Forty towns, each with a river that another shares."""
    return [
        data.Pair(
            f"Town{i} lies on the Rivulet{i // 2} and was founded by settlers long ago, as records show.",
            f"Town{i} was founded on the Rivulet{i // 2} by Person{i}.",
            i % 3,
            "towns",
        )
        for i in range(40)
    ]


def test_neighbours_share_a_telling_word_but_not_the_claim() -> None:
    pairs = encyclopaedia()
    index = drawing.surroundings(pairs).near["towns"]
    found = index.near(pairs[4].hypothesis, pairs[4].premise)
    assert found and found[0].startswith("Town5 ")
    assert not any("Town4 " in text for text in found)
    assert drawing.surroundings([data.Pair("A man sleeps.", "A man rests.", 0, "snli_cad")]).near == {}


def test_a_text_set_in_a_chunk_stays_whole() -> None:
    rng = random.Random(1)
    for _ in range(50):
        made = drawing.in_chunk("The decisive sentence.", ["Other words " * 30, "Third text. " * 30], rng)
        assert "The decisive sentence." in made and len(made) <= drawing.CHUNK + 2


def test_a_pass_keeps_labels_and_sets_claims_against_near_passages() -> None:
    pairs = encyclopaedia() * 5
    drawn = drawing.one_pass(pairs, 1, drawing.surroundings(pairs), longer=0.5, strangers=0.5)
    own = [p for p in drawn if any(q.premise in p.premise for q in pairs if q.hypothesis == p.hypothesis)]
    strangers = [p for p in drawn if p not in own]
    assert len(own) == len(pairs)
    assert all(p.target == q.target for p, q in zip(own, pairs, strict=True))
    assert 50 < sum(p.premise != q.premise for p, q in zip(own, pairs, strict=True)) < 150
    assert len(strangers) > 50 and all(p.target == 1 and p.weight < 1 for p in strangers)
    assert {p.hypothesis for p in strangers} > {q.hypothesis for q in pairs if q.target == 2 and q in pairs[:9]}
    assert drawing.one_pass(pairs, 1, None) == pairs


def page() -> list[data.Pair]:
    """Claims about one page, each with its own sentence of it."""
    facts = {
        "was built of granite in 1759": "Smeaton Tower was built of granite by masons in 1759.",
        "moved to Plymouth Hoe": "The upper part was later moved to Plymouth Hoe by public subscription.",
        "has ninety-three steps": "Visitors climb ninety-three steep steps to the old lantern room.",
        "inspired later engineers": "Its dovetailed blocks inspired many engineers of later decades.",
    }
    return [
        data.Pair(
            f"Smeaton Tower. {sentence}", f"Smeaton Tower {claim}.", 2 * (i % 2), "fever_nli", 1.0, "Smeaton Tower"
        )
        for i, (claim, sentence) in enumerate(facts.items())
    ]


def test_what_is_silent_on_the_page_is_neither_the_claims_evidence_nor_says_the_same() -> None:
    pairs = page()
    pages = drawing.Pages(pairs)
    for p in pairs:
        own = p.premise.removeprefix("Smeaton Tower. ")
        silent = pages.silent(p)
        assert silent and own not in silent
    moved = replace(
        pairs[0], hypothesis="Smeaton Tower was moved to Plymouth Hoe.", premise="Smeaton Tower. It stands."
    )
    assert not any("moved" in s for s in pages.silent(moved))
    assert pages.silent(replace(pairs[0], page="")) == []


def test_a_pass_sets_claims_within_their_page_and_against_the_rest_of_it() -> None:
    pairs = page() * 20
    drawn = drawing.one_pass(pairs, 3, drawing.surroundings(pairs), longer=0.5, strangers=0.0, elsewhere=0.5)
    evidence = {p.hypothesis: (p.premise.removeprefix("Smeaton Tower. "), p.target) for p in pairs}
    chosen = [p for p in drawn if evidence[p.hypothesis][0] in p.premise]
    others = [p for p in drawn if evidence[p.hypothesis][0] not in p.premise]
    assert len(chosen) == len(pairs) and all(p.target == evidence[p.hypothesis][1] for p in chosen)
    assert 20 < sum(p.premise.count(". ") > 1 for p in chosen) < 60
    sure = {0: {1, data.NOT_CONTRADICTION}, 2: {1, data.NOT_ENTAILMENT}}  # what the rest of a page can be to a claim
    assert 40 < len(others) < 120 and all(p.target in sure[evidence[p.hypothesis][1]] for p in others)
    assert len({p.target for p in others}) == 3
    assert all(p.premise.startswith("Smeaton Tower. ") for p in drawn)


def test_a_claim_against_a_part_of_its_evidence_keeps_only_what_is_sure() -> None:
    rng = random.Random(2)
    p = data.Pair("The mill burned down in 1802. It was rebuilt by a banker.", "The mill was rebuilt.", 0, "fever_nli")
    part = drawing.in_part(p, rng)
    assert part and part.premise in p.premise and part.premise != p.premise and part.target == data.NOT_CONTRADICTION
    assert drawing.in_part(replace(p, target=2), rng).target == data.NOT_ENTAILMENT  # type: ignore[union-attr]
    assert drawing.in_part(replace(p, premise="The mill was rebuilt by a banker."), rng) is None
