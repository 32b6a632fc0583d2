"""The demo shows what the shipped models really find."""

import json
import re

import pytest

from attribution.events import Finished
from attribution.pipeline.run import run
from attribution.review.corrections import correctable, propose
from attribution.settings import ROOT, Settings
from attribution.store.store import Store
from attribution.types import Report
from pages.ui.help import texts

EXAMPLE = json.loads((ROOT / "examples" / "answers-demo.jsonl").read_text("utf-8").splitlines()[0])


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store.open(f"sqlite:///{tmp_path_factory.mktemp('demo')}/demo.sqlite3")


def analysed(store: Store) -> Report:
    settings = Settings(sources=("library",))
    *_, last = run(EXAMPLE["question"], EXAMPLE["answer"], settings, store)
    assert isinstance(last, Finished)
    return last.report


@pytest.mark.slow
def test_its_steps_point_at_claims_with_the_badges_that_they_tell_of(store: Store) -> None:
    report = analysed(store)
    labels = [v.label for v in report.verdicts]
    shown = {
        int(n): title
        for title, _, _, what in texts()["demo"]
        for n in re.findall(r"^claim:(\d+)$", what)
    }
    assert {n: labels[n - 1] for n in shown} == {4: "contradicted", 3: "unclear"}
    assert "4.5 million rivets" in report.claims[3].text
    assert "2.5 million" in report.verdicts[3].reason
    careful = [claim["verdict"] for claim in EXAMPLE["claims"]]
    wrong = [
        n
        for n, (ours, theirs) in enumerate(zip(labels, careful, strict=True), 1)
        if ours != theirs and ours in ("supported", "contradicted")
    ]
    assert wrong == []
    found = [
        p.correction.after
        for p in propose(report, correctable(report), Settings(), store, "rule")
        if p.correction
    ]
    assert any("2.5 million rivets" in text for text in found)
