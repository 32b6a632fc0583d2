import numpy as np

from attribution.retrieval.bm25 import Chunks
from attribution.retrieval.index import Index
from attribution.types import Chunk


def unit(*values: float) -> np.ndarray:
    v = np.array([values], dtype=np.float32)
    return v / np.linalg.norm(v)


def chunk(name: str) -> Chunk:
    return Chunk(name, 0, 1, "x")


def test_the_nearest_chunks_come_first() -> None:
    index = Index()
    assert index.search(unit(1, 0), 5) == []
    index.add(
        [chunk("near"), chunk("nearer"), chunk("far")],
        np.concatenate([unit(1, 1), unit(1, 0.1), unit(0, 1)]),
    )
    found = index.search(unit(1, 0), 5)
    assert [c.chunk.page_id for c in found] == ["nearer", "near", "far"]
    assert abs(found[1].similarity - 0.7071) < 1e-3
    assert len(index.search(unit(1, 0), 1)) == 1


def test_the_order_does_not_depend_on_the_order_of_arrival() -> None:
    vectors = {n: unit(1, 0.2) for n in "abc"}
    orders = []
    for names in ("abc", "cba", "bca"):
        index = Index()
        for n in names:
            index.add([chunk(n)], vectors[n])
        orders.append([c.chunk.page_id for c in index.search(unit(1, 0), 3)])
    assert orders == [["a", "b", "c"]] * 3


def test_words_rank_what_shares_the_rarest_first_and_nothing_else() -> None:
    texts = [
        "The bridge was opened in 1937.",
        "The bridge was closed.",
        "A bridge is a bridge.",
        "Nothing here.",
        "橋は長い",
    ]
    orders = []
    for order in (texts, texts[::-1]):
        words = Chunks()
        for text in order:
            words.add([Chunk(text, 0, len(text), text)])
        ranked = words.ranked('The "bridge" opening of 1937 AND OR ( * -')
        orders.append([words.chunks[number].text for number in ranked])
    assert orders[0] == orders[1]
    assert orders[0][0] == texts[0]
    assert set(orders[0]) == set(texts[:3])
    assert len(Chunks().ranked("bridge")) == len(words.ranked("?! x")) == 0
