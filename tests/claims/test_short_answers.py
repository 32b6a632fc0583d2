import pytest

from attribution.claims.short_answers import is_short_answer, statement, with_replies

WHO = "Who designed it? A) Anna Berg B) Ove Lund C) Tom Reed"


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("Is the Lorne Bridge red?", "Yes, it is.", "The Lorne Bridge is red."),
        ("Is the bridge open to trucks?", "No.", "The bridge is not open to trucks."),
        ("Was the pier lost in 1987?", "Yes, it was.", "The pier was lost in 1987."),
        ("Can trucks use the bridge?", "Yes", "Trucks can use the bridge."),
        ("True or false: the bridge is red.", "False", "It is not true that the bridge is red."),
        ("The bridge is red. True or false?", "True", "The bridge is red."),
        (WHO, "The correct answer is A.", "Anna Berg designed it."),
        (WHO, "b", "Ove Lund designed it."),
        (WHO, "C) Tom Reed", "Tom Reed designed it."),
        ("Who was the pier designed by?", "Tom Reed", "The pier was designed by Tom Reed."),
        ("What is the toll for vans?", "4 crowns", "The toll for vans is 4 crowns."),
        ("When was the bridge opened?", "3 May 1957", "The bridge was opened on 3 May 1957."),
        ("When was the bridge opened?", "1957", "The bridge was opened in 1957."),
        ("Where is the bridge?", "Osen", "The bridge is in Osen."),
        ("How long is the bridge?", "300 metres", "The bridge is 300 metres long."),
        ("Opening year of the bridge", "1932", "Opening year of the bridge: 1932"),
    ],
)
def test_a_short_answer_is_read_as_a_statement(question: str, answer: str, expected: str) -> None:
    assert is_short_answer(answer, is_alone=True)
    assert statement(question, answer) == expected


@pytest.mark.parametrize("text", ["The bridge opened in 1932.", "It is red and green.", "Ja."])
def test_a_sentence_needs_no_question(text: str) -> None:
    assert not is_short_answer(text, is_alone=False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("May I bring a dog? Yes.", "I may bring a dog."),
        ("Q: Is the museum open?\nA: No.", "The museum is not open."),
        (
            "Tom: And it fell in 1988? Ann: No, it stood.",
            "It is not true that it fell in 1988. it stood.",
        ),
        ("When did it open? In 1932.", "When did it open? In 1932."),
    ],
)
def test_a_question_with_its_reply_is_what_the_reply_says(text: str, expected: str) -> None:
    assert with_replies(text) == expected
