"""FActScore over one gathering, with the small verifier and a scripted language model as the other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from attribution import events
from attribution.errors import BadInput
from attribution.files import Row
from attribution.pipeline.snapshot import Snapshot
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.factscore.answer import (
    AnswerScored,
    Decomposed,
    FrozenPages,
    JudgedFact,
    ScoredAnswer,
    check_choice,
    score_answer,
)
from attribution.studies.factscore.experiment import FILE, run, tables
from attribution.types import Document
from tests.llm_server import llm_server, llm_settings

NOTE = Document("tower.txt", b"The Eiffel Tower in Paris was completed in 1889. Gustave Eiffel's company built it.")
ANSWER = "The Eiffel Tower was completed in 1889 and stands in Paris. It was painted green in 1925."
ROWS = [
    Row(1, {"question": "Q", "answer": "The Eiffel Tower was completed in 1889.", "system": "one"}),
    Row(2, {"answer": "I'm sorry, I could not find any information about it.", "system": "two"}),
    Row(3, {}, "not JSON"),
    Row(4, {"question": "Q", "answer": ANSWER, "system": "two"}),
]


def reply(request: dict[str, Any]) -> str:
    """Every passage entails every claim."""
    quote = "The Eiffel Tower in Paris was completed in 1889."
    return json.dumps({"verdicts": [{"passage": 1, "relation": "entailed", "quote": quote}]})


@pytest.fixture
def both(settings: Settings) -> Iterator[Settings]:
    with llm_server(reply) as server:
        yield llm_settings(server, sources=("documents",), database_url=settings.database_url)


def scored(settings: Settings, store: Store, *names: str, **more: Any) -> ScoredAnswer:
    *_, last = score_answer(
        "", ANSWER, settings, names or ["sentences", "clauses"], ["embedded-small", "llm"], store,
        **{"documents": [NOTE], **more},
    )  # fmt: skip
    assert isinstance(last, AnswerScored)
    return last.answer


def test_every_cell_reads_the_same_pages(both: Settings, store: Store) -> None:
    steps = list(
        score_answer(
            "", ANSWER, both, ["sentences", "clauses"], ["embedded-small", "llm"], store, documents=[NOTE]
        )
    )  # fmt: skip
    assert [type(s) for s in steps].count(events.PageReady) == 1
    last = steps[-1]
    assert isinstance(last, AnswerScored)
    answer = last.answer
    whole, parts = answer.decomposed
    assert len(whole.facts) == 2 and len(parts.facts) == 3
    assert answer.counts("clauses", "llm").supported == 2  # it believes everything but another year
    strict = {answer.texts[j.fact]: j.label for j in answer.facts("clauses", "embedded-small")}
    assert strict["The Eiffel Tower was completed in 1889."] == "supported"
    assert strict["The Eiffel Tower was painted green in 1925."] != "supported"
    (year,) = [j for j in answer.facts("clauses", "embedded-small") if "completed" in answer.texts[j.fact]]
    assert year.sentence == "The Eiffel Tower in Paris was completed in 1889." and year.url == "document:tower.txt"


def test_a_fact_that_a_failure_kept_from_being_judged_is_left_out() -> None:
    judged = tuple(
        JudgedFact(name, label, 0.9, "") for name, label in (("a", "supported"), ("b", "not_reached"), ("c", "missing"))
    )  # fmt: skip
    answer = ScoredAnswer("", "x", "", False, "", {}, (Decomposed("s", ("a", "b", "c"), 3, 3, 0.0),), {"v": judged})
    counts = answer.counts("s", "v")
    assert (counts.facts, counts.supported) == (2, 1)
    assert tables([answer], ["s"], ["v"])[-1].rows == (("v", 1, 1.0, 3, 1),)


def test_a_search_that_failed_counts_against_no_fact(settings: Settings, store: Store) -> None:
    broken = settings.model_copy(update={"sources": ("http://127.0.0.1:9/nothing",)})
    *_, last = score_answer("", ANSWER, broken, ["sentences"], ["embedded-small"], store)
    assert isinstance(last, AnswerScored) and last.answer.failures
    assert last.answer.counts("sentences", "embedded-small").facts == 0


def test_a_snapshot_is_the_source_of_other_answers(both: Settings, store: Store) -> None:
    first = scored(both, store)
    pages = FrozenPages(Snapshot.of(store, first.run_id))
    web = both.model_copy(update={"sources": ("library",)})
    *_, last = score_answer(
        "", "The Eiffel Tower was finished in 1889.", web, ["sentences"], ["embedded-small"], store, source=pages
    )
    assert isinstance(last, AnswerScored)
    (judged,) = last.answer.facts("sentences", "embedded-small")
    assert judged.url == "document:tower.txt" and judged.label == "supported"


def without_times(path: Path) -> list[Any]:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        for part in row.get("scored", {}).get("decomposed", ()):
            part["seconds"] = 0
        row.get("scored", {}).pop("run_id", "")
    return rows


@pytest.mark.usefixtures("warm_library")
def test_killed_and_resumed_gives_the_same(settings: Settings, tmp_path: Path) -> None:
    choice = (["sentences", "clauses"], ["embedded-small"])
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    done = list(run(ROWS, settings, *choice, whole))
    assert [(s.done, s.total) for s in done] == [(n, 4) for n in (1, 2, 3, 4)]
    assert [s.problem for s in done] == ["line 3: not JSON", "", "", ""]
    steps = run(ROWS, settings, *choice, cut)
    next(steps), next(steps)
    steps.close()
    with (cut / FILE).open("a") as file:
        file.write('{"key": "cut of')
    before = (cut / FILE).read_text().splitlines()[1]
    list(run(ROWS, settings, *choice, cut))
    assert (cut / FILE).read_text().splitlines()[0] == before  # not scored again
    assert without_times(cut / FILE) == without_times(whole / FILE)
    same = ("factscore.csv", "sensitivity-to-the-decomposer.csv", "systems-by-embedded-small.csv")
    assert all((cut / name).read_text() == (whole / name).read_text() for name in same)
    systems = (whole / "systems-by-embedded-small.csv").read_text().splitlines()
    assert systems[0] == "system,answers,respond ratio,sentences,clauses" and systems[2].startswith("two,2,0.5,")
    assert "Failed answers" in (whole / "tables.md").read_text()


def test_facts_are_resolved_into_earlier_turns(both: Settings, store: Store) -> None:
    *_, last = score_answer(
        "When was it built?", "It was completed in 1889.", both, ["sentences"], ["embedded-small", "llm"], store,
        context=[("user", "What is the Eiffel Tower?")], documents=[NOTE],
    )  # fmt: skip
    assert isinstance(last, AnswerScored)
    assert list(last.answer.texts.values()) == ["The Eiffel Tower was completed in 1889."]


@pytest.mark.parametrize(
    ("segmenters", "verifiers"), [([], ["auto"]), (["sentences"] * 2, ["auto"]), (["sentences"], ["nope"])]
)
def test_choices_are_checked_before_any_work(
    segmenters: list[str], verifiers: list[str], settings: Settings, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match="expected one"):
        check_choice(segmenters, verifiers, settings)
    with pytest.raises(BadInput):
        list(run(ROWS, settings, segmenters, verifiers, tmp_path / "out"))
    assert not (tmp_path / "out").exists()
