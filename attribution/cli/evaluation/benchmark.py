"""`benchmark`: groundedness methods on a labelled set."""

from __future__ import annotations

import argparse
import json
import threading
from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING

from attribution.cli import options
from attribution.cli.console import progress
from attribution.text.json_lines import read_rows

if TYPE_CHECKING:
    from attribution.evaluation.groundedness.outcomes import Outcome

STEPS = 10  # lines of progress for each method


def benchmark(args: argparse.Namespace) -> int:
    """Writes rows.jsonl while it runs, then all files; the exit status is 1 if a row or method failed.

    Rows that an earlier call finished with the same models are not scored again. After Ctrl-C, the figures are those of
    what was done.
    """
    from attribution.evaluation.groundedness import report
    from attribution.evaluation.groundedness.figures import evaluate
    from attribution.evaluation.groundedness.labelled_set import OPTIONAL, REQUIRED, labelled_set
    from attribution.evaluation.groundedness.outcomes import LeftOut, run, selected

    settings = options.settings(args)
    labelled = labelled_set(read_rows(args.input, REQUIRED, OPTIONAL), args.seed)
    for line, problem in labelled.problems:
        progress(f"! line {line}: {problem}")
    methods, left_out = selected(args.methods, settings)
    for unready in left_out:
        progress(f"! {unready.method} is left out: {unready.reason}")
    report.prepare(args.out)
    finished = report.read_outcomes(args.out / report.ROWS)
    outcomes: list[Outcome] = []
    stop, total = threading.Event(), len(labelled.rows)
    step, done = max(1, total // STEPS), dict.fromkeys(methods, 0)
    broken, interrupted = [], False
    with (args.out / report.ROWS).open("a", encoding="utf-8") as out:
        try:
            for one in run(labelled.rows, methods, settings, finished, stop):
                if isinstance(one, LeftOut):
                    broken.append(one)
                    progress(f"! {one.method} is left out: {one.reason}")
                    continue
                outcomes.append(one)
                if finished.get((one.method, one.row)) != one:
                    out.write(json.dumps(one.model_dump(mode="json"), ensure_ascii=False) + "\n")
                    out.flush()
                done[one.method] += 1
                if done[one.method] % step == 0 or done[one.method] == total:
                    progress(f"{one.method} {done[one.method]}/{total}")
        except KeyboardInterrupt:
            interrupted = True
            progress("stopped: the figures are those of what was done; the same command goes on")
    evaluation = evaluate(labelled.rows, outcomes, methods)
    kept = outcomes if not interrupted else [*outcomes, *_others(finished, outcomes, {row.id for row in labelled.rows})]
    lines = report.row_lines(labelled.rows, kept, evaluation)
    figures = report.json_report(labelled, evaluation, [*left_out, *broken], settings.public())
    report.write(args.out, lines, figures, evaluation)
    for table in (report.quality_table(evaluation), report.error_table(evaluation)) if evaluation.figures else ():
        progress("\n" + table.markdown())
    for method, reason in evaluation.unmeasured.items():
        progress(f"! {method} has no figures: {reason}")
    failed = sum(bool(o.error) for o in outcomes)
    progress(
        f"{args.out}: {len(outcomes) - failed} scored, {failed} failed; {report.FIGURES}, {report.ROWS}, {report.PLOT}"
    )
    if interrupted:
        return 130
    return int(bool(failed or labelled.problems or broken or evaluation.unmeasured))


def _others(finished: Mapping[tuple[str, str], Outcome], outcomes: Sequence[Outcome], rows: Set[str]) -> list[Outcome]:
    """Outcomes of an earlier call that this one did not reach: they stay in the file."""
    reached = {(o.method, o.row) for o in outcomes}
    return [o for place, o in finished.items() if place not in reached and o.row in rows]
