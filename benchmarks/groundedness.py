"""Groundedness methods that need neither a key nor a download, on public sets of labelled
responses.

    python -m benchmarks.groundedness DATA --work FOLDER [--set NAME …] [--methods NAME …] [--test
    N] [--development N]
                                      [--rows SET=N,N …] [--out FILE.json] [--plot FILE.png]

Thresholds are tuned on rows that may be trained on, and reported on the folds that nothing is
trained or chosen on.
FOLDER keeps each score as it is computed: a run that was killed resumes. Rows are drawn by a hash
of their group, the
same ones for every method. The cards of the methods show what is in docs/figures/groundedness.json.
"""

from __future__ import annotations

import os
import platform
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any

from attribution.pipeline.judge import Passage
from attribution.settings import Settings
from attribution.studies.groundedness import METHODS, report
from attribution.studies.groundedness.evaluation import (
    Evaluation,
    LeftOut,
    Outcome,
    evaluate,
    run_to_file,
)
from attribution.studies.groundedness.labelled_set import LabelledRow, Split
from attribution.verifiers.auto import choose
from benchmarks import arguments, publish
from benchmarks.evaluation_sets import expertqa_claims, group, held_out, rows
from benchmarks.verdicts import factcheck_bench

Labelled = Iterator[
    tuple[str, str, str, tuple[str, ...], str, bool]
]  # id, group, question, context, response, grounded


def _pairs(folder: Path, name: str, grounded: Callable[[str], bool | None]) -> Labelled:
    """Rows of a claim and its evidence; those whose label says nothing about groundedness are left
    out.
    """
    for row in rows(folder / "eval" / f"{name}.jsonl.gz"):
        evidence = row["evidence"]
        text = evidence if isinstance(evidence, str) else " ".join(evidence)
        label = grounded(row["label"])
        if label is not None and row["claim"].strip() and text.strip():
            yield (
                row["id"],
                group(name, row["id"]),
                row.get("question") or "",
                (text,),
                row["claim"],
                label,
            )


def _faithdial(label: str) -> bool | None:
    """Hallucinated in part is not grounded; a generic or uncooperative reply alone states nothing."""
    return False if "hallucination" in label else True if "entailment" in label else None


def _expertqa(folder: Path) -> Labelled:
    """Claims of answers with the passages they cite; supported completely, as experts found."""
    for number, (key, claim, passages, supported) in enumerate(
        expertqa_claims(folder / "eval" / "expertqa_val.jsonl.gz")
    ):
        yield f"{key}/{number}", key, "", tuple(p.text for p in passages), claim, supported


def _factcheck(folder: Path) -> Labelled:
    """Claims of ChatGPT answers with five web passages each; supported, at least in part, by one of
    them.
    """
    for number, claim in enumerate(factcheck_bench(folder)):
        yield (
            f"{claim.answer}/{number}",
            claim.answer,
            "",
            tuple(Passage.of(passage).text for passage in claim.given.passages),
            claim.given.text,
            bool(claim.supported),
        )


SETS: dict[str, Callable[[Path], Labelled]] = {
    "expertqa_val": _expertqa,
    "begin_dev": lambda folder: _pairs(
        folder, "begin_dev", lambda label: label == "Fully attributable"
    ),
    "faithdial_audit": lambda folder: _pairs(folder, "faithdial_audit", _faithdial),
    "factcheck_bench_dev": _factcheck,
    "q2_wow": lambda folder: _pairs(folder, "q2_wow", lambda label: label == "consistent"),
    "wice_oracle_chunks_dev": lambda folder: _pairs(
        folder, "wice_oracle_chunks_dev", lambda label: label == "supported"
    ),
}


def labelled_rows(name: str, folder: Path, most: Mapping[Split, int]) -> list[LabelledRow]:
    """At most so many rows of each split, whole groups in the order of a hash."""
    found: dict[Split, list[LabelledRow]] = {"development": [], "test": []}
    for line, (key, of, question, context, response, grounded) in enumerate(SETS[name](folder), 1):
        split: Split = "test" if held_out(of) else "development"
        found[split].append(
            LabelledRow(
                id=key,
                line=line,
                question=question,
                context=context,
                response=response,
                grounded=grounded,
                group=of,
                split=split,
            )
        )
    chosen: list[LabelledRow] = []
    for split, own in found.items():
        own.sort(key=lambda row: (zlib.crc32(f"groundedness {row.group}".encode()), row.line))
        taken: list[LabelledRow] = []
        for _, of_group in groupby(own, key=lambda row: row.group):
            if len(taken) >= most[split]:
                break
            taken += of_group
        chosen += taken
    return chosen


def offline() -> list[str]:
    """The methods that need neither a key nor a download here."""
    return [name for name, entry in METHODS.items() if not entry.needs]


def measure(
    rows: Sequence[LabelledRow], methods: Sequence[str], settings: Settings, path: Path
) -> Evaluation:
    """The evaluation of one set; outcomes are kept in a file of the set."""
    outcomes: list[Outcome] = []
    for one in run_to_file(rows, methods, settings, path):
        if isinstance(one, LeftOut):
            raise SystemExit(f"{one.method}: {one.reason}")
        outcomes.append(one)
    return evaluate(rows, outcomes, methods)


def plot(evaluations: Mapping[str, Evaluation], path: Path) -> None:
    """Macro F1 against latency, one panel a set (T24 Figure 2)."""
    from matplotlib.figure import Figure

    across = min(3, len(evaluations))
    down = -(-len(evaluations) // across)
    figure = Figure(figsize=(3.9 * across, 3.3 * down), layout="constrained")
    panels = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False).flatten()
    for panel in panels[len(evaluations) :]:
        panel.set_visible(False)
    for panel, (name, evaluation) in zip(panels, evaluations.items(), strict=False):
        for number, f in enumerate(sorted(evaluation.figures, key=lambda f: f.seconds or 0.0)):
            if (
                f.seconds is None
                or f.macro_f1.value is None
                or f.macro_f1.low is None
                or f.macro_f1.high is None
            ):
                continue
            around = [[f.macro_f1.value - f.macro_f1.low], [f.macro_f1.high - f.macro_f1.value]]
            panel.errorbar(
                [f.seconds],
                [f.macro_f1.value],
                yerr=around,
                fmt="o",
                color="#2f5d8a",
                ecolor="#c9c5bf",
            )
            place, side = (((5, -11), "left"), ((-5, 5), "right"))[
                number % 2
            ]  # so that neighbours stay apart
            at = (f.seconds, f.macro_f1.value)
            panel.annotate(
                f.method, at, xytext=place, textcoords="offset points", ha=side, fontsize=8
            )
        panel.set(xscale="log", ylim=(0.2, 1), title=name)
        panel.margins(x=0.22)
        panel.grid(color="#eceae6")
        panel.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("seconds a response (logarithmic)")
    figure.supylabel("macro F1, 95 % interval")
    figure.savefig(path, dpi=110)


def conditions(settings: Settings, most: Mapping[Split, int]) -> dict[str, Any]:
    """The conditions that the figures depend on."""
    return {
        "date": date.today().isoformat(),
        "verifier": choose(settings).name if settings.verifier == "auto" else settings.verifier,
        "embedder": settings.embedder,
        "segmenter": settings.segmenter,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "load": round(
            os.getloadavg()[2], 1
        ),  # runnable processes in the last quarter of an hour: times suffer from it
        "rows": dict(most),
    }


def _sizes(text: str) -> tuple[str, dict[Split, int]]:
    """A set and its numbers of rows, from SET=DEVELOPMENT,TEST."""
    name, _, numbers = text.partition("=")
    development, test = (int(n) for n in numbers.split(","))
    return name, {"development": development, "test": test}


def main() -> None:
    p = arguments(__doc__, "eval/")
    p.add_argument(
        "--work",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="keeps the scores of a run in progress",
    )
    p.add_argument("--set", nargs="+", choices=SETS, default=list(SETS), dest="sets")
    p.add_argument("--methods", nargs="+", choices=METHODS, default=offline())
    p.add_argument("--test", type=int, default=200, help="test rows of a set, about (default: 200)")
    p.add_argument(
        "--development",
        type=int,
        default=150,
        help="development rows of a set, about (default: 150)",
    )
    p.add_argument(
        "--rows",
        nargs="+",
        default=[],
        metavar="SET=DEVELOPMENT,TEST",
        help="other numbers for a slow set",
    )
    p.add_argument("--plot", type=Path, metavar="FILE.png")
    args = p.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    settings = Settings.from_environment()
    most: dict[Split, int] = {"development": args.development, "test": args.test}
    own_most = {name: most for name in args.sets} | dict(_sizes(text) for text in args.rows)
    evaluations, tables = {}, {}
    for name in args.sets:
        own = labelled_rows(name, args.data, own_most[name])
        evaluations[name] = measure(own, args.methods, settings, args.work / f"{name}.jsonl")
        tables[name] = report.json_report_of(own, evaluations[name])
        print(f"## {name}\n\n{report.quality_table(evaluations[name]).markdown()}", flush=True)
    stated = conditions(settings, most)
    publish({"conditions": stated, "sets": tables}, args.out)
    if args.plot:
        plot(evaluations, args.plot)


if __name__ == "__main__":
    main()
