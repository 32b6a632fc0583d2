"""Whatever reads a page, an answer, an address or a reply as a whole takes time in proportion."""

from collections.abc import Callable
from contextlib import suppress

import pytest
from pydantic import BaseModel

from attribution.errors import AttributionError
from attribution.fetching import page
from attribution.llm.replies import parse
from attribution.retrieval.chunkers import Fixed, Recursive, SentenceWindows
from attribution.review import citation_marks
from attribution.segmenters.sentences import Sentences
from attribution.settings import Settings
from attribution.text import markdown, passages, urls, words
from attribution.text.lines import paragraphs
from attribution.text.prose import LONGEST_LINE, prose, states_nothing
from attribution.text.sentences import detect, sentences
from attribution.text.words import Diff
from tests import make
from tests.security.scaling import is_linear, units

SETTINGS = Settings()
CLAIM = "The Nile was 6,650 km long in 1999, said Ada Lovelace."


class Reply(BaseModel):
    claims: list[str]


READERS: dict[str, tuple[int, Callable[[str], object]]] = {  # with the length of the shorter text
    "page": (4_000, page.clean),
    "prose": (2_000, prose),
    "paragraphs": (2_000, lambda text: paragraphs([text])),
    "fixed chunks": (4_000, lambda text: Fixed(SETTINGS).chunk(make.page(text))),
    "recursive chunks": (500, lambda text: Recursive(SETTINGS).chunk(make.page(text))),
    "sentence windows": (2_000, lambda text: SentenceWindows(SETTINGS).chunk(make.page(text))),
    "language": (1_000, detect),
    "sentences": (2_000, sentences),
    "terms": (2_000, words.terms),
    "deciding sentence": (2_000, lambda text: words.deciding_sentence(CLAIM, text)),
    "Markdown": (500, markdown.read),
    "visible": (250, lambda text: passages.visible(text, 0, len(text))),
    "claims": (250, lambda text: Sentences(SETTINGS).segment("", text)),
    "marks": (500, citation_marks.find),
    "list of sources": (1_000, lambda text: citation_marks.find("It is long. [1]", text)),
    "address": (2_000, lambda text: urls.canonical(f"https://a.org/{text}")),
    "host": (2_000, lambda text: urls.canonical(f"https://{text}")),
    "reply": (4_000, lambda text: parse('{"claims": ["a", "' + text, Reply)),
}


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_twice_the_text_takes_at_most_two_and_a_half_times_as_long(reader: str) -> None:
    length, read = READERS[reader]

    def read_anew(text: str) -> None:
        for cached in (markdown.read, words.terms, detect, passages.passages):
            cached.cache_clear()
        with suppress(AttributionError, ValueError):
            read(text)

    assert not [unit for unit in units() if not is_linear(read_anew, unit, length)]


@pytest.mark.parametrize("word", ["@", "a", "a@b.", "[12]. ", "“"])
def test_a_line_without_an_end_is_no_heading_and_no_reference(word: str) -> None:
    text = (word * (LONGEST_LINE + 1))[: LONGEST_LINE + 1]
    assert not states_nothing(text)
    assert len(prose(text)) == len(text)


def test_a_diff_of_the_same_words_in_many_places_loses_none() -> None:
    old, new = list("ab" * 10_000), list("ba" * 10_000)
    codes = Diff(old, new).get_opcodes()
    assert [word for _, _, _, start, end in codes for word in new[start:end]] == new
