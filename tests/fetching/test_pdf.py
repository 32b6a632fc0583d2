from collections.abc import Sequence

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attribution.errors import FetchFailed
from attribution.fetching.formats import extract
from attribution.fetching.page import Extracted, make_page, partly_read
from tests.servers import pdf_pages

LOCK = "The lock at Ferrow was rebuilt in brick in 1878."


def line(text: str, x: float = 72, y: float = 700, size: int = 11) -> str:
    return f"BT /F1 {size} Tf {x} {y} Td ({text}) Tj ET\n"


def lines(*texts: str) -> str:
    return "".join(line(text, y=700 - 14 * n) for n, text in enumerate(texts))


def read(content: bytes) -> Extracted:
    return extract(content, "application/pdf", "a.pdf", document=True)


RAISED = (
    "BT /F1 11 Tf 72 700 Td (in {}) Tj 5 Ts /F1 7 Tf ({}) Tj 0 Ts /F1 11 Tf ( crowns; CO) Tj -3 Ts "
    "/F1 7 Tf (2) Tj ET"
)
APART = "BT /F1 11 Tf 72 700 Td [(The) -300 (keeper) -300 (was) -300 (Hannah) -300 (Moss)] TJ ET"
CELLS = [("City", "Inhabitants", "Area"), ("Graz", "290,000", "127"), ("Linz", "212,000", "96")]
ROWS_OF = (
    "City | Inhabitants | Area\n\nGraz: Inhabitants 290,000; Area 127\n\nLinz: Inhabitants "
    "212,000; Area 96"
)
NARROW = [*CELLS, ("Villach", "65,000", "135")]
PROSE = [
    ("Ida was a", "keeper of the lock in 1893,"),
    ("and it was", "she who lit its lamp until"),
    ("her sister", "came"),
]


def grid(rows: Sequence[Sequence[str]], *columns: int) -> str:
    return "".join(
        line(t, x, 700 - 14 * n)
        for n, row in enumerate(rows)
        for x, t in zip(columns, row, strict=True)
    )


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (APART, "The keeper was Hannah Moss"),
        ("".join(line(LOCK, 72 + shift) for shift in (0, 0.3, 0.6)), LOCK),
        (RAISED.format("1878", "3"), "in 1878[3] crowns; CO2"),
        (RAISED.format("10", "6"), "in 10^6 crowns; CO2"),
        (grid(CELLS, 72, 200, 320), ROWS_OF),
        (
            line(LOCK[:-1], y=714)
            + grid(NARROW, 72, 118, 184)
            + line("The canal was sold.", y=644),
            (
                f"{LOCK[:-1]}\n\n{ROWS_OF}\n\nVillach: Inhabitants 65,000; Area 135\n\nThe canal "
                "was sold."
            ),
        ),
        (lines(LOCK, "Table 1. Keepers"), f"{LOCK}\nTable 1. Keepers"),
        (grid(PROSE, 72, 128), " ".join(part for row in PROSE for part in row)),
        (
            lines(
                "The keeper was a well-known man of about forty-",
                "three years, with a cottage beside the under-",
                "standing engineer, and he lived well-",
                "known in it, with twenty-",
                "one geese.",
            ),
            "The keeper was a well-known man of about forty-three years, with a cottage beside the "
            "understanding engineer, "
            "and he lived well-known in it, with twenty-one geese.",
        ),
    ],
)
def test_words_are_read_as_they_are_seen(content: str, text: str) -> None:
    assert read(pdf_pages(content)).text == text


LINES = [
    "In 1846 the company bought the whole of the canal for a sum of",
    "48,000 pounds. It let the towpath decay,",
    "and the keepers left one after the other, of whom the last was",
    "Hannah Moss of the lower lock, who kept the naviga-",
    "tion open for another forty-",
    "three years. It was closed in",
    "1893.",
]
WHOLE = (
    "".join(f"{text} " for text in LINES)
    .replace("naviga- ", "naviga")
    .replace("y- three", "y-three")
    .strip()
)


@pytest.mark.parametrize(
    "heads",
    [
        ["Inland Waterways 12 (2003)"] * 7,
        ["The Canals of Lindal", "Locks and keepers"] * 4,
        ["", "The Canals"] * 4,
        [f"{n} Canals of Lindal" if n % 2 else f"Locks {n}" for n in range(44, 51)],
        ["The Canals", ""] * 4,
        [f"Page {n} of 12 - Letters" for n in range(5, 12)],
        ["Page 1 of 7", "Page 2 of 7", "Page 3 of 7", "4", "5", "6", ""],
    ],
)
def test_a_sentence_goes_on_over_a_page(heads: list[str]) -> None:
    pages = [
        (line(head, y=760, size=9) if head else "") + line(text) + line(str(44 + number), 300, 40)
        for number, (head, text) in enumerate(zip(heads, LINES, strict=False))
    ]
    found = read(pdf_pages(*pages))
    assert found.text.removeprefix(heads[0]).strip() == WHOLE
    assert [found.text[start:][:2] for start in found.breaks[1:]] == [
        "48",
        "an",
        "Ha",
        "ti",
        "th",
        "18",
    ]


REFRAIN = ["O the oak and the ash,", "The lass sat alone", "in the north wind."]
ROWS = ["Graz", "290", "127"], ["Linz", "212", "96"], ["Wels", "62", "46"], ["Steyr", "38", "26"]


@pytest.mark.parametrize(
    ("pages", "kept", "times"),
    [
        ([lines(*REFRAIN)] * 2 + [lines(*REFRAIN[:2])], REFRAIN[0], 3),
        (
            [
                grid([["City", "People", "Area"], *rows], 72, 202, 332)
                for rows in (ROWS[:2], ROWS[2:])
            ],
            "City | People",
            2,
        ),
        ([line(f"Goal {n}", y=760, size=24) + lines(*REFRAIN) for n in (1, 2, 3)], "Goal", 3),
        ([line(LOCK)] * 2, LOCK, 2),
        (
            [line(f"Statement for {n}", y=760) + lines(*REFRAIN) for n in (2021, 2022, 2023)],
            "Statement",
            3,
        ),
    ],
)
def test_a_line_of_the_text_that_comes_again_stays(
    pages: Sequence[str], kept: str, times: int
) -> None:
    assert read(pdf_pages(*pages)).text.count(kept) == times


def test_a_page_that_cannot_be_read_is_named() -> None:
    whole = pdf_pages(line(LOCK), line("It was lost."), line("It reopened in 1880."))
    found = read(whole.replace(b"7 0 R 9 0 R", b"1 0 R 9 0 R"))
    assert (found.text, found.unread) == (f"{LOCK}\n\nIt reopened in 1880.", "page 2")
    (told,) = partly_read(make_page("a.pdf", "document", found), "a.pdf")
    assert told.kind == "left_out"
    assert "a.pdf was read in part: without page 2" in told.message


def test_a_font_that_names_no_characters_is_said() -> None:
    glyphs = " ".join(f"/g{n}" for n in range(32))
    codes = "".join(f"\\{ord(letter) % 32:03o}" for letter in LOCK)
    font = (
        "<< /Type /Font /Subtype /Type1 /BaseFont /ABCDEF+Sub /Encoding << /Differences [0 "
        f"{glyphs}] >> >>"
    )
    with pytest.raises(FetchFailed) as failed:
        read(pdf_pages(line(codes), font=font))
    assert failed.value.kind == "unreadable"
    assert "ocrmypdf" in str(failed.value)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.lists(st.text("abc dé,.-", max_size=40).map(str.strip), max_size=4),
        min_size=1,
        max_size=4,
    )
)
def test_pages_are_in_order_and_no_letter_is_lost(pages: Sequence[Sequence[str]]) -> None:
    written_lines = [text for page in pages for text in page if text]
    assume(any(c.isalpha() for text in written_lines for c in text))
    assume(len(written_lines) == len(set(written_lines)))  # a repeated one is a running head
    found = make_page("a", "document", read(pdf_pages(*(lines(*page) for page in pages))))
    assert len(found.breaks) == len(pages)
    assert list(found.breaks) == sorted(found.breaks)
    written = {c for page in pages for text in page for c in text if c.isalpha()}
    assert written <= set(found.text)


MARGIN = [
    "The keeper said that the boat left the quay at ten past",
    "nine in the evening with three men and forty casks of oil",
    "on deck, and that nobody saw the lamp at the lower lock",
    "which the company had sold in the spring of that year.",
]


@pytest.mark.parametrize(
    "numbers",
    [["1", "2", "3", "4"], ["5", "10", "15", "20"], ["7", "8", "9", "1"]],
)
def test_numbers_in_the_margin_are_no_text(numbers: list[str]) -> None:
    content = "".join(
        (line(number, 60, 700 - 20 * n) if number else "") + line(text, 90, 700 - 20 * n)
        for n, (number, text) in enumerate(zip(numbers, MARGIN, strict=True))
    )
    assert read(pdf_pages(content)).text == " ".join(MARGIN)


def test_notes_part_no_sentence() -> None:
    first = lines("The town kept the lock with a crew of") + line(
        "1 Moss, Locks, p. 4.", y=90, size=7
    )
    second = lines("eleven men until it was sold.") + line("2 Moss, Canals, p. 9.", y=90, size=7)
    assert read(pdf_pages(first, second)).text == (
        "The town kept the lock with a crew of eleven men until it was sold.\n\n"
        "1 Moss, Locks, p. 4.\n2 Moss, Canals, p. 9."
    )


def test_a_head_without_its_first_cell_names_the_columns() -> None:
    cells = [
        ("Sex", "41 (62%)", "38 (57%)"),
        ("Age", "61 (8)", "60 (9)"),
        ("Deaths", "3 (4%)", "9 (1%)"),
    ]
    head = line("Drug (n = 66)", 170, 714) + line("Placebo (n = 66)", 250, 714)
    found = read(pdf_pages(head + grid(cells, 72, 170, 250))).text
    assert "Deaths: Drug (n = 66) 3 (4%); Placebo (n = 66) 9 (1%)" in found
