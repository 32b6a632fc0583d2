import json
from pathlib import Path

import pytest

from attribution.cli.main import main
from attribution.pipeline.experiment import append, locked

LABELLED = {
    "answer": "The Eiffel Tower was completed in 1889. I hope this helps!",
    "documents": ["The Eiffel Tower in Paris was completed in 1889."],
    "claims": [{"claim": "The Eiffel Tower was completed in 1889.", "label": "Complete"}],
}
COMMON = ["--sources", "documents", "--verifier", "embedded-small"]


def test_it_prints_progress_and_how_many_rows_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    rows = [json.dumps(LABELLED | {"id": n}) for n in range(2)]
    given.write_text("\n".join([*rows, "{broken"]))
    command = ["batch", "--input", str(given), "--output", str(output), *COMMON]
    assert main(command) == 1
    said = capsys.readouterr().err
    assert "batch 1/3: line 3: not JSON" in said
    assert said.endswith(f"{output}: 2 checked, 1 failed\n")
    given.write_text("\n".join(rows))
    assert main(command) == 0
    assert "batch 2/2\n" in capsys.readouterr().err


def test_a_second_batch_on_one_output_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    given.write_text(json.dumps(LABELLED))
    command = ["batch", "--input", str(given), "--output", str(output), *COMMON]
    with locked(output):
        append(output, {"line": 1, "key": "a", "report": {"verdicts": []}})
        before = output.read_bytes()
        assert main(command) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line == (
            f"attribution: another run is writing {output}: wait until it has ended, or choose "
            "another output"
        )
        assert output.read_bytes() == before
    assert main(command) == 0
