"""Paragraphs are put on one line however they were wrapped.

What has lines of its own keeps them.
"""

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.text.lines import join_lines, paragraphs

PROSE = (
    "The quay at Marram was built in 1861 by the engineer Ida Colm, who had studied in Ghent. It "
    "carries two cranes, "
    "and each of them lifts 12 tonnes. The harbour froze in 1895 and again in 1929, when the mail "
    "was taken over the "
    "ice by sledge. Since 1974 the quay has belonged to the town of Oakrigg."
)
SECOND = (
    "A lighthouse was added in 1902. Its lamp was made in Birmingham, and it can be seen from the "
    "Isle of Wight."
)


def wrapped(width: int, prefix: str = "") -> str:
    return f"\n{prefix.rstrip()}\n".join(
        textwrap.fill(
            part, width, initial_indent=prefix, subsequent_indent=prefix, break_on_hyphens=False
        )
        for part in (PROSE, SECOND)
    )


@pytest.mark.parametrize("width", [25, 30, 40, 55, 72, 100])
@pytest.mark.parametrize("prefix", ["", "> ", ">> ", "| ", "    ", ">"])
def test_a_wrapped_paragraph_is_one_line(width: int, prefix: str) -> None:
    assert paragraphs([wrapped(width, prefix)]) == [f"{PROSE}\n\n{SECOND}"]


@pytest.mark.parametrize("head", ["{}:07\n", "0{}:00:07\n", "[00:0{}]\n"])
def test_a_transcript_is_running_text_without_its_times(head: str) -> None:
    assert paragraphs(
        ["\n".join(head.format(n) + cue for n, cue in enumerate(textwrap.wrap(PROSE, 40)))]
    ) == [PROSE]


@pytest.mark.parametrize(
    "text",
    [
        "- red apples\n- green pears from the old orchard\n- plums",
        "1. Open the valve of the boiler\n2. close the pump",
        "apples from Graz and the hills\npears from Linz and around\nplums from Wels",
        "The Orchard\nThe trees are old.",
        "Introduction\n============\nThe trees are old.",
        "# Orchard\nthe trees are old.",
        "Shall I compare thee to a summer's day?\nThou art more lovely and more temperate:\n"
        "Rough winds do shake the darling buds of May,\nAnd summer's lease hath all too short a "
        "date;",
        "Mrs Ida Colm\n12 Quay Street\nOakrigg\nCumbria LA12 0XX",
        "def opened(name):\n    path = folder(name)\n    return path.read()",
        "```\nthis is not prose and stays\nas it was written\n```",
        "Name: Marram\nCounty: Cumbria\nPeople: 1,200",
        "ANNA: Where is the quay?\nBEN: Behind the mill.",
        "Year   Ships   Crews\n1901   12      240\n1902   14      260",
        "Ingredients\nflour\nbutter\ntwo eggs",
        "[09:00] Breakfast\n[10:00] Walk\n[11:00] Rest",
        "In\nof\nand\nto\nfor",
        "adversus\nPrimo\nFeriae.\nvim\nHistoria\nimprimis\ngentes\nfacto.",
        "What do you think?\n> 5 years is long\nNot at all.",
    ],
)
def test_what_has_lines_keeps_them(text: str) -> None:
    assert paragraphs([text]) == [text]
    assert paragraphs([f"{wrapped(60)}\n\n{text}"]) == [f"{PROSE}\n\n{SECOND}\n\n{text}"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "- The quay was built by Ida\n  Colm of granite.\n- Old",
            "- The quay was built by Ida Colm of granite.\n- Old",
        ),
        (
            "There stand now twenty-\nfive cranes, the light-\nhouse too.",
            "There stand now twenty-five cranes, the lighthouse too.",
        ),
        (
            "A boat leaves at 7:40\na.m. and at noon. Dogs\ngo free.",
            "A boat leaves at 7:40 a.m. and at noon. Dogs go free.",
        ),
        ("The load is 14\nkg. It is\nred.", "The load is 14 kg. It is red."),
        ("Graz Mill\nIt is old\nand red.", "Graz Mill\nIt is old and red."),
        ("1. It is old.\n2. It is\nred.", "1. It is old.\n2. It is red."),
        (
            "The ferry to Holm takes dogs on a lead for free all year as long as they stay on "
            "the\ndeck. Dogs in the\n"
            "saloon must wear a muzzle. In\nMay Ann Lund\nwas asked.",
            "The ferry to Holm takes dogs on a lead for free all year as long as they stay on the "
            "deck. Dogs in the "
            "saloon must wear a muzzle. In May Ann Lund was asked.",
        ),
        *[
            (text, "The keeper of the tower went to Graz in 1983 and left it there.")
            for lines in [["The keeper of the tower", "went to Graz in 1983", "and left it there."]]
            for text in (
                "\n".join(lines),
                "  \n".join(lines),
                "\\\n".join(lines),
                "> " + "\n> ".join(lines),
                "\n".join(f"[00:0{n}:07] {line}" for n, line in enumerate(lines)),
            )
        ],
        (f"It was built in 1861,\nand {PROSE}", f"It was built in 1861, and {PROSE}"),
        (f"{'港口很深，' * 6}码头建于\n一八六一年。", f"{'港口很深，' * 6}码头建于一八六一年。"),
    ],
)
def test_lines_are_joined(text: str, expected: str) -> None:
    assert paragraphs([text]) == [expected]


@given(
    st.lists(
        st.sampled_from(
            ["One ", "two-", "> ", "\n", "\n\n", "- ", "```", "  ", "x --> y", "終", "."]
        ),
        max_size=40,
    ).map("".join)
)
def test_no_word_is_lost(text: str) -> None:
    def letters(of: str) -> str:
        return "".join(c for c in of if c.isalpha())

    assert letters(join_lines(text)) == letters(text)


@given(st.lists(st.sampled_from(["One ", "two ", "\n", "\n\n", "- ", "1. ", "a.m. "]), max_size=40))
def test_no_words_are_glued(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert join_lines(text).split() == text.split()
