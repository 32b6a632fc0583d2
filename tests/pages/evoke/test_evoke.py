from __future__ import annotations

import json

import pytest

from attribution.errors import BadInput
from attribution.evaluation.evoked_errors.test_set import Grounded, Made, make
from attribution.evaluation.evoked_errors.twin import Edit, apply
from pages.ui.evoke.job import MakeJob
from pages.ui.evoke.state import LIMIT, of_file
from pages.ui.evoke.view import as_lines, summary, twin, type_word
from pages.ui.html.render import html
from tests.pages.hostile import TEXTS
from tests.pages.jobs import ended

GROUNDED = Grounded("t", "", ("The tower was built in 1889.",), "The tower was built in 1889. It is often closed.")


def test_a_job_makes_a_set_that_can_be_read_again() -> None:
    assert list(make([GROUNDED], ["number"]))  # loads the parser, which takes longer than the job may
    now = ended(MakeJob([GROUNDED], lambda answers: make(answers, ["number", "scope", "name"])))
    assert summary(now.made) == "1 grounded answer, 2 twins: 1 number, 1 scope."
    assert now.problems == ("t: nothing to alter by rule: name",)
    rows = [json.loads(line) for line in as_lines(now.made).splitlines()]
    assert [r["grounded"] for r in rows] == [True, False, False]
    answers, problems = of_file(as_lines(now.made).encode())
    assert answers == [GROUNDED] and [p.split(":")[0] for p in problems] == ["line 2", "line 3"]


def test_a_file_that_is_too_long_is_refused() -> None:
    line = json.dumps({"context": "c", "response": "r"}) + "\n"
    with pytest.raises(BadInput, match="1,001 answers"):
        of_file((line * (LIMIT + 1)).encode())


def test_twins_show_both_words_and_stay_text() -> None:
    for text in TEXTS:
        answer = f"{text} 1889 {text}"
        at = answer.index(" 1889 ") + 1
        made = Made(Grounded("t", "", ("c",), answer), apply(answer, [Edit(at, at + 4, "<b>1890</b>")], "number"))
        shown = html(twin(made))
        assert '<del class="ax-changed">1889</del>' in shown and "&lt;b&gt;1890&lt;/b&gt;" in shown
        assert "<script" not in shown and "<img" not in shown and "<iframe" not in shown
    assert type_word("") == "Not labelled" and type_word("reasoning_error") == "Reasoning error"
