import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attribution.text.urls import canonical, excluded, site

PIECES = st.sampled_from(
    [
        "http://",
        "https://",
        "HTTPS://",
        "www.",
        "m.",
        "mobile.",
        "example.org",
        "Bücher.example",
        "xn--bcher-kva.example",
        ":80",
        ":443",
        ":8080",
        "/",
        "/a",
        "/%7Euser",
        "/%2f",
        "/%25",
        "/é",
        "/%zz",
        "%",
        "?",
        "&",
        "=",
        "utm_source=x",
        "b=2",
        "a=1",
        "a",
        "%26",
        "+",
        "#frag",
        "[::1]",
        "[",
        ".",
        "..",
        "\ud800",
        " ",
        "user@",
        ";",
        "//",
        "m",
    ]
)


@pytest.mark.parametrize(
    "other",
    [
        "http://example.org/a?x=1&y=2",
        "https://example.org:443/a/?y=2&x=1",
        "HTTP://WWW.Example.org:80/a?x=1&y=2#part",
        "https://example.org/a?utm_source=feed&x=1&fbclid=abc&y=2",
        "https://www.example.org./%61?x=1&y=2",
    ],
)
def test_one_page_has_one_spelling(other: str) -> None:
    assert canonical(other) == "https://example.org/a?x=1&y=2"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("https://example.org/a", "https://example.org/b"),
        ("https://example.org/a", "https://example.org:8080/a"),
        ("https://example.org/a?id=1", "https://example.org/a?id=2"),
        ("https://de.example.org/", "https://example.org/"),
        ("https://m.example.org/", "https://example.org/"),
        ("https://amp.example.org/", "https://example.org/"),
        ("https://a.m.example.org/", "https://a.example.org/"),
        ("https://www.m.example.org/", "https://www.example.org/"),
        ("https://example.org/a%2Fb", "https://example.org/a/b"),
        ("https://example.org/A", "https://example.org/a"),
    ],
)
def test_other_pages_stay_apart(one: str, two: str) -> None:
    assert canonical(one) != canonical(two)


def test_spellings_of_their_own() -> None:
    assert canonical("https://bücher.example/") == canonical("https://xn--bcher-kva.example")
    assert canonical("https://www.com/") == "https://www.com"
    assert canonical("https://m.com/x") == "https://m.com/x"
    assert canonical("http://[::1]:80/x") == "https://[::1]/x"
    assert [canonical(u) for u in ("file:///a", "http://[", "library:a.md", "")] == [
        "file:///a",
        "http://[",
        "library:a.md",
        "",
    ]


@given(st.text() | st.lists(PIECES, max_size=9).map("".join))
@example("https://example.org/%252F")
@example("https://www.m.example.org//")
@example("https://a.m.m.b.c/")
@example("HTTP://0 /")
@example("HTTP://¡..")
def test_the_canonical_address_is_its_own(url: str) -> None:
    once = canonical(url)
    assert canonical(once) == once


def test_excluded_sites_and_addresses() -> None:
    patterns = ("example.org", "https://www.news.example/story/1", "forum.example/t?id=3")
    for url in (
        "https://example.org/",
        "http://www.example.org:80/x",
        "https://a.b.example.org/x",
        "http://news.example/story/1/",
        "https://m.news.example/story/1/comments",
        "https://a.m.example.org/",
        "https://forum.example/t?id=3&utm_source=a",
    ):
        assert excluded(url, patterns), url
    for url in (
        "https://notexample.org/",
        "https://example.org.evil.example/",
        "https://news.example/story/12",
        "https://news.example/",
        "https://forum.example/t?id=4",
        "library:a.md",
    ):
        assert not excluded(url, patterns), url
    assert not excluded("https://example.org/", ())


def test_site() -> None:
    assert [site(u) for u in ("http://Me:x@Example.org:81/a", "nothing", "http://[")] == [
        "example.org:81",
        "",
        "",
    ]
