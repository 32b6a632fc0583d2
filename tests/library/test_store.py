import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import sqlalchemy as sa

from attribution.errors import BadInput, StoreError
from attribution.library.collection_store import DocumentStore, NewDocument
from attribution.settings import Settings
from attribution.store.database import Database
from attribution.store.store import Store
from attribution.studies.annotation.project import Annotations
from tests.make import page

ROOT = Path(__file__).parents[2]


def new(name: str, text: str, origin: str = "") -> NewDocument:
    content = page(text, title=f"Title of {name}")
    return NewDocument(name, origin or f"/tmp/{name}", f"bytes of {text}", content)


def names(kept: DocumentStore) -> list[str]:
    return [str(row["name"]) for row in kept.documents("c")]


def check_index(kept: DocumentStore) -> None:
    """Each document of the collection has its one index entry, and is found by its first word."""
    texts = [kept.page("c", name) for name in names(kept)]
    with kept.full_text("c") as table:
        assert table.documents == len(texts)
        if len(kept.collections()) == 1:  # the check compares with all documents that there are
            check = f"INSERT INTO {table.name}({table.name}, rank) VALUES ('integrity-check', 1)"
            table.database.execute(check)
            table.database.rollback()
        for text in texts:
            assert text is not None
            match = f"SELECT rowid FROM {table.name} WHERE {table.name} MATCH ?"
            word = text.text.split()[0]
            assert table.database.execute(match, (f'"{word}"',)).fetchall()


def test_the_same_text_is_one_document_and_the_same_origin_replaces(store: Store) -> None:
    kept = DocumentStore(store.database)
    states = kept.put("c", [new("a", "one"), new("b", "two"), new("copy", "one")])
    assert states == ["added", "added", "unchanged"]
    states = kept.put("c", [new("a", "three"), new("a", "four", origin="/elsewhere/a")])
    assert states == ["changed", "added"]
    assert names(kept) == ["a", "a (2)", "b"]
    check_index(kept)
    # what came from b is now what came from a
    assert kept.put("c", [new("b", "three")]) == ["changed"]
    assert names(kept) == ["a", "a (2)"]
    check_index(kept)
    assert kept.put("other", [new("a", "one")]) == ["added"]
    check_index(kept)


def test_a_document_gets_its_address(store: Store) -> None:
    kept = DocumentStore(store.database)
    kept.put("my notes", [new("deep/a.txt", "Some text.")])
    found = kept.page("my notes", "deep/a.txt")
    assert found is not None
    assert found.url == "collection:my notes/deep/a.txt"
    assert found.text == "Some text."
    assert kept.page("my notes", "absent") is None
    (only,) = kept.collections()
    assert (only.name, only.documents, only.characters) == ("my notes", 1, 10)


def test_removing(store: Store, settings: Settings) -> None:
    kept = DocumentStore(store.database)
    kept.put("c", [new("a", "one"), new("b", "The flibbertigibbet slept."), new("d", "three")])
    assert kept.remove("c", "b") == 1
    assert names(kept) == ["a", "d"]
    store.close()
    assert (
        b"libbertigibbet" not in Path(settings.database_url.removeprefix("sqlite:///")).read_bytes()
    )
    check_index(kept)
    with pytest.raises(BadInput, match="no document 'b'"):
        kept.remove("c", "b")
    assert kept.remove("c") == 2
    assert kept.collections() == []
    with pytest.raises(BadInput, match="none yet"):
        kept.documents("c")
    kept.put("c", [new("a", "one")])  # a name that was removed is free again, an id never
    check_index(kept)
    assert kept.pages([1, 2, 3]) == {}


def test_what_all_share_is_bounded_and_what_is_empty_counts(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTRIBUTION_SHARED_MB", "3")
    collections, projects = DocumentStore(store.database), Annotations(store.database)
    collections.put("a", [new("two MB", "A sentence of a document. " * 80_000)])
    with pytest.raises(BadInput, match="collections take 3 MB"):
        collections.put("b", ())
    for name in "abc":
        projects.create(name)
    with pytest.raises(BadInput, match="annotation projects take 3 MB"):
        projects.create("d")


@pytest.mark.parametrize("name", ["", "  ", "a/b", "x" * 81, "two\nlines", "a\u202eb"])
def test_names_that_cannot_be(store: Store, name: str) -> None:
    with pytest.raises(BadInput, match="expected 1 to 80"):
        DocumentStore(store.database).put(name, [new("a", "one")])


def test_another_database_is_refused_by_name() -> None:
    engine = sa.create_engine("sqlite://")
    engine.dialect.name = "postgresql"
    with pytest.raises(StoreError, match="need SQLite"):
        DocumentStore(Database(engine))


WRITE = """
    import sys
    from attribution.library.collection_store import DocumentStore, NewDocument
    from attribution.store.store import Store
    from tests.make import page
    kept = DocumentStore(Store.open(sys.argv[1]).database)
    for i in range(int(sys.argv[2])):
        kept.put("c", [NewDocument(f"{i}", f"/{i}", f"{i}", page(f"Bridge{i} crosses the river. " * 50))])
        print(i, flush=True)
"""


def writer(settings: Settings, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(WRITE), settings.database_url, str(count)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )


def test_two_processes_begin_and_write_at_once(settings: Settings) -> None:
    both = [writer(settings, 80) for _ in range(2)]
    ends = [process.communicate(timeout=200) for process in both]
    assert [process.returncode for process in both] == [0, 0], ends
    store = Store.open(settings.database_url)
    check_index(DocumentStore(store.database))
    assert len(names(DocumentStore(store.database))) == 80
    store.close()


def test_a_killed_process_leaves_what_it_has_told(settings: Settings) -> None:
    process = writer(settings, 100_000)
    assert process.stdout is not None
    told = [process.stdout.readline() for _ in range(40)]
    process.kill()
    process.communicate()
    assert process.returncode == -9
    store = Store.open(settings.database_url)
    kept = DocumentStore(store.database)
    check_index(kept)
    assert len(told) <= len(names(kept)) < 100_000
    assert kept.put("c", [new("after", "Afterwards all goes on.")]) == ["added"]
    store.close()
