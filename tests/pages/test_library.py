from streamlit.testing.v1 import AppTest

from attribution.library.store import DocumentStore, NewDocument
from attribution.store.store import Store
from pages.library import start
from tests.make import page
from tests.pages.jobs import ended, opened


def test_a_collection_without_a_name_is_not_added() -> None:
    assert start("", [], "") == "Type a name for the new collection first."


def test_the_page_says_who_sees_what_and_what_is_missing() -> None:
    shown = opened("library")
    text = " ".join(block.body for block in shown.get("html"))
    assert "All users of this server can read, extend and empty them" in text
    assert "No collections yet" in text
    assert "Eiffel Tower" in offered(shown)
    shown.text_input(key="collection_filter").input("Great Fire").run()
    assert offered(shown) == ["The Great Fire of London"]
    shown.button(key="collection_read").click().run()
    assert "wikipedia.org/wiki/Great_Fire" in " ".join(b.body for b in shown.get("html"))
    shown.text_input(key="collection_name").input("rivers").run()
    shown.button(key="collection_add").click().run()
    assert "Choose files or give web addresses first" in " ".join(b.body for b in shown.get("html"))
    shown.text_area(key="collection_addresses-0").input("file:///etc/passwd").run()
    shown.button(key="collection_add").click().run()
    assert "is not a web address: expected one" in " ".join(b.body for b in shown.get("html"))
    assert not shown.exception


def test_addresses_are_added_and_told(store: Store) -> None:
    shown = opened("library")
    shown.text_input(key="collection_name").input("rivers").run()
    shown.text_area(key="collection_addresses-0").input("http://127.0.0.1:9/a").run()
    shown.button(key="collection_add").click().run()
    ended(shown.session_state["_page_ingest"])
    shown.run()
    text = " ".join(block.body for block in shown.get("html"))
    assert not shown.exception
    assert "1 could not be read" in text
    assert "http://127.0.0.1:9/a" in text


def offered(shown: AppTest) -> list[str]:
    return next(s.options for s in shown.selectbox if s.label == "Document")


def test_documents_are_removed_after_a_question(store: Store) -> None:
    kept = DocumentStore(store.database)
    kept.put(
        "rivers",
        [NewDocument(n, n, n, page(f"A text of {n}.", title=n)) for n in ("nile", "rhine")],
    )
    shown = opened("library")
    assert shown.selectbox(key="collection_browsed").options == ["Built-in library", "rivers"]
    assert offered(shown) == ["nile", "rhine"]
    shown.text_input(key="collection_filter").input("rhi").run()
    assert offered(shown) == ["rhine"]
    shown.button(key="collection_remove").click().run()
    assert len(kept.documents("rivers")) == 2  # not before it is confirmed
    shown.button(key="removal_yes").click().run()
    assert [row["name"] for row in kept.documents("rivers")] == ["nile"]
    shown.text_input(key="collection_filter").input("").run()
    shown.button(key="collection_read").click().run()
    assert not shown.exception
    shown.button(key="collection_remove_all").click().run()
    shown.button(key="removal_yes").click().run()
    assert kept.collections() == []
    assert not shown.exception
