import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attribution.errors import FetchFailed
from attribution.fetching.formats import extract
from attribution.fetching.page import clean, valid_date
from tests.servers import pdf_bytes

ARTICLE = (
    "<!doctype html><html><head><title>The Nile</title><meta property='og:site_name' "
    "content='Rivers'>"
    "<meta property='article:published_time' content='2024-03-05T10:00:00Z'></head><body><nav>Home "
    "About</nav><article>"
    "<h1>The Nile</h1><p>The Nile flows north through eleven countries and ends in the "
    "Mediterranean Sea.</p>"
    "<p>It is about 6,650 kilometres long, says the survey of 2007, which measured it again.</p>"
    "<table><tr><th>River</th><th>Length</th></tr><tr><td>Nile</td><td>6650</td></tr></table>"
    "</article><div class='comments'><p>First!</p></div></body></html>"
)


def failure(
    content: bytes, media_type: str = "text/html", name: str = "https://example.org/a"
) -> FetchFailed:
    with pytest.raises(FetchFailed) as caught:
        extract(content, media_type, name)
    assert caught.value.subject == name
    return caught.value


def test_article_with_title_date_site_and_table() -> None:
    found = extract(ARTICLE.encode(), "text/html; charset=utf-8", "https://rivers.example/nile")
    assert (found.title, found.published, found.site) == ("The Nile", "2024-03-05", "Rivers")
    assert "flows north through eleven countries" in found.text
    assert "Nile: Length 6650" in found.text
    assert "First!" not in found.text
    assert "<" not in found.text


RUSSIAN = (
    "Нил течёт на север через одиннадцать стран и впадает в Средиземное море. Его длина около 6650 "
    "километров."
)


@pytest.mark.parametrize("declared", ["text/html; charset=utf-8", "text/html"])
def test_windows_1251_declared_as_utf_8(declared: str) -> None:
    page = (
        f"<html><head><meta charset='utf-8'><title>Нил</title></head><body><p>{RUSSIAN}</p></body>"
        "</html>"
    )
    assert extract(page.encode("cp1251"), declared, "https://example.org/a").text == RUSSIAN


@pytest.mark.parametrize(
    ("content", "media_type", "text"),
    [
        ("naïve".encode(), "text/plain", "naïve"),
        (
            "naïve".encode(),
            "text/plain; charset=iso-8859-1",
            "naïve",
        ),  # wrongly declared, as servers do
        ("naïve “quote”".encode("utf-16"), "text/plain", "naïve “quote”"),
        ("The café “Zum Löwen” is old.".encode("cp1252"), "", "The café “Zum Löwen” is old."),
        (b"6e61", "text/plain; charset=hex", "6e61"),  # a codec that is no charset
        (b"a\x00b\x1b[0mc\r\nd\re\x0bf", "text/plain", "ab[0mc\nd\ne\nf"),
    ],
)
def test_plain_text_is_decoded_and_cleaned(content: bytes, media_type: str, text: str) -> None:
    assert extract(content, media_type, "a.txt").text == text


def test_clean_keeps_tabs_and_one_blank_line_and_composes_letters() -> None:
    assert clean("  a\tb\n \n\t\n\n\nc e\u0301 \ud800x\n") == "a\tb\n\nc \u00e9 x"


@pytest.mark.parametrize("media_type", ["application/octet-stream", "text/html", ""])
def test_pdf_under_another_name(media_type: str) -> None:
    assert extract(pdf_bytes("Text."), media_type, "a").text == "Text."


def test_pdf_with_too_many_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attribution.fetching.pdf.MAX_PAGES", 2)
    long = failure(pdf_bytes("a", "b", "c"), "application/pdf")
    assert long.kind == "too_large"
    assert "3 pages" in str(long)


@pytest.mark.parametrize(
    ("content", "media_type", "says"),
    [
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "text/html", "PNG"),
        (b"PK\x03\x04" + bytes(range(256)), "text/plain", "ZIP"),
        (bytes(range(256)) * 10, "text/html", "binary"),
        (b"<html><body>Please log in</body></html>", "application/pdf", "no application/pdf"),
        (b"\x89PNG\r\n\x1a\n", "image/png", "image/png"),
    ],
)
def test_a_lying_or_unwanted_type_is_said(content: bytes, media_type: str, says: str) -> None:
    error = failure(content, media_type)
    assert error.kind == "wrong_type"
    assert says in str(error)
    assert "expected text, HTML" in str(error)


PAID = (
    "<script type='application/ld+json'>"
    '{"@type": "NewsArticle", "isAccessibleForFree": "False"}</script>'
)


@pytest.mark.parametrize(
    ("page", "kind", "says"),
    [
        ("", "no_text", "is empty"),
        ("  \n", "no_text", "no text"),
        ("<body><img src=a.png></body>", "no_text", "no text"),
        (
            "<body><script>render()</script><div id=app></div></body>",
            "needs_javascript",
            "JavaScript",
        ),
        (
            "<body><p>Please enable JavaScript and cookies to continue.</p></body>",
            "needs_javascript",
            "JavaScript",
        ),
        (
            f"<head>{PAID}</head><body><p>The first lines of a story.</p></body>",
            "paywall",
            "subscribers",
        ),
        (
            "<body><p>The first lines.</p><p>Subscribe to continue reading.</p></body>",
            "paywall",
            "subscribers",
        ),
    ],
)
def test_pages_that_show_little_are_told_apart(page: str, kind: str, says: str) -> None:
    error = failure(f"<html>{page}</html>".encode() if page.strip() else page.encode())
    assert error.kind == kind
    assert says in str(error)


@pytest.mark.parametrize(
    "page",
    [
        "<p>JavaScript was created in 1995.</p>",
        f"<head>{PAID}</head><body><p>{'The whole story is here, it is long. ' * 50}</p></body>",
        "<noscript>This page needs JavaScript.</noscript><p>"
        + "But its text is here without it. " * 20
        + "</p>",
    ],
)
def test_pages_that_only_look_like_it_are_read(page: str) -> None:
    assert extract(f"<html>{page}</html>".encode(), "text/html", "https://example.org/a").text


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2024-03-05", "2024-03-05"),
        ("2024-13-05", ""),
        ("2999-01-01", ""),
        ("", ""),
    ],
)
def test_a_date_is_a_day_that_was(text: str, date: str) -> None:
    assert valid_date(text) == date


@pytest.mark.parametrize("depth", [254, 100_000])  # at the parser's limit and far beyond
@pytest.mark.parametrize("opening", ["<div>", "<table><tr><td>"])
def test_deep_nesting_neither_crashes_nor_hangs(opening: str, depth: int) -> None:
    started = time.monotonic()
    try:
        extract(f"<html><body>{opening * depth}deep".encode(), "text/html", "https://example.org/a")
    except FetchFailed as error:
        assert error.kind in ("unreadable", "no_text", "too_large")
    assert time.monotonic() - started < 20  # it took minutes


PIECES = [
    b"<!doctype html>",
    b"<html>",
    b"<body>",
    b"<p>",
    b"</p>",
    b"<table><tr><td>",
    b"<div ",
    b"class='",
    b"<!--",
    b"-->",
    b"<![CDATA[",
    b"<script type='application/ld+json'>{",
    b"</script>",
    b"<meta charset=utf-16>",
    b"<title>",
    b"&#0;",
    b"&#xd800;",
    b"<?xml version='1.0' encoding='x'?>",
    b"<svg><math>",
    b"<time datetime='2024-99-99'>",
    b"The Nile. ",
    b"%PDF-1.4\n",
    b"1 0 obj << /Type /Catalog /Pages 1 0 R >> endobj\n",
    b"trailer << /Root 1 0 R >>",
    b"startxref\n9\n",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\x00",
    b"\x1b$B",
    b"\xd0\x9d",
]
TYPES = [
    "",
    "text/html",
    "text/plain",
    "text/markdown",
    "application/pdf",
    "application/octet-stream",
    "image/png",
    "text/html; charset=utf-16",
    "text/plain; charset=idna",
    "text/plain; charset=utf-7",
    "text/plain; charset=\udc80",
]


KINDS = (
    "wrong_type",
    "unreadable",
    "too_large",
    "no_text",
    "needs_javascript",
    "encrypted",
    "paywall",
)


@settings(max_examples=60)
@given(
    st.binary(max_size=300) | st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join),
    st.sampled_from(TYPES),
)
@example(
    pdf_bytes("Text.").replace(b"/Kids [5 0 R]", b"/Kids [2 0 R]"), "application/pdf"
)  # a page tree in a circle
def test_any_bytes_give_text_or_a_typed_failure(content: bytes, media_type: str) -> None:
    try:
        text = extract(content, media_type, "https://example.org/a").text
    except FetchFailed as error:
        assert error.kind in KINDS
        assert str(error)
    else:
        assert text == clean(text) != ""
        assert "\0" not in text
        assert text.encode("utf-8")
