import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.evidence.steps import about_named, prose, states_nothing


@pytest.mark.parametrize(
    "line",
    [
        "https://en.wikipedia.org/wiki/Psycho_(1960_film)",
        "Source: https://example.org/a-film-of-1960",
        "Retrieved from www.example.org/psycho",
        "doi:10.1000/182",
        "press@example.org",
        "^ Rebello, Stephen (1990). Alfred Hitchcock and the Making of Psycho. ISBN 0-7145-3003-4.",
        "[12] Truffaut, F. (1966). Hitchcock. pp. 266–283.",
        "3. Smith, J. “Psycho was shot”. Retrieved 12 May 2020.",
    ],
)
def test_lines_that_state_nothing(line: str) -> None:
    assert states_nothing(line)


@pytest.mark.parametrize(
    "line",
    [
        "Psycho was released in 1960.",
        "Psycho is a 1960 film, see https://example.org/psycho for all of its posters.",
        "Plot and themes",
        "Home | About us | Contact",
        "In 1960, 3 (2): 12–14 million people saw it, which was a record that year.",
        "Retrieved 12 May 2020, the capsule was opened and it was found to be empty.",
    ],
)
def test_lines_that_state_something(line: str) -> None:
    assert not states_nothing(line)


def test_marks_within_a_line_are_blanked_and_what_looks_like_them_is_not() -> None:
    text = (
        "It opened.[1][2–4] It was long.[note 3][citation needed] “[T]he [b]ridge” [sic] is [a "
        "link](b) in [1932]."
    )
    shown = prose(text)
    assert shown.split() == (
        "It opened. It was long. “[T]he [b]ridge” [sic] is [a link](b) in [1932].".split()
    )
    assert shown.index("It was long") == text.index("It was long")


def test_a_list_of_references_ends_where_prose_begins() -> None:
    text = (
        "It was shot in 1959.\n\nReferences\n- Rebello, Stephen: The Making of Psycho\n- Leigh, J. "
        "1995\nIt was cheap."
    )
    shown = prose(text)
    assert len(shown) == len(text)
    assert shown.split() == "It was shot in 1959. It was cheap.".split()
    assert shown.index("It was cheap.") == text.index("It was cheap.")


@given(st.text(st.sampled_from("ab \n.:|#1^[]-Hh"), max_size=60) | st.text(max_size=60))
def test_no_offset_moves(text: str) -> None:
    shown = prose(text)
    assert len(shown) == len(text)
    assert all(a == b or a == " " for a, b in zip(shown, text, strict=True))


ROWS = "Ferry | Built | Owner\n\nAlder: Built 1998; Owner Osen\n\nBirch: Built 2004; Owner Lorne"
RESULTS = "$ million | 2024 | 2023\n\nNet income (loss): 2024 318; 2023 -42\n\nCash: 2024 9; 2023 8"
YEARS = "Year | Cars\n\n2010: Cars 9,000\n\n2020: Cars 12,000"
TRIAL = "Drug (n = 6) | Placebo (n = 6)\n\nDeath: Drug (n = 6) 1; Placebo (n = 6) 2"
LINES = (
    "Line | People (thousands)\n\nLine | 2022 | 2023\n\n"
    "Blue: People (thousands) 2022 1; People (thousands) 2023 2"
)
REGIONS = "Region | Boat | Berths\n\nNorth: Boat Alder; Berths 5\n\nNorth: Boat Birch; Berths 7"
BLOCKS = "# Boats\n\n## Alder\n- Berths: 6\n\n## Birch\n- Length: 9 m\n- Berths: 4"
LISTS = "Boats\n\nAlder\n\n- Berths: 6\n\nBirch\n\n- Berths: 4"
FIRMS = "Lind Ltd\nPier Road 1\nRegister: HRB 1\n\nLind Holding SE\nMill Lane 4\nRegister: HRB 3"


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("The owner of the Birch is Osen.", ROWS, "Birch: Owner Lorne"),
        ("The Alder is of Osen.", ROWS, "Alder: Owner Osen"),
        ("A ferry was built in 1998.", ROWS, "Alder: Built 1998; Birch: Built 2004;"),
        ("The net loss was 42 in 2023.", RESULTS, "Net income (loss): 2023 -42"),
        ("There were 12,000 cars in 2010.", YEARS, "2010: Cars 9,000"),
        ("The Blue line had 1,000 people in 2023.", LINES, "Blue: People (thousands) 2023 2"),
        ("With the drug two died.", TRIAL, "Death: Drug (n = 6) 1;"),
        ("The Birch of the north has 5 berths.", REGIONS, "North: Boat Birch; Berths 7"),
        ("The Birch has 7 berths.", REGIONS, "North: Boat Birch; Berths 7"),
        ("The Alder has 4 berths.", BLOCKS, "# Boats ## Alder - Berths: 6"),
        ("The Birch has 6 berths.", BLOCKS, "# Boats ## Birch - Length: 9 m - Berths: 4"),
        ("The Birch has 6 berths.", LISTS, "Boats Birch - Berths: 4"),
        ("Lind Holding SE is HRB 1.", FIRMS, "Lind Holding SE Mill Lane 4 Register: HRB 3"),
    ],
)
def test_what_is_said_of_others_is_left_out(claim: str, text: str, expected: str) -> None:
    assert " ".join(about_named(claim, text).split()) == expected


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The Alder is older than the Birch.", BLOCKS),
        ("The Alder has the most berths.", LISTS),
        ("Cash doubled in 2024.", RESULTS),
        ("The boats have masts.", BLOCKS),
        ("The Alder was built by Osen.", "Alder\nBerths: 6\n\nConstruction\nBuilder: Osen"),
        ("The Alder is old.", "Alder: it is old; and grey."),
    ],
)
def test_a_claim_that_names_no_part_or_compares_parts_needs_all(claim: str, text: str) -> None:
    assert about_named(claim, text) == text


@given(
    st.sampled_from(["Alder", "Alder by Article 2", "b in 2"]),
    st.lists(
        st.sampled_from(
            [
                "Alder",
                "## Birch",
                "- a: b",
                "A: b 1; c 2",
                "a | b | c",
                "Article 2",
                "2.1 a",
                "",
                "|",
            ]
        ),
        max_size=9,
    ),
)
def test_what_stays_keeps_its_place(claim: str, lines: list[str]) -> None:
    text = "\n".join(lines)
    shown = about_named(claim, text)
    assert len(shown) == len(text)
    assert all(new in (old, " ") for old, new in zip(text, shown, strict=True))
