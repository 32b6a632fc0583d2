"""Put the texts outside docs/ into the site of `make docs`, and let the links between all of them
lead there.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
OUTSIDE = {
    "README.md": "index.md",
    "training/README.md": "training.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "policy.md",
}
_LINK = re.compile(r"(?<=\]\()([^):#\s]+)(?=[)#])")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the texts outside docs/."""
    for source, page in OUTSIDE.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite each link to a file as a link inside the site."""
    places = {page: source for source, page in OUTSIDE.items()}
    folder = posixpath.dirname(places.get(page.file.src_uri, f"docs/{page.file.src_uri}"))

    def moved(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, link[1]))
        return OUTSIDE.get(target, target.removeprefix("docs/"))

    return _LINK.sub(moved, markdown)
