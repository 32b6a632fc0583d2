import json
from pathlib import Path
from typing import Any

import pytest

from attribution.cli.main import main
from attribution.verifiers.calibration import GUARANTEES, Calibration, own_file
from attribution.verifiers.fitting import Badge, calibrate, lower_end, steps, threshold

VERSION = "tried/1"


def badges(count: int = 400) -> list[Badge]:
    """Badges of probability p that are right with about p: every tenth by turns, over two sets."""
    return [
        Badge("supported", p := 0.35 + 0.65 * n / count, (n * 7) % 20 < 20 * p, "ab"[n % 2])
        for n in range(count)
    ]


def test_the_least_threshold_that_keeps_the_guarantee_is_found() -> None:
    made = badges()
    found = threshold(made, 0.85)
    assert found is not None
    assert 0.7 < found < 0.9
    shown = [b for b in made if b.probability >= found]
    assert lower_end(sum(bool(b.right) for b in shown), len(shown)) >= 0.85
    assert threshold(made, 0.999) is None
    assert threshold([], 0.5) is None


def test_no_set_of_several_outweighs_the_others() -> None:
    large = [Badge("supported", 0.9, True, "large") for n in range(200)]
    small = [
        Badge("supported", 0.9, n % 2 == 0, "bc"[n % 2]) for n in range(20)
    ]  # "b" is right, "c" wrong
    assert threshold(large, 0.85)
    assert threshold([*large, *small[:10:2]], 0.85)
    assert (
        threshold([*large, *small], 0.85) is None
    )  # of 20 and the 10 that "large" weighs, 20 are right


def test_steps_rise_and_are_of_enough_badges() -> None:
    found = steps(badges())
    shares = [step.right / step.shown for step in found]
    assert len(found) > 3
    assert shares == sorted(set(shares))
    assert sum(step.shown for step in found) == 400
    assert min(step.shown for step in found) >= 20
    assert steps(badges(19)) == ()


def test_each_side_has_a_threshold_if_one_keeps_the_guarantee() -> None:
    made = calibrate(VERSION, badges())
    assert made.supported.threshold
    assert made.contradicted.threshold is None
    assert made.claims == {"a": 200, "b": 200}
    assert made.supported.claims == 400


def row(**changed: Any) -> dict[str, Any]:
    good = {
        "claim": "A claim.",
        "verifier": VERSION,
        "label": "supported",
        "confidence": 0.9,
        "right": True,
    }
    return good | changed


def written(folder: Path, *rows: dict[str, Any]) -> str:
    """A file of judged claims."""
    path = folder / "judged.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(path)


def test_the_command_writes_a_file_that_is_found_from_then_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = written(tmp_path, *(row(claim=f"Claim {n}.") for n in range(60)))
    assert main(["calibrate", "--input", given]) == 0
    assert (
        Calibration.model_validate_json(own_file(VERSION).read_bytes()).supported.threshold == 0.34
    )
    told = capsys.readouterr().err
    assert f"at least {GUARANTEES['supported']:.0%} right from 0.34 on" in told
    assert f"contradicted: no threshold keeps {GUARANTEES['contradicted']:.0%}" in told
    assert main(["calibrate", "--input", given, "--output", str(tmp_path / "own.json")]) == 0
    assert (tmp_path / "own.json").read_bytes() == own_file(VERSION).read_bytes()


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (row(right="yes"), "\"right\" is 'yes'; expected true or false, or null"),
        (row(label="true"), '"label" is "true"; expected one of supported, contradicted'),
        (row(confidence=7), '"confidence" is 7; expected a number from 0 to 1'),
        (row(verifier="other/1"), '"verifier" is "other/1"; expected "tried/1"'),
    ],
)
def test_a_bad_line_is_named_and_left_out(
    bad: dict[str, Any], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = written(tmp_path, row(), bad, row(label="unclear", right=None))
    assert main(["calibrate", "--input", given]) == 1
    errors = capsys.readouterr().err
    assert f"! line 2: {told}" in errors
    assert "2 claims, 1 lines left out" in errors


def test_a_file_without_a_usable_line_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", "--input", written(tmp_path, row(right="yes"))]) == 2
    assert "no line can be used" in capsys.readouterr().err
