import json
from pathlib import Path

import pytest

from attribution.cli.main import main
from attribution.settings import ROOT
from tests.make import json_lines

EXAMPLE = ROOT / "examples" / "groundedness.jsonl"


def measure(out: Path, *more: str, source: Path = EXAMPLE) -> int:
    return main(
        ["benchmark", "--input", str(source), "--out", str(out), "--methods", "quip", *more]
    )


def test_it_writes_figures_scores_and_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert measure(tmp_path / "out", "lynx") == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "! lynx is left out: set OPENAI" in said.err
    assert "quip 28/28" in said.err
    found = json.loads((tmp_path / "out" / "figures.json").read_text("utf-8"))
    assert found["left_out"].keys() == {"lynx"}
    assert found["splits"]["test"] == 14
    (method,) = found["methods"]
    assert method["method"] == "quip"
    assert method["reading"].startswith("n=")
    assert method["test"] == 14
    rows = json_lines(tmp_path / "out" / "rows.jsonl")
    test = [r for r in rows if r["split"] == "test"]
    right = sum(r["grounded"] == r["found_grounded"] for r in test)
    assert len(rows) == 28
    assert method["accuracy"] == pytest.approx(right / 14, abs=1e-4)


def test_bad_rows_are_named_and_bad_input_ends_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "set.jsonl"
    source.write_bytes(EXAMPLE.read_bytes() + b'{"response": "r", "grounded": true}\n')
    assert measure(tmp_path / "out", source=source) == 1
    assert '! line 29: "context" is missing' in capsys.readouterr().err
    assert measure(tmp_path / "none", source=tmp_path / "no.jsonl") == 2
    assert not (tmp_path / "none").exists()
    one = tmp_path / "one.jsonl"
    one.write_text('{"context": "c", "response": "r", "grounded": true}\n', "utf-8")
    assert measure(tmp_path / "one", source=one) == 1
    assert (
        "quip has no figures: no ungrounded response in the development split"
        in capsys.readouterr().err
    )
