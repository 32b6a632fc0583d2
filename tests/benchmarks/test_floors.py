import json
from pathlib import Path

import pytest

from benchmarks import floors
from benchmarks.floors import Floor


@pytest.mark.parametrize(
    ("faster", "agreeing", "said", "status"),
    [
        (9, 0.99, "reached", 0),
        (7, 0.99, "short of the goal", 0),
        (5, 0.99, "FAILED", 1),
        (9, 0.5, "FAILED", 1),
    ],
)
def test_the_worst_figure_counts_and_a_missed_goal_fails_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    faster: float,
    agreeing: float,
    said: str,
    status: int,
) -> None:
    some = (
        Floor("a.json", ("web", "faster"), 6, 8),
        Floor("a.json", ("rows", "*", "agreeing"), 0.9, 0.9),
    )
    monkeypatch.setattr(floors, "FLOORS", some)
    assert floors.main(["--figures", str(tmp_path)]) == 1  # nothing was measured
    rows = [{"agreeing": 1.0}, {"agreeing": agreeing}]
    (tmp_path / "a.json").write_text(json.dumps({"web": {"faster": faster}, "rows": rows}), "utf-8")
    capsys.readouterr()
    assert floors.main(["--figures", str(tmp_path)]) == status
    assert said in capsys.readouterr().out
    assert Floor("a.json", (), 10, 8, least=False).holds(9, 10)
