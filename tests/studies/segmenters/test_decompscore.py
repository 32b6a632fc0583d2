from __future__ import annotations

from attribution.studies.segmenters.comparison import content_words, decomposition
from attribution.types import Claim, Verdict, content_id

ANSWER = "Ada Lovelace wrote notes in 1843. I hope this helps!"
SENTENCE = (0, 33)


def claim(text: str, worthiness: str = "factual", span: tuple[int, int] = SENTENCE, coherent: bool = True) -> Claim:
    return Claim(id=content_id(text), text=text, spans=(span,), sentence=span, worthiness=worthiness, coherent=coherent)  # type: ignore[arg-type]


def supported(c: Claim) -> Verdict:
    return Verdict(claim_id=c.id, label="supported", confidence=0.9, reason="r")


SENTENCES = [claim(ANSWER[:33]), claim(ANSWER[34:], "not_a_claim", (34, 52))]


def test_figures_of_two_claims_from_one_sentence() -> None:
    notes, year = claim("Ada Lovelace wrote notes."), claim("The notes were written by Ada in 1843.", coherent=False)
    figures = decomposition(ANSWER, SENTENCES, [notes, year], [supported(notes)], lambda text: 1 + ("by" in text))
    assert (figures.claims, figures.unique, figures.sentences, figures.supported) == (2, 2, 1, 1)
    assert figures.claims_per_sentence == 2.0
    assert figures.characters_per_claim == (len(notes.text) + len(year.text)) / 2
    assert figures.coherent == 0.5 and figures.atomic == 0.5
    assert figures.coverage == 1.0 and figures.uncovered == ()


def test_words_that_no_claim_holds_are_named_and_claims_of_elsewhere_do_not_count() -> None:
    name, other = claim("Ada Lovelace wrote."), claim("The notes are of 1843.", span=(34, 52))
    figures = decomposition(ANSWER, SENTENCES, [name, other], [])
    assert [ANSWER[slice(*s)] for s in figures.uncovered] == ["notes", "1843"]
    assert figures.coverage == 0.6


def test_nothing_to_measure_is_none_not_a_number() -> None:
    figures = decomposition("Hello!", [], [], [])
    assert (figures.coherent, figures.coverage, figures.atomic) == (None, None, None)
    assert figures.claims_per_sentence == 0.0


def test_content_words_are_slices() -> None:
    assert [ANSWER[a:b] for a, b in content_words(ANSWER, SENTENCE)] == ["Ada", "Lovelace", "wrote", "notes", "1843"]
