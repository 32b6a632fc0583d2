"""A verifier and a segmenter that wait until they are let go on, and say how far they came."""

import threading
from collections.abc import Sequence

from attribution.models.engine import check_stop
from attribution.settings import Settings
from attribution.types import Claim, Judgement, Pair, Probabilities, Segmented

go_on = threading.Event()
read: list[Pair] = []  # the pairs that were begun
stopped: list[bool] = []  # by the signal, at the end of each segmentation


class Verifier:
    version, usage = "slow", None

    def __init__(self, settings: Settings) -> None:
        pass

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        for pair in pairs:
            check_stop()
            read.append(pair)
            assert go_on.wait(60)
        return [Judgement(Probabilities(entailed=1, contradicted=0, no_relation=0)) for _ in pairs]

    def estimate(self, pairs: Sequence[Pair]) -> None:
        return None


class Segmenter:
    def __init__(self, settings: Settings) -> None:
        pass

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        assert stop is not None
        assert go_on.wait(60)
        stopped.append(stop.wait(0))
        return Segmented((Claim(id="a", text=answer, spans=((0, len(answer)),)),))

    def estimate(self, question: str, answer: str) -> None:
        return None
