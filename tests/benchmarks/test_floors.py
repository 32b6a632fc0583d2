import json
from pathlib import Path

import pytest

from benchmarks import floors
from benchmarks.floors import Floor


@pytest.mark.parametrize(
    ("faster", "state", "status"),
    [(9, "reached", 0), (7, "short of the goal", 0), (5, "FAILED", 1)],
)
def test_a_figure_below_its_floor_fails_and_one_below_its_goal_does_not(
    faster: float,
    state: str,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(floors, "FLOORS", [Floor("a.json", ("web", "faster"), 6, 8)])
    (tmp_path / "a.json").write_text(json.dumps({"web": {"faster": faster}}), "utf-8")
    assert floors.main(["--figures", str(tmp_path)]) == status
    assert state in capsys.readouterr().out


def test_a_figure_that_was_not_measured_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(floors, "FLOORS", [Floor("a.json", ("web", "faster"), 6, 8)])
    assert floors.main(["--figures", str(tmp_path)]) == 1


def test_a_floor_may_be_the_most() -> None:
    floor = Floor("a.json", (), 10, 8, least=False)
    assert floor.holds(9, floor.floor)
    assert not floor.holds(9, floor.goal)
