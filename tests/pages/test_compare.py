from dataclasses import replace
from typing import Any

from attribution.studies.segmenter_comparison import (
    Column,
    Comparison,
    decomposition,
    group_by_sentence,
    save_comparison,
    with_verdicts,
)
from attribution.studies.two_answers import Match, TwoAnswers
from attribution.types import Claim
from pages.ui.compare_view import (
    answers_data,
    answers_insight,
    segmenters_data,
)
from pages.ui.state import store
from tests.make import claim, judged, save_run
from tests.pages.jobs import opened, text

FIRST, SECOND, THIRD = "The Nile is long and *old*.", "It is wet.", "It flows north and south."
TEXT = f"{FIRST} {SECOND} {THIRD}"


def comparison() -> Comparison:
    """Of three sentences, the first cut with another verdict, the second by all alike, the third
    with the same.
    """

    def made(text: str, within: str) -> Claim:
        at = TEXT.index(within)
        span = (at, at + len(within))
        return claim(text, spans=(span,), sentence=span, worthiness="factual")

    whole = [
        (made(t, t), label)
        for t, label in ((FIRST, "no_relation"), (SECOND, "supported"), (THIRD, "missing"))
    ]
    parts = [
        (made("The Nile is long.", FIRST), "supported"),
        (made("The Nile is old.", FIRST), "no_relation"),
        whole[1],
        (made("It flows north.", THIRD), "missing"),
        (made("It flows south.", THIRD), "missing"),
    ]

    columns = [
        Column(
            name,
            judged(*split, answer=TEXT),
            decomposition([c for c, _ in whole], [c for c, _ in split]),
            0.5,
        )
        for name, split in (("sentences", whole), ("clauses", parts))
    ]
    spans = [c.spans[0] for c, _ in whole]
    return Comparison(
        judged(*whole, *parts, answer=TEXT), tuple(columns), group_by_sentence(spans, columns)
    )


def said(data: dict[str, Any]) -> str:
    return "".join(text for text, _ in data["insight"])


def test_a_row_says_whether_the_split_decides_and_unsplit_sentences_are_not_repeated() -> None:
    data: Any = segmenters_data(comparison(), "sentences", running=False)
    (section,) = data["sections"]
    assert [row["kind"] for row in section["rows"]] == ["part", "alike", "alike"]
    first, second, _ = section["rows"]
    assert "".join(first["pieces"]) == "The Nile is long and old."
    assert [[c["group"] for c in cell] for cell in first["cells"]] == [["none"], ["ok", "none"]]
    assert [cell[0]["is_whole"] for cell in second["cells"]] == [True, True]
    assert [count for _, _, count in data["filters"]] == [3, 0, 1, 2]
    assert first["flag"] == "Part without source"
    assert said(data).startswith("The verdict depends on the split in 0 of 3 sentences; in 1 more")
    assert [column["in_use"] for column in data["columns"]] == [True, False]


def test_claims_without_a_verdict_wait_while_it_runs() -> None:
    bare = comparison().report.model_copy(update={"verdicts": ()})
    data: Any = segmenters_data(with_verdicts(comparison(), bare), "", running=True)
    rows = data["sections"][0]["rows"]
    assert {row["kind"] for row in rows} == {"pending"}
    assert rows[0]["cells"][0][0]["word"] == "Being checked"
    assert said(data) == "No sentence is finished yet."


def answers() -> TwoAnswers:
    """Two answers that disagree in a value, agree in a claim, and have a claim alone."""
    cost, other_cost = claim("It cost 5 million euros."), claim("The cost was 6 million euros.")
    age, alone = claim("It is old."), claim("It is wet.")

    first = judged((cost, "contradicted"), (age, "supported"), (alone, "missing"))
    second = judged((other_cost, "supported"), (age, "supported"))
    against = Match("contradiction", (cost.id,), (other_cost.id,))
    return TwoAnswers(first, second, (against, Match("same", (age.id,), (age.id,))))


def test_disagreements_come_first_with_their_values_boxed() -> None:
    data: Any = answers_data(answers(), ["ChatGPT", "Claude"])
    titles = [(section["title"], len(section["rows"])) for section in data["sections"]]
    assert titles == [("Disagree", 1), ("Both say", 1), ("Only ChatGPT says", 1)]
    (row,) = data["sections"][0]["rows"]
    values = [[text for text, is_boxed in cell[0]["text"] if is_boxed] for cell in row["cells"]]
    assert values == [["5 million"], ["6 million"]]
    assert row["about"] == "Cost"
    assert data["sections"][2]["folded"] == "1 No source"
    assert said(data) == "The two disagree on 1 point. The sources support Claude on 1."


def test_values_that_may_both_be_true_are_marked() -> None:
    made = answers()
    against = replace(made.matches[0], agreement="differs")
    data: Any = answers_data(replace(made, matches=(against,)), ["ChatGPT", "Claude"])
    assert data["sections"][0]["title"] == "Disagree"
    assert [row["flag"] for row in data["sections"][0]["rows"]] == ["Both may be true"]


def test_no_disagreement_is_claimed_only_of_what_was_compared() -> None:
    same = answers()
    result = TwoAnswers(same.first, same.second, same.agreements)
    assert "No point was found" in answers_insight(result, "AB")[0][0]


def test_answers_to_two_questions_are_compared_with_a_warning() -> None:
    for question in ("Q", "R"):
        made = judged((claim("It is old."), "supported"))
        save_run(store(), made.model_copy(update={"id": question * 16, "question": question}))
    shown = text(opened("compare", answers=f"{'Q' * 16}-{'R' * 16}"))
    assert "two different questions" in shown


def test_a_saved_comparison_is_drawn_with_its_form_behind_change() -> None:
    save_comparison(store(), "c" * 16, comparison())
    shown = opened("compare", comparison="c" * 16)
    assert not shown.exception
    assert not [box for box in shown.text_area if box.label == "Answer"]
    shown.button(key="change").click().run()
    (box,) = [box for box in shown.text_area if box.label == "Answer"]
    assert box.value == TEXT


def test_answers_that_are_gone_are_not_compared() -> None:
    shown = opened("compare", answers="a-b")
    assert "One of the two answers is gone" in text(shown)
