import time
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attribution.text.markdown import read
from attribution.text.passages import AnswerPassage, passages, plain, statements, visible
from attribution.text.words import composed

PIECES = [
    "a",
    "Bee ",
    "**",
    "*",
    "_",
    "`",
    "```",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "- ",
    "1. ",
    "1975. ",
    "• ",
    "  ",
    "\t",
    "> ",
    "# ",
    "|",
    "|-|-|\n",
    "\\|",
    "[",
    "](",
    ")",
    "http://e.org",
    "<br>",
    "\n| a | b |\n|---|---|\n||\n",
    "<b>",
    "\\",
    "~~",
    "&amp;",
    "é",
    "ﬁ",
    "\u00ad",
    "\u0323\u0301",
    "😀",
    ". ",
    "[1]",
    "[^n]",
    "[^n]: ",
    "!",
    ":",
    "\x00",
    "\x0c",
    "\u00a0",
    "\u200b",
]
SOURCES = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=40).map("".join)


def texts(source: str) -> list[str]:
    return [p.text for p in statements(source)]


@settings(max_examples=60)
@example("- \x0c\n| a | b |\n|---|---|\n||\n")
@example("# \x00a")
@given(SOURCES)
def test_texts_are_slices_in_order_and_lose_no_letter(source: str) -> None:
    position = 0
    for text in read(source).texts():
        assert 0 <= position <= text.start < text.end <= len(source)
        if text.verbatim and text.text != "\n":
            assert source[text.start : text.end] == text.text
        position = text.end
    inside = {i for t in read(source).texts() for i in range(t.start, t.end)}
    if not any(
        mark in source for mark in ("](", "```", "~~~")
    ):  # addresses and the names of code's languages
        assert not {c for i, c in enumerate(source) if i not in inside and c.isalpha()} - set("br")


@settings(max_examples=60)
@given(SOURCES)
@example("\ufb2a")  # composed, it is two characters
def test_a_passage_knows_where_its_characters_were_written(source: str) -> None:
    for passage in passages(source):
        assert passage.text == " ".join(passage.text.split())
        assert len(passage.places) == len(passage.text)
        assert list(passage.places) == sorted(passage.places)
        for character, (start, end) in zip(passage.text, passage.places, strict=True):
            added = start == end  # of a column's heading
            assert (
                added
                or character == " "
                or character in composed(source[start:end])
                or source[start] in "\\&"
            )
        for start, end in passage.sentences():
            assert any(c.isalnum() for c in passage.text[start:end])


@settings(max_examples=60)
@given(SOURCES)
@example("one\ntwo [1]three")
def test_words_that_stand_apart_are_not_glued(source: str) -> None:
    for passage in passages(source):
        for (one, other), (before, after) in zip(
            pairwise(passage.text), pairwise(passage.places), strict=True
        ):
            if one.isalnum() and other.isalnum():
                assert not source[before[1] : after[0]].isspace()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"It costs \$5 and \*not\* 6.", ["It costs $5 and *not* 6."]),
        ("It is ~~red~~ blue.", ["It is red blue."]),
        ("A<br>B, C<BR />D", ["A B, C D"]),
        ("| a | b |\n|---|---|\n||\n| c | 1 |", ["c: 1 (b)"]),
        ('<b>H</b><sub>2</sub>O <u class="x">is</u> in <tag> 3<s', ["H2O is in <tag> 3<s"]),
        ("One\\\ntwo  \nthree", ["One two three"]),
        ("AT&amp;T&nbsp;is", ["AT&T is"]),
        (
            "See Psycho_(1960_film) and Sagittarius A* now.",
            ["See Psycho_(1960_film) and Sagittarius A* now."],
        ),
        ("5*3 is 15, 4*2 is 8.", ["5*3 is 15, 4*2 is 8."]),
        ("**Term:**text and **“said”**so", ["Term:text and “said”so"]),
        ("`` a`b `` is code", ["a`b is code"]),
        (r"It is \[^n] and [x](/a_[1]) now.", ["It is [^n] and x now."]),
        ("Old [1], new [[2]](http://e.org/x), last.[^note]", ["Old, new, last."]),
        ("![A *map*](u.png) It is of [![x](y)](z) old.", ["It is of old."]),
        ("Text.[^1]\n[^1]: Source: Truffaut 1966.\n\n[^2]: Another\nline", ["Text."]),
        ("[1]: https://e.org/a 'Title'", []),
        ("1975. It was a year.", ["1975. It was a year."]),
        ("• one thing\n◦ another thing", ["one thing", "another thing"]),
        ("- [ ] open it\n- [x] close it", ["open it", "close it"]),
        ("**Early life**\nHe was born.", ["He was born."]),
        ("**He was born in 1899** [1]", ["He was born in 1899"]),
        ("| Film | Year |\n|--|--|\n| Psycho | 1960 |", ["Psycho: 1960 (Year)"]),
        (
            "| | Kibo |\n|--|--|\n| Height | 5,895 m | more |\n| Age |",
            ["Height: 5,895 m (Kibo)", "Height: more", "Age"],
        ),
        ("> | A | B |\n> |---|---|\n> c\\|d | e", ["c|d: B: e"]),
    ],
)
def test_a_claim_says_what_a_reader_sees(source: str, expected: list[str]) -> None:
    assert texts(source) == expected


def test_a_passage_has_its_kind_and_its_label() -> None:
    found = passages(
        "# Life\n\n**Work**\nHe *drew*.\n\n- **Name:** it is\n- **Other**: too\n\n  "
        "More.\n\n```\ncode\n```"
    )
    assert [(p.kind, p.text, p.label) for p in found] == [
        ("heading", "Life", ""),
        ("heading", "Work", ""),
        ("text", "He drew.", ""),
        ("item", "Name: it is", "Name"),
        ("item", "Other: too", "Other"),
        ("text", "More.", ""),
        ("code", "code", ""),
    ]


def test_the_text_before_a_place() -> None:
    source = "He is **old**. She is *not*."
    (passage,) = passages(source)
    assert isinstance(passage, AnswerPassage)
    assert passage.until(source.index("She")) == "He is old."
    assert passage.until(passage.start) == ""
    assert passage.until(len(source)) == passage.text


def test_what_a_reader_sees_of_a_stretch() -> None:
    source = "- **Cats** are\n  *small*<br>A\\*. [Dogs](http://e.org) [1]"
    assert visible(source, 0, len(source)) == "Cats are small A*. Dogs"
    assert visible(source, 2, source.index("small") + 5) == "Cats are small"
    assert plain("**Who** was\n_he_?") == "Who was he?"


@pytest.mark.parametrize("mark", ["> ", "- ", "> - ", "1. "])
def test_what_is_nested_too_deep_is_not_lost(mark: str) -> None:
    assert [t for t in texts(f"Before.\n\n{mark * 400}deep words\n\nAfter.")] == [
        "Before.",
        "deep words",
        "After.",
    ]


UNITS = [
    "*a ",
    "*a* ",
    "**a",
    "[a",
    "[a](",
    "![a",
    "![",
    "![a](",
    "**_",
    "`",
    "> ",
    "- ",
    "|a",
    "***a ",
    "\\",
    "~~a",
    "```\n",
    "1. \n",
    "&amp;",
    "<br>",
    "[1]",
    "[^1]: a\n",
    "|a|\n|-|\n",
    "a\n",
]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("closed", ["", "*", "](b)", "~~"])
def test_no_text_of_allowed_length_takes_long(unit: str, closed: str) -> None:
    """Pairs are read at a quarter of the length, where cubic time shows as well."""
    source = (
        (unit * 20_000)[:2_500] + (closed * 20_000)[:2_500] if closed else (unit * 20_000)[:20_000]
    )
    started = time.thread_time()
    statements(source)
    assert time.thread_time() - started < (5 if closed else 10)
