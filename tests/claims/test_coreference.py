from __future__ import annotations

import pytest

from attribution.claims.coreference import PRONOUNS, Context, is_balanced, outward_pronouns
from attribution.text.parse import parse


def antecedent(question: str, answer: str, sentence: str) -> str | None:
    """What the first outward pronoun of a sentence of the answer refers to."""
    context = Context(question, answer)
    place = answer.index(sentence)
    number = next(i for i, b in enumerate(context.blocks) if b.start <= place < b.end)
    pronoun = next(outward_pronouns(parse(sentence)))
    return context.antecedent(pronoun, PRONOUNS[pronoun.lower_], context.before(number, place), number)


@pytest.mark.parametrize(
    ("question", "answer", "sentence", "expected"),
    [
        ("", "The Eiffel Tower is in Paris. It opened in 1889.", "It opened in 1889.", "the Eiffel Tower"),
        ("", "Marie Curie was a chemist. She won two prizes.", "She won two prizes.", "Marie Curie"),
        ("", "Marie Curie was a chemist. He won two prizes.", "He won two prizes.", None),  # gender
        ("", "The towers are old. It opened in 1889.", "It opened in 1889.", None),  # number
        ("Who was Marie Curie?", "She won two prizes.", "She won two prizes.", "Marie Curie"),
        ("", "## Marie Curie\n\nShe won two prizes.", "She won two prizes.", "Marie Curie"),
        ("", "- **Solar power**: It uses no fuel.", "It uses no fuel.", "solar power"),
        ("", "It opened in 1889.", "It opened in 1889.", None),
    ],
)
def test_the_only_candidate_is_the_antecedent(question: str, answer: str, sentence: str, expected: str | None) -> None:
    assert antecedent(question, answer, sentence) == expected


@pytest.mark.parametrize(
    ("answer", "sentence", "expected"),
    [
        ("The Treaty of Versailles ended the war. The treaty was harsh.", "The treaty was harsh.",
         "the Treaty of Versailles"),
        ("The war ended. The treaty was harsh.", "The treaty was harsh.", None),
        ("The Treaty of Versailles and the Treaty of Trianon failed. The treaty was harsh.", "The treaty was harsh.",
         None),  # which of the two?
    ],
)  # fmt: skip
def test_a_definite_phrase_gets_its_full_name(answer: str, sentence: str, expected: str | None) -> None:
    context, doc = Context("", answer), parse(sentence)
    before = context.before(0, answer.index(sentence))
    assert context.full_name(next(doc.noun_chunks), doc, before, 0) == expected


def test_brackets_and_quotation_marks_come_in_pairs() -> None:
    assert is_balanced('a "b" (c)') and not is_balanced('a "b') and not is_balanced("a (b")
