from collections.abc import Sequence

from attribution.claims.coherence import check_coherence
from attribution.types import Claim, content_id
from attribution.verdicts import decide
from tests.make import both

ANSWER = "Ada wrote notes in 1843. She lived in London."


def claim(text: str, sentence: tuple[int, int] | None) -> Claim:
    return Claim(
        id=content_id(text), text=text, spans=((0, 4),), sentence=sentence, worthiness="factual"
    )


def test_a_claim_that_its_sentence_does_not_say_is_left_out_with_the_reason() -> None:
    asked: list[tuple[str, str]] = []

    def entailed(pairs: Sequence[tuple[str, str]]) -> list[float]:
        asked.extend(pairs)
        return [0.9 if "notes" in text else 0.12345 for text, _ in pairs]

    claims = [
        claim("Ada wrote notes.", (0, 24)),
        claim("Ada won a prize.", (0, 24)),
        claim("She lived in London.", (25, 45)),
        claim("Ada wrote notes in London.", None),
    ]
    good, bad, verbatim, whole = check_coherence(ANSWER, claims, entailed, 0.5)
    assert asked == [
        ("Ada wrote notes.", "Ada wrote notes in 1843."),
        ("Ada won a prize.", "Ada wrote notes in 1843."),
        ("Ada wrote notes in London.", ANSWER),
    ]
    assert (good.coherence, good.coherent) == (0.9, True)
    assert (bad.coherence, bad.coherent, bad.checked) == (0.1235, False, False)
    assert verbatim.coherence is None
    assert verbatim.checked
    assert whole.coherent
    made = decide(bad, (), both(0.5))
    assert made.label == "not_checked"
    assert "0.12" in made.reason


def test_the_marks_of_a_sentence_do_not_count() -> None:
    answer = "In 1843 she wrote *Notes* and **more**. She [met](https://example.org) Babbage."
    end = answer.index(" She")
    asked: list[tuple[str, str]] = []

    def entailed(pairs: Sequence[tuple[str, str]]) -> list[float]:
        asked.extend(pairs)
        return [0.9] * len(pairs)

    claims = [
        claim("In 1843 she wrote Notes and more.", (0, end)),
        claim("Ada met Babbage.", (end + 1, len(answer))),
    ]
    verbatim, _ = check_coherence(answer, claims, entailed, 0.5)
    assert verbatim.coherence is None
    assert asked == [("Ada met Babbage.", "She met Babbage.")]


def test_a_threshold_of_zero_keeps_every_claim_and_no_claim_needs_no_verifier() -> None:
    kept = check_coherence(ANSWER, [claim("Ada won.", (0, 24))], lambda pairs: [0.0], 0.0)
    assert kept[0].checked

    def never(pairs: Sequence[tuple[str, str]]) -> list[float]:
        raise AssertionError("nothing to check")

    assert check_coherence(ANSWER, [], never, 0.5) == []


def test_the_premise_of_a_cell_has_its_headings() -> None:
    answer = "| Film | Year |\n|---|---|\n| Psycho | 1960 |\n"
    start = answer.index("1960")
    cell = (start, start + 4)
    asked: list[tuple[str, str]] = []

    def entailed(pairs: Sequence[tuple[str, str]]) -> list[float]:
        asked.extend(pairs)
        return [0.1] * len(pairs)

    whole, part = (
        claim("Psycho: 1960 (Year)", cell),
        claim("Psycho was released in 1960.", cell),
    )
    whole, part = check_coherence(answer, [whole, part], entailed, 0.5)
    assert asked == [("Psycho was released in 1960.", "Psycho: 1960 (Year)")]
    assert whole.checked
    assert not part.checked
