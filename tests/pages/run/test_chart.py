"""The bar of a run, and a chart drawn while another thread is still importing what plotly looks at."""

from __future__ import annotations

import subprocess
import sys

from attribution.reports.html import html
from attribution.types import Report, Verdict
from pages.ui import run_results
from tests.make import claim

DRAWN_MEANWHILE = """
import importlib.abc, sys, threading, time

reached = threading.Event()

class Slow(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.startswith("pandas.") and not reached.is_set():
            reached.set()
            time.sleep(1)

from attribution.types import Claim, Report, Verdict
from pages.ui import run_results as chart
found = Verdict(claim_id="1", label="supported", confidence=0.9, reason="")
blank = dict(created_at="", question="", answer="", settings={}, versions={})
claim = Claim(id="1", text="It rains.", spans=())
report = Report(id="", claims=(claim,), verdicts=(found,), **blank)
assert "pandas" not in sys.modules
sys.meta_path.insert(0, Slow())
aside = threading.Thread(target=__import__, args=("pandas",))
aside.start()
assert reached.wait(20)
assert len(chart.bars([("One", report), ("Two", report)], False).data) == 1
aside.join()
"""


def test_a_chart_waits_for_what_another_thread_is_importing() -> None:
    done = subprocess.run([sys.executable, "-c", DRAWN_MEANWHILE], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]


def test_the_bar_and_its_figures_count_claims_that_were_not_reached() -> None:
    one, two = claim("The Nile is long."), claim("The Nile is old.")
    verdict = Verdict(claim_id=one.id, label="supported", confidence=0.9, reason="")
    report = Report(
        id="r", created_at="", question="", answer="", settings={}, versions={}, claims=(one, two), verdicts=(verdict,)
    )
    assert run_results.claim_labels(report) == ["supported", "not_reached"]
    assert [bar.x[0] for bar in run_results.bars([("", report)], False).data] == [1, 1]
    assert "1 of 2" in html(run_results.figures(report))
