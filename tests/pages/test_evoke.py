import json
from dataclasses import replace

import pytest

from attribution.errors import BadInput
from attribution.pipeline.experiment import run_each
from attribution.reports.html import html
from attribution.store.store import Store
from attribution.studies.groundedness.test_sets import EvokedSet, Grounded, Made, load, make, save
from attribution.studies.groundedness.twins import Swap, apply
from pages.evoke import LIMIT, MakeProgress, as_lines, of_file, summary, twin, work
from pages.ui.background import Job
from pages.ui.lab.benchmark_results import error_type_word
from tests.pages.hostile import TEXTS
from tests.pages.jobs import ended, opened, until

GROUNDED = Grounded(
    "t", "", ("The tower was built in 1889.",), "The tower was built in 1889. It is often closed."
)


def test_a_job_makes_a_set_that_can_be_read_again() -> None:
    assert list(
        make([GROUNDED], ["number"])
    )  # loads the parser, which takes longer than the job may
    begun, saved = EvokedSet((GROUNDED,), ("number", "scope", "name"), 0, False), []

    def alter(answer: Grounded) -> tuple[list[Made], list[str]]:
        return next(make([answer], begun.kinds))

    altered = work(begun, lambda answers, stop: run_each(answers, alter, stop), saved.append)
    now = ended(Job("evoked", MakeProgress(set=begun), altered)).set
    assert saved[0] == begun and saved[-1] == now and now.done == 1
    assert summary(now.made) == "1 grounded answer, 2 twins: 1 number, 1 scope."
    assert now.problems == ("t: nothing to alter by rule: name",)
    rows = [json.loads(line) for line in as_lines(now.made).splitlines()]
    assert [r["grounded"] for r in rows] == [True, False, False]
    answers, problems = of_file(as_lines(now.made).encode())
    assert answers == [GROUNDED] and [p.split(":")[0] for p in problems] == ["line 2", "line 3"]


def test_a_set_goes_on_where_it_was_left_and_is_kept_with_its_labels(store: Store) -> None:
    answers = tuple(replace(GROUNDED, id=name) for name in "abc")
    whole = EvokedSet(answers, ("number",), 3, False)
    rows, problems = next(make(answers[:1], ["number"], 3))
    part = whole.with_answer(rows, problems)
    id = "e" * 16
    save(Store(store.database, "owner"), id, part)
    assert load(store, id) == part and load(store, "f" * 16) is None

    guest = opened("evoke", "guest", evoked=id)
    assert guest.selectbox(key="type-a~number").disabled and "go_on" not in [
        b.key for b in guest.button
    ]
    guest.button(key="make_copy").click().run()
    guest.selectbox(key="type-a~number").set_value("reasoning_error").run()
    copy = load(store, guest.query_params["evoked"])
    assert (
        not guest.exception
        and copy
        and copy.made[1].error_type == "reasoning_error"
        and load(store, id) == part
    )
    at = opened("evoke", "owner", evoked=id)
    assert not at.exception and any("1 of 3 answers done." in h.body for h in at.get("html"))
    at.button(key="go_on").click().run()
    until(lambda: (now := load(store, id)) and now.done == 3)
    found = load(store, id)
    at.run()
    assert found and [m.grounded.id for m in found.made] == ["a", "a", "b", "b", "c", "c"]
    at.selectbox(key="type-b~number").set_value("reasoning_error").run()
    assert not at.exception
    again = load(store, id)
    assert again and [m.error_type for m in again.made if m.id == "b~number"] == ["reasoning_error"]


def test_a_file_that_is_too_long_is_refused() -> None:
    line = json.dumps({"context": "c", "response": "r"}) + "\n"
    with pytest.raises(BadInput, match="1,001 answers"):
        of_file((line * (LIMIT + 1)).encode())


def test_twins_show_both_words_and_stay_text() -> None:
    for text in TEXTS:
        answer = f"{text} 1889 {text}"
        at = answer.index(" 1889 ") + 1
        made = Made(
            Grounded("t", "", ("c",), answer),
            apply(answer, [Swap(at, at + 4, "<b>1890</b>")], "number"),
        )
        shown = html(twin(made))
        assert '<del class="ax-changed">1889</del>' in shown and "&lt;b&gt;1890&lt;/b&gt;" in shown
        assert "<script" not in shown and "<img" not in shown and "<iframe" not in shown
    assert (
        error_type_word("") == "Not labelled"
        and error_type_word("reasoning_error") == "Reasoning error"
    )
