from pathlib import Path

import numpy as np
import pytest

from attribution.errors import BadInput, SearchFailed
from attribution.evidence.sources import open_sources
from attribution.library import search as hybrid
from attribution.library.folder import FolderSearcher
from attribution.library.ingest import embed
from attribution.library.search import (
    PASSAGES,
    CollectionSearcher,
    HybridSearcher,
    Vectors,
    over_folder,
    passages,
)
from attribution.library.store import DocumentStore, NewDocument
from attribution.settings import Settings
from attribution.store.store import Store
from tests.make import page

TEXTS = {
    "nile": "The Nile is a river in Africa. It flows north into the Mediterranean Sea.",
    "bees": (
        "Honey bees dance to tell each other where the flowers are. A hive holds thousands of them."
    ),
    "everest": "The highest mountain on Earth rises in the Himalaya, at 8,849 metres.",
}


class Fake:
    """Directions that a test gives to words; a text without any of them points away from all."""

    version, floor = "fake/1", 0.0
    WORDS = (("nile", "river"), ("bees", "insect"), ("himalaya", "mountain"))

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts):
        self.texts += texts
        rows = [
            [*(float(any(w in text.lower() for w in words)) for words in self.WORDS), 0.1]
            for text in texts
        ]
        made = np.array(rows, dtype=np.float32).reshape(len(rows), len(self.WORDS) + 1)
        return made / np.linalg.norm(made, axis=1, keepdims=True)


@pytest.fixture
def kept(store: Store) -> DocumentStore:
    made = DocumentStore(store.database)
    made.put("c", [NewDocument(n, n, n, page(text, title=n)) for n, text in TEXTS.items()])
    return made


def searcher(
    kept: DocumentStore, store: Store, embedder: Fake, vectors: bool = True
) -> HybridSearcher:
    if vectors:
        assert list(embed(store, "c", embedder)) == [(3, 3)]

    return HybridSearcher(
        CollectionSearcher(kept, "c"),
        embedder,
        lambda: Vectors.from_bytes(*kept.vectors("c", embedder.version)),
    )


def found(by: HybridSearcher, query: str, k: int = 3) -> list[str]:
    return [hit.url.removeprefix("collection:c/") for hit in by.search(query, k)]


def test_either_half_finds_and_nothing_is_invented(kept: DocumentStore, store: Store) -> None:
    by = searcher(kept, store, Fake())
    assert found(by, "The Nile flows north through Africa.") == [
        "nile"
    ]  # by its words: no direction is named
    assert found(by, "Which insect signals to its colony?") == [
        "bees"
    ]  # by its direction: no word of the text
    (hit,) = by.search("Which insect signals to its colony?", 3)
    assert hit.rank == 1
    assert hit.searcher == "collection:c"
    assert found(by, "Penguins live in Antarctica.") == []
    assert found(by, "") == []
    assert found(by, "?!") == []


def test_a_document_is_as_near_as_its_nearest_passage(kept: DocumentStore, store: Store) -> None:
    long = "It begins with something else. " * 30 + "At last it comes to the himalaya."
    kept.put("c", [NewDocument("long", "long", "long", page(long, title="Long"))])
    assert [len(text) for text in passages("T", "x" * 5000)] == [514] * PASSAGES
    assert passages("T", "x") == ["T\nx"]
    assert list(embed(store, "c", Fake())) == [(4, 4)]
    by = searcher(kept, store, Fake(), vectors=False)
    near = dict(by.nearest("a mountain", 10))
    assert len(near) == 4
    assert near[4] == near[3] > near[1]


def test_without_vectors_the_words_alone_answer(kept: DocumentStore, store: Store) -> None:
    by = searcher(kept, store, Fake(), vectors=False)
    assert found(by, "The Nile flows north through Africa.") == ["nile"]
    assert found(by, "Which insect signals to its colony?") == []


def test_only_what_is_new_is_embedded(kept: DocumentStore, store: Store) -> None:
    by = Fake()
    searcher(kept, store, by)
    kept.put(
        "c", [NewDocument("rhine", "rhine", "rhine", page("The Rhine is a river.", title="Rhine"))]
    )
    assert list(embed(store, "c", by)) == [(4, 4)]
    assert list(embed(store, "c", by)) == []
    assert len(by.texts) == 4
    assert by.texts[-1] == "Rhine\nThe Rhine is a river."


def test_a_document_removed_during_a_run_is_left_out(kept: DocumentStore, store: Store) -> None:
    by = searcher(kept, store, Fake())
    assert found(by, "a river") == ["nile"]
    kept.remove("c", "nile")
    assert found(by, "a river") == []
    kept.remove("c")
    with pytest.raises(SearchFailed, match="collection 'c'"):
        by.search("a river", 3)


def test_an_unknown_collection_is_said_before_a_run(
    settings: Settings, kept: DocumentStore, store: Store
) -> None:
    opened = open_sources(settings.model_copy(update={"sources": ("collection:c",)}), (), store)
    assert [s.name for s in opened.searchers] == ["collection:c"]
    with pytest.raises(BadInput, match=r"there is no collection 'd'; collections: c\."):
        open_sources(settings.model_copy(update={"sources": ("collection:d",)}), (), store)


def test_a_folder_is_embedded_once(
    settings: Settings, store: Store, tmp_path: Path, monkeypatch
) -> None:
    fake = Fake()
    monkeypatch.setattr(hybrid, "local_embedder", lambda settings: fake)
    for name, text in TEXTS.items():
        (tmp_path / f"{name}.md").write_text(text)
    for _ in range(2):
        by = over_folder(FolderSearcher(Settings(), tmp_path), settings, store)
        assert [h.url for h in by.search("Which insect signals to its colony?", 3)] == [
            "library:bees.md"
        ]
    assert len(fake.texts) == 3 + 2  # three articles, two queries
    monkeypatch.setattr(hybrid, "MAX_FOLDER_PASSAGES", 2)
    assert (
        over_folder(FolderSearcher(Settings(), tmp_path), settings, store).search(
            "Which insect signals?", 3
        )
        == []
    )
