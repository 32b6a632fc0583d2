import json
from typing import Any

import pytest

from attribution.settings import ROOT
from attribution.text.genres import genre_of
from attribution.types import Genre

RUMOURS = [
    json.loads(line)
    for line in (ROOT / "tests" / "data" / "rumours.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("row", RUMOURS, ids=lambda row: row["passages"][0]["url"] or "no address")
def test_address_title_and_shape_tell_the_genre(row: dict[str, Any]) -> None:
    (passage,) = row["passages"]
    assert genre_of(passage["url"], passage["title"], passage["text"]) == row["genre"]


@pytest.mark.parametrize(
    ("types", "genre"),
    [
        (("WebPage", "ClaimReview"), "fact check"),
        (("DiscussionForumPosting",), "forum"),
        (("NewsArticle", "OpinionNewsArticle"), "opinion"),
        (("NewsArticle", "Product"), "news"),
        (("ScholarlyArticle",), "paper"),
        (("WebPage",), "unknown"),
    ],
)
def test_markup_tells_where_the_address_does_not(types: tuple[str, ...], genre: Genre) -> None:
    assert genre_of("https://a.example/some/page", "A title", "Some text.", types) == genre


@pytest.mark.parametrize(
    "path", ["blog/data-plan", "products/maps", "forum/climate-and-law", "hub/learning"]
)
def test_the_address_of_an_institution_tells_nothing(path: str) -> None:
    assert genre_of(f"https://institute.example/{path}", "A title", "Some text.") == "unknown"


@pytest.mark.parametrize(
    "url", ["", "document:a.txt", "library:tower.md", "https://[", "not an address"]
)
def test_what_is_no_page_of_the_web_is_unknown(url: str) -> None:
    assert genre_of(url, "", "Some text.") == "unknown"


def test_long_prose_at_the_address_of_a_front_page_is_an_article() -> None:
    line = "The tower was finished in 1889 and has been painted nineteen times since then. " * 8
    assert genre_of("https://tower.example/", "The tower", "\n".join([line] * 5)) == "unknown"
    assert (
        genre_of("https://tower.example/", "The tower", "\n".join([line[:79]] * 40)) == "front page"
    )
