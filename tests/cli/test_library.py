import json
from pathlib import Path
from typing import Any

import pytest

from attribution.cli.main import main
from tests.cli.conftest import SMALL


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "rivers"
    made.mkdir()
    (made / "nile.txt").write_text("The Nile flows north. It reaches the sea in Egypt.")
    (made / "rhine.md").write_text("# Rhine\n\nThe Rhine flows north to the Netherlands.")
    (made / "bad.pdf").write_bytes(b"%PDF-1.4 broken")
    (made / "x.zip").write_bytes(b"x")
    return made


def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_a_folder_becomes_a_collection_that_answers_are_checked_against(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["collections", "add", "rivers", str(folder)]) == 0
    counts = printed(capsys)
    assert [failure["kind"] for failure in counts.pop("failures")] == ["unreadable"]
    assert counts == {
        "collection": "rivers",
        "added": 2,
        "changed": 0,
        "unchanged": 0,
        "failed": 1,
        "left_out": 1,
    }
    assert main(["collections", "list"]) == 0
    (only,) = printed(capsys)
    assert (only["name"], only["documents"]) == ("rivers", 2)
    assert main(["collections", "list", "rivers"]) == 0
    assert [row["name"] for row in printed(capsys)] == ["rivers/nile.txt", "rivers/rhine.md"]

    out = tmp_path / "report.json"
    analyze = ["analyze", "--answer", "The Nile flows north.", "--out", str(out), *SMALL]
    analyze += ["--sources", "collection:rivers"]
    assert main(analyze) == 0
    report = json.loads(out.read_text("utf-8"))
    assert report["evidence"][0]["searcher"] == "collection:rivers"
    assert "collection:rivers/rivers/nile.txt" in [page["url"] for page in report["pages"]]

    capsys.readouterr()
    assert main(["collections", "remove", "rivers", "rivers/nile.txt"]) == 0
    assert printed(capsys) == {"collection": "rivers", "removed": 1}
    assert main(["collections", "remove", "rivers"]) == 0
    assert main(analyze) == 2
    assert "there is no collection 'rivers'" in capsys.readouterr().err


def test_when_nothing_can_be_read_the_status_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    assert main(["collections", "add", "c", str(empty), "http://127.0.0.1:1/a"]) == 2
    kinds = {failure["kind"] for failure in printed(capsys)["failures"]}
    assert kinds == {"no_text", "blocked_address"}


def test_a_file_name_controls_no_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "\x1b[2Jred.txt").write_text("")
    assert main(["collections", "add", "c", str(tmp_path)]) == 2
    errors = capsys.readouterr().err
    assert "red.txt" in errors
    assert "\x1b" not in errors
