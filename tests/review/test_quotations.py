import pytest

from attribution.review.quotations import quotations
from tests.make import page
from tests.reports.runs import run

SPEECH = (
    "The mayor spoke last. He said: “We will rebuild the bridge in two years, and we will not "
    "raise taxes for it. Nobody in this town shall be forgotten.” The crowd cheered."
)


@pytest.mark.parametrize(
    ("answer", "outcome", "source"),
    [
        (
            "The mayor said, “We will not raise taxes for it.”",
            "verbatim",
            "we will not raise taxes for it",
        ),
        (
            '"Nobody in this town shall be forgotten", he added.',
            "verbatim",
            "Nobody in this town shall be forgotten",
        ),
        (
            "The mayor said: “[N]obody in this town shall be forgotten.”",
            "verbatim",
            "Nobody in this town shall be forgotten",
        ),
        (
            "The mayor said “we will rebuild the bridge … and we will not raise taxes”.",
            "verbatim",
            "We will rebuild the bridge in two years, and we will not raise taxes",
        ),
        (
            "The mayor said: “We will rebuild the bridge in three years, and we will raise taxes "
            "for it.”",
            "altered",
            "We will rebuild the bridge in two years, and we will not raise taxes for it",
        ),
        (
            '{"answer": "She said «we will rebuild the bridge». All agreed."}',
            "verbatim",
            "We will rebuild the bridge",
        ),
        (
            'She called it "huge." because it is wide, and "we will rebuild the bridge", she said.',
            "verbatim",
            "We will rebuild the bridge",
        ),
        ("According to the mayor, «the bridge is lost for ever to all of us».", "not_found", ""),
    ],
)
def test_a_quotation_is_verbatim_altered_or_not_found(
    answer: str, outcome: str, source: str
) -> None:
    made = run().model_copy(
        update={"answer": answer, "pages": (page("Unrelated words."), page(SPEECH))}
    )
    (found,) = quotations(made)
    assert (found.outcome, found.source) == (outcome, source)
    assert answer[slice(*found.span)] == found.text
    if found.page:
        assert found.page.text[slice(*found.at)] == source


@pytest.mark.parametrize(
    "answer", ["The “Old Town Bridge Of Zorb” is wide.", "He said “no”.", "No quotation at all."]
)
def test_names_and_single_words_are_no_quotations(answer: str) -> None:
    assert quotations(run().model_copy(update={"answer": answer, "pages": (page(SPEECH),)})) == ()


def test_without_the_text_of_every_page_nothing_is_called_not_found() -> None:
    answer = "The mayor said: “The bridge is lost for ever to all of us.”"
    made = run().model_copy(
        update={"answer": answer, "pages": (page(SPEECH), page("", "https://b.example/"))}
    )
    assert quotations(made) == ()
