import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from attribution.segmenters import SEGMENTERS, Segmenter
from attribution.settings import Settings
from attribution.types import Claim, content_id
from tests.make import check_claims

NAMES = [name for name, entry in SEGMENTERS.items() if not entry.needs]
BUILT: dict[str, Segmenter] = {name: SEGMENTERS.build(name, Settings()) for name in NAMES}
every = pytest.mark.parametrize("name", NAMES)


def check(answer: str, claims: tuple[Claim, ...]) -> None:
    check_claims(answer, claims)
    for claim in claims:  # the same claim of two segmenters is one
        assert claim.id == content_id(claim.text, str(claim.spans[0]))


@every
@pytest.mark.parametrize(
    ("answer", "least", "most"),
    [
        ("Yes", 1, 1),
        (
            "Er wurde 1899 in Essex geboren und starb 1980, nachdem er viele Filme gedreht hatte.",
            1,
            6,
        ),
        ("```py\nprint('not a claim, and not two')\n```", 0, 0),
        ("# Heading\n\n- \n\n1.\n\n***\n\n> \n\n| a |\n|---|\n", 0, 1),
        ("\n".join(f"- Item {i} is red and round." for i in range(500)), 500, 2500),
        ("He sang and danced and painted in Rome, and he was happy there. " * 300, 1, 12),
        (("word and " * 2200)[:20_000], 1, 3),
        ("x" * 20_000, 1, 1),
        ("[2] **and** [3]", 1, 1),
    ],
    ids=[
        "word",
        "german",
        "code",
        "empty-ish",
        "items",
        "long",
        "one sentence",
        "no space",
        "marks",
    ],
)
def test_answers_of_every_shape(name: str, answer: str, least: int, most: int) -> None:
    claims = BUILT[name].segment("", answer).claims
    check(answer, claims)
    assert least <= len(claims) <= most


@every
def test_markup_leaves_no_trace(name: str) -> None:
    answer = (
        "- **Marie Curie** discovered *polonium* [1] and [radium](http://a.b/c) [2][3], which are "
        "`rare`."
    )
    for claim in BUILT[name].segment("", answer).claims:
        assert not set("*`[]()") & set(claim.text), claim.text
        assert "http" not in claim.text


PIECES = [
    "He was born in Rome and died in Paris.",
    "**Ann**, a doctor, met Bob [2].",
    "see [x](http://a.b/c_(d)) and go.",
    "`code` runs and stops.",
    "# Heading",
    "- item and item",
    "1. first thing",
    "> quoted words, and more",
    "| a | b |",
    "|---|---|",
    "| c | 4 |",
    "```",
    "_under_",
    "[2]",
    "\t",
    "…",
    "😀 and 😀 win.",
    "Die Wörter und Zahlen.",
    '"He came and',
    'saw"',
    "(which is",
    "it is)",
    "who was there",
    "***",
    "\\*escaped\\*",
    "&amp; and",
    "not only A but also B",
    "X, Y, and Z are up.",
]
MARKDOWN = st.lists(
    st.tuples(st.sampled_from(PIECES), st.sampled_from([" ", "\n", "\n\n", "\r\n", ""])),
    max_size=10,
).map(lambda found: "".join(a + b for a, b in found))


@every
@hypothesis_settings(max_examples=50)
@given(answer=MARKDOWN | st.text(max_size=120))
@example("- item and item\n> quoted words, and more\n- item and item ")  # with another context
def test_claims_of_any_answer_keep_the_contract(name: str, answer: str) -> None:
    claims = BUILT[name].segment("", answer).claims
    check(answer, claims)
    assert BUILT[name].segment("", answer).claims == claims
