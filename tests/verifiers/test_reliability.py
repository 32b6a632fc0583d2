from __future__ import annotations

import json

from attribution.settings import Settings
from attribution.verifiers import VERIFIERS, calibration


def test_figures_are_of_verifiers_there_are_and_few_badges_tell_nothing() -> None:
    figures = json.loads(calibration.FILE.read_text(encoding="utf-8"))
    assert set(figures) <= set(VERIFIERS)
    right, shown = figures["embedded-base"]["supported"]
    assert 0 < right <= shown
    assert calibration.reliability("embedded-base/abc.1", "supported").startswith(f"{right} of {shown} were right")
    assert calibration.reliability("embedded-small/2.4", "supported").startswith(
        str(figures["embedded-small"]["supported"][0])
    )
    assert "too few" in calibration.reliability("embedded-base/abc.1", "contradicted")
    assert calibration.reliability("deberta/owner/name", "supported") == ""
    assert calibration.reliability("embedded-base/abc.1", "unclear") == ""


def test_a_curve_passes_through_the_badges_at_the_default_threshold() -> None:
    figures = json.loads(calibration.FILE.read_text(encoding="utf-8"))
    for verifier, found in figures.items():
        for badge, default in zip(("supported", "contradicted"), Settings(database_url="").thresholds, strict=True):
            curve = calibration.curve(f"{verifier}/1", badge)
            if "thresholds" not in found:  # not measured yet for this version of the model
                assert curve is None and verifier != "embedded-small"
                continue
            assert curve is not None and curve.claims == found["claims"]
            point = curve.at(default)
            assert point.threshold == default and [point.right, point.shown] == found[badge]
            shown = [p.shown for p in curve.points]
            assert (
                all(p.right <= p.shown <= curve.claims for p in curve.points)
                and min(shown) < max(shown)
                or badge != "supported"
            )
            assert [p.threshold for p in curve.points] == sorted({p.threshold for p in curve.points})
    assert calibration.curve("deberta/owner/name", "supported") is None
    assert json.loads(calibration.written(figures)) == figures
    assert calibration.written(figures) == calibration.FILE.read_text(encoding="utf-8")
