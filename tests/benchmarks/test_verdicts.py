"""The figures of badges, from claims whose verdicts are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from attribution.run.judge import GivenClaim, JudgedClaim
from attribution.types import Label, Verdict
from benchmarks import verdicts
from benchmarks.verdicts import LabelledClaim


def case(label: Label, confidence: float, supported: bool, refuted: bool, true: bool | None) -> tuple:
    claim = LabelledClaim(GivenClaim("c", ("p",)), "a", supported, refuted, true)
    return claim, JudgedClaim(Verdict(claim_id="c", label=label, confidence=confidence, reason=""), ())


CASES = [
    case("supported", 0.9, True, False, True),
    case("supported", 0.6, False, False, False),
    case("supported", 0.8, True, False, None),
    case("contradicted", 0.9, False, True, False),
    case("contradicted", 0.7, True, False, True),
    case("unclear", 0.3, True, False, True),
]


@pytest.fixture
def figures() -> dict:
    return verdicts.figures([c for c, _ in CASES], [j for _, j in CASES])


def test_badges_are_counted_by_stance_and_by_truth(figures: dict) -> None:
    assert figures["supported right"] == {"right": 2, "of": 3, "share": 0.667}
    assert figures["contradicted right by stance"] == {"right": 1, "of": 2, "share": 0.5}
    assert figures["contradicted right by truth"] == {"right": 1, "of": 2, "share": 0.5}
    assert figures["true shown as contradicted"] == {"right": 1, "of": 3, "share": 0.333}
    assert figures["false shown as supported"] == {"right": 1, "of": 2, "share": 0.5}
    assert figures["coverage"] == pytest.approx(5 / 6) and figures["badges"]["unclear"] == 1


def test_the_surest_come_first_in_the_curve(figures: dict) -> None:
    assert figures["risk and coverage"]["supported"] == [(0.1667, 1.0), (0.3333, 1.0), (0.5, 0.6667)]


def test_table_plot_and_what_the_page_says(figures: dict, tmp_path: Path) -> None:
    found = {"factcheck_bench_dev, held out": {"embedded-base": figures}}
    assert "| factcheck_bench_dev, held out | embedded-base | 6 | 2 of 3 | 1 of 2, 1 of 2 |" in verdicts.table(found)
    verdicts.plot(found, tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert verdicts.badges_right(found["factcheck_bench_dev, held out"]) == {
        "embedded-base": {"supported": [2, 3], "contradicted": [1, 2]}
    }
