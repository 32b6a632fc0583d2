import os
import threading
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from attribution.errors import BadInput
from attribution.fetching.fetcher import Fetcher
from attribution.library import ingest
from attribution.library.collection_store import DocumentStore
from attribution.library.ingest import Item, ItemResult, from_addresses, from_paths, from_upload
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Document
from tests.servers import http_server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "rivers"
    (made / "deep").mkdir(parents=True)
    (made / "a.txt").write_text("The Nile flows north into the Mediterranean Sea.")
    (made / "deep" / "a.txt").write_text("The Danube flows east into the Black Sea.")
    (made / "copy.txt").write_text("The Nile flows north into the Mediterranean Sea.")
    (made / "b.md").write_text(
        "---\ntitle: Rhine\nurl: https://example.org/rhine\n---\n# The Rhine\n\nIt flows north."
    )
    (made / "broken.docx").write_bytes(bytes(256))
    (made / "picture.png").write_bytes(b"\x89PNG")
    (made / ".hidden.txt").write_text("hidden")
    (tmp_path / "secret.txt").write_text("outside of the folder")
    (made / "link.txt").symlink_to(tmp_path / "secret.txt")
    return made


def add(store: Store, settings: Settings, items: list[Item], **more) -> dict[str, ItemResult]:
    return {added.name: added for added in ingest.add(store, "c", items, settings, **more)}


def test_a_folder_is_added_once_and_its_changes_later(
    store: Store, settings: Settings, folder: Path
) -> None:
    items, left_out = from_paths([folder])
    assert left_out == 1
    assert len(items) == 5
    told = add(store, settings, items)
    states = {name.removeprefix("rivers/"): added.state for name, added in told.items()}
    assert states.pop("broken.docx") == "failed"
    assert Counter(states.values()) == {"added": 3, "unchanged": 1}
    failure = told["rivers/broken.docx"].failure
    assert failure is not None
    assert failure.kind == "wrong_type"
    kept = DocumentStore(store.database)
    assert {row["title"] for row in kept.documents("c")} >= {"Rhine", "a"}
    rhine = kept.page("c", "rivers/b.md")
    assert rhine is not None
    assert rhine.reference == "https://example.org/rhine"
    assert rhine.text.startswith("The Rhine")
    assert rhine.kind == "document"
    assert rhine.site == "c"

    again = Counter(added.state for added in add(store, settings, items).values())
    assert again == {"unchanged": 4, "failed": 1}
    (folder / "deep" / "a.txt").write_text("The Danube is 2,850 kilometres long.")
    assert add(store, settings, items)["rivers/deep/a.txt"].state == "changed"
    changed = kept.page("c", "rivers/deep/a.txt")
    assert changed is not None
    assert "2,850" in changed.text
    assert len(kept.documents("c")) == 3
    (folder / "deep" / "a.txt").write_bytes((folder / "b.md").read_bytes())
    assert add(store, settings, items)["rivers/deep/a.txt"].state == "changed"


def test_a_name_that_is_no_text(store: Store, settings: Settings, tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.txt"))
    odd.write_text("A text under a name of another charset.")
    (told,) = add(store, settings, from_paths([tmp_path])[0]).values()
    assert told.state == "added"
    assert told.name.endswith(".txt")


def test_hostile_names_of_uploads_are_shown_on_one_line(store: Store, settings: Settings) -> None:
    names = ("<script>\u202e\n.txt", "../../etc/a.txt")
    files = [Document(name, f"A text of {name}.".encode()) for name in names]
    told = add(store, settings, [from_upload(file) for file in files])
    states = {name: added.state for name, added in told.items()}
    assert states == {"../../etc/a.txt": "added", "<script> .txt": "added"}


def test_what_cannot_be_read_costs_itself_alone(
    store: Store, settings: Settings, tmp_path: Path
) -> None:
    def bug() -> bytes:
        raise KeyError("x")

    gone = from_paths([_file(tmp_path / "gone.txt")])[0]
    (tmp_path / "gone.txt").unlink()
    large = tmp_path / "large.txt"
    with large.open("wb") as file:
        file.truncate(ingest.MAX_BYTES + 1)
    items = [
        *gone,
        *from_paths([large, _file(tmp_path / "odd.xyz"), _file(tmp_path / "good.txt")])[0],
        Item("bug.txt", "b", bug),
    ]
    told = add(store, settings, items)
    kinds = {name: added.failure.kind for name, added in told.items() if added.failure}
    assert kinds == {
        "gone.txt": "unreadable",
        "large.txt": "too_large",
        "odd.xyz": "wrong_type",
        "bug.txt": "stage_failed",
    }
    assert told["good.txt"].state == "added"
    with pytest.raises(BadInput, match="does not exist"):
        from_paths([tmp_path / "absent"])


def _file(path: Path) -> Path:
    path.write_text(f"A text of {path.name}.")
    return path


def test_pages_come_through_the_fetching_and_its_cache(
    store: Store, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    html = b"<html><title>Elbe</title><body><p>The Elbe flows north.</p></body></html>"
    answers = {"/elbe": (200, {"Content-Type": "text/html"}, html), "/gone": (404, {}, b"")}
    with http_server(lambda handler: answers[handler.path]) as served:
        elbe, gone = served.url("/elbe"), served.url("/gone")
        items = from_addresses(["# a list", "", elbe, gone, elbe])
        assert len(items) == 2
        refused = add(store, settings, items)  # this machine is none of the public web
        kinds = {added.failure.kind for added in refused.values() if added.failure}
        assert kinds == {"blocked_address"}
        monkeypatch.setattr(ingest, "Fetcher", partial(Fetcher, allow=lambda _: True))
        told = add(store, settings, items)
        assert told[elbe].state == "added"
        assert told[gone].failure.kind == "http_error"
        assert add(store, settings, items[:1])[elbe].state == "unchanged"
        assert served.paths.count("/elbe") == 1
    stored = DocumentStore(store.database).page("c", elbe)
    assert stored is not None
    assert stored.title == "Elbe"
    assert stored.reference == elbe
    assert stored.kind == "document"


@pytest.mark.parametrize(
    "line", ["ftp://example.org/a", "example.org", "javascript:alert(1)", "file:///etc/passwd"]
)
def test_a_list_holds_addresses_only(line: str) -> None:
    with pytest.raises(BadInput, match="not a web address"):
        from_addresses(["https://example.org/a", line])


def test_stop_keeps_what_is_there(store: Store, settings: Settings, tmp_path: Path) -> None:
    items = from_paths([_file(tmp_path / f"{i}.txt") for i in range(40)])[0]
    stop, told = threading.Event(), 0
    for _ in ingest.add(store, "c", items, settings, stop=stop):
        told += 1
        stop.set()
    assert 0 < told < 40
    assert len(DocumentStore(store.database).documents("c")) == told
