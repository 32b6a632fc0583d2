"""A chart drawn while another thread is still importing what plotly looks at."""

from __future__ import annotations

import subprocess
import sys

DRAWN_MEANWHILE = """
import importlib.abc, sys, threading, time

reached = threading.Event()

class Slow(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.startswith("pandas.") and not reached.is_set():
            reached.set()
            time.sleep(1)

from attribution.types import Report, Verdict
from pages.ui.run import chart
found = Verdict(claim_id="1", label="supported", confidence=0.9, reason="")
blank = dict(created_at="", question="", answer="", settings={}, versions={})
report = Report(id="", verdicts=(found,), **blank)
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
