"""How long Compare takes: two segmenters on the first example answer, from an empty store: goal 10 s on two cores.

`python -m benchmarks.comparison --out FILE [--cold]`. The page loads the models, and makes
the library's vectors, while its visitor reads; `--cold` counts that in. Processor seconds tell more than the clock
where other work runs.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from attribution import events
from attribution.evaluation.comparison import ComparisonReady, compare
from attribution.pipeline.warmup import prepare
from attribution.settings import ROOT, Settings
from attribution.storage.store import Store

SEGMENTERS = ["sentences", "clauses"]


def measure(cold: bool) -> dict[str, object]:
    """Wall-clock and processor seconds, whole and by what was going on, and what was done how often."""
    example = json.loads((ROOT / "examples" / "answers.jsonl").read_text("utf-8").splitlines()[0])
    with TemporaryDirectory() as folder:
        settings = Settings.from_environment(database_url=f"sqlite:///{folder}/store.sqlite3", sources=("library",))
        store = Store.open(settings.database_url)
        if not cold:
            prepare(settings, store)
        wall, processor = time.perf_counter(), time.process_time()
        spent: dict[str, float] = {}
        stage, since = "segment", processor
        for event in compare(example["question"], example["answer"], settings, SEGMENTERS, store):
            now = time.process_time()
            spent[stage] = spent.get(stage, 0.0) + now - since
            since = now
            if isinstance(event, events.StageStarted):
                stage = event.stage
            elif isinstance(event, events.Finished):
                stage = "figures"
            elif isinstance(event, ComparisonReady):
                report, rows = event.comparison.report, event.comparison.rows
        return {
            "models": "loaded on the way" if cold else "loaded before",
            "seconds": round(time.perf_counter() - wall, 2),
            "processor_seconds": round(time.process_time() - processor, 2),
            "processor_seconds_by_stage": {name: round(seconds, 2) for name, seconds in spent.items()},
            "sentences": len(rows),
            "claims": len(report.claims),
            "pages": len(report.pages),
            "chunks": report.usage.chunks,
            "pairs": report.usage.pairs,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cold", action="store_true", help="load the models within the time")
    args = parser.parse_args()
    found = json.dumps(measure(args.cold), indent=1)
    args.out.write_text(found + "\n", "utf-8")
    print(found)


if __name__ == "__main__":
    main()
