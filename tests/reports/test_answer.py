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


def test_markdown_is_drawn_as_it_reads_with_its_changes() -> None:
    drawn = html(
        el(
            "div",
            *rendered(
                "## Towers\n\nIt opened in **1890**.", "## Towers\n\nIt opened in **1889**.[^1]"
            ),
        )
    )
    assert "<h3>" in drawn and "##" not in drawn and "**" not in drawn
    assert '<del class="removed">1890</del><strong class="added">1889</strong>' in drawn
    assert '<strong class="added"><sup>1</sup></strong>' in drawn


@pytest.mark.parametrize(
    ("written", "drawn"),
    [
        ("Old[cite: 1, 3].", 'Old<sup class="cite" title="[cite: 1, 3]">1, 3</sup>.'),
        ("[cite_start]Old.", "Old."),
        (
            "Old citeturn0search3turn0search5.",
            'Old <sup class="cite" title="citeturn0search3turn0search5">•</sup>.',
        ),
        (
            "Old \ue200cite\ue202turn0search3\ue201.",
            'Old <sup class="cite" title="\ue200cite\ue202turn0search3\ue201">•</sup>.',
        ),
        (
            "Old:contentReference[oaicite:2]{index=2}.",
            'Old<sup class="cite" title=":contentReference[oaicite:2]{index=2}">•</sup>.',
        ),
        (
            '\ue200entity\ue202["people","Maud Ekelund","engineer"]\ue201 drew.',
            "Maud Ekelund drew.",
        ),
        ("Old.<sup>2</sup>", 'Old.<sup class="cite" title="&lt;sup&gt;2&lt;/sup&gt;">2</sup>'),
        ("Old【4:2†x.pdf】.", 'Old<sup class="cite" title="【4:2†x.pdf】">•</sup>.'),
        ("Old.¹", 'Old.<sup class="cite" title="¹">1</sup>'),
        ('[cite: 1]"<b>', '<sup class="cite" title="[cite: 1]">1</sup>&quot;&lt;b&gt;'),
        ("10² m (Rossi et al., 2020)", "10² m (Rossi et al., 2020)"),
        ("```\na = b[1]\n```", None),
    ],
)
def test_marks_are_raised_and_keep_their_place(written: str, drawn: str | None) -> None:
    tree = answer.mark(
        answer.parse(written), [Claim(id="a", text="Old", spans=((0, len(written)),))]
    )
    shown = "".join(
        html(child) for child in tree if isinstance(child, Node) for child in child.children
    )
    if drawn is None:
        assert "cite" not in shown
        return
    assert shown == f'<span data-claim="a" data-span="0">{drawn}</span>'
    places = [(t.start, t.end) for node in tree for t in texts(node)]
    assert places[0][0] == 0 and places[-1][1] == len(written)
    assert all(a[1] == b[0] for a, b in zip(places, places[1:], strict=False))


@pytest.mark.parametrize(
    "open_, close",
    [
        ("<think>", "</think>\n\n"),
        ("<think>", "</think> "),
        ('<details type="reasoning" done="true">\n', "\n</details>\n"),
    ],
)
def test_what_was_thought_is_folded(open_: str, close: str) -> None:
    source = f"{open_}I *recall*.\n\nIt is 3.{close}It is old [1]."
    claim = Claim(id="a", text="It is old.", spans=((source.rindex("It is"), len(source) - 1),))
    folded, *rest = answer.mark(answer.parse(source), [claim])
    assert "".join(html(folded).split()) == (
        '<detailsclass="ax-detail"><summary>Reasoning(notchecked)</summary><p>I<em>recall</em>.</p><p>Itis3.</p></details>'
    )
    assert "".join(map(html, rest)).startswith(
        '<p><span data-claim="a" data-span="0">It is old <sup class="cite"'
    )


@given(st.text("ab *_#\n&;1[]", max_size=60), st.text("ab *_#\n&;1[]", max_size=60))
def test_no_word_of_the_new_text_is_lost(before: str, after: str) -> None:
    def plain(nodes: list[object]) -> str:
        return "".join(t.text for n in nodes for t in texts(without_removed(n)))

    assert plain(rendered(before, after)) == plain(list(answer.parse(after, raised=False)))


def without_removed(tree: Tree) -> Tree:
    if not isinstance(tree, Node):
        return tree
    return tree.with_children(
        [without_removed(c) for c in tree.children if not (isinstance(c, Node) and c.tag == "del")]
    )


@pytest.mark.parametrize("shape", ["nested", "staggered", "same"])
def test_20_000_spans_over_each_other_are_drawn(shape: str) -> None:
    text = "word " * 8_000
    shapes = {
        "nested": lambda n: (n, 40_000 - n),
        "staggered": lambda n: (n, n + 20_000),
        "same": lambda n: (0, 9),
    }
    claims = [Claim(id=str(n), text="word", spans=(shapes[shape](n),)) for n in range(20_000)]
    tree = answer.mark(answer.parse(text), claims)
    assert "".join(t.text for node in tree for t in texts(node)).strip() == text.strip()
    assert len(answer.marked(tree)) >= answer.DEEPEST and html(el("div", *tree)).startswith("<div>")
