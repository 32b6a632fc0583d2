import json
from dataclasses import replace
from pathlib import Path

import pytest

from attribution.pipeline.judge import JudgedClaim
from attribution.text_files import read_rows
from attribution.types import Label, Verdict
from attribution.verifiers.fitting import OPTIONAL, REQUIRED, read
from benchmarks import verdicts
from benchmarks.verdicts import LabelledClaim
from tests.make import claim, evidence


def case(
    label: Label, confidence: float, supported: bool, refuted: bool, true: bool | None
) -> tuple:
    claim = LabelledClaim("c", ("p",), "a", supported, refuted, true)
    strength = "strong" if confidence > 0.85 else "weak"
    return claim, JudgedClaim(
        Verdict(claim_id="c", label=label, confidence=confidence, reason=""), (), strength
    )


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
    assert figures["strong supported right"] == {"right": 1, "of": 1, "share": 1.0}
    assert figures["contradicted right by stance"] == {"right": 1, "of": 2, "share": 0.5}
    assert figures["contradicted right by truth"] == {"right": 1, "of": 2, "share": 0.5}
    assert figures["true shown as contradicted"] == {"right": 1, "of": 3, "share": 0.333}
    assert figures["false shown as supported"] == {"right": 1, "of": 2, "share": 0.5}
    assert figures["coverage"] == pytest.approx(5 / 6)
    assert figures["badges"]["unclear"] == 1


def test_judged_badges_are_what_calibrate_reads(tmp_path: Path) -> None:
    claims, judged = [c for c, _ in CASES], [j for _, j in CASES]
    rows = list(verdicts.judged_rows("a set", "tried/1", claims, judged))
    assert {row["label"] for row in rows} == {"missing"}  # decided anew, and these have no evidence
    piece = evidence(claim("c"), 0.4, 0.1, "no_relation")
    rows = list(
        verdicts.judged_rows(
            "a set", "tried/1", claims[:2], [replace(judged[0], evidence=(piece,))] * 2
        )
    )
    assert [(row["label"], row["confidence"], row["right"]) for row in rows] == [
        ("supported", 0.4, True),
        ("supported", 0.4, False),
    ]
    given = tmp_path / "judged.jsonl"
    given.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    version, badges, problems = read(read_rows(given, REQUIRED, OPTIONAL))
    assert version == "tried/1"
    assert [b.right for b in badges] == [True, False]
    assert not problems
