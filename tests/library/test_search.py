import pytest

from attribution.errors import BadInput, SearchFailed
from attribution.evidence.sources import open_sources
from attribution.library.collection_store import DocumentStore, NewDocument
from attribution.library.ranking import CollectionSearcher
from attribution.settings import Settings
from attribution.store.store import Store
from tests.make import page

TEXTS = {
    "nile": "The Nile is a river in Africa. It flows north into the Mediterranean Sea.",
    "everest": "The highest mountain on Earth rises in the Himalaya, at 8,849 metres.",
}


@pytest.fixture
def documents(store: Store) -> DocumentStore:
    made = DocumentStore(store.database)
    made.put("c", [NewDocument(n, n, n, page(text, title=n)) for n, text in TEXTS.items()])
    return made


def test_documents_are_found_by_their_words(documents: DocumentStore) -> None:
    searcher = CollectionSearcher(documents, "c")
    hits = searcher.search("The Nile flows north through Africa.", 3)
    assert [hit.url for hit in hits] == ["collection:c/nile"]
    assert searcher.search("Penguins live in Antarctica.", 3) == []


def test_a_document_removed_during_a_run_is_left_out(documents: DocumentStore) -> None:
    searcher = CollectionSearcher(documents, "c")
    assert searcher.search("the river Nile", 3)
    documents.remove("c", "nile")
    assert searcher.search("the river Nile", 3) == []
    documents.remove("c")
    with pytest.raises(SearchFailed, match="collection 'c'"):
        searcher.search("the river Nile", 3)


def test_an_unknown_collection_is_said_before_a_run(
    settings: Settings, documents: DocumentStore, store: Store
) -> None:
    opened = open_sources(settings.model_copy(update={"sources": ("collection:c",)}), (), store)
    assert [s.name for s in opened.searchers] == ["collection:c"]
    with pytest.raises(BadInput, match=r"there is no collection 'd'; collections: c\."):
        open_sources(settings.model_copy(update={"sources": ("collection:d",)}), (), store)
