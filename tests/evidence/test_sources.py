from pathlib import Path

import pytest

from attribution.errors import BadInput, FetchFailed
from attribution.evidence.sources import existing, open_sources, read_document, safe_name, unread
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.tables import Source
from attribution.types import Document
from tests.fetching.test_pdf import line
from tests.make import reading
from tests.servers import encrypted, pdf_bytes, pdf_pages


@pytest.mark.parametrize(
    ("name", "content", "media_type", "title"),
    [
        ("a.txt", b"The Nile flows north.", "", "a.txt"),
        ("a.MD", b"# Rivers\n\nThe Nile flows north.", "application/x-whatever", "Rivers"),
        ("a.pdf", pdf_bytes("The Nile flows north.", title="Rivers"), "", "Rivers"),
        ("pasted", b"The Nile flows north.", "text/plain", "pasted"),
        ("unnamed", pdf_bytes("The Nile flows north."), "", "unnamed"),
    ],
)
def test_types(name: str, content: bytes, media_type: str, title: str) -> None:
    read = read_document(Document(name, content, media_type), reading())
    assert "The Nile flows north." in read.text
    assert (read.title, read.url, read.kind, read.site) == (
        title,
        f"document:{name}",
        "document",
        "Your documents",
    )


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.pdf", encrypted(pdf_bytes("Secret."), "key"), "encrypted"),
        ("a.txt", b"x" * 1001, "too_large"),
    ],
)
def test_what_cannot_be_read_says_so(
    name: str, content: bytes, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "too_large":
        monkeypatch.setattr("attribution.evidence.sources.MAX_BYTES", 1000)
    with pytest.raises(FetchFailed) as caught:
        read_document(Document(name, content), reading())
    assert caught.value.kind == kind
    assert caught.value.subject == name
    assert name in str(caught.value)


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\report.pdf", "report.pdf"),
        ("a\x00b\n\x1b[31mc.txt", "ab[31mc.txt"),
        ("fdp.\u202eexe.txt", "fdp.exe.txt"),
        ("  spaced   name.md ", "spaced name.md"),
        (".hidden", "hidden"),
        ("..", "document"),
        ("///", "document"),
        ("<b onclick=x>.txt", "<b onclick=x>.txt"),  # escaped where it is shown
        ("x" * 500 + ".pdf", "x" * 116 + ".pdf"),
    ],
)
def test_names_lose_folders_and_invisible_characters(name: str, safe: str) -> None:
    assert safe_name(name) == safe
    assert read_document(Document(name, pdf_bytes("Text.")), reading()).url == f"document:{safe}"


@pytest.mark.parametrize(
    "text", ["missing.pdf", "notes/missing.txt", "~/missing", "./missing", "missing.DOCX"]
)
def test_a_path_that_is_not_there_is_no_such_file(text: str) -> None:
    with pytest.raises(BadInput, match="no such file"):
        existing(text)


@pytest.mark.parametrize(
    ("text", "kind", "name", "web"),
    [
        ("library", "library", "", False),
        ("web", "engine", "duckduckgo", True),
        ("searxng", "engine", "searxng", True),
        ("searxng:https://x.example/search", "instance", "https://x.example/search", True),
        ("collection:my notes", "collection", "my notes", False),
        ("https://x.example/a", "address", "https://x.example/a", False),
        ("README.md", "path", "README.md", False),
        ("C:\\Users", "path", "C:\\Users", False),
    ],
)
def test_a_source_is_read_the_same_everywhere(text: str, kind: str, name: str, web: bool) -> None:
    source = Source.of(text)
    assert (source.kind, source.name, source.searches_web) == (kind, name, web)


def test_a_file_that_was_read_in_part_counts_as_read_and_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").touch()
    damaged = pdf_pages(line("It opened in 1878."), line("It was lost.")).replace(
        b"7 0 R]", b"1 0 R]"
    )
    settings = Settings(sources=("documents",), database_url=f"sqlite:///{tmp_path / 'a.db'}")
    sources = open_sources(
        settings, [Document("a.pdf", damaged)], Store.open(settings.database_url)
    )
    assert [page.text for page in sources.pages] == ["It opened in 1878."]
    assert [(f.subject, f.kind) for f in sources.failures] == [("a.pdf", "left_out")]
    assert "without page 2" in sources.failures[0].message
    given = settings.model_copy(update={"sources": (str(tmp_path / "a.pdf"),)})
    assert unread(given, sources.failures) == []
