import threading
from collections.abc import Iterator

import pytest

from attribution.claims import enrichment
from attribution.claims.context import check_independence
from attribution.pipeline.claims import annotate, segment
from attribution.settings import Settings
from attribution.text import parse
from attribution.types import Claim, Failure

LIMIT = Settings.model_fields["answer_limit"].default


def text_of(unit: str, length: int) -> str:
    """Return a text of a length that repeats a unit."""
    return (unit * (length // len(unit) + 1))[:length]


def annotated(answer: str, segmenter: str = "sentences") -> tuple[list[Claim], list[Failure]]:
    """What a run makes of an answer before it searches, with nothing parsed before."""
    parse.forget()
    segmented = segment("", answer, Settings(segmenter=segmenter))
    claims, failures = annotate("", answer, segmented.claims)
    # a claim whose pronoun is sought in all of the answer
    enrichment.enrich(
        "", answer, check_independence([Claim(id="1", text="It ran.", spans=((0, 1),))])
    )
    return claims, [*segmented.failures, *failures]


def numbered(sentence: str, count: int) -> str:
    return " ".join(sentence.format(n) for n in range(count))


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Every text that spaCy is given while the lock is held."""
    texts: list[str] = []
    english = parse._english(0)

    def noted(text: str) -> object:
        texts.append(text)
        return english(text)

    noted.vocab = english.vocab  # type: ignore[attr-defined]
    monkeypatch.setattr(parse, "_english", lambda vocabulary: noted)
    yield texts
    parse.forget()


def test_the_parser_is_given_one_sentence_at_a_time_and_the_tokenizer_no_endless_word(
    parsed: list[str],
) -> None:
    for unit in ("the cat ", "$", "He ran. ", "x, ", "( "):
        annotated(text_of(unit, 5_000))
    assert parsed
    assert max(map(len, parsed)) <= parse.MAX_PARSED
    for text in parsed:
        words = [w for w in text.split() if len(w) > parse.LONGEST_WORD]
        assert [t.text for t in parse.parse(text) if len(t) > parse.LONGEST_WORD] == words


def test_offsets_stay_exact_in_a_text_with_endless_words() -> None:
    for text in (
        f"See {'.' * 500} now.",
        f"{'a' * 300}\nHe  ran {'$' * 200}",
        f"{'-' * 200}  ",
        "He ran. " * 500,
    ):
        doc = parse.parse(text)
        assert doc.text == text
        assert all(text[t.idx : t.idx + len(t)] == t.text for t in doc)
    assert [t.norm_ for t in parse.parse(f"I can't see {'x' * 200}.")][1:3] == ["can", "not"]


def test_a_claim_as_long_as_an_answer_is_checked() -> None:
    (claim,), failures = annotated(text_of("the cat ", LIMIT))
    assert claim.checked
    assert failures == []


def test_stop_ends_segmentation_between_two_sentences(parsed: list[str]) -> None:
    stop = threading.Event()
    stop.set()
    answer = numbered("It has {} rooms, and she has it.", 50)
    parse.forget()
    claims = segment("", answer, Settings(segmenter="clauses"), stop).claims
    assert not parsed
    claims, _ = annotate("", answer, claims, stop=stop)
    assert len(claims) == 50
