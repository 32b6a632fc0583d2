"""Two segmenters compared on the first example answer, from an empty store; the goal is 10 s on two cores.

python -m benchmarks.speed.comparison [--cold] [--out FILE.json]

The page loads the models and embeds the library while the visitor reads; `--cold` includes that time. Processor seconds
say more than wall-clock time when other work is running.
"""

from __future__ import annotations

import json
import time
from tempfile import TemporaryDirectory

from attribution import events
from attribution.pipeline.warmup import warm_up
from attribution.settings import ROOT, Settings
from attribution.store.store import Store
from attribution.studies.segmenters.comparison import ComparisonReady, compare
from benchmarks import arguments, publish

SEGMENTERS = ["sentences", "clauses"]


def measure(cold: bool) -> dict[str, object]:
    """Wall-clock and processor seconds, in total and by stage, and counts of what was done."""
    example = json.loads((ROOT / "examples" / "answers.jsonl").read_text("utf-8").splitlines()[0])
    with TemporaryDirectory() as folder:
        settings = Settings.from_environment(database_url=f"sqlite:///{folder}/store.sqlite3", sources=("library",))
        store = Store.open(settings.database_url)
        if not cold:
            warm_up(settings, store)
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
    parser = arguments(__doc__)
    parser.add_argument("--cold", action="store_true", help="include loading the models")
    args = parser.parse_args()
    publish(measure(args.cold), args.out)


if __name__ == "__main__":
    main()
