import pytest

from attribution.claims.coreference import (
    PRONOUNS,
    Context,
    is_balanced,
    is_expletive,
    mentions,
    outward_pronouns,
)
from attribution.text.parse import parse


def antecedent(question: str, answer: str, sentence: str) -> str | None:
    """The antecedent of the first outward pronoun of a sentence of the answer."""
    context = Context(question, answer)
    place = answer.index(sentence)
    number = next(i for i, b in enumerate(context.blocks) if b.start <= place < b.end)
    pronoun = next(outward_pronouns(parse(sentence)))
    return context.antecedent(
        pronoun, PRONOUNS[pronoun.lower_], context.before(number, place), number
    )


@pytest.mark.parametrize(
    ("question", "answer", "sentence", "expected"),
    [
        (
            "",
            "The Eiffel Tower is in Paris. It opened in 1889.",
            "It opened in 1889.",
            "the Eiffel Tower",
        ),
        (
            "",
            "Marie Curie was a chemist. She won two prizes.",
            "She won two prizes.",
            "Marie Curie",
        ),
        ("", "Marie Curie was a chemist. He won two prizes.", "He won two prizes.", None),  # gender
        ("", "The towers are old. It opened in 1889.", "It opened in 1889.", None),  # number
        ("Who was Marie Curie?", "She won two prizes.", "She won two prizes.", "Marie Curie"),
        ("", "## Marie Curie\n\nShe won two prizes.", "She won two prizes.", "Marie Curie"),
        ("", "- **Solar power**: It uses no fuel.", "It uses no fuel.", "solar power"),
        ("", "It opened in 1889.", "It opened in 1889.", None),
        (
            "Where are the Oldervik dam and the chemist?",
            "They divorced in 1921.",
            "They divorced in 1921.",
            None,
        ),
        ("Where are the dams of Norway?", "They divorced in 1921.", "They divorced in 1921.", None),
        (
            "Who were the Moss brothers?",
            "They were rebuilt in 1921.",
            "They were rebuilt in 1921.",
            None,
        ),
        (
            "Who were the Moss brothers?",
            "They divorced in 1921.",
            "They divorced in 1921.",
            "the Moss brothers",
        ),
    ],
)
def test_the_only_candidate_is_the_antecedent(
    question: str, answer: str, sentence: str, expected: str | None
) -> None:
    assert antecedent(question, answer, sentence) == expected


@pytest.mark.parametrize(
    ("answer", "sentence", "expected"),
    [
        (
            "The Treaty of Versailles ended the war. The treaty was harsh.",
            "The treaty was harsh.",
            "the Treaty of Versailles",
        ),
        ("The war ended. The treaty was harsh.", "The treaty was harsh.", None),
        (
            "The Treaty of Versailles and the Treaty of Trianon failed. The treaty was harsh.",
            "The treaty was harsh.",
            None,
        ),  # which of the two?
    ],
)
def test_a_definite_phrase_gets_its_full_name(
    answer: str, sentence: str, expected: str | None
) -> None:
    context, doc = Context("", answer), parse(sentence)
    before = context.before(0, answer.index(sentence))
    assert context.full_name(next(doc.noun_chunks), doc, before, 0) == expected


def test_brackets_and_quotation_marks_come_in_pairs() -> None:
    assert is_balanced('a "b" (c)') and not is_balanced('a "b') and not is_balanced("a (b")


@pytest.mark.parametrize(
    ("text", "pronouns"),
    [
        ("He was born in 1899.", ["He"]),
        ("Hitchcock said that he was tired.", []),
        ("When he was twenty, Newton left Cambridge.", []),  # cataphora
        ("It protects it.", ["It", "it"]),
        ("The shield protects it.", ["it"]),  # not the subject of its own verb
        ("It rained.", []),
        ("It is clear that prices rise.", []),
        ("A tenant must pay their rent.", []),
        ("IT departments grow.", []),
        ("Paris is the capital of France.", []),
    ],
)
def test_pronouns_that_refer_to_something_outside(text: str, pronouns: list[str]) -> None:
    assert [t.text for t in outward_pronouns(parse(text))] == pronouns


@pytest.mark.parametrize(
    ("text", "expletive"),
    [
        ("It snows.", True),
        ("It seems that he left.", True),
        ("It took him ten years to win.", True),
        ("It is likely that he won.", True),
        ("It is a tower.", False),
        ("It fell.", False),
    ],
)
def test_an_it_that_refers_to_nothing(text: str, expletive: bool) -> None:
    assert is_expletive(parse(text)[0]) is expletive


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Alfred Hitchcock left.", "he"),
        ("Marie Curie left.", "she"),
        ("Mr Smith left.", "he"),
        ("Dr Smith left.", "person"),
        ("Hitchcock left.", "name"),
        ("The director left.", "person"),
        ("The mother left.", "she"),
        ("The tower fell.", "thing"),
        ("The towers fell.", "things"),
        ("The directors left.", "people"),
        ("The Treaty of Versailles failed.", "thing"),
    ],
)
def test_the_kind_of_a_mention_says_which_pronouns_fit(text: str, kind: str) -> None:
    assert next(mentions(parse(text))).kind == kind


def test_a_mention_knows_its_place_and_role() -> None:
    doc = parse("The tower of Pisa is old.")
    (tower, *_) = mentions(doc)
    assert (
        tower.text == "the tower of Pisa"
        and doc.text[tower.start : tower.end] == "The tower of Pisa"
    )
    assert (
        tower.subject
        and tower.definite
        and tower.whole
        and (tower.head, tower.role) == ("tower", "nsubj")
    )


def test_coordinated_mentions_are_also_one_of_many() -> None:
    found = {m.text: m.kind for m in mentions(parse("Ann and Ben left."))}
    assert found["Ann and Ben"] == "many" and "Ann" in found and "Ben" in found


def test_an_owner_is_a_mention_of_its_own() -> None:
    assert "Curie" in [m.text for m in mentions(parse("Curie's husband died."))]
