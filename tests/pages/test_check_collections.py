from attribution.library.collection_store import DocumentStore, NewDocument
from attribution.store.store import Store
from tests.make import page
from tests.pages.jobs import ended, opened, text


def test_nothing_is_kept_without_a_name_or_a_document() -> None:
    shown = opened("check")
    shown.button(key="collection_add").click().run()
    assert "Type a name" in text(shown)
    shown.text_input(key="collection_name").input("rivers").run()
    shown.button(key="collection_add").click().run()
    assert "Add files, a text or links" in text(shown)


def test_the_documents_of_the_form_are_kept_and_what_cannot_be_read_is_told(store: Store) -> None:
    shown = opened("check")
    shown.text_area(key="pasted-0").input("The Nile is long.").run()
    shown.text_area(key="addresses-0").input("http://127.0.0.1:9/a").run()
    shown.text_input(key="collection_name").input("rivers").run()
    shown.button(key="collection_add").click().run()
    ended(shown.session_state["_page_ingest"])
    shown.run()
    assert "1 document added to “rivers”, 1 could not be read" in text(shown)
    assert [row["name"] for row in DocumentStore(store.database).documents("rivers", "", 9)]


def test_documents_and_collections_are_removed_after_a_question(store: Store) -> None:
    kept = DocumentStore(store.database)
    names = ("nile", "rhine")
    kept.put("rivers", [NewDocument(n, n, n, page(f"Of {n}.", title=n)) for n in names])
    shown = opened("check")
    shown.text_input(key="collection_filter").input("rhi").run()
    shown.button(key="remove-Remove it").click().run()
    assert "Remove “rhine” for all users" in text(shown)
    shown.button(key="removal_no").click().run()
    assert len(kept.documents("rivers", "", 9)) == 2
    shown.button(key="remove-Remove it").click().run()
    shown.button(key="removal_yes").click().run()
    assert [row["name"] for row in kept.documents("rivers", "", 9)] == ["nile"]
    shown.button(key="remove-Remove the collection").click().run()
    shown.button(key="removal_yes").click().run()
    assert kept.collections() == []
    assert not shown.exception
