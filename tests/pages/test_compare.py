from __future__ import annotations

import json

import pytest

from attribution.errors import BadInput
from attribution.evaluation.comparison import Column, Comparison, rows
from attribution.evaluation.decompscore import decomposition
from attribution.types import Claim, Label, LlmUsage, Report, Verdict
from pages.ui.compare_state import ANSWERS, read_answers
from pages.ui.compare_view import as_markdown, figures, summary, view
from pages.ui.render import html
from tests.make import claim


def test_answers_of_a_file() -> None:
    lines = [json.dumps({"question": "Q", "answer": "A"}), "", json.dumps({"answer": "B", "more": 1})]
    assert read_answers("\ufeff".encode() + "\n".join(lines).encode()) == [("Q", "A"), ("", "B")]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no answer"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b'{"answer": "A"}\n{oops', "Line 2 is not JSON"),
        (b'["A"]', "Line 1 has no text"),
        (b'{"answer": 3}', "Line 1 has no text"),
        (b"[" * 100_000, "Line 1 is not JSON"),
        (b'{"answer": "A"}\n' * (ANSWERS + 1), f"at most {ANSWERS}"),
    ],
)
def test_a_file_of_something_else_says_what_was_expected(content: bytes, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read_answers(content)


FIRST, SECOND, THIRD = "The Nile is long and *old*.", "It is wet.", "It flows north and south."
TEXT = f"{FIRST} {SECOND} {THIRD}"


def comparison() -> Comparison:
    """Of three sentences, the first cut with another verdict, the second by all alike, the third with the same."""

    def made(text: str, within: str) -> Claim:
        at = TEXT.index(within)
        span = (at, at + len(within))
        return claim(text).model_copy(update={"spans": (span,), "sentence": span, "worthiness": "factual"})

    whole = [(made(t, t), label) for t, label in ((FIRST, "no_relation"), (SECOND, "supported"), (THIRD, "missing"))]
    parts = [
        (made("The Nile is long.", FIRST), "supported"),
        (made("The Nile is old.", FIRST), "no_relation"),
        whole[1],
        (made("It flows north.", THIRD), "missing"),
        (made("It flows south.", THIRD), "missing"),
    ]

    def report(judged: list[tuple[Claim, Label]]) -> Report:
        return Report(
            id="r", created_at="", question="", answer=TEXT, settings={}, versions={},
            claims=tuple(c for c, _ in judged),
            verdicts=tuple(Verdict(claim_id=c.id, label=label, confidence=0.9, reason="r") for c, label in judged),
        )  # fmt: skip

    usage = LlmUsage(calls=1, prompt_tokens=900, completion_tokens=100, cost=0.25)
    columns = [
        Column(name, report(judged), decomposition(TEXT, [c for c, _ in whole], [c for c, _ in judged], ()), 0.5, used)
        for name, judged, used in (("sentences", whole, None), ("clauses", parts, usage))
    ]
    spans = [c.spans[0] for c, _ in whole]
    return Comparison(report([*whole, *parts]), tuple(columns), rows(spans, columns))


def test_what_the_cut_changes_comes_first_and_what_all_cut_alike_is_folded_and_said_once() -> None:
    groups = view(comparison())["groups"]
    assert [(g["title"].split(" · ")[0], g["folded"]) for g in groups] == [
        ("The verdict depends on the cut", False),
        ("Cut differently, with the same verdicts", False),
        ("Cut alike by all", True),
    ]
    flipped, same, alike = (g["rows"][0] for g in groups)
    assert "".join(flipped["pieces"]) == "The Nile is long and old."
    assert [[c["label"] for c in cell] for cell in flipped["cells"]] == [["no_relation"], ["supported", "no_relation"]]
    assert len(same["cells"]) == 2 and len(alike["cells"]) == 1
    assert summary(comparison()).endswith("In 1 of them the verdict depends on the cut.")
    assert as_markdown(comparison()).count("## ") == 3


def test_figures_say_time_and_cost_of_each_segmenter() -> None:
    drawn = html(figures(comparison()))
    assert drawn.count("0.5 s") == 2 and ">none<" in drawn and "0.2500 (1,000 tokens)" in drawn
