from collections.abc import Sequence
from pathlib import Path

import pytest

from attribution.cli.main import main
from attribution.errors import BadInput
from attribution.models import mpnet
from attribution.settings import Settings
from attribution.types import Judgement, Probabilities, Relation
from attribution.verdicts import relation
from attribution.verifiers import embedded_base
from attribution.verifiers.auto import choose, smaller_verifier
from attribution.verifiers.embedded_base import LONG_CLAIM, EmbeddedBase, Reader, combined
from attribution.verifiers.embedded_small import EmbeddedSmall
from tests.make import both

needs_base = pytest.mark.skipif(not mpnet.installed(), reason=mpnet.STEP)
FACT = "Paris has many towers. The Eiffel Tower was completed in 1889. It is made of iron."


@pytest.fixture
def verifier(own_data_folder: None) -> EmbeddedBase:
    return EmbeddedBase(Settings())


@needs_base
@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("The Eiffel Tower was finished in 1889.", "entailed"),
        ("The Eiffel Tower was completed in 1912.", "contradicted"),
        ("Bees dance to show each other where flowers are.", "no_relation"),
    ],
)
def test_plain_cases_and_their_sentence(
    verifier: EmbeddedBase, claim: str, expected: Relation
) -> None:
    (judgement,) = verifier.verify([(claim, FACT)])
    assert relation(judgement.probabilities, both(0.5)) == expected
    if expected != "no_relation":
        assert FACT[slice(*judgement.sentence)] == "The Eiffel Tower was completed in 1889."


@needs_base
def test_a_pair_alone_and_among_others_gives_the_same(verifier: EmbeddedBase) -> None:
    pairs = [
        (claim, FACT, title)
        for claim in ("It is made of iron.", "Paris has no towers.")
        for title in ("", "Paris")
    ]
    alone = [verifier.verify([pair])[0].probabilities for pair in pairs]
    for one, other in zip(alone, verifier.verify(pairs * 2), strict=False):
        assert other.probabilities.entailed == pytest.approx(one.entailed, abs=0.01)
        assert other.probabilities.contradicted == pytest.approx(one.contradicted, abs=0.01)


@needs_base
def test_a_sentence_that_several_passages_have_is_read_once(
    verifier: EmbeddedBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Reader.read
    seen: list[tuple[tuple[int, ...], tuple[int, ...]]] = []

    def counted(self: Reader, premise: Sequence[int], claim: Sequence[int]) -> tuple[float, float]:
        seen.append((tuple(premise), tuple(claim)))
        return read(self, premise, claim)

    monkeypatch.setattr(Reader, "read", counted)
    claim = "The bridge opened in 1932."
    pairs = [
        (claim, f"{other} The bridge was opened in 1932.")
        for other in ("Rain fell.", "They sang.", "It was May.")
    ]
    judged = verifier.verify(pairs)
    assert (
        len(set(seen)) == len(seen) and len({j.signals["sentence_entailed"] for j in judged}) == 1
    )
    monkeypatch.undo()
    assert judged == [verifier.verify([pair])[0] for pair in pairs]


@needs_base
def test_a_claim_that_needs_two_sentences_is_supported_by_both(verifier: EmbeddedBase) -> None:
    claim = "The bridge, which was opened in 1932, is 503 metres long."
    both, one = verifier.verify(
        [
            (claim, "The bridge was opened in 1932. It is 503 metres long."),
            (claim, "The bridge was opened in 1932."),
        ]
    )
    assert both.probabilities.entailed > max(
        both.signals["sentence_entailed"], one.probabilities.entailed
    )


IRON = " and of nothing but iron" * 3
LONG = f"The Eiffel Tower of Paris, which is made of iron{IRON}, was completed in 1889."


@needs_base
def test_a_long_claim_is_read_by_the_small_model_too(verifier: EmbeddedBase) -> None:
    short = LONG.replace(IRON, "")
    assert len(short.split()) <= LONG_CLAIM < len(LONG.split())
    of_short, of_long, of_other = verifier.verify(
        [(short, FACT), (LONG, FACT), (LONG, "Bees dance.")]
    )
    small = EmbeddedSmall(Settings()).verify([(LONG, FACT)])[0].probabilities.entailed
    assert of_long.signals["small_entailed"] == pytest.approx(small, abs=0.001)
    assert "small_entailed" not in of_short.signals and "small_entailed" not in of_other.signals


def test_a_long_claim_that_a_sentence_denies_or_repeats_is_read_once() -> None:
    support = Probabilities(entailed=0.4, contradicted=0.2, no_relation=0.4)
    denied, undisputed = (
        Judgement(support, (0, 1), against=0.6),
        Judgement(support, (0, 1), against=0.2),
    )
    repeated = Judgement(support, (0, 1), {"verbatim": 1.0})
    read = EmbeddedBase(Settings())._second_reading(
        [(LONG, FACT)] * 3, [denied, repeated, undisputed]
    )
    assert read[:2] == [denied, repeated] and "small_entailed" in read[2].signals


def test_support_that_both_models_see_counts_more_than_that_of_one() -> None:
    def judged(entailed: float, contradicted: float = 0.0) -> Judgement:
        none = 1 - entailed - contradicted
        return Judgement(
            Probabilities(entailed=entailed, contradicted=contradicted, no_relation=none), (0, 1)
        )

    def support(one: float, other: float) -> float:
        return combined(judged(one), judged(other)).probabilities.entailed

    assert support(0.7, 0.9) > support(0.7, 0.5) > support(0.7, 0.1) and support(
        0.9, 0.5
    ) > support(0.5, 0.5)
    both = combined(judged(0.3, 0.6), judged(0.9)).probabilities
    assert (
        both.entailed + both.contradicted + both.no_relation == pytest.approx(1)
        and both.contradicted < 0.6
    )


@needs_base
def test_a_contradiction_must_hold_in_its_context(verifier: EmbeddedBase) -> None:
    claim = "The Eiffel Tower is 330 metres tall."
    alone = verifier.verify([(claim, "It is 158 metres tall.")])[0]
    about_another = verifier.verify(
        [(claim, "The cathedral of Ulm is famous. It is 158 metres tall.")]
    )[0]
    assert about_another.probabilities.contradicted <= alone.signals["sentence_contradicted"]
    assert about_another.probabilities.contradicted < 0.5


def test_a_question_is_read_with_its_answer() -> None:
    text = "Towers are tall. Which is the tallest? Nobody knows. Really? Yes."
    assert [text[a:b].strip() for a, b in embedded_base.statements(text)] == [
        "Towers are tall.",
        "Which is the tallest? Nobody knows.",
        "Really? Yes.",
    ]
    assert embedded_base.statements("") == [(0, 0)] and embedded_base.statements("Why?") == [(0, 4)]


@needs_base
@pytest.mark.parametrize(
    "text", ["\ud800", "\u200b" * 50, "!" * 3000, "أهرامات الجيزة قديمة.", "x" * 5000, "a\n\n\nb"]
)
def test_strange_text_gets_a_relation(verifier: EmbeddedBase, text: str) -> None:
    (judgement,) = verifier.verify([("The Nile is long.", text)])
    assert 0 <= judgement.sentence[0] <= judgement.sentence[1] <= len(text)


@needs_base
def test_a_fact_at_the_end_of_a_passage_without_stops_is_read(verifier: EmbeddedBase) -> None:
    text = (
        "the town has a church, a market and a bridge, " * 60
        + "and the Eiffel Tower was completed in 1889"
    )
    near, far = verifier.verify(
        [("The Eiffel Tower was completed in 1889.", text), ("Bees can fly.", text)]
    )
    assert near.probabilities.entailed > 0.5 > far.probabilities.entailed


@needs_base
@pytest.mark.parametrize(
    ("claim", "message"), [(" ", "claim is empty"), ("a " * 500, "tokens"), ("a" * 9000, "split")]
)
def test_what_cannot_be_judged_is_a_typed_error(
    verifier: EmbeddedBase, claim: str, message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        verifier.verify([(claim, FACT)])


def test_auto_takes_the_base_where_it_is_there_and_says_where_it_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = Settings(verifier="auto")
    monkeypatch.setattr(mpnet, "verifier_is_available", lambda: True)
    assert choose(settings).name == "embedded-base" and smaller_verifier(settings) is None
    assert choose(Settings(verifier_model="no name/of a/model")).name == "embedded-base"
    monkeypatch.setattr(mpnet, "verifier_is_available", lambda: False)
    assert choose(settings).name == "embedded-small"
    notice = smaller_verifier(settings)
    assert notice is not None and mpnet.STEP in notice.message and "small" in notice.instead
    assert (
        smaller_verifier(Settings(verifier="embedded-small")) is None
    )  # chosen, so there is nothing to say


def test_without_wheels_and_hub_the_download_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ATTRIBUTION_MODELS", str(tmp_path))
    monkeypatch.setattr(mpnet, "installed", lambda: False)
    assert main(["download", "embedded-base"]) == 2
    assert mpnet.STEP in capsys.readouterr().err
