import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from attribution.segmenters.sentences import Sentences
from attribution.settings import Settings

SENTENCES = Sentences(Settings())


def texts(answer: str) -> list[str]:
    return [c.text for c in list(SENTENCES.segment("", answer).claims)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("He was born in 1899. He died in 1980.", ["He was born in 1899.", "He died in 1980."]),
        ("# Life\n\nHe was born.\n\n## Death\nHe died.", ["He was born.", "He died."]),
        (
            "- One is red.\n- Two is blue.\n  - Three is green.",
            ["One is red.", "Two is blue.", "Three is green."],
        ),
        (
            "1. One is red.\n2. Two is blue.\n10) Ten is grey.",
            ["One is red.", "Two is blue.", "Ten is grey."],
        ),
        ("It is simple: 1. Open it. 2. Close it.", ["It is simple: 1. Open it.", "Close it."]),
        ("**Early life:** He was born in Essex. He moved.", ["He was born in Essex.", "He moved."]),
        ("**Entry:** Admission is free. It opens at 9.", ["Admission is free.", "It opens at 9."]),
        ("- ✅ **Entry**: Admission is free.\n- 🗼 **Tall**", ["Admission is free."]),
        (
            "- **Funding** – The state paid half.\n- **Born:** 4 May 1962",
            ["The state paid half.", "Born: 4 May 1962"],
        ),
        ("**It is old.** It is big.", ["It is old.", "It is big."]),
        ("1. **Funding.** The state paid half [1].", ["The state paid half."]),
        (
            "- **Habitat.** The newt lives in ponds.\n- **Food.** It eats flies.",
            ["The newt lives in ponds.", "It eats flies."],
        ),
        (
            "- **Length.** Up to 12 cm.\n- **Opened:** 1962. It is old.",
            ["Length. Up to 12 cm.", "Opened: 1962.", "It is old."],
        ),
        (
            "🌱 Seeds are sown in March\n1️⃣ Rye is cut. ➡️ It dries 🌾",
            ["Seeds are sown in March", "Rye is cut.", "It dries"],
        ),
        (
            "**Eintritt:** Der Eintritt ist an Sonntagen frei.",
            ["Der Eintritt ist an Sonntagen frei."],
        ),
        (
            "| # | Club | Points | Lift |\n|--|--|--|--|\n| 1 | Tarn | 17 [1] | ✅ |",
            ["Tarn: 1 (#)", "Tarn: 17 (Points)", "Tarn: Lift: yes"],
        ),
        (
            "| Stadt | Einwohner |\n|--|--|\n| Graz liegt an der Mur | etwa 290.000 |",
            ["Graz liegt an der Mur: etwa 290.000 (Einwohner)"],
        ),
        ("- **Second**: has a colon", ["Second: has a colon"]),
        ("**Conclusion:**\n\nIt works.", ["It works."]),
        ("In short:\n\n- It works.", ["It works."]),
        (
            "The tower has three owners:\n\n- It works.",
            ["The tower has three owners:", "It works."],
        ),
        ("Here are the three owners:\n\n- It works.", ["It works."]),
        (
            "It works:\n\n```py\nprint('No claim. Not one.')\n```\n\nThat was `code.py`.",
            ["That was code.py."],
        ),
        (
            "> A quote that is long,\n> and goes on. It ends!",
            ["A quote that is long, and goes on.", "It ends!"],
        ),
        (
            "It is old [1]. It is big [2][3], too.[4] It is [^1] wide.",
            ["It is old.", "It is big, too.", "It is wide."],
        ),
        (
            "Dr. J. R. Smith met Mrs. Low at St. Ives, e.g. in No. 5.",
            ["Dr. J. R. Smith met Mrs. Low at St. Ives, e.g. in No. 5."],
        ),
        (
            "He left the U.S. in 1939. It cost $3.5 million.",
            ["He left the U.S. in 1939.", "It cost $3.5 million."],
        ),
        (
            "See https://example.org/a.b?c=d for more. It is new.",
            ["See https://example.org/a.b?c=d for more.", "It is new."],
        ),
        ("See [the page](https://en.example.org/A_(b)) now.", ["See the page now."]),
        (
            '"It was great!" he said. "Was it?" she asked.',
            ['"It was great!" he said.', '"Was it?" she asked.'],
        ),
        ("Hard wrapped\nlines are one\r\nsentence.", ["Hard wrapped lines are one sentence."]),
        ("Above.\n\n---\n\nBelow.\n---\nAfter.", ["Above.", "Below.", "After."]),
        (
            "2 * 3 * 4 is 24, 5*3 is 15, a_b_c is a name.",
            ["2 * 3 * 4 is 24, 5*3 is 15, a_b_c is a name."],
        ),
        ("***Very* bold** and _quiet_ words.", ["Very bold and quiet words."]),
        ("Er wurde 1899 geboren. Er starb 1980.", ["Er wurde 1899 geboren.", "Er starb 1980."]),
        ("    Indented text is text.", ["Indented text is text."]),
        ("word", ["word"]),
        (
            "1. The mill was built 2. The dam was built 3) It broke",
            ["The mill was built", "The dam was built 3) It broke"],
        ),
        ("3. It cost 900. 4. It broke.", ["It cost 900.", "It broke."]),
        ("```\nonly code\n```", []),
        ("...\n\n- \n\n1.\n", []),
        ("", []),
    ],
)
def test_answers_of_every_shape(answer: str, expected: list[str]) -> None:
    assert texts(answer) == expected


def test_a_claim_said_twice_is_one_claim_with_two_spans() -> None:
    answer = "The Nile is long. It is old.\n\n- the  nile is **long**."
    claims = list(SENTENCES.segment("", answer).claims)
    assert [c.text for c in claims] == ["The Nile is long.", "It is old."]
    assert [answer[a:b] for a, b in claims[0].spans] == [
        "The Nile is long.",
        "the  nile is **long**.",
    ]


def test_the_span_is_the_source_of_the_text() -> None:
    answer = "Intro.\n\n- **Early life:** He was *born* in 1899 [1].\n"
    claim = SENTENCES.segment("", answer).claims[1]
    assert claim.text == "He was born in 1899."
    assert [answer[a:b] for a, b in claim.spans] == ["He was *born* in 1899 [1]."]


def test_a_cell_is_claimed_where_it_stands() -> None:
    answer = "| Club | Points | Wins |\n|--|--|--|\n| **Tarn** | 17 | *5* [1] |"
    claims = SENTENCES.segment("", answer).claims
    assert [(c.text, answer[slice(*c.spans[0])]) for c in claims] == [
        ("Tarn: 17 (Points)", "17"),
        ("Tarn: 5 (Wins)", "5"),
    ]


WORDS = st.lists(
    st.sampled_from(["the", "river", "was", "old", "and", "big", "1899", "Paris"]),
    min_size=2,
    max_size=8,
)


@hypothesis_settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.sampled_from(["", "- ", "> ", "3. ", "**"]), WORDS), min_size=1, max_size=8
    )
)
def test_no_word_of_a_sentence_is_lost(lines: list[tuple[str, list[str]]]) -> None:
    answer = "\n\n".join(
        f"{mark}{' '.join(words)} and so on.{'**' if mark == '**' else ''}" for mark, words in lines
    )
    covered = {
        i
        for c in list(SENTENCES.segment("", answer).claims)
        for a, b in c.spans
        for i in range(a, b)
    }
    lost = "".join(x for i, x in enumerate(answer) if i not in covered and x.isalpha())
    assert lost == ""
