import pytest

from attribution.claims.short_answers import is_short_answer, statement

WHO = "Who designed it? A) Anna Berg B) Ove Lund C) Tom Reed"


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("Is the Lorne Bridge red?", "Yes, it is.", "The Lorne Bridge is red."),
        ("Is the bridge open to trucks?", "No.", "The bridge is not open to trucks."),
        ("Was the pier lost in 1987?", "Yes, it was.", "The pier was lost in 1987."),
        ("Did A. B. Low build it?", "No.", "A. B. Low did not build it."),
        ("Can trucks use the bridge?", "Yes", "Trucks can use the bridge."),
        ("True or false: the bridge is red.", "False", "It is not true that the bridge is red."),
        ("The bridge is red. True or false?", "True", "The bridge is red."),
        (WHO, "The correct answer is A.", "Who designed it: Anna Berg"),
        (WHO, "b", "Who designed it: Ove Lund"),
        ("When was the bridge opened?", "1957", "When was the bridge opened: 1957"),
        ("How long is the bridge?", "300 metres", "How long is the bridge: 300 metres"),
        ("Opening year of the bridge", "1932", "Opening year of the bridge: 1932"),
    ],
)
def test_a_short_answer_is_read_as_a_statement(question: str, answer: str, expected: str) -> None:
    assert is_short_answer(answer, is_alone=True)
    assert statement(question, answer) == expected


@pytest.mark.parametrize("text", ["The bridge opened in 1932.", "It is red and green.", "Ja."])
def test_a_sentence_needs_no_question(text: str) -> None:
    assert not is_short_answer(text, is_alone=False)
