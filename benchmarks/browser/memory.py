"""Memory of the app after a run in a browser, the models loaded: each of its processes, now and at its peak.

python -m benchmarks.browser.memory [--claims 30] [--out FILE.json]

The answer is made of sentences of the example answers, checked against the library.
"""

from __future__ import annotations

import json
import tempfile

from attribution.settings import ROOT
from benchmarks import arguments, publish
from benchmarks.browser import browser, serving
from benchmarks.processes import megabytes, processes

PATIENCE = 600_000  # milliseconds


def answer(claims: int) -> str:
    """That many claims that the examples' readers checked, each a sentence of its own."""
    lines = (ROOT / "examples" / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [c["text"] for line in lines for c in json.loads(line)["claims"] if c["verdict"] == "supported"]
    return "\n\n".join([text for text in texts if text.endswith(".") and "*" not in text][:claims])


def main(argv: list[str] | None = None) -> int:
    parser = arguments(__doc__)
    parser.add_argument("--claims", type=int, default=30)
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as data, serving(data) as (address, pid), browser() as chromium:
        page = chromium.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(address)
        box = page.get_by_label("Answer", exact=True)
        box.fill(answer(args.claims))
        box.press("Control+Enter")
        page.wait_for_timeout(500)
        page.get_by_role("button", name="Analyse").click()
        page.get_by_role("button", name="Export", exact=True).wait_for()
        checked = page.locator("[data-claim][role=button], sup.number[role=button]").count()
        pids = processes(pid)
        figures = {
            "claims shown": checked,
            "processes": len(pids),
            "after the run, MB": sum(megabytes(p, "VmRSS") for p in pids),
            "each at its peak, MB": sum(megabytes(p, "VmHWM") for p in pids),
        }
    publish(figures, args.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
