from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests.training.claims.test_declaratives import nlp
from tests.training.test_data import row, write
from training import data, in_domain
from training.claims import answers, negatives, questions

BRIDGE = (
    "The Brooklyn Bridge was opened in 1883. The Manhattan Bridge was opened in 1909 and designed by Leon Moisseiff."
)
ISLAND = "Staten Island is a borough of the city, and its ferry has been free of charge for many years now."


def asked(question: str, answer: str, passage: str = BRIDGE, **more: Any) -> dict[str, Any]:
    return {"question": question, "answer": answer, "passage": passage, "title": "New York City", **more}


def made(rows: list[dict[str, Any]], kind: str) -> list[questions.Made]:
    found = questions.spans(rows, "squad", nlp(), random.Random(1))
    return [m for m in found if m.kind == f"squad: {kind}"]


def test_an_answer_of_the_passage_is_entailed_and_another_date_of_it_contradicts() -> None:
    rows = [asked("When was the Brooklyn Bridge opened?", "1883")]
    assert [(m.hypothesis, m.target) for m in made(rows, "true")] == [("The Brooklyn Bridge was opened in 1883.", 0)]
    other = made(rows, "other answer")
    assert [(m.hypothesis, m.target) for m in other] == [("The Brooklyn Bridge was opened in 1909.", 2)]
    assert all(m.weight < 1 for m in other)


def test_a_plausible_answer_to_an_unanswerable_question_is_not_entailed() -> None:
    rows = [asked("When was the Queens Bridge opened?", "", answerable=False, plausible_answer="1909")]
    found = made(rows, "unanswerable")
    assert [(m.hypothesis, m.target) for m in found] == [("The Queens Bridge was opened in 1909.", data.NOT_ENTAILMENT)]
    assert not made(rows, "true")


def test_another_passage_of_the_page_is_silent() -> None:
    rows = [
        asked(f"When was the {name} Bridge opened?", year)
        for name, year in (("Brooklyn", "1883"), ("Manhattan", "1909"))
    ]
    rows.append(asked("What is Staten Island?", "a borough", ISLAND))
    found = [m for m in made(rows * 4, "elsewhere") if "opened" in m.hypothesis]
    assert found and all(ISLAND in m.premise and m.target == data.TARGETS["neutral"] for m in found)


def test_two_facts_hold_only_where_both_do() -> None:
    rows = [
        asked(f"When was the {name} Bridge opened?", year)
        for name, year in (("Brooklyn", "1883"), ("Manhattan", "1909"))
    ]
    both = made(rows, "two true")
    assert len(both) == 1 and both[0].target == 0 and "1883" in both[0].hypothesis and "1909" in both[0].hypothesis
    wrong = [m for seed in range(8) for m in questions.spans(rows, "squad", nlp(), random.Random(seed))]
    assert {m.target for m in wrong if m.kind == "squad: one of two false"} == {data.NOT_ENTAILMENT}


@pytest.mark.parametrize(("answer", "target"), [("yes", 0), ("no", 2), ("unknown", data.NOT_ENTAILMENT)])
def test_yes_no_and_unknown(answer: str, target: int) -> None:
    rows = [asked("was the brooklyn bridge opened in 1883", answer)]
    found = list(questions.yes_no(rows, "boolq", nlp()))
    assert [(m.hypothesis, m.target) for m in found] == [("The Brooklyn Bridge was opened in 1883.", target)]


def test_of_a_passage_that_is_cut_only_so_much_is_sure() -> None:
    rows = [asked("was the brooklyn bridge opened in 1883", "yes", f"{BRIDGE} {ISLAND * 8}")]
    assert [m.target for m in questions.yes_no(rows, "boolq", nlp())] == [data.NOT_CONTRADICTION]


def test_names_of_a_lower_case_question_are_written_as_in_the_passage() -> None:
    passage = "Both bridges, the Brooklyn Bridge and the other, cross the East River. I saw them."
    assert answers.truecased("is the brooklyn bridge over the east river", passage) == (
        "Is the Brooklyn Bridge over the East River"
    )


def test_a_figure_is_exchanged_for_one_that_looks_alike() -> None:
    claim = nlp()("The Brooklyn Bridge was opened in 1883.")
    assert negatives.exchanged(claim, nlp()(BRIDGE), random.Random(1)) == (
        "The Brooklyn Bridge was opened in 1909.",
        True,
    )
    assert negatives.exchanged(claim, nlp()("The Brooklyn Bridge was opened in 1883."), random.Random(1)) is None
    assert negatives.shape("3 May 1883") == negatives.shape("12 June 1909") != negatives.shape("1909")


def test_roles_are_swapped_unless_the_verb_is_mutual() -> None:
    assert negatives.swapped(nlp()("The dog chased the cat.")) == "The cat chased the dog."
    assert negatives.swapped(nlp()("Italy defeated France in 2006.")) == "France defeated Italy in 2006."
    assert negatives.swapped(nlp()("Italy met France in 2006.")) is None


def test_statements_are_joined() -> None:
    first, second = nlp()("The bridge was opened in 1883."), nlp()("A ferry crosses the river.")
    assert negatives.joined(first, second) == "The bridge was opened in 1883, and a ferry crosses the river."


def test_all_is_written_and_read_again(tmp_path: Path) -> None:
    rows = [
        asked(f"When was the {name} Bridge opened?", year)
        for name, year in (("Brooklyn", "1883"), ("Manhattan", "1909"))
    ]
    write(tmp_path / "qa" / "squad1_dev.jsonl.gz", rows)
    write(
        tmp_path / "nli" / "fever_nli.jsonl.gz", [row("Rome. Italy defeated France in 2006.", "Italy defeated France.")]
    )
    count = questions.make(tmp_path, tmp_path / "made.jsonl.gz")
    train, development = questions.load(tmp_path / "made.jsonl.gz")
    assert len(train) + len(development) == count > 4
    assert ("France defeated Italy.", data.NOT_ENTAILMENT) in {(p.hypothesis, p.target) for p in train}


def test_folds_keep_siblings_together_and_the_held_out(tmp_path: Path) -> None:
    rows = [
        {"id": f"wice-{n}-chunk{c}", "claim": f"Claim {n}.", "evidence": ["One.", "Two."], "label": "supported"}
        for n in range(60) for c in range(3)
    ]  # fmt: skip
    write(tmp_path / "wice_oracle_chunks_dev.jsonl.gz", rows)
    train, development = in_domain.load(tmp_path)
    assert train and development
    assert not {p.hypothesis for p in train} & {p.hypothesis for p in development}
    held = {f"Claim {n}." for n in range(60) if in_domain.fold(f"wice-{n}") in in_domain.HELD}
    assert held and not held & {p.hypothesis for p in (*train, *development)}


def test_the_window_holds_the_part_near_the_claim() -> None:
    text = "Rain fell over the hills. " * 60 + "The bridge was opened in 1883. " + "Snow lay on the roads. " * 60
    shown = in_domain.window(text, "The bridge was opened in 1883.")
    assert "opened in 1883" in shown and shown in text and len(shown) <= 600
