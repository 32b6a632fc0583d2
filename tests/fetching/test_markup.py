import pytest

from attribution.fetching.formats import extract
from attribution.fetching.page import make_page
from attribution.types import Page

URL = "https://checks.example/2020/library"
BODY = (
    "<p>The library of Velden was renovated in 2019, the mayor says, and it has been open since "
    "then.</p>" * 3
)


def fetched(markup: str) -> Page:
    html = (
        f"<html><head><title>Did Velden close its library?</title>{markup}</head><body><article>"
        f"{BODY}</article></body></html>"
    )
    return make_page(URL, "web", extract(html.encode(), "text/html", URL))


def json_ld(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


@pytest.mark.parametrize(
    ("markup", "genre"),
    [
        (json_ld('{"@graph": [{"@type": "WebPage"}, {"@type": "ClaimReview"}]}'), "fact check"),
        (json_ld('[{"@type": ["NewsArticle"]}]'), "news"),
        ('<meta itemscope itemtype="https://schema.org/NewsArticle">', "news"),
        (json_ld("[" * 50_000), "unknown"),
        (json_ld('{"@type": 7'), "unknown"),
    ],
)
def test_the_types_in_the_markup_tell_the_genre(markup: str, genre: str) -> None:
    page = fetched(markup)
    assert page.genre == genre
    assert "renovated in 2019" in page.text
