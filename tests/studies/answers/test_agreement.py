import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from attribution.embedders import EMBEDDERS
from attribution.errors import BadInput
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.answers.agreement import align, differing_words
from attribution.types import Claim, Judgement, Pair, Probabilities
from attribution.verifiers import VERIFIERS
from attribution.verifiers.pairs import CachedVerifier
from tests.make import claim


class Near:
    """An embedder to which all texts are alike."""

    version, floor = "near", 0.0

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.ones((len(texts), 1), dtype=np.float32)


class Told:
    """A verifier that knows what it is told: (claim, evidence) → entailed, contradicted."""

    version, usage = "told", None

    def __init__(self, known: dict[Pair, tuple[float, float]]) -> None:
        self.known = known

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        if any("too long" in text for pair in pairs for text in pair):
            raise BadInput("the claim is too long")
        scores = [self.known.get(pair, (0.0, 0.0)) for pair in pairs]
        return [
            Judgement(Probabilities(entailed=e, contradicted=c, no_relation=1 - e - c), (0, 1))
            for e, c in scores
        ]


BUILT, BUILT_BY = "The tower was built in 1889.", "Eiffel's company built the tower in 1889."
LATER, PAINTED = "The tower was built in 1899.", "The tower was painted green in 1910."


def aligned(
    first: Sequence[str | Claim],
    second: Sequence[str | Claim],
    known: dict[Pair, tuple[float, float]],
    store: Store,
) -> list[tuple[object, ...]]:
    sides = [[c if isinstance(c, Claim) else claim(c) for c in side] for side in (first, second)]
    texts = {c.id: c.text for side in sides for c in side}
    matches = align(*sides, Near(), CachedVerifier(Told(known), store))
    return [
        (m.agreement, [texts[i] for i in m.first], [texts[i] for i in m.second]) for m in matches
    ]


def test_one_that_entails_the_other_says_more_and_both_ways_the_same(store: Store) -> None:
    more = {(BUILT, BUILT_BY): (0.9, 0.0)}
    assert aligned([BUILT_BY], [BUILT], more, store) == [("first_more", [BUILT_BY], [BUILT])]
    assert aligned([BUILT], [BUILT_BY], more, store) == [("second_more", [BUILT], [BUILT_BY])]


def test_what_entails_each_other_is_the_same(store: Store) -> None:
    known = {(BUILT, BUILT_BY): (0.9, 0.0), (BUILT_BY, BUILT): (0.8, 0.1)}
    assert aligned([BUILT], [BUILT_BY], known, store) == [("same", [BUILT], [BUILT_BY])]


def test_claims_of_one_topic_that_share_no_words_do_not_agree_whatever_the_verifier_says(
    store: Store,
) -> None:
    other = "Visitors admire its iron."
    known = {(other, BUILT): (0.9, 0.0), (BUILT, other): (0.9, 0.0)}
    assert aligned([BUILT], [other], known, store) == []


def test_a_contradiction_says_the_same_but_for_a_detail(store: Store) -> None:
    known = {
        (a, b): (0.0, 0.9)
        for a in (BUILT, LATER, PAINTED)
        for b in (BUILT, LATER, PAINTED)
        if a != b
    }
    assert aligned([BUILT], [PAINTED, LATER], known, store) == [("contradiction", [BUILT], [LATER])]
    assert differing_words(BUILT, LATER) == (("1889",), ("1899",))


def test_a_claim_that_two_others_make_together_is_one_match(store: Store) -> None:
    whole, one, two = "The tower is tall and old.", "The tower is tall.", "The tower is old."
    known = {(part, whole): (0.9, 0.0) for part in (one, two)} | {
        (whole, "The tower is tall; The tower is old"): (0.8, 0.0)
    }
    assert aligned([whole], [one, two], known, store) == [("same", [whole], [one, two])]
    del known[whole, "The tower is tall; The tower is old"]
    fresh = Store.open("sqlite://")
    assert aligned([whole], [one, two], known, fresh) == [("first_more", [whole], [one, two])]


def test_opinions_and_claims_that_the_verifier_refuses_are_left_out(store: Store) -> None:
    known = {(BUILT, BUILT): (0.9, 0.0)}
    opinion = claim("It is lovely.", "opinion")
    found = aligned([BUILT, "This is too long."], [BUILT, opinion], known, store)
    assert found == [("same", [BUILT], [BUILT])]
    assert aligned([opinion], [BUILT], known, store) == aligned([], [], known, store) == []


def test_four_in_five_disagreements_of_hand_made_pairs_are_real(
    settings: Settings, store: Store
) -> None:
    rows = [
        json.loads(line)
        for line in Path(__file__).with_name("pairs.jsonl").read_text("utf-8").splitlines()
    ]
    verifier = CachedVerifier(VERIFIERS.build(settings.verifier, settings), store)
    embedder = EMBEDDERS.build(settings.embedder, settings)
    shown = []
    for row in rows:
        found = align([claim(row["first"])], [claim(row["second"])], embedder, verifier)
        if any(match.agreement == "contradiction" for match in found):
            shown.append(row["disagree"])
    assert sum(row["disagree"] for row in rows) == 28
    assert sum(shown) >= 0.8 * len(shown)
    assert sum(shown) >= 21
