from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pages.ui.html.diff import shown, word_diff
from pages.ui.html.render import el, html


def test_a_pronoun_replaced() -> None:
    assert word_diff("He died in 1980.", "Alfred Hitchcock died in 1980.") == [
        ("removed", "He"),
        ("added", "Alfred Hitchcock"),
        ("same", " died in 1980."),
    ]


@given(st.text(max_size=60), st.text(max_size=60))
def test_nothing_is_lost_on_either_side(before: str, after: str) -> None:
    made = word_diff(before, after)
    assert "".join(t for k, t in made if k != "added") == before
    assert "".join(t for k, t in made if k != "removed") == after


def test_footnotes_are_shown_by_their_numbers() -> None:
    drawn = html(el("div", *shown("It rains.[^2]", "It rains.[^2][^n1]\n\n[^n1]: “Rain fell.”")))
    assert drawn == (
        '<div>It rains.<sup>2</sup><strong class="added"><sup>n1</sup>\n\n<sup>n1</sup> “Rain fell.”</strong></div>'
    )


@given(st.text(alphabet="[]^1:a <&", max_size=40))
def test_what_looks_like_a_footnote_is_never_markup(text: str) -> None:
    assert "<&" not in html(el("p", *shown("", text)))
