"""What the names in `settings.sources` stand for: searchers, and pages that are there from the start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from attribution.errors import BadInput, StageFailure
from attribution.registry import build
from attribution.searchers import INSTANCE, LOCAL, SEARCHERS, Searcher, is_local
from attribution.settings import COLLECTION, WEB, Settings
from attribution.storage.store import Store
from attribution.types import Document, Failure, Page

FILE_LIMIT = 50_000_000  # bytes of one document


@dataclass
class Sources:
    """`addresses` are still to be fetched; `pages` are the user's own documents, read already."""

    searchers: list[Searcher] = field(default_factory=list)
    fallback: list[Searcher] = field(default_factory=list)  # asked in this order when one of the web fails
    addresses: list[str] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


def open_sources(
    settings: Settings, documents: Sequence[Document], read: Callable[[Document], Page], store: Store
) -> Sources:
    """Sort the sources by what they are. BadInput for a source that is neither a name, nor a URL, nor a path."""
    from attribution.collections.folder import FolderSearcher
    from attribution.collections.search import over_collection, over_folder
    from attribution.searchers.searxng import SearXNG

    opened = Sources()
    own = list(documents)
    for source in dict.fromkeys(settings.sources):
        name = WEB if source == "web" else source
        if name == "library":
            opened.searchers.append(over_folder(FolderSearcher(settings), settings, store))
        elif source.startswith(INSTANCE):
            opened.searchers.append(SearXNG(settings, source.removeprefix(INSTANCE)))
        elif name in SEARCHERS:
            opened.searchers.append(build(SEARCHERS, name, settings, "searcher"))
        elif source.startswith(COLLECTION):
            opened.searchers.append(over_collection(source.removeprefix(COLLECTION), settings, store))
        elif "://" in source:
            opened.addresses.append(source)
        elif source == "documents":
            continue  # they come as `documents`
        elif (path := Path(source).expanduser()).is_dir():
            opened.searchers.append(over_folder(FolderSearcher(settings, path), settings, store))
        elif path.is_file():
            if path.stat().st_size > FILE_LIMIT:
                raise BadInput(f"{path.name} has {path.stat().st_size:,} bytes; a document may have {FILE_LIMIT:,}")
            own.append(Document(path.name, path.read_bytes()))
        else:
            names = ", ".join((*SEARCHERS, "web", "documents", f"{COLLECTION}NAME", f"{INSTANCE}https://…"))
            raise BadInput(
                f"source {source!r}: expected one of {names}, a URL, or the path of a file or folder that exists"
            )
    if any(not is_local(s.name) for s in opened.searchers):
        for name in dict.fromkeys(WEB if f == "web" else f for f in settings.fallback):
            if name in LOCAL:
                raise BadInput(f"fallback {name!r}: expected engines of the web; give it as a source beside them")
            opened.fallback.append(build(SEARCHERS, name, settings, "searcher"))
    for document in own:
        try:
            opened.pages.append(read(document))
        except StageFailure as error:
            opened.failures.append(error.as_failure("fetch", document.name))
    return opened
