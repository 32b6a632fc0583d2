"""The documentation: its examples run, its links lead somewhere, and its tables are the code's."""

import importlib
import importlib.util
import inspect
import re
import sys
import types
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from attribution.settings import Settings
from docs import screenshots
from docs import settings as settings_page
from tests import test_contracts

ROOT = Path(__file__).parent.parent
FOLDERS = (ROOT, ROOT / "docs", ROOT / "training")
PAGES = sorted(path for folder in FOLDERS for path in folder.glob("*.md"))
GUIDE = (ROOT / "docs" / "adding.md").read_text("utf-8")
FILES = {  # of the code, that an addition of the guide makes or changes
    "A searcher": 2,
    "A segmenter": 2,
    "A decision step": 1,
    "An export": 1,
}


class Block(NamedTuple):
    """An example of the guide: a file, the lines to change in one, or an entry of a table."""

    kind: str
    title: str
    text: str


def blocks(section: str) -> list[Block]:
    text = GUIDE.partition(f"## {section}\n")[2].partition("\n## ")[0]
    found = re.findall(r"```(\w+)\n# (.*?)\n(.*?)```", text, re.DOTALL)
    return [Block(*parts) for parts in found]


def module_name(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


class Guide:
    """Carries out a section of the guide on the modules in memory."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.files: set[str] = set()
        self.test = types.ModuleType("")
        self.entry = ""

    def follow(self, section: str) -> None:
        sources: dict[str, str] = {}
        folder = ""
        for block in blocks(section):
            if block.title.startswith("entry in "):
                self._register(folder, block)
            elif block.kind == "diff":
                source = sources.get(block.title) or (ROOT / block.title).read_text("utf-8")
                sources[block.title] = changed(source, block.text)
            elif block.title.startswith("tests/"):
                for path, source in sources.items():
                    self._change(path, source)
                self.test = self._module(block)
            else:
                assert importlib.util.find_spec(module_name(block.title)) is None
                self._module(block)
                self.files.add(block.title)
                folder = block.title.rpartition("/")[0]

    def _module(self, block: Block) -> types.ModuleType:
        module = types.ModuleType(module_name(block.title))
        self._monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(compile(block.text, block.title, "exec"), vars(module))
        return module

    def _register(self, folder: str, block: Block) -> None:
        package = importlib.import_module(folder.replace("/", "."))
        ((name, entry),) = eval(f"{{{block.text}}}", vars(package)).items()
        table = getattr(package, block.title.removeprefix("entry in "))
        self._monkeypatch.setitem(table, name, entry)
        self.files.add(f"{folder}/__init__.py")
        self.entry = name

    def _change(self, path: str, source: str) -> None:
        """Add to a module the functions and the entries that its changed source has more."""
        module = importlib.import_module(module_name(path))
        scope: dict[str, Any] = {"__name__": module.__name__}
        exec(compile(source, path, "exec"), scope)
        for name in scope.keys() - vars(module).keys():
            self._monkeypatch.setattr(module, name, scope[name], raising=False)
        for name, value in scope.items():
            if name.isupper() and isinstance(value, dict):
                table = getattr(module, name)
                for key in value.keys() - table.keys():
                    self._monkeypatch.setitem(table, key, value[key])
        self.files.add(path)


def changed(text: str, diff: str) -> str:
    """Return a text with the lines of a diff; its context must be in the text exactly once."""
    lines = diff.splitlines()
    before = "\n".join(line[1:] for line in lines if not line.startswith("+")) + "\n"
    after = "\n".join(line[1:] for line in lines if not line.startswith("-")) + "\n"
    assert text.count(before) == 1, f"expected once: {before}"
    return text.replace(before, after)


@pytest.fixture
def guide(monkeypatch: pytest.MonkeyPatch) -> Guide:
    return Guide(monkeypatch)


@pytest.mark.parametrize("section", FILES)
def test_an_addition_of_the_guide_passes_its_test_in_as_many_files_as_it_says(
    section: str, guide: Guide, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    guide.follow(section)
    fixtures = {"monkeypatch": monkeypatch, "settings": settings}
    tests = [test for name, test in vars(guide.test).items() if name.startswith("test_")]
    assert tests
    for test in tests:
        test(**{name: fixtures[name] for name in inspect.signature(test).parameters})
    assert len(guide.files) == FILES[section]


def test_a_new_engine_keeps_the_contract(
    guide: Guide, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    guide.follow("A searcher")
    test_contracts.test_searchers(guide.entry, settings, monkeypatch)


def test_the_page_of_settings_is_their_table() -> None:
    written = settings_page.PAGE.read_text("utf-8")
    assert written == settings_page.page(), "run: python -m docs.settings"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_to_files(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_modules_that_are_run_exist(page: Path) -> None:
    run = re.compile(r"python -m ((?:attribution|benchmarks|training|docs)[\w.]*)")
    modules = [module.rstrip(".") for module in run.findall(page.read_text("utf-8"))]
    assert [module for module in modules if importlib.util.find_spec(module) is None] == []


def test_the_pictures_show_the_styles_of_today() -> None:
    shown = (screenshots.IMAGES / "styles.sha256").read_text("utf-8").strip()
    assert shown == screenshots.styles(), "take the pictures again: make screenshots"
