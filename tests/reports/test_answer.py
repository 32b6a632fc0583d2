import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.reports import answer
from attribution.reports.answer import rendered, shown, word_diff
from attribution.reports.html import Node, Tree, el, html, texts
from attribution.types import Claim


def test_a_pronoun_replaced() -> None:
    assert ("removed", "24,100") in word_diff("It carried 24,100 cars.", "It carried 21,400 cars.")
    assert word_diff("He died in 1980.", "Alfred Hitchcock died in 1980.") == [
        ("removed", "He"), ("added", "Alfred Hitchcock"), ("same", " died in 1980."),
    ]  # fmt: skip


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


def test_markdown_is_drawn_as_it_reads_with_its_changes() -> None:
    drawn = html(el("div", *rendered("## Towers\n\nIt opened in **1890**.", "## Towers\n\nIt opened in **1889**.[^1]")))
    assert "<h3>" in drawn and "##" not in drawn and "**" not in drawn
    assert '<del class="removed">1890</del><strong class="added">1889</strong>' in drawn
    assert '<strong class="added"><sup>1</sup></strong>' in drawn


@given(st.text("ab *_#\n&;1[]", max_size=60), st.text("ab *_#\n&;1[]", max_size=60))
def test_no_word_of_the_new_text_is_lost(before: str, after: str) -> None:
    def plain(nodes: list[object]) -> str:
        return "".join(t.text for n in nodes for t in texts(without_removed(n)))

    assert plain(rendered(before, after)) == plain(list(answer.parse(after)))


def without_removed(tree: Tree) -> Tree:
    if not isinstance(tree, Node):
        return tree
    return tree.with_children(
        [without_removed(c) for c in tree.children if not (isinstance(c, Node) and c.tag == "del")]
    )


@pytest.mark.parametrize("shape", ["nested", "staggered", "same"])
def test_20_000_spans_over_each_other_are_drawn(shape: str) -> None:
    text = "word " * 8_000
    shapes = {"nested": lambda n: (n, 40_000 - n), "staggered": lambda n: (n, n + 20_000), "same": lambda n: (0, 9)}
    claims = [Claim(id=str(n), text="word", spans=(shapes[shape](n),)) for n in range(20_000)]
    tree = answer.mark(answer.parse(text), claims)
    assert "".join(t.text for node in tree for t in texts(node)).strip() == text.strip()
    assert len(answer.marked(tree)) >= answer.DEEPEST and html(el("div", *tree)).startswith("<div>")
