import pytest

from attribution.claims.coreference import PRONOUNS, Context, mentions, outward_pronouns
from attribution.text.parse import parse


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("", "The Eiffel Tower is in Paris. It opened in 1889.", "the Eiffel Tower"),
        ("", "Marie Curie was a chemist. She won two prizes.", "Marie Curie"),
        ("", "Marie Curie was a chemist. He won two prizes.", None),  # gender
        ("", "The towers are old. It opened in 1889.", None),  # number
        ("Who was Marie Curie?", "She won two prizes.", "Marie Curie"),
        ("", "## Marie Curie\n\nShe won two prizes.", "Marie Curie"),
        ("", "- **Solar power**: It uses no fuel.", "Solar power"),
        ("", "- **Early life**: It was hard.", None),
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
    last = context.sentences(context.blocks[number].text)[-1].doc
    pronoun = next(outward_pronouns(last))
    place = answer.rindex(pronoun.text + " ")
    antecedent = context.antecedent(PRONOUNS[pronoun.lower_], context.before(number, place), number)
    assert antecedent == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The Treaty of Versailles ended the war.", "the Treaty of Versailles"),
        ("The war ended.", None),
        ("The Treaty of Versailles and the Treaty of Trianon failed.", None),  # which of the two?
    ],
)
def test_a_definite_phrase_gets_its_full_name(answer: str, expected: str | None) -> None:
    context = Context("", f"{answer} The treaty was harsh.")
    before = context.before(0, len(answer) + 1)
    phrase = next(parse("The treaty was harsh.").noun_chunks)
    assert context.full_name(phrase, before, 0) == expected


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


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Alfred Hitchcock left.", {"Alfred Hitchcock": "he"}),
        ("Marie Curie left.", {"Marie Curie": "she"}),
        ("Dr Smith left.", {"Dr Smith": "person"}),
        ("Hitchcock left.", {"Hitchcock": "name"}),
        ("The mother left.", {"the mother": "she"}),
        ("The towers of Pisa fell.", {"the towers of Pisa": "things", "Pisa": "name"}),
        ("The directors left.", {"the directors": "people"}),
        ("Ann and Ben left.", {"Ann": "name", "Ben": "name", "Ann and Ben": "many"}),
    ],
)
def test_the_kind_of_a_mention_says_which_pronouns_fit(text: str, kinds: dict[str, str]) -> None:
    assert {m.text: m.kind for m in mentions(parse(text))} == kinds
