import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.evidence.prose import prose, states_nothing


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
        "Home",
        "Skip to main content",
        "Home | About us | Contact",
        "Share on Facebook",
        "Read more »",
        "Early life",
        "Plot and themes",
        "Alfred Hitchcock",
        "The making of the film",
        "",
    ],
)
def test_lines_that_state_nothing(line: str) -> None:
    assert states_nothing(line)


@pytest.mark.parametrize(
    "line",
    [
        "Psycho was released in 1960.",
        "Psycho is a 1960 film, see https://example.org/psycho for all of its posters.",
        "Released: 1960",
        "Psycho | 1960",
        "- Filmed in black and white",
        "Alfred Hitchcock directed Psycho",
        "Paris is the capital of France",
        "Height: 330 m",
        "Nile.",
        "It has three parts:",
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
