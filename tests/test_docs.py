import importlib
import importlib.util
import inspect
import json
import re
import shutil
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest

from attribution.cli.main import main
from attribution.settings import Settings
from docs import settings as settings_page
from tests import test_contracts

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "training").glob("*.md")]
)
BLOCKS = re.findall(
    r"```python\n# (.*?)\n(.*?)```", (ROOT / "docs" / "adding.md").read_text("utf-8"), re.DOTALL
)
EXAMPLES = list(zip(BLOCKS[::3], BLOCKS[1::3], BLOCKS[2::3], strict=True))


def register(
    module: tuple[str, str], entry: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> str:
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


@pytest.mark.parametrize(
    ("module", "entry", "test"), EXAMPLES, ids=[path for (path, _), _, _ in EXAMPLES]
)
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
    assert settings_page.PAGE.read_text("utf-8") == settings_page.page(), (
        "run: python -m docs.settings"
    )


def run_test(test: tuple[str, str], **fixtures: object) -> None:
    """Run the test of an example."""
    scope: dict[str, object] = {}
    exec(compile(test[1], test[0], "exec"), scope)
    (run,) = (f for title, f in scope.items() if title.startswith("test_") and callable(f))
    run(**{parameter: fixtures[parameter] for parameter in inspect.signature(run).parameters})


def test_a_new_engine_keeps_the_contract(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    (engine,) = (e for e in EXAMPLES if "/searchers/" in e[0][0])
    name = register(*engine[:2], monkeypatch)
    tests = types.ModuleType(f"tests.searchers.test_{name}")
    exec(compile(engine[2][1], engine[2][0], "exec"), tests.__dict__)
    monkeypatch.setitem(sys.modules, tests.__name__, tests)
    test_contracts.test_searchers(name, settings, monkeypatch)


def changed(text: str, diff: str) -> str:
    """Return a text with the lines of a diff, whose context and removed lines stand in it once."""
    lines = diff.splitlines()
    before = "\n".join(line[1:] for line in lines if not line.startswith("+")) + "\n"
    assert text.count(before) == 1, f"expected once: {before}"
    return text.replace(
        before, "\n".join(line[1:] for line in lines if not line.startswith("-")) + "\n"
    )


@pytest.fixture
def project(tmp_path: Path) -> Callable[[str], tuple[set[str], Callable[..., str]]]:
    """A copy of the project with the changes of a section of the guide: the files changed, and a
    way to run Python.
    """

    def make(section: str) -> tuple[set[str], Callable[..., str]]:
        files: dict[str, str] = {}
        text = (
            (ROOT / "docs" / "adding.md")
            .read_text("utf-8")
            .partition(f"## {section}\n")[2]
            .partition("\n## ")[0]
        )
        for path, diff in re.findall(r"```diff\n# (.*?)\n(.*?)```", text, re.DOTALL):
            files[path] = changed(files.get(path) or (ROOT / path).read_text("utf-8"), diff)
        for folder in ("", "attribution", "attribution/reports", "docs"):
            (tmp_path / folder).mkdir(exist_ok=True)
            for path in (ROOT / folder).iterdir():
                inside = str(path.relative_to(ROOT))
                if folder == "docs" and path.is_file():  # which are written again
                    shutil.copy(path, tmp_path / inside)
                elif inside not in ("attribution", "attribution/reports", "docs", ".git", *files):
                    (tmp_path / inside).symlink_to(path)
        for inside, content in files.items():
            (tmp_path / inside).write_text(content, encoding="utf-8")

        def python(*arguments: str) -> str:
            done = subprocess.run(
                [sys.executable, *arguments],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            return done.stdout

        return set(files), python

    return make


def test_an_export_is_one_file(
    project: Callable[[str], tuple[set[str], Callable[..., str]]],
) -> None:
    files, python = project("An export")
    assert files == {"attribution/reports/__init__.py"}
    code = (
        "from attribution.reports import Exported, export; from tests.reports.runs import run;"
        "print(export('addresses', Exported(run())).decode(), end='')"
    )
    assert python("-c", code).startswith("https://")


@pytest.mark.usefixtures("warm_library")
def test_the_verifier_of_the_guide_checks_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (verifier,) = (e for e in EXAMPLES if "/verifiers/" in e[0][0])
    name = register(*verifier[:2], monkeypatch)
    answer = "The Eiffel Tower was completed in 1889. The Eiffel Tower hums songs of distant green turtles. I like it."
    out = tmp_path / "report.json"
    assert (
        main(
            ["analyze", "--question", "", "--answer", answer, "--verifier", name, "--out", str(out)]
        )
        == 0
    )
    report = json.loads(out.read_text("utf-8"))
    assert report["versions"]["verifier"] == "word-overlap-1"
    assert [v["label"] for v in report["verdicts"]] == ["supported", "unclear", "not_checked"]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_to_files(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_modules_that_are_run_exist(page: Path) -> None:
    modules = re.findall(
        r"python -m ((?:attribution|benchmarks|training|docs)[\w.]*)", page.read_text("utf-8")
    )
    assert [m for m in modules if importlib.util.find_spec(m.rstrip(".")) is None] == []
