"""Answers as people paste them: the marks, keys and wrappers around their sentences."""

import pytest

from attribution.text.passages import statements
from attribution.text.wrappers import unwrapped


def claims(answer: str) -> list[str]:
    return [p.text[start:end] for p in statements(answer) for start, end in p.sentences()]


PUMP = ["The pump must be primed before use.", "Oil is checked daily."]


@pytest.mark.parametrize(("first", "second"), [("1", "2, 3"), ("359", "4 5"), ("1-3", "4, 5, 6")])
def test_raised_numbers_that_lost_their_place_are_no_words(first: str, second: str) -> None:
    answer = f"The pump must be primed before use{first}. Oil is checked daily{second}."
    assert claims(answer) == PUMP


def test_a_cited_passage_loses_its_tags_alone() -> None:
    assert claims("<co: 0>Oil</co: 0> is checked daily.") == [PUMP[1]]


@pytest.mark.parametrize(
    "text",
    [
        "The array data[0] holds a[i1] here.",
        "The values lie in the interval [2, 5].",
        "The ion is [NH4+].",
        "The complex is [Fe(CN)6]3-.",
        "It uses sha256. It uses base64.",
        "In [2019] it rose.",
        "We use the [Apollo 11] mission.",
        "The area is 5 km2. The other is 7 km2.",
    ],
)
def test_what_only_looks_like_a_mark_stays(text: str) -> None:
    assert " ".join(claims(text)) == text


@pytest.mark.parametrize(
    "answer",
    [
        "```markdown\n- {0}\n- {1}\n```",
        "```\n{0} {1}\n```",
        "Here it is:\n```markdown\n{0} {1}\n```",
        '{{"answer": "{0} {1}", "sources": ["the old manual.md"], "confidence": 0.9}}',
        '[{{"question": "What is done?", "answer": "{0}"}}, {{"answer": "{1}"}}]',
        "<analysis>Let me look it up.</analysis>\n<answer>\n{0} {1}\n</answer>",
        "<h2>Pump</h2><ul><li>{0}</li><li>{1}</li></ul>",
        "<p>{0}</p>\n<p>{1}<br></p>",
        "> {0}\n> {1}",
        "✅ {0} ✅ {1}",
    ],
)
def test_an_answer_is_taken_out_of_its_wrapper(answer: str) -> None:
    text = answer.format(*PUMP)
    assert len(unwrapped(text)) == len(text)
    assert claims(text) == PUMP


def test_escapes_of_json_are_read() -> None:
    answer = r'{"answer": "The \"Caf\u00e9\" is old.\nIt is red."}'
    assert claims(answer) == ['The "Café" is old.', "It is red."]


@pytest.mark.parametrize("answer", ["```\nx = 3;\ny = {\n```", "```python\nprint()\n```"])
def test_code_is_no_answer(answer: str) -> None:
    assert claims(answer) == []


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            "| | Alder | Birch |\n|--|--|--|\n| Passengers | 120 | 85 |\n| Sails in ice | ❌ | ✅ |",
            ["Alder: 120 (Passengers)", "Birch: 85 (Passengers)"]
            + ["Alder: Sails in ice: no", "Birch: Sails in ice: yes"],
        ),
        (
            "| Source | 2022 | 2023 (€ million) |\n|--|--|--|\n| Wind | 912 | 984 |",
            ["Wind: 912 (2022)", "Wind: 984 (2023 (€ million))"],
        ),
        ("| Feature | Plan A |\n|--|--|\n| Dark mode | yes |", ["Plan A: Dark mode: yes"]),
        (
            "| Aspect | Details |\n|--|--|\n| Length | 64 km |\n| Vote | Unanimous |",
            ["Length: 64 km", "Vote: Unanimous"],
        ),
    ],
)
def test_cells_are_said_of_what_they_are_about(answer: str, expected: list[str]) -> None:
    assert claims(answer) == expected
