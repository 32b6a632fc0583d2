"""The order of docs/architecture.md: no folder imports a later one, and the library knows no web page."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ORDER = """
types
core
models
text
storage extraction retrieval
web
llm
chunkers embedders verifiers
searchers
segmenters claims collections
contrast
evidence
snapshots citations corrections
pipeline
evaluation
exports
server
cli pages
"""
TIER = {folder: i for i, line in enumerate(ORDER.split("\n")) for folder in line.split()}
DOORS = ("__init__", "__main__")  # they name what lies in other folders, and import it when it is asked for


def folder_of(module: str) -> str:
    """`core` for the files of attribution/ itself."""
    top, _, rest = module.partition(".")
    if top != "attribution":
        return top
    first = rest.split(".")[0]
    return first if (ROOT / "attribution" / first).is_dir() else "core"


def imports(path: Path) -> set[str]:
    """The folders of this project that a file imports at run time, wherever in it."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            modules |= {f"{node.module}.{a.name}" for a in node.names}
        elif isinstance(node, ast.Import):
            modules |= {a.name for a in node.names}
    return {folder_of(m) for m in modules if m.split(".")[0] in ("attribution", "pages")}


LIBRARY = sorted((ROOT / "attribution").rglob("*.py"))
FILES = [*LIBRARY, *sorted((ROOT / "pages").rglob("*.py"))]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_import_goes_backwards(path: Path) -> None:
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    own = folder_of(module)
    assert own in TIER, f"{own} has no place in the order: give it one, here and in docs/architecture.md"
    if path.stem in DOORS and own == "core":
        return
    for folder in imports(path) - {own}:
        assert TIER[folder] < TIER[own], f"{module} imports {folder}"


@pytest.mark.parametrize("path", LIBRARY, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_library_knows_no_streamlit(path: Path) -> None:
    assert "streamlit" not in path.read_text(encoding="utf-8").replace('"streamlit"', "")


def test_listing_needs_no_heavy_package() -> None:
    script = (
        "import sys, attribution.cli.main as m; m.main(['list']);"
        "heavy = {'torch', 'spacy', 'transformers', 'faiss', 'onnxruntime', 'streamlit', 'trafilatura'};"
        "heavy &= set(sys.modules);"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
