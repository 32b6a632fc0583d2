from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attribution.reports import answer
from attribution.reports.answer import mark, parse
from attribution.reports.html import Node, Text, Tree, el, html, texts
from attribution.types import Claim
from tests import make

PIECES = [
    *("a", "Bee ", "**", "*", "_", "`", "```", "\n", "\n\n", "\r\n", "- ", "1. ", "  ", "> "),
    *("# ", "|", "|-|-|\n", "[", "](", ")", "http://e.org", "javascript:x", "<br>", "<b>", "\\"),
    *("~~", "é", "😀", ". ", "[1]", "!"),
]
SOURCES = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=40).map("".join)


def places(tree: list[Tree]) -> list[Text]:
    return [text for node in tree for text in texts(node) if text.start >= 0]


def claim(start: int, end: int, claim_id: str = "c") -> Claim:
    return make.claim(id=claim_id, spans=((start, end),))


# --- Markdown ---


@settings(max_examples=60)
@given(SOURCES.filter(lambda s: "](" not in s and "```" not in s and "~~~" not in s))
def test_no_letter_is_lost(source: str) -> None:
    kept = {i for text in places(parse(source)) for i in range(text.start, text.end)}
    lost = {c for i, c in enumerate(source) if c.isalpha() and i not in kept}
    assert not lost - set("br")  # the letters of <br>


def test_the_answer_keeps_its_formatting() -> None:
    source = (
        "# Title\n\nA **bold** `code`.\n\n- one\n  - inner\n\n3. three\n\n> quoted\n\n"
        "| a |\n|---|\n| **2** |\n\n```python\nx = '**'\n```\n\n---\n"
    )
    assert "".join(map(html, parse(source))) == (
        "<h2>Title</h2><p>A <strong>bold</strong> <code>code</code>.</p>"
        '<ul><li>one<ul><li>inner</li></ul></li></ul><ol><li value="3">three</li></ol>'
        "<blockquote><p>quoted</p></blockquote><table><thead><tr><th>a</th></tr></thead>"
        "<tbody><tr><td><strong>2</strong></td></tr></tbody></table>"
        "<pre><code>x = &#x27;**&#x27;\n</code></pre><hr>"
    )


def test_a_link_shows_its_words_and_opens_beside_them() -> None:
    (paragraph,) = parse("See [the page](https://example.org/a_(b)) or [x](javascript:alert(1)).")
    assert html(paragraph).startswith('<p>See the page<a href="https://example.org/a_(b)"')
    assert html(paragraph).endswith("</a> or x.</p>")


@pytest.mark.parametrize(
    ("written", "drawn"),
    [
        ("Old[cite: 1, 3].", 'Old<sup class="cite" title="[cite: 1, 3]">1, 3</sup>.'),
        ("[cite_start]Old.", "Old."),
        (
            ":contentReference[oaicite:2]{index=2}.",
            '<sup class="cite" title=":contentReference[oaicite:2]{index=2}">•</sup>.',
        ),
        ('\ue200entity\ue202["people","Ada Ek","x"]\ue201 drew.', "Ada Ek drew."),
        ("Old【4:2†x.pdf】.", 'Old<sup class="cite" title="【4:2†x.pdf】">•</sup>.'),
        ("Old.¹", 'Old.<sup class="cite" title="¹">1</sup>'),
        ("10² m (Rossi et al., 2020)", "10² m (Rossi et al., 2020)"),
    ],
)
def test_citation_marks_are_raised_and_keep_their_place(written: str, drawn: str) -> None:
    (paragraph,) = mark(parse(written), [claim(0, len(written), "a")])
    assert html(paragraph) == f'<p><span data-claim="a" data-span="0">{drawn}</span></p>'
    spans = [(text.start, text.end) for text in texts(paragraph)]
    assert (spans[0][0], spans[-1][1]) == (0, len(written))
    for (_, end), (start, _) in pairwise(spans):
        assert end == start


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<think>", "</think>\n\n"),
        ("<think>", "</think> "),
        ('<details type="reasoning" done="true">\n', "\n</details>\n"),
    ],
)
def test_what_was_thought_is_quiet(before: str, after: str) -> None:
    source = f"{before}I *recall*.\n\nIt is 3.{after}It is old [1]."
    start = source.rindex("It is")
    first, *rest = mark(parse(source), [claim(start, len(source) - 1)])
    assert html(first).startswith('<p><span class="quiet">')
    assert html(first).endswith("I <em>recall</em>.</span></p>")
    drawn = "".join(map(html, rest))
    assert "It is 3." in drawn.partition("</span>")[0]
    assert '<span data-claim="c" data-span="0">It is old <sup class="cite"' in drawn


# --- claims ---


@settings(max_examples=60)
@example("\\**", [(0, 1)])
@given(SOURCES, st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=6))
def test_marked_claims_cover_just_their_characters(
    source: str, cuts: list[tuple[int, int]]
) -> None:
    tree = parse(source)
    spans = [(min(cut), max(cut)) for cut in cuts]
    after = mark(tree, [claim(*span, str(n)) for n, span in enumerate(spans)])
    assert characters(after) == characters(tree)
    for number, (start, end) in enumerate(spans):
        inside = characters_of(after, str(number))
        assert all(start <= i < end for i in inside)
        for text in places(after):
            is_divided = text.written and not start <= text.start <= text.end <= end
            for i, character in enumerate(text.text, text.start):
                if start <= i < end and not is_divided and not character.isspace():
                    assert i in inside


def characters(tree: list[Tree]) -> list[tuple[int, str]]:
    return [pair for text in places(tree) for pair in enumerate(text.text, text.start)]


def characters_of(tree: list[Tree], claim_id: str) -> set[int]:
    found: set[int] = set()
    for node in tree:
        if isinstance(node, Node):
            is_claim = ("data-claim", claim_id) in node.attributes
            inner = [node] if is_claim else []
            found |= {i for text in places(inner) for i in range(text.start, text.end)}
            found |= characters_of(list(node.children), claim_id)
    return found


@pytest.mark.parametrize(
    ("source", "claims", "drawn"),
    [
        (
            "a b c",
            [claim(2, 3, "in"), claim(0, 5, "out")],
            '<p><span data-claim="out" data-span="0">a <span data-claim="in" data-span="0">b'
            "</span> c</span></p>",
        ),
        (
            "**Name:** it is.",
            [claim(0, 16)],
            '<p><span data-claim="c" data-span="0"><strong>Name:</strong> it is.</span></p>',
        ),
        (
            r"AT&amp;T costs \$5.",
            [claim(0, 19)],
            '<p><span data-claim="c" data-span="0">AT&amp;T costs $5.</span></p>',
        ),
    ],
)
def test_a_claim_is_one_piece_in_its_paragraph(
    source: str, claims: list[Claim], drawn: str
) -> None:
    (paragraph,) = mark(parse(source), claims)
    assert html(paragraph) == drawn


def test_a_claim_over_two_blocks_has_a_piece_in_each() -> None:
    pieces = [
        html(node).count("data-claim") for node in mark(parse("One.\n\nTwo."), [claim(0, 10)])
    ]
    assert pieces == [1, 1]


@pytest.mark.parametrize("shape", ["nested", "staggered", "same"])
def test_20_000_spans_over_each_other_are_drawn(shape: str) -> None:
    text = "word " * 8_000
    shapes = {
        "nested": lambda n: (n, 40_000 - n),
        "staggered": lambda n: (n, n + 20_000),
        "same": lambda n: (0, 9),
    }
    tree = mark(parse(text), [claim(*shapes[shape](n), str(n)) for n in range(20_000)])
    assert "".join(t.text for node in tree for t in texts(node)).strip() == text.strip()
    assert len(answer.marked(tree)) >= answer.DEEPEST


# --- differences ---


def test_the_words_that_differ_are_told_apart() -> None:
    nodes = answer.shown("He died in 1,980.", "Alfred Hitchcock died in 1,981.")
    assert html(el("p", *nodes)) == (
        '<p><del class="removed">He</del><strong class="added">Alfred Hitchcock</strong> died in '
        '<del class="removed">1,980</del><strong class="added">1,981</strong>.</p>'
    )


@given(st.text(max_size=60), st.text(max_size=60))
def test_nothing_is_lost_on_either_side(before: str, after: str) -> None:
    old, new = "", ""
    for node in el("p", *answer.shown(before, after)).children:
        tag = node.tag if isinstance(node, Node) else ""
        text = "".join(part.text for part in texts(node))
        old += text if tag != "strong" else ""
        new += text if tag != "del" else ""
    assert old == before
    assert new == after
