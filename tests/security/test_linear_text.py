import itertools
from collections.abc import Callable
from contextlib import suppress

import pytest
from protego import Protego

from attribution.chunkers import Fixed, Recursive, SentenceWindows
from attribution.claims import enrichment
from attribution.errors import AttributionError
from attribution.evidence import origins
from attribution.evidence.matching import with_context
from attribution.fetching import content_type, fetcher, page
from attribution.library import folder
from attribution.reports import answer, html
from attribution.reports import answer as shown
from attribution.reports import markdown_export as exported
from attribution.review import citation_marks as marks
from attribution.segmenters.sentences import Sentences
from attribution.settings import Settings
from attribution.text import differences, markdown, names, passages, urls, value_reading, words
from attribution.text.prose import LONGEST_LINE, prose, states_nothing
from attribution.text.sentences import detect, sentences
from attribution.text.words import Diff
from attribution.verifiers.llm import find_quote
from attribution.verifiers.pairs import word_for_word
from tests import make
from tests.security.patterns import made_within_functions, uses
from tests.security.scaling import is_linear, shapes

WITHIN_FUNCTIONS = {
    "attribution.text.marks._rows",  # of its table: each is a row of FORMS, which is measured
    "attribution.fetching.packages._chapter",  # anchored at the beginning
    "attribution.review.cited_sources._is_named",  # a file's name, letter by letter
    # of its own table; what reads values with them is measured
    "attribution.text.value_patterns._compiled",
    "attribution.claims.rules.compile_any",  # of the program's own data; what it makes is measured
}
_PARTS = 8  # each has the time of one test


@pytest.mark.slow
@pytest.mark.timeout(1800)  # minutes of processor time, and many more on a busy machine
@pytest.mark.parametrize("length", [1_000, 2_000])
@pytest.mark.parametrize("part", range(_PARTS))
def test_every_pattern_reads_twice_the_text_in_at_most_two_and_a_half_times_as_long(
    part: int, length: int
) -> None:
    slow = [
        f"{use.name} on {name}"
        for use in uses()[part::_PARTS]
        for name, shape in shapes().items()
        if not is_linear(use, shape, length)
    ]
    assert not slow


def test_no_pattern_is_made_where_it_is_not_measured() -> None:
    assert set(made_within_functions()) == WITHIN_FUNCTIONS


def test_a_line_without_an_end_is_neither_heading_nor_reference_and_its_characters_stay_in_place() -> (
    None
):
    for word in ("@", "a", "a@b.", "[12]. ", "“"):
        text = (word * (LONGEST_LINE + 1))[: LONGEST_LINE + 1]
        assert not states_nothing(text) and len(prose(text)) == len(text)
    assert states_nothing(" " * (LONGEST_LINE + 1))


def test_texts_that_have_the_same_words_in_many_places_are_compared_only_so_far() -> None:
    old, new = list("ab" * 10_000), list("ba" * 10_000)
    codes = Diff(old, new).get_opcodes()
    assert list(itertools.chain(*(new[c:d] for _, _, _, c, d in codes))) == new


# --- what reads a page, an answer, an address or a reply as a whole ---

_SETTINGS = Settings()
_CLAIM = "The Nile was 6,650 km long in 1999, said Ada Lovelace."
_CACHED = (
    markdown.read,
    names.names,
    names.negations,
    differences.contrasts,
    differences._words,
    words.terms,
    detect,
    passages._texts,
)
READERS: dict[str, tuple[int, Callable[[str], object]]] = {  # with the length of the shorter text
    # pages
    "clean": (4_000, page.clean),
    "decode": (4_000, lambda text: content_type.decode(b"\xff\xe9" + text.encode())),
    "guess the charset": (
        4_000,
        lambda text: content_type._guess(b"\xff\xe9" * 10 + text.encode()),
    ),
    "front matter": (
        4_000,
        lambda text: folder.without_front_matter(page.Extracted("", f"---\n{text}\n"), "a.md"),
    ),
    "prose": (2_000, prose),
    "fixed chunks": (4_000, lambda text: Fixed(_SETTINGS).chunk(make.page(text))),
    "recursive chunks": (500, lambda text: Recursive(_SETTINGS).chunk(make.page(text))),
    "sentence windows": (2_000, lambda text: SentenceWindows(_SETTINGS).chunk(make.page(text))),
    "context": (4_000, lambda text: with_context(text, len(text) // 2, len(text) // 2 + 100, 512)),
    "near duplicates": (1_000, origins._sketched),
    "language": (1_000, detect),
    "robots.txt": (1_000, lambda text: Protego.parse(fetcher._merged(f"User-agent: *\n{text}"))),
    # claims and passages
    "sentences": (2_000, sentences),
    "values": (500, value_reading.values.__wrapped__),
    "names": (500, names.names),
    "terms": (2_000, words.terms),
    "deciding sentence": (2_000, lambda text: words.deciding_sentence(_CLAIM, text)),
    "contrasts": (250, lambda text: differences.contrasts(_CLAIM, text)),
    "word for word": (2_000, lambda text: word_for_word(_CLAIM, text, sentences(text))),
    "a quote": (2_000, lambda text: find_quote(text[:100], text, text[:100])),
    # answers
    "Markdown": (500, markdown.read),
    "passages": (250, passages.passages),
    "visible": (250, lambda text: passages.visible(text, 0, len(text))),
    "an answer with its claims marked": (
        250,
        lambda text: answer.mark(shown.parse(text), Sentences(_SETTINGS).segment("", text).claims),
    ),
    "marks": (500, marks.find),
    "a list of sources": (1_000, lambda text: marks.find("It is long. [1]", text)),
    "turns": (4_000, lambda text: enrichment._of_lines(f"User: {text}")),
    "an exported paragraph": (4_000, exported._paragraph),
    # addresses
    "canonical": (2_000, lambda text: urls.canonical(f"https://a.org/{text}")),
    "a host": (2_000, lambda text: urls._host(text)),
    "a query": (2_000, lambda text: urls.canonical(f"https://a.org/?{text}")),
    "a safe address": (4_000, lambda text: html.link_to_sentence(f"https://a.org/{text}", text)),
}


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_what_reads_a_text_takes_no_longer_than_in_proportion_to_it(reader: str) -> None:
    length, read = READERS[reader]

    def read_anew(text: str) -> None:
        for cached in _CACHED:
            cached.cache_clear()
        with suppress(AttributionError):
            read(text)

    assert not [
        name
        for name, shape in shapes(framed=False).items()
        if not is_linear(read_anew, shape, length)
    ]
