import pytest

from attribution.claims.coreference import PRONOUNS, Context, outward_pronouns
from attribution.text.parse import parse


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("", "The Eiffel Tower is in Paris. It opened in 1889.", "the Eiffel Tower"),
        ("", "Marie Curie was a chemist. She won two prizes.", "Marie Curie"),
        ("", "Marie Curie was a chemist. He won two prizes.", None),  # gender
        ("", "The towers are old. It opened in 1889.", None),  # number
        ("Who was Marie Curie?", "She won two prizes.", "Marie Curie"),
        ("", "- **Solar power**: It uses no fuel.", "Solar power"),
        ("", "It opened in 1889.", None),
        ("Where are the Oldervik dam and the chemist?", "They divorced in 1921.", None),
        ("Who were the Moss brothers?", "They divorced in 1921.", "the Moss brothers"),
    ],
)
def test_the_only_candidate_is_the_antecedent(
    question: str, answer: str, expected: str | None
) -> None:
    context = Context(question, answer)
    number = len(context.blocks) - 1
    text = context.blocks[number].text
    last = list(parse(text).sents)[-1].as_doc()
    pronoun = next(outward_pronouns(last))
    place = answer.rindex(pronoun.text + " ")
    antecedent = context.antecedent(PRONOUNS[pronoun.lower_], number, place)
    assert antecedent == expected


@pytest.mark.parametrize(
    ("text", "pronouns"),
    [
        ("He was born in 1899.", ["He"]),
        ("Hitchcock said that he was tired.", []),
        ("When he was twenty, Newton left Cambridge.", []),
        ("It protects it.", ["It", "it"]),
        ("The shield protects it.", ["it"]),  # not the subject of its own verb
        ("A tenant must pay their rent.", []),
        ("IT departments grow.", []),
        ("Paris is the capital of France.", []),
        ("It is a tower.", ["It"]),
        ("It fell.", ["It"]),
        ("It rained.", []),
        ("It is clear that prices rise.", []),
        ("It seems that he left.", ["he"]),
        ("It took ten years to win.", []),
    ],
)
def test_pronouns_that_refer_to_something_outside(text: str, pronouns: list[str]) -> None:
    assert [t.text for t in outward_pronouns(parse(text))] == pronouns
