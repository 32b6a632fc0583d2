"""Open the entries of `settings.sources` as searchers, addresses, pages and documents."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path, PurePosixPath

from attribution.errors import BadInput, FetchFailed, StageFailure
from attribution.fetching.content_type import SUFFIXES
from attribution.fetching.page import make_page, partly_read
from attribution.fetching.sandbox import PROCESSES, RUN_SECONDS, FileReader
from attribution.searchers import SEARCHERS, Searcher
from attribution.settings import COLLECTION, WEB, Settings
from attribution.store.store import Store
from attribution.tables import INSTANCE, Source
from attribution.text.marks import name_of
from attribution.types import Document, Failure, Page

SITE = "Your documents"
MAX_BYTES = 50_000_000  # of one document
MAX_NAME = 120
MOST_NAMES = 1_000  # files of a folder whose names are looked for in an answer


def read_document(document: Document, reading: FileReader) -> Page:
    """Read a document as a page, with the reader that the run's documents share.

    Raises:
        FetchFailed: With the document's name as subject.
    """
    name = safe_name(document.name)
    if len(document.content) > MAX_BYTES:
        message = f"{name} has more than {MAX_BYTES:,} bytes, which are read at most; split it"
        raise FetchFailed("too_large", message, name)
    extracted = reading.read(document.content, document.media_type, name, document=True)
    titled = replace(extracted, title=extracted.title or name, site=SITE)
    return make_page(f"document:{name}", "document", titled)


def safe_name(name: str) -> str:
    """Return the last component of a file name, on one line, without invisible characters."""
    last = name.replace("\\", "/").rstrip("/ ").rpartition("/")[2]
    visible = "".join(filter(str.isprintable, last))
    path = PurePosixPath(" ".join(visible.split()).lstrip(". "))
    suffix = path.suffix[:20]
    return path.stem[: MAX_NAME - len(suffix)] + suffix or "document"


def _may_be_path(source: Source) -> bool:
    return source.kind == "path" or (source.kind == "engine" and source.name not in SEARCHERS)


def existing(text: str) -> Source:
    """Return a source of the settings.

    Raises:
        BadInput: The text is neither a name, nor a URL, nor an existing path.
    """
    source = Source.of(text)
    if not _may_be_path(source):
        return source
    path = Path(text).expanduser()
    if path.is_dir() or path.is_file():
        return Source("path", str(path))
    if path.suffix.lower() in SUFFIXES or {"/", "\\"} & set(text) or text.startswith(("~", ".")):
        raise BadInput(f"source {text!r}: no such file or folder")
    names = ", ".join((*SEARCHERS, "web", "documents", f"{COLLECTION}NAME", f"{INSTANCE}https://…"))
    raise BadInput(
        f"source {text!r}: expected one of {names}, a URL, or the path of a file or folder that "
        "exists"
    )


@dataclass
class Sources:
    """The sources of a run, opened.

    Attributes:
        searchers: Engines, folders and collections.
        fallback: Engines tried in this order when one of the web fails.
        addresses: To be fetched.
        pages: The user's own documents.
        failures: Documents, and parts of them, that could not be read.
    """

    searchers: list[Searcher] = field(default_factory=list)
    fallback: list[Searcher] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


def open_sources(settings: Settings, documents: Sequence[Document], store: Store) -> Sources:
    """Open every source of the settings and read the documents.

    Raises:
        BadInput: A source or fallback is invalid.
        Unavailable: One is not ready.
    """
    sources = Sources()
    files = list(documents)
    for source in dict.fromkeys(map(existing, settings.sources)):
        if source.kind == "address":
            sources.addresses.append(source.name)
        elif source.kind == "path" and not Path(source.name).is_dir():
            files.append(_file(Path(source.name)))
        elif source.kind != "documents":  # these are in `documents`
            sources.searchers.append(_searcher(source, settings, store))
    if not all(Source.of(searcher.name).is_local for searcher in sources.searchers):
        sources.fallback = _fallback(settings)
    reading = FileReader("", RUN_SECONDS)

    def read(document: Document) -> Page | Failure:
        try:
            return read_document(document, reading)
        except StageFailure as error:
            return error.as_failure("fetch", document.name)

    with ThreadPoolExecutor(PROCESSES - 1) as readers:
        for document, page in zip(files, readers.map(read, files), strict=True):
            if isinstance(page, Failure):
                sources.failures.append(page)
                continue
            sources.pages.append(page)
            sources.failures += partly_read(page, document.name)
    return sources


def _fallback(settings: Settings) -> list[Searcher]:
    engines: list[Searcher] = []
    for name in dict.fromkeys(WEB if name == "web" else name for name in settings.fallback):
        if Source.of(name).is_local:
            raise BadInput(
                f"fallback {name!r}: expected a search engine of the web; name it as a source "
                "instead"
            )
        engines.append(SEARCHERS.build(name, settings))
    return engines


def source_names(
    sources: Sequence[str] = (), documents: Sequence[Document] = (), pages: Sequence[Page] = ()
) -> frozenset[str]:
    """Return the names of a run's own documents, which an answer may cite: "(annual report)".

    Args:
        sources: The run's sources, of which files and folders count.
        documents: Its uploaded documents.
        pages: Those of a finished run.

    Returns:
        Names of two words or more.
    """
    written = [document.name for document in documents]
    for source in sources:
        if _may_be_path(Source.of(source)):
            path = Path(source).expanduser()
            files = islice(path.rglob("*"), MOST_NAMES) if path.is_dir() else [path]
            written += [file.name for file in files]
    for page in pages:
        if page.kind == "document":
            written += [page.title, page.url.rpartition(":")[2]]
    return frozenset(name for name in map(name_of, written) if " " in name)


def unread(settings: Settings, failures: Sequence[Failure]) -> list[str]:
    """Return what could not be read at all: sources of the settings, and files of their folders.

    Pages that a search found are left out.
    """
    names: list[str] = []
    for failure in failures:
        is_own = "://" not in failure.subject or failure.subject in settings.sources
        is_file = failure.stage == "fetch" and failure.kind != "left_out" and is_own
        if is_file or failure.kind == "source_unread":
            names.append(failure.subject)
    return list(dict.fromkeys(names))


def _searcher(source: Source, settings: Settings, store: Store) -> Searcher:
    from attribution.library.collection_store import DocumentStore
    from attribution.library.folder import FolderSearcher
    from attribution.library.ranking import CollectionSearcher
    from attribution.searchers.engines import SearXNG

    match source.kind:
        case "library":
            return FolderSearcher(settings)
        case "path":
            return FolderSearcher(settings, Path(source.name))
        case "collection":
            return CollectionSearcher(DocumentStore(store.database), source.name)
        case "instance":
            return SearXNG(settings, source.name, store.rights.owner)
    return SEARCHERS.build(source.name, settings)


def _file(path: Path) -> Document:
    with path.open("rb") as file:
        return Document(path.name, file.read(MAX_BYTES + 1))  # one too many is said
