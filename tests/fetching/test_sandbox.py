import resource
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from attribution.errors import FetchFailed
from attribution.evidence.sources import open_sources, read_document
from attribution.fetching import sandbox
from attribution.library.folder import FolderSearcher
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Document
from tests.fetching.test_formats import docx, epub
from tests.servers import pdf_file


def slow_pdf() -> bytes:
    """A small file of 200 pages that share one long stream of text operators."""
    stream = zlib.compress(b"BT /F 9 Tf " + b"1 0 0 1 5 5 Tm (word) Tj " * 40_000 + b"ET")
    return pdf_file(
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count 200 /Kids [{' '.join(['3 0 R'] * 200)}] >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
        f"<< /Filter /FlateDecode /Length {len(stream)} >> stream\n".encode()
        + stream
        + b"\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )


def large_docx() -> bytes:
    return docx("<w:p/>" * 8_000_000)


def large_epub() -> bytes:
    return epub("a.xhtml", **{"O__a.xhtml": "<html><body>" + "<p>a" * 10_000_000})


def by_upload(path: Path) -> FetchFailed:
    with pytest.raises(FetchFailed) as caught:
        read_document(Document(path.name, path.read_bytes()))
    return caught.value


def by_path(path: Path) -> FetchFailed:
    settings = Settings(sources=(str(path),))
    (failure,) = open_sources(settings, (), Store.open("sqlite://")).failures
    return FetchFailed(failure.kind, failure.message)


def by_folder(path: Path) -> FetchFailed:
    (path.parent / "good.md").write_text("A line.", encoding="utf-8")
    searcher = FolderSearcher(Settings(), path.parent)
    assert len(searcher.pages) == 1
    (failure,) = searcher.failures
    return FetchFailed(failure.kind, failure.message)


@pytest.mark.parametrize(
    ("way", "name", "make", "kind"),
    [
        (by_upload, "slow.pdf", slow_pdf, "timed_out"),
        (by_path, "large.docx", large_docx, "too_large"),
        (by_folder, "large.epub", large_epub, "too_large"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                (by_path, "slow.pdf", slow_pdf, "timed_out"),
                (by_folder, "slow.pdf", slow_pdf, "timed_out"),
                (by_upload, "large.docx", large_docx, "too_large"),
                (by_folder, "large.docx", large_docx, "too_large"),
                (by_upload, "large.epub", large_epub, "too_large"),
                (by_path, "large.epub", large_epub, "too_large"),
            )
        ),
    ],
)
def test_a_hostile_file_costs_neither_time_nor_memory(
    way: Callable[[Path], FetchFailed],
    name: str,
    make: Callable[[], bytes],
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox, "DOCUMENT_SECONDS", 4.0)
    (tmp_path / name).write_bytes(make())
    sandbox.read(b"a", "text/plain", "warm")
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    failure = way(tmp_path / name)
    assert failure.kind == kind and name in str(failure)
    assert time.monotonic() - started < 9
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kB
