from __future__ import annotations

import pytest

from attribution.models import mpnet, reranker
from attribution.settings import Settings
from benchmarks.verdict_cases import FILES, cases, judged


@pytest.mark.slow
@pytest.mark.skipif(not (mpnet.installed() and reranker.installed()), reason=mpnet.STEP)
def test_most_hand_made_cases_get_a_badge_that_a_careful_reader_accepts() -> None:
    rows = cases(FILES[0])
    outcomes = [outcome for *_, outcome in judged(rows, "embedded-base", Settings(database_url="sqlite://"))]
    assert outcomes.count("right") >= 0.82 * len(rows)  # 86 % were measured
    assert outcomes.count("plainly wrong") <= 0.08 * len(rows)
