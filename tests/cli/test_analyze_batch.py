import json
from pathlib import Path

import pytest

from attribution.cli.main import main
from attribution.pipeline.experiment import ResultFile

LABELLED = {
    "answer": "The Eiffel Tower was completed in 1889. I hope this helps!",
    "documents": ["The Eiffel Tower in Paris was completed in 1889."],
    "claims": [{"claim": "The Eiffel Tower was completed in 1889.", "label": "Complete"}],
}
COMMON = ["--sources", "documents", "--verifier", "embedded-small"]


def test_it_prints_progress_a_summary_and_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    rows = [json.dumps(LABELLED | {"id": n}) for n in range(2)]
    given.write_text("\n".join([*rows, "{broken"]))
    command = ["batch", "--input", str(given), "--output", str(output), *COMMON]
    assert main(command) == 1
    said = capsys.readouterr().err
    assert "batch 1/3: line 3: not JSON" in said
    assert " answers a minute, 0 s left" in said
    for figure in ("rows 3", "failed 1", "claims 4"):
        assert figure.split() in [line.split() for line in said.splitlines()]
    given.write_text("\n".join(rows))
    assert main(command) == 0
    assert "minute" not in capsys.readouterr().err  # nothing was left to analyse


def test_a_second_batch_on_one_output_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    given.write_text(json.dumps(LABELLED))
    command = ["batch", "--input", str(given), "--output", str(output), *COMMON]
    with ResultFile(output) as first:
        first.append({"line": 1, "key": "a", "report": {"verdicts": []}})
        first._file.write(b'{"half a line')
        first._file.flush()
        before = output.read_bytes()
        assert main(command) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line == (
            f"attribution: another run is writing {output}: wait until it has ended, or choose "
            "another output"
        )
        assert output.read_bytes() == before
    assert main(command) == 0


def test_a_batch_that_waited_for_a_file_that_was_replaced_meanwhile_opens_the_new_one(
    tmp_path: Path,
) -> None:
    path = tmp_path / "out.jsonl"
    with ResultFile(path) as first:
        first.append({"line": 2, "key": "a", "report": {"verdicts": []}})
        first.arrange([(0, 1)])
    with ResultFile(path) as second:
        assert list(second.finished) == ["a"]
        second.append({"line": 2, "key": "b", "report": {"verdicts": []}})
    assert [json.loads(line)["line"] for line in path.read_text().splitlines()] == [1, 2]
