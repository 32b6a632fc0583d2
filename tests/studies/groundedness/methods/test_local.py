import threading
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from attribution.errors import BadInput
from attribution.settings import Settings
from attribution.studies.groundedness import METHODS, Given, Method, Scored
from attribution.studies.groundedness.methods.local import LENGTHS, shared_ngrams
from attribution.studies.groundedness.methods.prompted import contradiction
from attribution.types import Judgement, Pair, Probabilities

CONTEXT = (
    "The Nile flows north. It reaches the Mediterranean Sea.",
    "Khartoum is where two rivers meet.",
)
TRUE = "The Nile flows north. It reaches the Mediterranean Sea."
FALSE = "The Nile flows south. It never reaches the Mediterranean Sea."
OFFLINE = [name for name, entry in METHODS.items() if not entry.needs]


def scored(
    name: str, settings: Settings, response: str, context: Sequence[str] = CONTEXT
) -> Scored:
    method = METHODS.build(name, settings)
    return method.score(Given("", tuple(context), response), threading.Event())


@pytest.mark.parametrize("name", OFFLINE)
def test_a_copy_is_more_grounded_than_something_else_and_scores_are_shares(
    name: str, settings: Settings
) -> None:
    true, other = scored(name, settings, TRUE), scored(name, settings, FALSE)
    for reading, score in true.scores.items():
        assert 0 <= other.scores[reading] <= score <= 1
    assert any(true.scores[r] > other.scores[r] for r in true.scores)
    assert all(TRUE[p.start : p.end].strip() and 0 <= p.score <= 1 for p in true.parts)
    method = METHODS.build(name, settings)
    assert method.version
    assert method.usage is None
    odd = scored(name, settings, "?!")  # nothing to read in it
    assert all(0 <= score <= 1 for score in odd.scores.values())


class Scripted:
    """A verifier with (entailed, contradicted) for each pair of sentences; nothing for others."""

    version, usage = "scripted", None

    def __init__(self, script: Mapping[tuple[str, str], tuple[float, float]]) -> None:
        self._script = script

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        found = [self._script.get((claim, evidence), (0.0, 0.0)) for claim, evidence, *_ in pairs]
        return [
            Judgement(
                Probabilities(entailed=e, contradicted=c, no_relation=max(0.0, 1 - e - c)), (0, 1)
            )
            for e, c in found
        ]

    def estimate(self, pairs: Sequence[Pair]) -> None:
        return None


def scripted(
    name: str, settings: Settings, script: Mapping[tuple[str, str], tuple[float, float]]
) -> Method:
    method = METHODS.build(name, settings)
    method._entailment.verifier = Scripted(script)
    return method


def test_gc_takes_the_best_passage_of_a_sentence_and_the_worst_sentence_of_the_response(
    settings: Settings,
) -> None:
    method = scripted(
        "gc",
        settings,
        {
            ("One.", "Alpha."): (0.2, 0.0),
            ("One.", "Beta."): (0.9, 0.0),
            ("Two.", "Alpha."): (0.6, 0),
        },
    )
    found = method.score(Given("", ("Alpha.", "Beta."), "One. Two."), threading.Event())
    assert found.scores == {"minimum": 0.6, "mean": 0.75} and [
        (p.start, p.end, p.score) for p in found.parts
    ] == [
        (0, 4, 0.9),
        (5, 9, 0.6),
    ]


def test_selfcheck_takes_the_friendliest_context_sentence_and_the_most_contradicted_sentence(
    settings: Settings,
) -> None:
    script = {
        ("One.", "Alpha."): (0.1, 0.9),
        ("One.", "Beta."): (0.8, 0.2),  # contradiction 0.9 and 0.2: 0.2 counts
        ("Two.", "Alpha."): (0.4, 0.6),
        ("Two.", "Beta."): (0.25, 0.75),  # 0.6 and 0.75: 0.6 counts
    }
    method = scripted("selfcheck_context", settings, script)
    found = method.score(Given("", ("Alpha. Beta.",), "One. Two."), threading.Event())
    assert found.scores[""] == pytest.approx(0.4) and [
        p.score for p in found.parts
    ] == pytest.approx([0.8, 0.4])
    assert contradiction(Probabilities(entailed=0.0, contradicted=0.0, no_relation=1.0)) == 0.0


def test_cos_sim_is_the_mean_of_the_nearest_context_sentences(settings: Settings) -> None:
    method = METHODS.build("cos_sim", settings)
    vectors = {
        "One.": (1, 0),
        "Two.": (0, 1),
        "Alpha.": (1, 0),
        "Beta.": (0.8, 0.6),
        "Gamma.": (-1, 0),
    }

    class Fixed:
        def embed(self, texts: Sequence[str]) -> np.ndarray:
            return np.array([vectors[text] for text in texts], dtype=np.float32)

    method._embedder = Fixed()
    found = method.score(Given("", ("Alpha. Beta. Gamma.",), "One. Two."), threading.Event())
    assert found.scores == pytest.approx({"minimum": 0.6, "mean": (1.0 + 0.6) / 2}, abs=1e-5)
    assert [p.score for p in found.parts] == pytest.approx([1.0, 0.6], abs=1e-5)
    against = method.score(Given("", ("Gamma.",), "One."), threading.Event())
    assert against.scores == {"minimum": 0.0, "mean": 0.0}


def test_quip_counts_each_ngram_of_the_response(settings: Settings) -> None:
    assert shared_ngrams("abcab", "xabc", 3) == pytest.approx(1 / 3)  # abc, bca, cab
    assert shared_ngrams("ababab", "ab", 2) == pytest.approx(3 / 5)  # ab ba ab ba ab
    assert shared_ngrams("ab", "xaby", 21) == 1.0 and shared_ngrams("ab", "xay", 21) == 0.0
    found = scored("quip", settings, "The  NILE flows north.").scores
    assert set(found) == {f"n={n}" for n in LENGTHS} and set(found.values()) == {
        1.0
    }  # case and spaces do not count


def test_the_pipeline_checks_what_is_worth_checking(
    settings: Settings,
) -> None:
    found = scored("pipeline", settings, "The Nile flows north. I hope this helps!")
    assert found.scores["share"] == 1.0 and found.scores["minimum"] > 0.5 and len(found.parts) == 1
    assert scored("pipeline", settings, "I hope this helps!").scores == {
        "minimum": 1.0,
        "share": 1.0,
    }


def test_the_pipeline_finds_the_passage_among_many(settings: Settings) -> None:
    filler = [f"Shop number {n} sells paper, pens and other goods on weekdays." for n in range(30)]
    context = (*filler, CONTEXT[0], *filler)
    assert scored("pipeline", settings, "The Nile flows north.", context).scores["share"] == 1.0


def test_what_a_verifier_cannot_read_is_said(settings: Settings) -> None:
    with pytest.raises(BadInput, match="characters of claim"):
        scored("gc", settings, "word " * 400)
