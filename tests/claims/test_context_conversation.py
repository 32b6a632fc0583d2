import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.claims.context import check_independence
from attribution.claims.enrichment import enrich, standalone_question
from attribution.claims.worthiness import classify
from attribution.conversation import as_text, check_turns, turns_of
from attribution.errors import BadInput
from attribution.segmenters.sentence_by_sentence import Sentences
from attribution.settings import Settings
from attribution.types import Speaker, Turn

TOWER: tuple[Turn, ...] = (
    ("user", "What is the Eiffel Tower?"),
    ("assistant", "The Eiffel Tower is an iron tower in Paris."),
)


def test_turns_are_read_as_they_are_typed() -> None:
    typed = (
        "User: What is it?\n**Assistant:** A tower.\nIt stands in Paris: in the west.\n\nuser: And "
        "its height?"
    )
    assert turns_of(typed) == (
        ("user", "What is it?"),
        ("assistant", "A tower.\nIt stands in Paris: in the west."),
        ("user", "And its height?"),
    )
    assert turns_of(" \n") == ()


@pytest.mark.parametrize(
    "rows",
    [
        [{"speaker": "user", "text": "A?"}, {"speaker": "assistant", "text": "B."}],
        [{"role": "human", "content": "A?"}, {"role": "Assistant", "content": "B."}],
        [["user", "A?"], ["assistant", "B."]],
    ],
)
def test_turns_are_read_from_json(rows: list[object]) -> None:
    expected = (("user", "A?"), ("assistant", "B."))
    assert turns_of(rows) == expected


@pytest.mark.parametrize(
    ("turns", "message"),
    [
        ("What is it?", "expected “User: …”"),
        ([{"speaker": "nobody", "text": "x"}], "turn 1: expected"),
        ([{"speaker": "user", "text": 3}], "turn 1: expected"),
        ({"speaker": "user"}, "neither text nor a list"),
        ("User: " + "x" * 20_001, "at most 50 turns"),
        ("User: x\n" * 51, "51 earlier turns"),
    ],
)
def test_what_is_no_conversation_says_what_was_expected(turns: object, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        turns_of(turns)


SPEAKER: st.SearchStrategy[Speaker] = st.sampled_from(["user", "assistant"])


@given(st.lists(st.tuples(SPEAKER, st.text("ab .é\n?", max_size=20)), max_size=6))
def test_text_and_json_lead_back_to_the_same_turns(turns: list[Turn]) -> None:
    kept = check_turns(turns)
    assert turns_of(json.loads(json.dumps(turns))) == kept
    assert turns_of(as_text(kept)) == kept


@pytest.mark.parametrize(
    ("turns", "question", "expected"),
    [
        (TOWER, "When was it built?", "What is the Eiffel Tower? When was it built?"),
        (
            (*TOWER, ("user", "When was it built?"), ("assistant", "Between 1887 and 1889.")),
            "Why?",
            "What is the Eiffel Tower? When was it built? Why?",
        ),
        (TOWER, "Who was Gustave Eiffel?", "Who was Gustave Eiffel?"),
        ((), "When was it built?", "When was it built?"),
        (
            (("user", "¿Qué es la Torre Eiffel?"),),
            "¿Cuándo fue construida?",
            "¿Cuándo fue construida?",
        ),
        (
            (("user", "Did Marie Curie meet Lise Meitner?"),),
            "When did she die?",
            # which of the two is not certain
            "Did Marie Curie meet Lise Meitner? When did she die?",
        ),
    ],
)
def test_a_question_is_asked_without_its_conversation(
    turns: tuple[Turn, ...], question: str, expected: str
) -> None:
    assert standalone_question(question, turns) == expected


@pytest.mark.parametrize(
    ("turns", "question", "expected"),
    [
        (TOWER, "When was it built?", "The Eiffel Tower was completed in 1889."),
        (TOWER, "And when?", "The Eiffel Tower was completed in 1889."),
        ((), "When was it built?", None),
    ],
)
def test_claims_are_resolved_into_the_turns(
    turns: tuple[Turn, ...], question: str, expected: str | None
) -> None:
    answer = "It was completed in 1889."
    claims = check_independence(classify(Sentences(Settings()).segment(question, answer).claims))
    (found,) = enrich(standalone_question(question, turns), answer, claims)
    assert found.enriched == expected
