import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attribution.review.citation_marks import find
from attribution.text.marks import addresses
from tests.pages.hostile import TEXTS

LIST = (
    "\n\nSources:\n1. First, https://one.org/a\n2. Second (https://two.org/b).\n"
    "3. [Third](https://three.org)\n"
)


def sources(answer: str) -> list[tuple[str, tuple[str, ...]]]:
    """The text of each mark, and the keys of its sources."""
    return [(answer[mark.start : mark.end], mark.sources) for mark in find(answer).marks]


@pytest.mark.parametrize(
    ("answer", "mark", "keys"),
    [
        ("Hot [1, 2].", "[1, 2]", ("1", "2")),
        ("Hot [1-2, 4]", "[1-2, 4]", ("1", "2", "4")),
        ("Hot【3†source】.", "【3†source】", ("3",)),
        ("Hot 【4:2†tea.pdf】.", "【4:2†tea.pdf】", ("tea.pdf",)),
        ("Hot. ([A][1])\n\n[1]: https://a.org", "([A][1])", ("1",)),
        ("Hot [[2]](https://two.org/b/).", "[[2]](https://two.org/b/)", ("https://two.org/b/",)),
        ("See https://a.org/x_(y).", "https://a.org/x_(y)", ("https://a.org/x_(y)",)),
        ("Hot, says www.tea.org.", "www.tea.org", ("https://www.tea.org",)),
        ("Hot (Source: Tea Board).", "(Source: Tea Board)", ("Tea Board",)),
        ("Hot [source: [2]].", "[source: [2]]", ("2",)),
        ("Hot (sources: 1, 2)", "(sources: 1, 2)", ("1", "2")),
        ("Hot [S1].", "[S1]", ("S1",)),
        ("Hot [S1, S2].\n\nSources:\n[S1] Tea\n[S2] S1.md", "[S1, S2]", ("s1", "s2")),
        ("Hot [S1].\n\nSources:\n[1] news1.md\n[2] Tea", "[S1]", ("S1",)),
        ("Hot [^tea].\n\n[^tea]: Tea, https://a.org", "[^tea]", ("^tea",)),
        (f"Hot¹,³{LIST}", "¹,³", ("1", "3")),
        (f"Hot [^2].{LIST}", "[^2]", ("2",)),  # the list is all there is
        ("Hot¹.\n\n[^1]: Tea, https://a.org", "¹", ("^1",)),
        (f"Hot (http://www.one.org/a/).{LIST}", "(http://www.one.org/a/)", ("1",)),
        (
            "Hot (Smith, 2020).\n\nReferences\n- Smith, J. (2020). Tea.",
            "(Smith, 2020)",
            ("1",),
        ),
    ],
)
def test_a_mark_names_its_sources(answer: str, mark: str, keys: tuple[str, ...]) -> None:
    assert sources(answer) == [(mark, keys)]


def test_a_number_and_a_footnote_of_the_same_number_are_two_sources() -> None:
    cited = find(
        "Hot [1]. Cold [^1].\n\n[^1]: Milk, https://m.org\n\nSources:\n1. Tea, https://t.org"
    )
    assert [mark.sources for mark in cited.marks] == [("1",), ("^1",)]
    assert {source.key: source.url for source in cited.sources} == {
        "1": "https://t.org",
        "^1": "https://m.org",
    }


def test_marks_side_by_side_are_two() -> None:
    assert [mark for mark, _ in sources("Hot [1][2] cold[3] [4].")] == ["[1]", "[2]", "[3]", "[4]"]


@pytest.mark.parametrize(
    "answer",
    [
        "`a[1]` is code",
        "```\nb[2]\n```",
        "in [0, 1]",
        f"5 m² and 10²{LIST}",
        "born in Paris (1900)",
        "![a picture](https://a.org/p.png)",
    ],
)
def test_code_pictures_and_other_brackets_are_no_marks(answer: str) -> None:
    assert sources(answer) == []


PIECES = st.sampled_from(
    [
        *TEXTS,
        *("[1]", "[2, 3]", "[^a]", "¹", "https://a.org/b_(c).", "(source: x)", "Sources:\n"),
        *("1. A\n", "\r\n\r\n", "[^a]: b", "- ", "`", "(Smith, 2020)", "[x](https://y.org)"),
        *("【1†s】", " is hot. ", "[1]: https://z.org\n"),
    ]
)


@given(st.lists(PIECES | st.text(max_size=12), max_size=10).map("".join))
@settings(max_examples=60)
def test_offsets_are_true_and_marks_apart(answer: str) -> None:
    cited = find(answer)
    position = 0
    for mark in cited.marks:
        assert position <= mark.start < mark.end <= len(answer)
        assert answer[mark.start : mark.end].strip()
        assert mark.sources
        assert {source.key for source in cited.sources} >= set(mark.sources)
        position = mark.end
    for source in cited.sources:
        assert not source.url or source.url.lower().startswith(("http://", "https://"))
        if source.span:
            assert " ".join(answer[slice(*source.span)].split()) == source.text
    for (start, end), _ in addresses(answer):
        assert answer[start:end].lower().startswith(("http", "www."))
