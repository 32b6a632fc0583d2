import pytest

from attribution.text.sentences import sentences
from attribution.verifiers.antecedents import antecedent


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "The footbridge at Castelnera was opened in 1962. It cost 1.4 million lire.",
            "The footbridge at Castelnera",
        ),
        ("Marie Curie was born in Warsaw. She moved to Paris.", "Marie Curie"),
        ("The sisters bought a mill. They sold it in 1901.", "The sisters"),
        ("The bridge is long. It is wide. It cost 1.4 million lire.", "The bridge"),
        ("The sisters bought a mill. It burned down in 1901.", ""),
        ("The bridge was opened in 1962. She was the first to cross.", ""),
        ("It cost 1.4 million lire.", ""),
        ("The bridge is long. The town paid for it.", ""),
    ],
)
def test_the_subject_of_the_sentence_before_is_named(text: str, name: str) -> None:
    spans = [*sentences(text)]
    assert antecedent("The mill was sold.", text, spans, spans[-1]) == name


@pytest.mark.parametrize(
    ("claim", "text", "name"),
    [
        (
            "The architect of the footbridge was Livia Moretti.",
            "The footbridge is long. The architect was L.",
            "The footbridge",
        ),
        (
            "Bo Holm is the head of the town museum.",
            "The museum in Graz is new. It is big. The head is Bo Holm.",
            "The museum in Graz",
        ),
        (
            "The architect of the tunnel was Livia Moretti.",
            "The footbridge is long. The architect was L.",
            "",
        ),
        (
            "The architect of the footbridge was Livia Moretti.",
            "The footbridge is long. The architect of the mill was L.",
            "",
        ),
        (
            "The architect was Livia Moretti.",
            "The footbridge is long. The architect was Livia Moretti.",
            "",
        ),
    ],
)
def test_what_a_claim_says_the_subject_is_a_part_of_is_named(
    claim: str, text: str, name: str
) -> None:
    spans = [*sentences(text)]
    assert antecedent(claim, text, spans, spans[-1]) == name
