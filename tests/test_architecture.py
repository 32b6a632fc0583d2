"""The layers of docs/architecture.md: nothing imports backwards, and the library knows no web page."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = [
    {"types"},
    {"errors", "events"},
    {"settings", "addresses"},
    {"registry", "store", "language", "reference", "blocks", "prompts", "replies", "endpoint", "transport"},
    {"document_tables", "responses", "llm", "antecedents", "media", "download", "walls"},
    {"document_store"},
    # stages: none imports another
    {
        "segmenters",
        "worthiness",
        "independence",
        "coherence",
        "asked",
        "enrichment",
        "queries",
        "searchers",
        "chunkers",
        "embedders",
        "retrieval",
        "verifiers",
        "verdicts",
        "fetching",
    },
    {"hybrid"},
    {"collections", "sources", "searching", "origins"},
    {"gathering"},
    {"matching"},
    {"snapshots"},
    {"snapshot_file", "warc", "changes", "findings"},
    {"pipeline", "rechecking", "preparing", "serving"},
    {"evaluation", "estimating"},
    {"snapshot_commands", "library_commands"},
    {"__main__", "__init__"},
]
PARTS_OF_FETCHING = {"extraction", "reading", "robots", "readers", "fetching"}
STAGES = 6
LEVEL = {name: i for i, names in enumerate(LAYERS) for name in names} | dict.fromkeys(PARTS_OF_FETCHING, STAGES)
READING = {("searchers", "extraction"), ("searchers", "readers")}


def imports(path: Path) -> set[str]:
    """First-level modules of `attribution` that a file imports at run time, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "attribution":
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {a.name.split(".")[1] for a in node.names if a.name.startswith("attribution.")}
    return found


FILES = sorted((ROOT / "attribution").rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_import_goes_backwards(path: Path) -> None:
    own = path.relative_to(ROOT / "attribution").parts[0].removesuffix(".py")
    assert own in LEVEL, f"{own} has no layer: put it into one, and into docs/architecture.md"
    for name in imports(path) - {own, "Settings", "run", "Report"}:
        same_stage = {own, name} <= PARTS_OF_FETCHING or (own, name) in READING
        assert LEVEL[name] < LEVEL[own] or same_stage or own == "__init__", f"{own} imports {name}"
        if LEVEL[own] == STAGES and LEVEL[name] == STAGES:
            assert same_stage, f"stage {own} imports stage {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_library_knows_no_streamlit(path: Path) -> None:
    assert "streamlit" not in path.read_text(encoding="utf-8").replace('"streamlit"', "")


def test_listing_needs_no_heavy_package() -> None:
    script = (
        "import sys, attribution.__main__ as m; m.main(['list']);"
        "heavy = {'torch', 'openai', 'spacy', 'transformers', 'faiss', 'onnxruntime', 'streamlit', 'trafilatura'};"
        "heavy &= set(sys.modules);"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
