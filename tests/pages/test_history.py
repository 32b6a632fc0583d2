import pytest

from attribution.reports.html import html
from attribution.store.history import HistoryRow
from attribution.studies.answers.run_changes import run_changes
from attribution.types import Report, Verdict
from pages.history import line, picked
from pages.ui.run_comparison import (
    change_node,
    groups,
    heading,
    summary,
    when,
)
from tests.make import claim
from tests.pages.hostile import TEXTS

ROW = HistoryRow(
    id="r1",
    created_at="2026-11-21T09:05:00+00:00",
    title="",
    question="How\nlong?",
    beginning="An answer",
    tags=("a",),
    note="One\nline.",
    private=True,
    finished=False,
    deleted_at="",
    version=2,
    claims=5,
    verdicts={"contradicted": 1, "weak_supported": 3},
    sources=("library", "web"),
)


def test_a_line_says_what_a_run_is() -> None:
    drawn = line(ROW, running=True)
    assert (drawn["name"], drawn["note"], drawn["state"], drawn["tags"]) == (
        "How long?",
        "One line.",
        "Running now",
        ["a"],
    )
    assert drawn["meta"] == "21 Nov 2026, 09:05 UTC · Library, Web · 5 claims · edited · private"
    words = ["1 contradicted", "3 likely supported", "1 not reached"]
    assert [c["words"] for c in drawn["counts"]] == words
    assert drawn["counts"][1]["style"] == "v-supported weak"
    assert line(ROW, running=False)["state"] == "Not finished"
    done = ROW._replace(
        finished=True, deleted_at="2026-11-22T10:00:00+00:00", question="", beginning=" "
    )
    drawn = line(done, running=False)
    assert drawn["state"] == ""
    assert drawn["deleted"]
    assert "deleted 22 Nov 2026, 10:00 UTC" in drawn["meta"]
    assert drawn["name"] == "Untitled"
    assert when("soon") == "soon"


@pytest.mark.parametrize("value", [None, "r1", [1, None, "r2", "r1"], {"r1": 1}, ["unknown"]])
def test_a_click_names_only_what_is_listed(value: object) -> None:
    rows = [ROW, ROW._replace(id="r2")]
    chosen = picked(value, rows)
    assert [row.id for row in chosen] == (
        ["r1", "r2"] if isinstance(value, list) and "r1" in value else []
    )


def report(label: str, text: str, **settings: object) -> Report:
    own = claim(text)
    verdict = Verdict(claim_id=own.id, label=label, confidence=0.5, reason=TEXTS[0])
    return Report(
        id="r",
        created_at="2026-11-21T09:05:00+00:00",
        question=TEXTS[1],
        answer=text,
        settings={"sources": ["library"], "verifier": "auto", **settings},
        versions={},
        claims=(own,),
        verdicts=(verdict,),
    )


def test_a_comparison_says_what_changed_and_stays_text() -> None:
    text = f"The Nile is long {TEXTS[2]}."
    before, after = report("missing", text), report("supported", text, top_k=8)
    changes = run_changes(before, after)
    assert summary(changes) == "1 verdict changed, 0 stayed the same."
    ((title, (change,)),) = groups(changes)
    drawn = html(change_node(change)) + html(heading(before, after))
    assert title == "The verdict changed"
    assert drawn.index("Not found") < drawn.index("Likely supported")
    assert "<img" not in drawn
    assert "&lt;img" in drawn
    same = run_changes(before, before)
    assert [title for title, _ in groups(same)] == ["The same verdict"]
    other = run_changes(before, report("supported", "Nothing alike"))
    assert [title for title, _ in groups(other)] == [
        "Only in the second run",
        "Only in the first run",
    ]
    assert summary(other).endswith("1 claim only in the second run, 1 claim only in the first run.")
