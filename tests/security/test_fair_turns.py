"""Nobody's documents keep those of others waiting: who reads much waits for who reads little."""

import contextlib
import threading
from collections.abc import Iterator

import pytest

from attribution.errors import Unavailable
from attribution.evidence.sources import open_sources
from attribution.fetching import sandbox
from attribution.library import ingest
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Document
from tests.fetching.test_formats import docx, paragraph
from tests.fetching.test_sandbox import slow_pdf
from tests.make import reading

SLOW = slow_pdf()


@pytest.fixture
def hog(store: Store, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Another visitor, who adds eight documents to a collection, each of which takes as long as it
    may.

    The names of those that have been read.
    """
    monkeypatch.setattr(
        sandbox, "DOCUMENT_SECONDS", 20.0
    )  # longer than a process takes to start on a busy machine
    reading().read(b"<p>Warm.", "text/html", "warm")
    documents = [Document(f"{n}.pdf", SLOW + b"%%%d" % n) for n in range(8)]
    done: list[str] = []
    stop = threading.Event()

    def add() -> None:
        with contextlib.suppress(
            Unavailable
        ):  # at the end its readers are killed, also while they start
            for result in ingest.add(
                store, "c", map(ingest.from_upload, documents), settings, stop=stop, owner="hog"
            ):
                done.append(result.name)

    thread = threading.Thread(target=add)
    thread.start()
    while sum(sandbox.turns.counts()) < ingest.WORKERS:  # two are being read, the others wait
        stop.wait(0.01)
    yield done
    stop.set()
    while thread.is_alive():  # in the middle of documents that nobody waits for
        for server in sandbox.servers:
            server.process.kill()
        thread.join(0.2)


@pytest.mark.parametrize(
    ("name", "content"), [("a.txt", b"A line."), ("a.docx", docx(paragraph("A line.")))]
)
def test_a_document_is_read_while_another_visitors_eight_are(
    name: str, content: bytes, hog: list[str]
) -> None:
    assert reading().read(content, "", name, document=True).text == "A line."
    assert len(hog) <= 2  # those that were being read


def test_documents_of_a_run_share_a_budget(
    store: Store, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "DOCUMENT_SECONDS", 2.0)
    monkeypatch.setattr("attribution.evidence.sources.RUN_SECONDS", 3.0)
    documents = [Document(f"{n}.pdf", SLOW) for n in range(8)]
    failures = open_sources(settings, documents, store).failures
    assert [f.kind for f in failures] == ["timed_out"] * 2 + ["budget_spent"] * 6
    assert "reading the others took 3 s; add fewer documents" in failures[-1].message
