from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attribution.reports.answer import mark, parse
from attribution.reports.html import Node, Text, Tree, html, texts
from attribution.types import Claim
from tests.pages.hostile import TEXTS
from tests.reports.test_html import safe

EXAMPLES = Path(__file__).parents[2] / "examples" / "answers.jsonl"
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
    "- ",
    "1. ",
    "  ",
    "> ",
    "# ",
    "|",
    "|-|-|\n",
    "[",
    "](",
    ")",
    "http://e.org",
    "javascript:x",
    "<br>",
    "<b>",
    "\\",
    "~~",
    "é",
    "😀",
    ". ",
    "[1]",
    "!",
]
SOURCES = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=40).map("".join)


def places(tree: list[Tree]) -> list[Text]:
    return [t for node in tree for t in texts(node) if t.start >= 0]


def tags(tree: list[Tree] | tuple[Tree, ...]) -> list[str]:
    return [t for n in tree if isinstance(n, Node) for t in (n.tag, *tags(n.children))]


@settings(max_examples=60)
@given(SOURCES)
def test_texts_are_slices_in_order(source: str) -> None:
    position = 0
    for text in places(parse(source, raised=False)):
        assert source[text.start : text.end] == text.text or (
            text.written and source[text.start] in "\\&"
        )
        assert text.start >= position
        position = text.end


@settings(max_examples=60)
@given(SOURCES.filter(lambda s: "](" not in s and "```" not in s and "~~~" not in s))
def test_no_letter_is_lost(source: str) -> None:
    kept = {i for t in places(parse(source)) for i in range(t.start, t.end)}
    lost = [c for i, c in enumerate(source) if c.isalpha() and i not in kept]
    assert not set(lost) - set("br")  # the letters of <br>


@settings(max_examples=60)
@example("\\**", [(0, 1)])
@given(SOURCES, st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=6))
def test_marked_claims_cover_just_their_characters(
    source: str, cuts: list[tuple[int, int]]
) -> None:
    claims = [Claim(id=str(n), text="x", spans=(tuple(sorted(c)),)) for n, c in enumerate(cuts)]
    tree = parse(source)
    after = mark(tree, claims)
    joined = [(t.start + i, c) for t in places(after) for i, c in enumerate(t.text)]
    assert joined == [(t.start + i, c) for t in places(tree) for i, c in enumerate(t.text)]
    for number, cut in enumerate(cuts):
        start, end = sorted(cut)
        inside = _inside(after, str(number))
        assert all(start <= i < end for i in inside)
        whole = [
            t for t in places(after) if not t.written or start <= t.start <= t.end <= end
        ]  # no part of an escape
        wanted = {t.start + i for t in whole for i, c in enumerate(t.text) if not c.isspace()}
        assert {i for i in wanted if start <= i < end} <= inside


def _inside(tree: list[Tree] | tuple[Tree, ...], claim: str, within: bool = False) -> set[int]:
    found: set[int] = set()
    for node in tree:
        if isinstance(node, Text):
            found |= set(range(node.start, node.end)) if within and node.start >= 0 else set()
        else:
            found |= _inside(
                node.children, claim, within or ("data-claim", claim) in node.attributes
            )
    return found


def test_the_answer_keeps_its_formatting() -> None:
    source = (
        "# Title\n\nA **bold** and *slanted* `code`.\n\n- one\n  - inner\n- two\n\n3. three\n4. four\n\n> quoted\n\n"
        "| a | b |\n|---|:-:|\n| 1 | **2** |\n\n```python\nx = '**'\n```\n\n---\nEnd."
    )
    assert tags(parse(source)) == [
        "h2",
        "p",
        "strong",
        "em",
        "code",
        "ul",
        "li",
        "ul",
        "li",
        "li",
        "ol",
        "li",
        "li",
        "blockquote",
        "p",
        "table",
        "thead",
        "tr",
        "th",
        "th",
        "tbody",
        "tr",
        "td",
        "td",
        "strong",
        "pre",
        "code",
        "hr",
        "p",
    ]
    assert 'value="3"' in html(parse(source)[3])


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("***both***", "<p><em><strong>both</strong></em></p>"),
        ("**a *b* c**", "<p><strong>a <em>b</em> c</strong></p>"),
        ("snake_case_name and 2 * 3 * 4", "<p>snake_case_name and 2 * 3 * 4</p>"),
        ("not ** bold **", "<p>not ** bold **</p>"),
        (r"\*kept\*", "<p>*kept*</p>"),
        ("`a*b*`", "<p><code>a*b*</code></p>"),
        ("1975. It was a year", "<p>1975. It was a year</p>"),
        ("a<br>b", "<p>a<br>b</p>"),
        ("[x](javascript:alert(1))", "<p>x</p>"),
        ("AT&amp;T ~~is~~ was", "<p>AT&amp;T <del>is</del> was</p>"),
        ("Psycho_(1960_film)", "<p>Psycho_(1960_film)</p>"),
        ("**Term:**text 5*3 and 4*2", "<p><strong>Term:</strong>text 5*3 and 4*2</p>"),
    ],
)
def test_inline(source: str, wanted: str) -> None:
    assert "".join(map(html, parse(source))) == wanted


def test_a_link_shows_its_words_and_opens_beside_them() -> None:
    (paragraph,) = parse("See [the page](https://example.org/a_(b)).")
    assert html(paragraph).startswith('<p>See the page<a href="https://example.org/a_(b)"')
    assert 'rel="noopener noreferrer"' in html(paragraph)


@pytest.mark.parametrize("text", TEXTS)
def test_hostile_markdown_stays_text(text: str) -> None:
    safe("".join(map(html, parse(f"{text}\n\n- **{text}**\n\n> {text}"))))


def test_overlapping_claims_nest_with_the_shorter_inside() -> None:
    claims = [
        Claim(id="in", text="b", spans=((2, 3),)),
        Claim(id="out", text="a b c", spans=((0, 5),)),
    ]
    assert html(mark(parse("a b c"), claims)[0]) == (
        '<p><span data-claim="out" data-span="0">a <span data-claim="in" data-span="0">b</span> c</span></p>'
    )


def test_a_claim_over_emphasis_is_one_piece_and_over_blocks_several() -> None:
    source = "**Name:** it is.\n\nMore."
    whole = Claim(id="c", text="x", spans=((0, len(source)),))
    assert [html(n).count("data-claim") for n in mark(parse(source), [whole])] == [1, 1]


def test_a_claim_over_an_escape_or_entity_is_one_piece() -> None:
    source = r"AT&amp;T costs \$5."
    whole = Claim(id="c", text="AT&T costs $5.", spans=((0, len(source)),))
    (paragraph,) = mark(parse(source), [whole])
    assert html(paragraph) == '<p><span data-claim="c" data-span="0">AT&amp;T costs $5.</span></p>'
