import random

import pytest

from attribution.evidence.origins import Origins
from tests.make import page

WORDS = [f"word{n}" for n in range(400)]


def story(seed: int, length: int = 300) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=length))


def test_copies_are_one_origin_and_others_are_not() -> None:
    text = story(1)
    first = page(text, "https://agency.example/1", published="2024-01-01")
    copy = page(f"By our staff. {text.upper()} Share this.", "https://a-paper.example/2")
    other = page(story(2), "https://other.example/3")
    quoting = page(story(3) + " " + text[:300], "https://quotes.example/4")
    origins = Origins()
    origins.marked([copy, quoting])  # others are still under way
    marked = {p.url: p.origin for p in origins.marked([copy, other, first, quoting])}
    assert marked == {first.url: first.id, copy.url: first.id, other.url: "", quoting.url: ""}
    assert [p.url for p in origins.marked([copy, other, first])] == [
        copy.url,
        other.url,
        first.url,
    ]


def test_short_texts_must_be_the_same() -> None:
    texts = ("A short text.", "A short text!", "A short tale.", "")
    pages = [page(text, f"https://{i}.example/") for i, text in enumerate(texts)]
    origins = [p.origin for p in Origins().marked(pages)]
    assert origins[0] == origins[1] == pages[0].id
    assert origins[2:] == ["", ""]


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("https://en.wikipedia.org/wiki/Nile", "https://de.wikipedia.org/wiki/Nile", False),
        ("https://a.example/story", "https://a.example/story?utm_source=x", True),
        ("https://a.example/story", "https://b.example/story", False),
    ],
)
def test_mirrors_and_spellings_of_one_address_have_one_origin(
    one: str, two: str, same: bool
) -> None:
    pages = Origins().marked([page(story(1), one), page(story(2), two)])
    assert (pages[0].origin == pages[1].origin != "") is same


def test_web_pages_that_publish_the_answer_are_marked_and_sources_of_it_are_not() -> None:
    answer, question = story(1, 120), "How long is the Nile?"
    published = page(f"{question} {answer} {story(7, 90)}", "https://chats.example/1")
    copied, beside = (
        page(answer, "https://copies.example/1"),
        page(story(8), "https://copies.example/2"),
    )
    longer = page(f"{story(2)} {answer} {story(3)}", "https://en.wikipedia.org/wiki/Nile")
    document = page(answer, "document:own.txt", kind="document")
    found = {
        p.url: p.genre
        for p in Origins(answer, question).marked([published, copied, beside, longer, document])
    }
    assert found == {
        published.url: "answer",
        copied.url: "answer",
        beside.url: "unknown",
        longer.url: "unknown",
        document.url: "unknown",
    }
