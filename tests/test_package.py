import doctest
import json
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import attribution
from attribution import api
from attribution.reports import report_json
from attribution.settings import ROOT
from tests.serve import serving
from tests.test_lock import pinned

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
QUESTION = "How long is the main span of the Golden Gate Bridge?"
ANSWER = "The main span of the Golden Gate Bridge is 1,280 metres long."
BLOCKS = {
    f"{page.name} {number}": block
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    if page.name != "adding.md"  # its blocks are files with places of their own: tests/test_docs.py
    for number, block in enumerate(
        re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.S | re.M), 1
    )
}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel; all other packages are those of this one."""
    folder = tmp_path_factory.mktemp("installed")
    made = folder / "venv"

    def python(*command: str | Path) -> None:
        subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=True, capture_output=True)

    python("hatchling", "build", "--target", "wheel", "--directory", folder)
    python("venv", "--without-pip", made)
    (wheel,) = folder.glob("*.whl")
    (site,) = made.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"), "utf-8")
    python("pip", "--python", made, "install", "--quiet", "--no-deps", "--no-index", wheel)
    return made / "bin"


def run(*command: str | Path, cwd: Path, path: str = "") -> str:
    """Return the output of a command in a folder where `path` is importable."""
    variables = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        command, cwd=cwd, env=variables, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_installed_package_checks_an_answer(environment: Path, tmp_path: Path) -> None:
    code = (
        "import attribution\n"
        f"report = attribution.check({QUESTION!r}, {ANSWER!r}, verifier='embedded-small')\n"
        "print(report.verdicts[0].label, report.versions['program'], attribution.__file__)"
    )
    label, version, file = run(environment / "python", "-c", code, cwd=tmp_path).split()
    assert label == "supported"
    assert version == attribution.__version__
    assert file.startswith(str(environment.parent))
    assert run(environment / "attribution", "--version", cwd=tmp_path) == f"attribution {version}\n"


def test_the_installed_package_shows_its_pages(environment: Path, tmp_path: Path) -> None:
    code = (
        "import os\n"
        "from streamlit.testing.v1 import AppTest\n"
        "from attribution.settings import ROOT\n"
        "os.chdir(ROOT)\n"
        "page = AppTest.from_file('app.py', default_timeout=60).run()\n"
        "print(page.button(key='start').label, [error.message for error in page.exception])"
    )
    assert run(environment / "python", "-c", code, cwd=tmp_path) == "Check the answer []\n"


def test_the_installed_package_serves(
    environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with serving(tmp_path, start=[environment / "attribution"], PYTHONPATH="") as served:
        assert served.seconds() < 60


def test_the_python_of_the_documents_runs(tmp_path: Path) -> None:
    """Each block with names of its own; the first finds a fresh interpreter, the others the models
    that it loaded.
    """
    code = f"for name, block in {BLOCKS!r}.items(): exec(compile(block, name, 'exec'), {{}})"
    run(sys.executable, "-W", "error", "-c", code, cwd=tmp_path, path=str(ROOT))


def test_the_examples_of_the_functions_run() -> None:
    failed, tried = doctest.testmod(api)
    assert not failed
    assert tried >= 8


def test_a_report_in_every_form() -> None:
    hostile = "'\"><img src=x onerror=alert(1)>"
    report = attribution.check(hostile, ANSWER, "library", verifier="embedded-small")
    assert str(report).startswith("supported: ")
    assert report_json.read(report.to_json()).report.verdicts == report.verdicts
    assert "1. **" in report.to_markdown()
    assert list(report.to_dataframe()["claim"]) == [claim.text for claim in report.claims]
    assert report.evidence_for(report.claims[0])[0].relation == "entailed"
    assert "<img" not in report.to_html()


def test_the_package_allows_what_is_tested() -> None:
    extras = PROJECT["optional-dependencies"]
    for file, asked in {
        "requirements.txt": PROJECT["dependencies"],
        "requirements-dev.txt": [*PROJECT["dependencies"], *extras["dev"]],
        "requirements-base.txt": extras["base"],
        "requirements-ray.txt": extras["ray"],
    }.items():
        ranges = {
            canonicalize_name(found.name): found.specifier for found in map(Requirement, asked)
        }
        versions = pinned(file)
        assert ranges.keys() == versions.keys(), file
        assert not [name for name, version in versions.items() if version not in ranges[name]], file


def test_there_is_one_version() -> None:
    version = attribution.__version__
    registry = json.loads((ROOT / "server.json").read_text("utf-8"))
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    stated = {
        registry["version"],
        *(package["version"] for package in registry["packages"]),
        citation["version"],
    }
    assert stated == {version}
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"mcp-name: {registry['name']} " in readme  # as the registry asks
    heading = "Unreleased" if ".dev" in version else version
    assert f"## {heading}" in (ROOT / "CHANGELOG.md").read_text("utf-8")
