"""The documentation: its examples run, its links and commands lead somewhere."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import re
import sys
import types
from pathlib import Path

import pytest

from attribution.cli.main import main
from attribution.settings import Settings
from docs import settings as settings_page
from pages.ui import frame

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "training").glob("*.md")])
BLOCKS = re.findall(r"```python\n# (.*?)\n(.*?)```", (ROOT / "docs" / "adding.md").read_text("utf-8"), re.DOTALL)
*EXAMPLES, PAGE = zip(BLOCKS[::3], BLOCKS[1::3], BLOCKS[2::3], strict=True)


def register(module: tuple[str, str], entry: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> str:
    """Add an example to its table, as its file and entry would; returns the entry's name."""
    name = module[0].removesuffix(".py").replace("/", ".")
    assert importlib.util.find_spec(name) is None, f"{name} exists: choose another example"
    added = types.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, added)
    exec(compile(module[1], module[0], "exec"), added.__dict__)
    folder = importlib.import_module(name.rpartition(".")[0])
    ((key, value),) = eval(f"{{{entry[1]}}}", vars(folder)).items()
    monkeypatch.setitem(getattr(folder, entry[0].removeprefix("entry in ")), key, value)
    return str(key)


@pytest.mark.parametrize(("module", "entry", "test"), EXAMPLES, ids=[path for (path, _), _, _ in EXAMPLES])
def test_an_implementation_is_one_file_one_entry_and_a_test(
    module: tuple[str, str],
    entry: tuple[str, str],
    test: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings,
) -> None:
    register(module, entry, monkeypatch)
    run_test(test, monkeypatch=monkeypatch, settings=settings)


def test_the_page_of_settings_is_their_table() -> None:
    assert settings_page.PAGE.read_text("utf-8") == settings_page.page(), "run: python -m docs.settings"


def run_test(test: tuple[str, str], **fixtures: object) -> None:
    """Run the test of an example."""
    scope: dict[str, object] = {}
    exec(compile(test[1], test[0], "exec"), scope)
    (run,) = (f for title, f in scope.items() if title.startswith("test_") and callable(f))
    run(**{parameter: fixtures[parameter] for parameter in inspect.signature(run).parameters})


def test_a_page_is_one_file_one_entry_and_a_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path, code), (place, entry), test = PAGE
    assert not (ROOT / path).exists(), f"{path} exists: choose another example"
    (tmp_path / path).parent.mkdir()
    (tmp_path / path).write_text(code, encoding="utf-8")
    monkeypatch.setattr("attribution.settings.ROOT", tmp_path)
    monkeypatch.setattr("streamlit.page_link", lambda page, label: None)  # a page alone has no other to lead to
    tabs = eval(place.removeprefix("entry in "), vars(frame))
    for name, title in eval(f"{{{entry}}}").items():
        monkeypatch.setitem(tabs, name, title)
    run_test(test)
    made: list[tuple[str, str, str]] = []
    monkeypatch.setattr("streamlit.Page", lambda page, title, visibility, **_: made.append((page, title, visibility)))
    monkeypatch.setattr("streamlit.navigation", lambda pages, position: None)
    frame.navigation()
    assert (path, "Lengths", "hidden") in made  # behind the entry “Lab”


@pytest.mark.usefixtures("warm_library")
def test_the_verifier_of_the_guide_checks_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (verifier,) = (e for e in EXAMPLES if "/verifiers/" in e[0][0])
    name = register(*verifier[:2], monkeypatch)
    answer = "The Eiffel Tower was completed in 1889. The Eiffel Tower hums songs of distant green turtles. I like it."
    out = tmp_path / "report.json"
    assert main(["analyze", "--question", "", "--answer", answer, "--verifier", name, "--out", str(out)]) == 0
    report = json.loads(out.read_text("utf-8"))
    assert report["versions"]["verifier"] == "word-overlap-1"
    assert [v["label"] for v in report["verdicts"]] == ["supported", "no_relation", "not_checked"]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_to_files(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_modules_that_are_run_exist(page: Path) -> None:
    modules = re.findall(r"python -m ((?:attribution|benchmarks|training|docs)[\w.]*)", page.read_text("utf-8"))
    assert [m for m in modules if importlib.util.find_spec(m.rstrip(".")) is None] == []
