import json
from typing import Any

import pytest

from attribution.files import Row
from attribution.llm.client import Llm
from attribution.studies.groundedness.evoke import Evoked, evoke
from attribution.studies.groundedness.labelled_set import labelled_set
from tests.llm_server import llm_server, llm_settings

CONTEXT = "The tower was finished in 1889. It is 330 m high."
RESPONSE = "The tower dates from 1889. It is 330 m high."
ROW = {"question": "When?", "context": CONTEXT, "response": RESPONSE}


def evoked(reply: dict[str, str], *rows: dict[str, Any]) -> list[Evoked]:
    with llm_server(lambda _: json.dumps(reply)) as server:
        given = [Row(number, row) for number, row in enumerate(rows, 1)]
        return list(evoke(given, Llm(llm_settings(server))))


def test_a_twin_differs_from_its_answer_in_the_altered_sentence_alone() -> None:
    reply = {
        "original": "The tower dates from 1889.",
        "altered": "The tower dates from 1898.",
        "error_type": "factual_inaccuracy",
    }
    (made,) = evoked(reply, ROW)
    grounded, twin = made.rows
    assert grounded["response"] == RESPONSE
    assert twin["response"] == "The tower dates from 1898. It is 330 m high."
    ((start, end),) = twin["changed"]  # type: ignore[misc]
    assert str(twin["response"])[start:end] == reply["altered"]
    assert twin["error_type"] == "factual_inaccuracy"


def test_an_answer_and_its_twin_are_a_labelled_set_in_one_split() -> None:
    reply = {"original": "It is 330 m high.", "altered": "It is 300 m high."}
    (made,) = evoked(reply, ROW)
    rows = labelled_set([Row(n, dict(fields)) for n, fields in enumerate(made.rows, 1)]).rows
    assert [row.grounded for row in rows] == [True, False]
    assert len({row.group for row in rows}) == 1


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ({"original": "", "altered": ""}, "nothing to alter"),
        ({"original": "It is old.", "altered": "It is new."}, "not in the answer"),
        ({"original": "It is 330 m high.", "altered": "it is 330 m  high."}, "changed nothing"),
        ({"original": "It is 330 m high.", "altered": "Tall. " * 40}, "another text"),
    ],
)
def test_an_unusable_reply_is_an_error_of_its_row_alone(
    reply: dict[str, str], problem: str
) -> None:
    (made,) = evoked(reply, ROW)
    grounded, failed = made.rows
    assert grounded["grounded"] is True
    assert problem in str(failed["error"])


def test_lines_that_are_not_grounded_answers_leave_the_others_alone() -> None:
    reply = {"original": "It is 330 m high.", "altered": "It is 300 m high."}
    ungrounded = {**ROW, "grounded": False}
    without_context = {**ROW, "context": []}
    first, second, third = evoked(reply, ungrounded, without_context, ROW)
    assert "error" in first.rows[0]
    assert "error" in second.rows[0]
    assert len(third.rows) == 2
    assert not third.problem
