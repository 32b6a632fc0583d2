"""The order of docs/architecture.md: no folder imports a later one; tests mirror the code."""

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from attribution.reports import Exported, export
from tests.reports.runs import run

ROOT = Path(__file__).parent.parent
ORDER = """
core
models
text
store retrieval
fetching
llm
embedders verifiers
searchers
segmenters claims library
evidence
pipeline
review
reports
studies
api
server
cli pages
"""
TIER = {folder: i for i, line in enumerate(ORDER.split("\n")) for folder in line.split()}
DOORS = ("__init__", "__main__")  # these import other folders when a name is asked for


# a folder in which only caches of an earlier version are left is none
ROOMS = {path.parent.name for path in (ROOT / "attribution").glob("*/*.py")}


def folder_of(module: str) -> str:
    """Return the folder of a module; files of attribution/ itself are `core`, except `api`."""
    top, _, rest = module.partition(".")
    if top != "attribution":
        return top
    first = rest.split(".")[0]
    return first if first in ROOMS or first == "api" else "core"


def nodes(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def imports(path: Path) -> set[str]:
    """The folders of this project that a file imports at run time, wherever in it."""
    modules = set()
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            modules |= {f"{node.module}.{a.name}" for a in node.names}
        elif isinstance(node, ast.Import):
            modules |= {a.name for a in node.names}
    return {folder_of(m) for m in modules if m.split(".")[0] in ("attribution", "pages")}


FILES = sorted(path for top in ("attribution", "pages") for path in (ROOT / top).rglob("*.py"))


def test_no_import_goes_backwards() -> None:
    backward = []
    for path in FILES:
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        own = folder_of(module)
        assert own in TIER, (
            f"{own} has no place in the order: give it one, here and in docs/architecture.md"
        )
        if path.stem not in DOORS or own != "core":
            backward += [
                f"{module} imports {f}" for f in imports(path) - {own} if TIER[f] >= TIER[own]
            ]
    assert not backward


LONG = 60  # lines; ruff counts the branches


def test_no_function_is_long() -> None:
    long = []
    for path in FILES:
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or 0) - node.lineno + 1
                if lines > LONG:
                    long.append(f"{path.relative_to(ROOT)}: {node.name} has {lines} lines")
    assert not long


PARSERS = {"yaml", "lxml", "zipfile", "email", "pypdfium2", "openpyxl", "xml", "html5lib", "ddgs"}
OWN = {  # what these read comes along, is a date of a header, or is DuckDuckGo's page
    "attribution/claims/rules.py": "yaml",
    "attribution/models/mpnet.py": "zipfile",
    "attribution/reports/listings.py": "openpyxl",
    "attribution/retry.py": "email",
    "attribution/searchers/duckduckgo.py": "ddgs lxml",
    "pages/ui/help.py": "yaml",
    "pages/ui/research/acts.py": "yaml",
    "pages/ui/research/manage.py": "yaml",
}
EXTRACT = "attribution.fetching.formats:extract"


def test_files_of_others_are_parsed_in_the_sandbox_alone() -> None:
    parsing: dict[str, str] = {}
    extracting = []
    for path in FILES:
        module = path.relative_to(ROOT).as_posix()
        if module.startswith("attribution/fetching/"):
            continue
        imported: set[str] = set()
        for node in nodes(path):
            if isinstance(node, ast.Import):
                imported.update(name.name for name in node.names)
            if isinstance(node, ast.ImportFrom):
                imported.update(f"{node.module}:{name.name}" for name in node.names)
        packages = {re.split("[.:]", name)[0] for name in imported}
        if packages & PARSERS:
            parsing[module] = " ".join(sorted(packages & PARSERS))
        if EXTRACT in imported:
            extracting.append(module)
    assert parsing == OWN
    assert extracting == ["attribution/library/folder.py"]  # the articles that come along


def test_a_name_means_one_class() -> None:
    classes = [n for path in FILES for n in nodes(path) if isinstance(n, ast.ClassDef)]
    names = Counter(made.name for made in classes)
    shared = [name for name, number in names.items() if number > 1]
    assert shared == ["Report"]  # also that of the Python API


def test_no_two_modules_have_one_name() -> None:
    names = Counter(path.stem for path in FILES if path.stem not in DOORS)
    assert [name for name, count in names.items() if count > 1] == []


def test_the_documentation_lists_the_folders_that_there_are() -> None:
    picture = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split("```")[1]
    named = set(re.findall(r"(?<![\w./])([a-z]+)/(?!\w)", picture))
    inner = {
        p.name for p in (ROOT / "attribution").glob("*/*/") if p.is_dir() and any(p.glob("*.py"))
    }
    assert ROOMS | {"pages"} <= named <= ROOMS | inner | {"pages", "attribution"}


def imported_modules(path: Path) -> set[str]:
    """Return the dotted names that a file imports: modules, and what is in them."""
    found = set()
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom):
            found |= {node.module or "", *(f"{node.module}.{name.name}" for name in node.names)}
    return found


def test_the_walk_of_the_documentation_can_be_walked() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split("## A run")[1]
    numbered = re.findall(r"^(\d+)\. `([^`]+)`", text.split("\n## ")[0], re.MULTILINE)
    assert [int(number) for number, _ in numbered] == [*range(1, len(numbered) + 1)]
    assert len(numbered) <= 12
    walk = [".".join(Path(file).with_suffix("").parts) for _, file in numbered]
    seen: set[str] = set()
    for (_, file), module in zip(numbered, walk, strict=True):
        assert not seen or module in seen, f"no earlier file leads to {file}"
        seen |= imported_modules(ROOT / file)
    on_the_way = ("judging", "steps", "reader")  # what these import of their folders is on it too
    for (_, file), module in zip(numbered, walk, strict=True):
        if Path(file).stem in on_the_way:
            used = {
                m
                for m in imported_modules(ROOT / file)
                if re.match(r"attribution\.(evidence|verifiers)\.", m)
            }
            files = {m for m in used if ROOT.joinpath(*m.split(".")).with_suffix(".py").is_file()}
            assert files <= {*walk}, module


FRESH = """
import sys
from attribution.cli.main import main
from attribution.settings import Settings
from attribution.store.store import Store

def without(*packages):
    assert not set(packages) & set(sys.modules), set(packages) & set(sys.modules)

Store.open(Settings.from_environment().database_url).runs.load("x")
main(["list"])
without("torch", "spacy", "transformers", "faiss", "onnxruntime", "streamlit", "trafilatura")
main(["export", "report.json", "--format", "html", "--out", "report.html"])
own = ["--sources", "documents", "--verifier", "embedded-small"]
assert main(["batch", "--input", "in.jsonl", "--output", "out.jsonl", *own]) == 0
without("ray", "pyarrow", "psycopg", "psycopg2", "streamlit")
from attribution.verifiers.reader import embedded_small
from pages.ui.server import prepare_first_page
prepare_first_page()
embedded_small(Settings()).verify([("A claim.", "Some evidence.")])
without("torch", "transformers", "openai", "pandas")  # torch takes a second and a half, and 180 MB
import torch  # others may still have it
"""


@pytest.mark.usefixtures("store")
def test_a_fresh_interpreter_imports_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_bytes(export("json", Exported(run())))
    (tmp_path / "in.jsonl").write_text('{"answer": "I hope this helps!"}\n')
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", FRESH],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.html").read_bytes() == export("html", Exported(run()))
