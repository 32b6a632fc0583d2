"""The summary of a batch: counts, seconds, and verdicts by people's label."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from attribution.studies.segmenters.tables import NO_LABEL, summarise
from attribution.types import Claim, Label, Report, Verdict, content_id

ANSWER = "The tower is old. It is in Rome. Bees dance to show the way. I like it."


def claim(text: str) -> Claim:
    start = ANSWER.index(text)
    span = (start, start + len(text))
    return Claim(id=content_id(text), text=text, spans=(span,), sentence=span, worthiness="factual")


def line(labels: Any, *verdicts: Label, segmenter: str = "sentences") -> str:
    claims = tuple(map(claim, ("The tower is old.", "It is in Rome.", "Bees dance to show the way.", "I like it.")))
    report = Report(
        id="r",
        created_at="",
        question="",
        answer=ANSWER,
        settings={"segmenter": segmenter},
        versions={},
        claims=claims,
        verdicts=tuple(
            Verdict(claim_id=c.id, label=v, confidence=0.5, reason="") for c, v in zip(claims, verdicts, strict=False)
        ),
        timings={"segment": 0.5, "verify": 1.0, "load": 20.0},
    )
    return json.dumps({"line": 1, "key": "k", "claims": labels, "report": json.loads(report.to_json())}) + "\n"


def output(folder: Path, *lines: str) -> Path:
    path = folder / "out.jsonl"
    path.write_text("".join(lines))
    return path


def test_rows_claims_verdicts_and_seconds_are_counted(tmp_path: Path) -> None:
    failed = json.dumps({"line": 2, "error": "not JSON"}) + "\n"
    found = summarise(output(tmp_path, line(None, "supported", "unclear"), failed, line([], "supported")))
    assert (found.rows, found.failed, found.claims) == (3, 1, 8)
    assert found.verdicts == {"supported": 2, "unclear": 1} and found.seconds == 3.0
    assert found.tables() == () and "seconds per answer" in found.text() and "1.50" in found.text()


def test_claims_take_the_label_of_the_statement_they_lie_in(tmp_path: Path) -> None:
    labels = [
        {"claim": "The tower is old. It is in Rome.", "label": "Complete"},  # two claims of ours
        {"claim": "To show the way, bees dance [3].", "label": False},  # not verbatim
        {"claim": "Ships sank near Norway.", "label": "Missing"},  # not in the answer
        {"claim": "I like it.", "label": None},
    ]
    found = summarise(output(tmp_path, line(labels, "supported", "contradicted", "missing", "not_checked")))
    assert found.labelled == {
        "Complete": Counter({"supported": 1, "contradicted": 1}),
        "false": Counter({"missing": 1}),
        NO_LABEL: Counter({"not_checked": 1}),
    }
    assert found.unplaced == 1 and found.unreadable == 0
    by_label, *others = found.tables()
    assert by_label.rows[0][:4] == ("Complete", 2, 2, 0.5) and by_label.rows[-1][0] == NO_LABEL
    assert [t.title for t in others][0] == "Claims" and others[0].rows[0][:3] == ("sentences", 1, 4)
    assert "| Complete | 2 | 2 | 0.50 |" in found.text()


def test_other_segmenters_are_measured_against_the_sentences(tmp_path: Path) -> None:
    found = summarise(output(tmp_path, line([{"claim": "The tower is old.", "label": "yes"}], segmenter="clauses")))
    figures = found.columns["clauses"][0].figures
    assert 0 < figures.sentences <= 4 and figures.claims == 4


def test_a_field_of_that_name_without_labels_is_no_error(tmp_path: Path) -> None:
    found = summarise(output(tmp_path, *(line(c, "supported") for c in (["text"], "text", [{"claim": 1}], [{}]))))
    assert found.unreadable == 4 and not found.tables() and "are not labels" in found.text()
