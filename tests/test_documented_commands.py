import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from attribution.cli.main import main

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
QUESTION, ANSWER = (
    "When was the Eiffel Tower completed?",
    "The Eiffel Tower was completed in 1889. It is in Paris.",
)
WORDS = {  # what a reader puts in place of the words in capitals
    "TEXT": "The tower was completed in 1889.",
    "TEXT|-": ANSWER,
    "OTHER": "The tower was completed in 1925.",
    "REPORT": "report.json",
    "FOLDER": "tables",
    "PATH|URL…": "notes.md",
    "auto": "embedded-small",
}
NAMES = {
    "collections": "papers",
    "benchmark": "cos_sim",
    "download": "embedded-base",
    "export": "markdown",
}
ELSEWHERE = {  # lines that need what these tests do not have, and the tests that run them
    "--engine ray": "tests/pipeline/test_experiment.py",
    "download deberta": "tests/models/test_files_hub.py",
    "--segmenter direct": "tests/segmenters/test_llm.py",
    "reproduce": "tests/studies/papers/test_reproduce.py",
    "evoke": "tests/studies/groundedness/test_labelled_set.py",
}
VERIFIES = (
    "analyze",
    "judge",
    "verify",
    "coherence",
    "batch",
    "compare",
    "benchmark",
)


def documented() -> list[str]:
    """The command lines of `attribution`, without comments; alternatives are lines of their own."""
    found: dict[str, None] = {}
    for path in DOCUMENTS:
        for match in re.finditer(
            r"(?m)(?:python -m |^)attribution ((?:[a-z]+$|[a-z]+ )[^\n`#]*)",
            path.read_text("utf-8"),
        ):
            line = re.sub(r"\)?[,;.]?\s*$", "", match[1].strip())
            command = line.split()[0]
            for alternative in line.split(" | "):
                whole = (
                    alternative if alternative.startswith(command) else f"{command} {alternative}"
                )
                found[" ".join(whole.split())] = None
    # a line that ends in "…" points at others, and one of ELSEWHERE is run there
    return [line for line in found if not re.fullmatch(r"[a-z]+ ([a-z|]+ )?…", line)]


LINES = documented()


def arguments(line: str, run_id: str) -> list[str]:
    """A documented line as somebody types it: without what is optional, with the first of several
    alternatives.
    """
    while (shorter := re.sub(r"\[[^\[\]]*\]", "", line)) != line:
        line = shorter
    command, *words = shlex.split(line)
    put = WORDS | {"RUN_ID": run_id, "NAME": NAMES.get(command, "")}
    made = [command]
    for word in words:
        if word != "…":
            word = put.get(word, word)
            made.append(word.split("|")[0] if re.fullmatch(r"[a-z]+(\|[a-z]+)+", word) else word)
    if command in VERIFIES and "--verifier" not in made:
        made += ["--verifier", "embedded-small"]
    left = [w for w in made if re.fullmatch(r"[A-Z_]{3,}[A-Z|…]*", w) and w != run_id]
    assert not left, f"{line}: put something in place of {left} in this test"
    return made


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the lines name, and a data folder with one run."""
    folder = tmp_path_factory.mktemp("documented")

    def rows(name: str, *lines: dict[str, object]) -> None:
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")

    rows("answers.jsonl", {"question": QUESTION, "answer": ANSWER})
    passage = "The tower was completed in 1889. It stands in Paris."
    claim = {
        "claim": "The tower was completed in 1889.",
        "evidence": passage,
        "passages": [passage],
    }
    two = {
        "question": QUESTION,
        "first": ANSWER,
        "second": "The Eiffel Tower was completed in 1925.",
    }
    rows("claims.jsonl", claim)
    badge = {"verifier": "tried/1", "label": "supported", "confidence": 0.9, "right": True}
    rows("judged.jsonl", *(badge | {"claim": f"Claim {n}."} for n in range(30)))
    rows("pairs.jsonl", claim | two)
    rows("subclaims.jsonl", {"sentence": "Ada wrote it and Max read it.", "claim": "Max read it."})
    rows(
        "grounded.jsonl",
        {"question": QUESTION, "context": passage, "response": "The tower was completed in 1889."},
    )
    (folder / "notes.md").write_text("# Notes\n\nThe tower was completed in 1889.\n", "utf-8")
    return folder


@pytest.fixture
def here(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(workplace)
    monkeypatch.setenv("ATTRIBUTION_DATA", str(workplace / "data"))
    shutil.copy(ROOT / "examples" / "groundedness.jsonl", workplace / "set.jsonl")
    for output in ("out.jsonl", "reports.jsonl"):
        (workplace / output).unlink(missing_ok=True)
    return workplace


@pytest.fixture
def run_id(here: Path) -> str:
    """A finished run, made by the documented line, with its report beside it."""
    if not (here / "report.json").exists():
        analyze = ["analyze", "--question", QUESTION, "--answer", ANSWER, "--out", "report.json"]
        assert main([*analyze, "--verifier", "embedded-small"]) == 0
        (here / "run.id").write_text(
            json.loads((here / "report.json").read_text("utf-8"))["id"], "utf-8"
        )
    return (here / "run.id").read_text("utf-8")


def starts_a_server(line: str) -> bool:
    return line.split()[0] in ("serve", "mcp")


def marked(line: str) -> object:
    return pytest.param(line, marks=pytest.mark.slow if line.startswith("download") else ())


@pytest.mark.parametrize("line", [marked(line) for line in LINES if not starts_a_server(line)])
def test_a_documented_command_runs(
    line: str, here: Path, run_id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if where := next((place for part, place in ELSEWHERE.items() if part in line), ""):
        assert (ROOT / where).is_file()
        return
    argv = arguments(line, run_id)
    if argv[0] == "collections" and argv[1] != "add":
        main(["collections", "add", "papers", "notes.md"])
    assert main(argv) == 0, capsys.readouterr().err


SERVERS = {
    " ".join(arguments(re.sub(r"--port \d+", "", line), ""))
    for line in LINES
    if starts_a_server(line)
}


@pytest.mark.parametrize("line", sorted(SERVERS))
def test_a_documented_server_starts(line: str, here: Path) -> None:
    argv = [sys.executable, "-m", "attribution", *line.split()]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "ATTRIBUTION_API_KEYS": "a-key-of-sixteen-characters",
    }
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(argv, env=environment, cwd=ROOT, **pipes) as server:
        if argv[3] == "mcp":
            assert server.communicate(b"", timeout=120) is not None
            assert server.returncode == 0
            return
        assert b"http://" in server.stdout.readline()
        server.terminate()
        server.communicate(timeout=60)


def test_every_command_is_documented() -> None:
    from attribution.cli.main import parser

    (commands,) = (a.choices for a in parser()._actions if a.dest == "command")
    assert {line.split()[0] for line in LINES} >= set(commands or ())
