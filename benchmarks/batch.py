"""Compare the output and the speed of a batch that is run in different ways.

    python -m benchmarks.batch DATA [--most N] [--passes NAME …] [--postgresql ADDRESS] [--work FOLDER] [--out FILE]

The ExpertQA answers with their own passages as documents, each pass with an empty database: undisturbed; killed twice
at random and resumed; with Ray, two workers on two nodes of this machine (in an environment with requirements-ray.txt);
and over PostgreSQL, in one process and with Ray, killed twice too (ADDRESS is that of a server where databases may be
made, such as postgresql+psycopg://user@localhost). The outputs are compared without ids and times.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from attribution.settings import ROOT, models_folder
from attribution.studies.segmenters.tables import summarise
from benchmarks import arguments, publish
from benchmarks.evaluation_sets import rows

SET = "eval/expertqa_val.jsonl.gz"
DATABASE = "attribution_batch_benchmark"
WORKERS = 2
VARYING = ("id", "created_at", "timings", "usage")  # of a report: what two equal runs differ in


@dataclass(frozen=True)
class Pass:
    """One way to run the batch."""

    kills: int = 0
    ray: bool = False
    postgresql: bool = False


PASSES = {
    "undisturbed": Pass(),
    "killed twice": Pass(kills=2),
    "ray": Pass(ray=True),
    "postgresql": Pass(postgresql=True),
    "ray, postgresql, killed twice": Pass(kills=2, ray=True, postgresql=True),
}


def answers(data: Path, most: int | None) -> list[dict[str, Any]]:
    """Rows for `batch`, with people's labels."""
    found = []
    for row in list(rows(data / SET))[:most]:
        passages = dict.fromkeys(e.partition("\n\n")[2].strip() for c in row["claims"] for e in c["evidence"])
        documents = [{"name": f"passage {i}.txt", "text": p} for i, p in enumerate(filter(None, passages), 1)]
        claims = [{"claim": c["claim"], "label": c["label"]} for c in row["claims"]]
        fields = {name: row[name] for name in ("id", "question", "answer")}
        found.append({**fields, "documents": documents, "claims": claims})
    return found


def comparable(path: Path) -> list[dict[str, Any]]:
    """The lines without ids and times."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if "report" in line:
            line["report"] = {name: value for name, value in line["report"].items() if name not in VARYING}
            line["report"]["pages"] = [{**page, "fetched_at": ""} for page in line["report"]["pages"]]
    return lines


def run(how: Pass, given: Path, output: Path, total: int, database: str, address: str, seed: int) -> dict[str, Any]:
    """The batch in processes of its own: seconds of all of them, and the lines that were there at each kill."""
    command = [sys.executable, "-m", "attribution", "batch", "--input", str(given), "--output", str(output)]
    command += ["--sources", "documents"]
    if how.ray:
        command += ["--engine", "ray", "--workers", str(WORKERS), "--address", address]
    environment = {**os.environ, "ATTRIBUTION_DATABASE_URL": database}
    rng = random.Random(seed)
    started, kills = time.perf_counter(), []
    for wanted in sorted(rng.sample(range(1, total), how.kills)):
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
        while process.poll() is None and _lines(output) < wanted:
            time.sleep(0.05)
        time.sleep(rng.random())
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills.append(_lines(output))
    status = subprocess.run(command, cwd=ROOT, env=environment).returncode
    if status not in (0, 1):  # 1: some rows failed, which the comparison shows
        raise SystemExit(f"the batch ended with status {status}")
    return {"seconds": round(time.perf_counter() - started, 1), "lines when killed": kills}


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


@contextmanager
def cluster(wanted: bool) -> Iterator[str]:
    """The address of two Ray nodes on this machine, with a processor each; empty where none is wanted."""
    if not wanted:
        yield ""
        return
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    nodes.add_node(num_cpus=1)
    try:
        yield str(nodes.address)
    finally:
        nodes.shutdown()


def new_database(server: str) -> str:
    """The URL of an empty database there, in place of that of an earlier pass."""
    engine = sa.create_engine(f"{server}/postgres", isolation_level="AUTOCOMMIT")
    with engine.connect() as db:
        db.exec_driver_sql(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
        db.exec_driver_sql(f"CREATE DATABASE {DATABASE}")
    engine.dispose()
    return f"{server}/{DATABASE}"


def selected(names: Sequence[str], postgresql: str) -> list[str]:
    """The passes that can be run here, the undisturbed one first."""
    ray = importlib.util.find_spec("ray") is not None
    possible = [n for n, p in PASSES.items() if (ray or not p.ray) and (postgresql or not p.postgresql)]
    return [n for n in possible if n == "undisturbed" or not names or n in names]


def main(argv: list[str] | None = None) -> int:
    parser = arguments(__doc__, data=SET)
    parser.add_argument("--most", type=int, metavar="N", help="only the first N answers")
    parser.add_argument("--passes", nargs="+", default=[], choices=PASSES, help="besides the undisturbed one")
    parser.add_argument("--postgresql", default="", metavar="ADDRESS", help="of a server where databases may be made")
    parser.add_argument("--work", type=Path, metavar="FOLDER", help="keep the outputs here; those there are used")
    parser.add_argument("--seed", type=int, default=14, help="of the kills")
    args = parser.parse_args(argv)
    given = answers(args.data, args.most)
    os.environ.setdefault("ATTRIBUTION_MODELS", str(models_folder()))
    figures: dict[str, Any] = {"answers": len(given), "passes": {}}
    with tempfile.TemporaryDirectory() as temporary:
        work = args.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        source, whole = work / "answers.jsonl", work / "undisturbed.jsonl"
        source.write_text("".join(json.dumps(row) + "\n" for row in given), encoding="utf-8")
        for name in selected(args.passes, args.postgresql):
            how, output = PASSES[name], work / f"{name.replace(', ', '-').replace(' ', '-')}.jsonl"
            if (finished := output.with_suffix(".json")).exists():
                figures["passes"][name] = json.loads(finished.read_text())
                continue
            output.unlink(missing_ok=True)
            database = work / f"{output.stem}.sqlite3"
            url = new_database(args.postgresql) if how.postgresql else f"sqlite:///{database.absolute()}"
            with cluster(how.ray) as address:
                found = run(how, source, output, len(given), url, address, args.seed)
            same = [a == b for a, b in zip(comparable(output), comparable(whole), strict=True)]
            found |= {
                "answers a minute": round(60 * len(given) / found["seconds"], 1),
                "lines that differ": same.count(False),
            }
            finished.write_text(json.dumps(found))
            figures["passes"][name] = found
            print(f"{name}: {found}", file=sys.stderr)
        summary = summarise(whole)
        figures |= {"claims": summary.claims, "failed": summary.failed, "verdicts": dict(summary.verdicts)}
        figures["by label"] = {label: dict(counts) for label, counts in summary.labelled.items()}
    publish(figures, args.out)
    return int(any(found["lines that differ"] for found in figures["passes"].values()))


if __name__ == "__main__":
    raise SystemExit(main())
