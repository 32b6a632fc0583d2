from __future__ import annotations

import random

from attribution.evidence.near_duplicates import with_origins
from tests.make import page

WORDS = [f"word{n}" for n in range(400)]


def story(seed: int, length: int = 300) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=length))


def test_copies_are_one_origin_and_others_are_not() -> None:
    text = story(1)
    first = page(text, "https://agency.example/1").model_copy(update={"published": "2024-01-01"})
    copy = page(f"By our staff. {text.upper()} Share this.", "https://a-paper.example/2")
    other = page(story(2), "https://other.example/3")
    quoting = page(story(3) + " " + text[:300], "https://quotes.example/4")
    marked = {p.url: p.origin for p in with_origins([copy, other, first, quoting])}
    assert marked == {first.url: first.id, copy.url: first.id, other.url: "", quoting.url: ""}
    assert [p.url for p in with_origins([copy, other, first])] == [copy.url, other.url, first.url]


def test_short_texts_must_be_the_same() -> None:
    texts = ("A short text.", "A short text!", "A short tale.", "")
    pages = [page(text, f"https://{i}.example/") for i, text in enumerate(texts)]
    origins = [p.origin for p in with_origins(pages)]
    assert origins[0] == origins[1] == pages[0].id and origins[2:] == ["", ""]


def test_marks_of_another_run_do_not_stay() -> None:
    (alone,) = with_origins([page("A text.").model_copy(update={"origin": "x"})])
    assert alone.origin == "" and with_origins([]) == ()
