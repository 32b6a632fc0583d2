from attribution.evidence.matching import spread
from attribution.types import Chunk


def test_a_page_and_its_copies_take_two_of_five_places_unless_there_are_no_others() -> None:
    crowd, copy = [
        [Chunk(page_id=p, start=n, end=n + 1, text=f"{p} {n}") for n in range(9)]
        for p in ("a", "b")
    ]
    others = [Chunk(page_id=p, start=0, end=1, text=p) for p in "cde"]
    ranked = [*(c for both in zip(crowd, copy, strict=True) for c in both), *others]
    assert spread(ranked, 5, {"a": "a", "b": "a"}) == [crowd[0], copy[0], *others]
    assert spread(ranked, 5, {}) == [crowd[0], copy[0], crowd[1], copy[1], others[0]]
    assert spread([*crowd, others[0]], 5, {}) == [crowd[0], crowd[1], others[0], crowd[2], crowd[3]]
    assert spread(ranked, 5, None) == ranked[:5]
