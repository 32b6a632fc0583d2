import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attribution.review.citation_marks import find
from attribution.text.references import addresses
from tests.pages.hostile import TEXTS

LIST = "\n\nSources:\n1. First, https://one.org/a\n2. Second (https://two.org/b).\n3. [Third](https://three.org)\n"


def found(answer: str) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(answer[m.start : m.end], m.form, m.sources) for m in find(answer).marks]


@pytest.mark.parametrize(
    ("answer", "mark", "form", "sources"),
    [
        ("Tea is hot [1].", "[1]", "number", ("1",)),
        ("Tea is hot [1, 2].", "[1, 2]", "number", ("1", "2")),
        ("Tea is hot [1;3]", "[1;3]", "number", ("1", "3")),
        ("Tea is hot [1–3].", "[1–3]", "number", ("1", "2", "3")),
        ("Tea is hot [1-2, 4]", "[1-2, 4]", "number", ("1", "2", "4")),
        ("Tea is hot【3†source】.", "【3†source】", "number", ("3",)),
        ("Tea is hot 【4:2†tea.pdf】.", "【4:2†tea.pdf】", "named", ("tea.pdf",)),
        (
            "Hot. ([A][1], [B][b])\n\n[1]: https://a.org\n[b]: https://b.org",
            "([A][1], [B][b])",
            "link",
            ("1", "b"),
        ),
        (
            "Tea is hot [[2]](https://two.org/b/).",
            "[[2]](https://two.org/b/)",
            "link",
            ("https://two.org/b/",),
        ),
        (
            "[Tea](https://a.org/x_(y)) is hot.",
            "[Tea](https://a.org/x_(y))",
            "link",
            ("https://a.org/x_(y)",),
        ),
        (
            '[Tea](https://a.org "A title")',
            '[Tea](https://a.org "A title")',
            "link",
            ("https://a.org",),
        ),
        ("See https://a.org/x_(y).", "https://a.org/x_(y)", "address", ("https://a.org/x_(y)",)),
        ("Hot (https://a.org/x).", "(https://a.org/x)", "address", ("https://a.org/x",)),
        ("Hot, says <https://a.org>.", "<https://a.org>", "address", ("https://a.org",)),
        ("Hot, says www.tea.org.", "www.tea.org", "address", ("https://www.tea.org",)),
        (
            "Hot (source: https://a.org/x).",
            "(source: https://a.org/x)",
            "named",
            ("https://a.org/x",),
        ),
        ("Hot (Source: Tea Board).", "(Source: Tea Board)", "named", ("Tea Board",)),
        ("Hot [source: [2]].", "[source: [2]]", "named", ("2",)),
        ("Hot (sources: 1, 2)", "(sources: 1, 2)", "number", ("1", "2")),
        ("Hot [^1].\n\n[^1]: Tea, https://a.org", "[^1]", "footnote", ("^1",)),
        ("Hot [^tea].\n\n[^tea]: Tea, https://a.org", "[^tea]", "footnote", ("^tea",)),
        (f"Tea is hot.²{LIST}", "²", "superscript", ("2",)),
        (f"Tea is hot¹,³{LIST}", "¹,³", "superscript", ("1", "3")),
        ("[Tea][a] is hot.\n\n[a]: https://a.org", "[Tea][a]", "link", ("a",)),
        (
            "Tea (Smith, 2020).\n\nReferences\n- Smith, J. (2020). Tea.",
            "(Smith, 2020)",
            "author_year",
            ("1",),
        ),
        (
            "Smith et al. (2020) say.\n\n# References\n\nSmith 2020. Tea.",
            "Smith et al. (2020)",
            "author_year",
            ("1",),
        ),
    ],
)
def test_a_mark_is_found(answer: str, mark: str, form: str, sources: tuple[str, ...]) -> None:
    assert found(answer) == [(mark, form, sources)]


def test_a_number_and_a_footnote_of_the_same_number_are_two_sources() -> None:
    text = "Tea is hot [1]. Milk is cold [^1]."
    note = "\n\n[^1]: A note on milk, https://milk.org\n"
    cited = find(text + note)
    assert [m.sources for m in cited.marks] == [("1",), ("^1",)]
    assert cited.source("1").text == "" and cited.source("^1").url == "https://milk.org"
    cited = find(f"{text}{note}\nSources:\n1. Tea, https://tea.org")
    assert [cited.source(m.sources[0]).url for m in cited.marks] == [
        "https://tea.org",
        "https://milk.org",
    ]
    assert [m.sources for m in find(f"Tea is hot [^2].{LIST}").marks] == [
        ("2",)
    ]  # the list is all there is
    assert [m.sources for m in find(f"Tea is hot¹.{note}").marks] == [("^1",)]
    assert [m.sources for m in find(f"[Tea][^1] is hot.{note}").marks] == [("^1",)]


def test_marks_side_by_side_are_two() -> None:
    assert [mark for mark, _, _ in found("Hot [1][2] and (Smith, 2020) cold[3] [4].")] == [
        "[1]",
        "[2]",
        "[3]",
        "[4]",
    ]


@pytest.mark.parametrize(
    "answer",
    [
        "`a[1]` is code",
        "```\nb[2]\n```",
        "in [0, 1]",
        "in [2019]",
        f"5 m² and 10²{LIST}",
        "born in Paris (1900)",
        "[EMIM] and [TfO]",
        "![a picture](https://a.org/p.png)",
        "see section (3)",
    ],
)
def test_what_is_no_mark_is_left_alone(answer: str) -> None:
    assert found(answer) == []


@pytest.mark.parametrize(
    ("answer", "sources"),
    [
        (
            f"x [1]{LIST}",
            {"1": "https://one.org/a", "2": "https://two.org/b", "3": "https://three.org"},
        ),
        (
            "x\n\n**Sources:**\n- https://a.org\n- https://b.org",
            {"1": "https://a.org", "2": "https://b.org"},
        ),
        (
            "x\n\nSources: https://a.org, https://b.org",
            {"1": "https://a.org", "2": "https://b.org"},
        ),
        (
            "x\n\nReferences: [1] https://a.org [2] https://b.org",
            {"1": "https://a.org", "2": "https://b.org"},
        ),
        (
            "x\n\n[3] https://c.org A title\n[4] https://d.org",
            {"3": "https://c.org", "4": "https://d.org"},
        ),
        ("x\n\n## Works cited\n[2] A book without an address\n", {"2": ""}),
        (
            "x\r\n\r\nSources:\r\n1. A, https://a.org\r\n2. B\r\n   https://b.org",
            {"1": "https://a.org", "2": "https://b.org"},
        ),
    ],
)
def test_lists_of_sources_are_read(answer: str, sources: dict[str, str]) -> None:
    cited = find(answer)
    assert {s.key: s.url for s in cited.sources} == sources
    assert not any(cited.lists.holds(mark.start) for mark in cited.marks)


def test_a_list_ends_where_the_text_goes_on() -> None:
    cited = find("x [1]\n\nSources:\n1. A, https://a.org\n\nTea is also cold [2].")
    assert [m.sources for m in cited.marks] == [("1",), ("2",)] and cited.source("2").url == ""


def test_an_added_list_names_what_the_answer_does_not() -> None:
    cited = find("Hot [1]. Cold [2].", "[1] https://a.org\n[2] https://b.org")
    assert [(s.url, s.span) for s in cited.sources] == [
        ("https://a.org", None),
        ("https://b.org", None),
    ]


def test_a_listed_address_in_the_text_is_the_listed_source() -> None:
    assert found(f"Hot (http://www.one.org/a/).{LIST}") == [
        ("(http://www.one.org/a/)", "address", ("1",))
    ]


PIECES = st.sampled_from(
    [
        *TEXTS,
        "[1]",
        "[2, 3]",
        "[^a]",
        "¹",
        "https://a.org/b_(c).",
        "(source: x)",
        "Sources:\n",
        "1. A\n",
        "\r\n\r\n",
        "[^a]: b",
        "- ",
        "`",
        "(Smith, 2020)",
        "[x](https://y.org)",
        "【1†s】",
        " is hot. ",
        "[1]: https://z.org\n",
    ]
)


@given(st.lists(PIECES | st.text(max_size=12), max_size=10).map("".join))
@settings(max_examples=60)
def test_offsets_are_true_and_marks_apart(answer: str) -> None:
    cited = find(answer)
    ends = [0]
    for mark in cited.marks:
        assert (
            ends[-1] <= mark.start < mark.end <= len(answer)
            and answer[mark.start : mark.end].strip()
        )
        assert mark.sources and all(cited.source(key) for key in mark.sources)
        ends.append(mark.end)
    for source in cited.sources:
        assert not source.url or source.url.lower().startswith(("http://", "https://"))
        if source.span:
            assert " ".join(answer[slice(*source.span)].split()) == source.text
    for (start, end), _ in addresses(answer):
        assert answer[start:end].lower().startswith(("http", "www."))
