import json
from pathlib import Path

import pytest

from attribution.cli.main import main

NILE = "The Nile flows north. It reaches the Mediterranean Sea in Egypt."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "rivers"
    made.mkdir()
    (made / "nile.txt").write_text(NILE)
    (made / "rhine.md").write_text(
        "# Rhine\n\nThe Rhine flows north. It reaches the North Sea in the Netherlands."
    )
    (made / "bad.pdf").write_bytes(b"%PDF-1.4 broken")
    (made / "x.zip").write_bytes(b"x")
    return made


def said(capsys) -> object:
    return json.loads(capsys.readouterr().out)


def test_from_a_folder_to_a_verdict(folder: Path, tmp_path: Path, capsys) -> None:
    assert main(["collections", "add", "rivers", str(folder)]) == 0
    told = capsys.readouterr()
    counts = json.loads(told.out)
    failures = counts.pop("failures")
    assert counts == {
        "collection": "rivers",
        "added": 2,
        "changed": 0,
        "unchanged": 0,
        "failed": 1,
        "left_out": 1,
    }
    assert [(f["subject"], f["kind"]) for f in failures] == [("rivers/bad.pdf", "unreadable")]
    assert (
        "add 3/3" in told.err
        and "embed 2/2" in told.err
        and "! fetch: rivers/bad.pdf: " in told.err
    )

    assert main(["collections", "list"]) == 0
    (only,) = said(capsys)
    assert (only["name"], only["documents"], only["embedded"]) == ("rivers", 2, 2)
    assert main(["collections", "list", "rivers"]) == 0
    assert [row["name"] for row in said(capsys)] == ["rivers/nile.txt", "rivers/rhine.md"]

    out = tmp_path / "report.json"
    analyze = [
        "analyze",
        "--answer",
        "The Nile flows north.",
        "--sources",
        "collection:rivers",
        "--out",
        str(out),
    ]
    analyze += ["--verifier", "embedded-small"]
    assert main(analyze) == 0
    report = json.loads(out.read_text("utf-8"))
    assert [v["label"] for v in report["verdicts"]] != ["missing"]
    assert report["evidence"][0]["searcher"] == "collection:rivers"
    assert "collection:rivers/rivers/nile.txt" in [page["url"] for page in report["pages"]]

    capsys.readouterr()
    assert main(["collections", "remove", "rivers", "rivers/nile.txt"]) == 0
    assert said(capsys) == {"collection": "rivers", "removed": 1}
    assert main(["collections", "remove", "rivers"]) == 0
    assert said(capsys) == {"collection": "rivers", "removed": 1}
    assert main(analyze) == 2
    assert "there is no collection 'rivers'; collections: none yet" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["add", "c"], "nothing to add"),
        (["add", "a/b", "x.txt"], "printable characters without /"),
        (["add", "c", "no-such-file"], "no-such-file does not exist"),
        (["add", "c", "ftp://example.org/x"], "not a web address"),
        (["add", "c", "--urls", "no-such-file"], "no such file"),
        (["list", "c"], "collection 'c'"),
        (["remove", "c"], "collection 'c'"),
    ],
)
def test_bad_input_is_one_line_and_a_status(command: list[str], message: str, capsys) -> None:
    assert main(["collections", *command]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_when_nothing_can_be_read_the_status_says_so(tmp_path: Path, capsys) -> None:
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "list.txt").write_text("# addresses\nhttp://127.0.0.1:1/a\n\n")
    assert (
        main(
            [
                "collections",
                "add",
                "c",
                str(tmp_path / "empty.txt"),
                "--urls",
                str(tmp_path / "list.txt"),
            ]
        )
        == 2
    )
    told = capsys.readouterr()
    kinds = {f["kind"] for f in json.loads(told.out)["failures"]}
    assert kinds == {"no_text", "blocked_address"} and "none of the 2 could be read" in told.err
