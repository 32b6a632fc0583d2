from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from attribution.settings import Settings
from attribution.storage.database import now
from attribution.storage.store import Store
from attribution.types import LlmUsage, Report, Usage
from tests.make import claim, page


def report(store: Store, run_id: str = "r1") -> Report:
    p = page("A page with a text.").model_copy(update={"fetched_at": now()})
    return Report(
        id=run_id, created_at=now(), question="q", answer="a", settings={}, versions={}, claims=(claim(),), pages=(p,)
    )


def test_a_run_comes_back_with_its_pages_texts(store: Store) -> None:
    saved = report(store)
    store.save_run(saved)
    assert store.load_run("r1") == saved
    assert store.load_run("other") is None
    assert "A page with a text." not in saved.to_json()


def test_a_killed_process_loses_no_finished_run(settings: Settings) -> None:
    script = f"""
        import os, signal
        from attribution.storage.database import now
        from attribution.storage.store import Store
        from attribution.types import Report
        store = Store.open({settings.database_url!r})
        for i in range(5):
            run = Report(id=f"run{{i}}", created_at=now(), question="q", answer="a", settings={{}}, versions={{}})
            store.save_run(run)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True)
    assert done.returncode == -9
    store = Store.open(settings.database_url)
    assert all(store.load_run(f"run{i}") for i in range(5))
    store.close()


def test_rates_are_medians_of_the_last_runs(store: Store) -> None:
    def run(number: int, pairs: int, cached: int, verify: float, pages: int, gather: float) -> Report:
        return Report(
            id=f"run{number}", created_at=f"2026-11-0{number}T00:00:00+00:00", question="", answer="A", settings={},
            versions={}, timings={"verify": verify, "gather": gather},
            usage=Usage(
                pairs=pairs, cached_pairs=cached, pages=pages, downloads=pages,
                llm={"queries": LlmUsage(calls=number + 1, seconds=2.0 * number)},
            ),
        )  # fmt: skip

    assert store.rates() == (None, None, None)
    for report in (run(1, 100, 0, 5.0, 10, 1.0), run(2, 120, 100, 1.0, 2, 9.0), run(3, 100, 95, 9.0, 20, 6.0)):
        store.save_run(report)
    pair, page, prompt = store.rates()
    assert pair == 0.05 and page == pytest.approx(0.2)  # too few judged or fetched do not count
    assert prompt == pytest.approx((4 / 3 + 6 / 4) / 2)  # nor one run with two prompts
