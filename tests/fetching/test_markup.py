import json
from typing import Any

import pytest

from attribution.fetching.formats import extract
from attribution.fetching.page import make_page
from attribution.types import Page

URL = "https://checks.example/2020/library"
BODY = (
    "<p>The library of Velden was renovated in 2019, the mayor says, and it has been open since "
    "then.</p>" * 3
)


def fetched(markup: str, title: str = "Did Velden close its library?") -> Page:
    html = (
        f"<html><head><title>{title}</title>{markup}</head><body><article>{BODY}</article></body>"
        "</html>"
    )
    return make_page(URL, "web", extract(html.encode(), "text/html", URL))


def json_ld(value: Any) -> str:
    return f'<script type="application/ld+json">{json.dumps(value)}</script>'


REVIEW = {
    "@type": "ClaimReview",
    "claimReviewed": "Velden  closed its library.",
    "reviewRating": {"@type": "Rating", "ratingValue": 1, "alternateName": "False"},
}


@pytest.mark.parametrize("value", [REVIEW, [REVIEW], {"@graph": [{"@type": "WebPage"}, REVIEW]}])
def test_a_fact_check_has_its_claim_its_rating_and_its_headline_first(value: Any) -> None:
    page = fetched(json_ld(value))
    assert (page.genre, page.reviewed, page.rating) == (
        "fact check",
        "Velden closed its library.",
        "False",
    )
    assert page.text.startswith("Did Velden close its library?\n\nThe library of Velden")


def test_microdata_counts_and_parts_of_a_page_do_not() -> None:
    assert fetched('<meta itemscope itemtype="https://schema.org/NewsArticle">').genre == "news"
    related = {
        "@type": "WebPage",
        "hasPart": {"@type": "DiscussionForumPosting"},
        "author": {"@type": "ClaimReview"},
    }
    assert fetched(json_ld(related)).genre == "unknown"


@pytest.mark.parametrize(
    "script", ["{", "[" * 50_000, "null", '{"@type": 7, "@graph": {"@graph": 1}}', "x" * 200_000]
)
def test_markup_that_cannot_be_read_is_left_out(script: str) -> None:
    page = fetched(f'<script type="application/ld+json">{script}</script>')
    assert page.genre == "unknown"
    assert "renovated" in page.text
    odd = REVIEW | {"claimReviewed": ["x"], "reviewRating": "False"}
    assert fetched(json_ld(odd)).rating == ""
