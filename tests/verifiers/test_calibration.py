import pytest

from attribution.errors import StoreError
from attribution.settings import Settings
from attribution.verifiers import VERIFIERS, calibration
from attribution.verifiers.calibration import CAREFUL, GUARANTEES, Calibration, Curve, Point
from tests.make import claim, verdict

OTHER = "deberta/owner/name"


def curve(threshold: float | None) -> Curve:
    steps = (Point(0.4, 40, 20), Point(0.7, 40, 36), Point(0.95, 40, 40))
    return Curve(claims=200, guarantee=0.9, threshold=threshold, points=steps, steps=steps)


def keep(version: str, threshold: float | None) -> None:
    """Put a calibration where a user's own is found."""
    one = curve(threshold)
    path = calibration.own_file(version)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        Calibration(verifier=version, claims={}, supported=one, contradicted=one).text(), "utf-8"
    )


def test_a_badge_is_sure_where_its_threshold_and_its_share_keep_the_guarantee() -> None:
    keep(OTHER, 0.6)
    assert [calibration.strength(OTHER, "supported", p) for p in (0.5, 0.6, 0.75)] == [
        "weak",
        "weak",
        "strong",
    ]
    for probability, share in ((0.75, "at least 9 in 10"), (0.99, "nearly all")):
        judged = verdict(claim("A."), "supported", probability)
        assert calibration.share(OTHER, judged) == f"{share} such verdicts were right"
    assert calibration.share(OTHER, verdict(claim("A."), "supported", 0.3)) == ""


def test_without_a_calibration_only_high_probabilities_are_sure() -> None:
    for label in GUARANTEES:
        assert calibration.strength(OTHER, label, CAREFUL) == "strong"
        assert calibration.strength(OTHER, label, CAREFUL - 0.01) == "weak"
    assert calibration.strength(OTHER, "unclear", 0.1) is None
    assert calibration.share(OTHER, verdict(claim("A."), "unclear", 0.1)) == ""


def test_where_no_threshold_keeps_the_guarantee_no_badge_is_sure() -> None:
    keep(OTHER, None)
    for label in GUARANTEES:
        assert calibration.strength(OTHER, label, 0.99) == "weak"
        judged = verdict(claim("A."), label, 0.99).model_copy(update={"strength": "weak"})
        assert calibration.graded(judged, "").strength == "weak"  # while the run is going on


def test_a_calibration_is_of_one_version_and_a_damaged_one_is_named() -> None:
    assert calibration.curve("embedded-base/other.1", "supported") is None
    keep(OTHER, 0.6)
    for version in (f"{OTHER}-2", "é" * 999, "../embedded-base", "\0", "\ud800"):
        assert calibration.curve(version, "supported") is None
    calibration.own_file(OTHER).write_text("{", "utf-8")
    with pytest.raises(StoreError, match="is no calibration"):
        calibration.curve(OTHER, "supported")


def test_the_embedded_verifiers_are_calibrated_as_they_are_shipped() -> None:
    for name in ("embedded-base", "embedded-small"):
        version = VERIFIERS.build(name, Settings(database_url="")).version
        for label, guarantee in GUARANTEES.items():
            found = calibration.curve(version, label)
            assert found is not None
            assert found.guarantee == guarantee
            shares = [step.right / step.shown for step in found.steps]
            assert shares == sorted(shares)
