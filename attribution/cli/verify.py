"""`verify`, `judge`, `coherence`, `calibrate`: files of pairs, or of claims with passages."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attribution.cli import options
from attribution.cli.options import Add, new_file, progress
from attribution.errors import BadInput, LlmFailed
from attribution.text_files import Row, json_line, read_rows, replace_text, replacing
from attribution.types import Evidence

ROWS = 64  # worked on together, and between two lines of progress
Result = Mapping[str, Any]


def commands(add: Add) -> None:
    """Add the commands."""
    p = add("verify", "classify pairs of claim and evidence", verify)
    options.add_rows(p, '"claim", "evidence"')
    options.add_verifier(p)

    p = add("judge", "judge claims by the passages given with them", judge)
    options.add_rows(p, '"claim", "passages"')
    options.add_verifier(p)

    p = add("coherence", "judge whether sentences say the claims made of them", coherence)
    options.add_rows(p, '"sentence", "claim"')
    options.add_verifier(p)

    p = add("calibrate", "find how sure a verifier's badges are, from judged ones", calibrate)
    p.add_argument(
        "--input",
        type=Path,
        required=True,
        help='output of judge, each line with "right": true or false',
    )
    p.add_argument(
        "--output", type=new_file, help="by default in the data folder, where it is used"
    )


def verify(args: argparse.Namespace) -> int:
    """Write the relation and probabilities of each pair, and the sentence that decides."""

    def fields(piece: Evidence) -> Result:
        found = piece.model_dump(include={"relation", "probabilities", "signals"})
        return {**found, "sentence": piece.deciding_sentence}

    return _write_pairs(args, "evidence", fields)


def coherence(args: argparse.Namespace) -> int:
    """Write the probability that each sentence says the claim made of it."""
    least = options.settings(args).coherence

    def coherent(piece: Evidence) -> Result:
        probability = piece.probabilities.entailed
        return {"coherent": probability >= least, "coherence": round(probability, 4)}

    return _write_pairs(args, "sentence", coherent)


def _write_pairs(
    args: argparse.Namespace, premise: str, fields_of: Callable[[Evidence], Result]
) -> int:
    """Read each claim beside the field `premise`, and write what `fields_of` makes of it."""
    from attribution.pipeline.judge import read_each
    from attribution.verdicts import DecisionPolicy
    from attribution.verifiers import VERIFIERS

    settings = options.settings(args)
    rows = read_rows(args.input, ["claim", premise])
    policy = DecisionPolicy.of(dict(settings))
    verifier = VERIFIERS.chosen(settings)

    def read_batch(rows: Sequence[Row]) -> Iterator[Result]:
        pairs = [(row.fields["claim"], row.fields[premise]) for row in rows]
        for row, read in zip(rows, read_each(pairs, verifier, policy), strict=True):
            if isinstance(read, Evidence):
                yield {**row.fields, **fields_of(read)}
            else:
                yield row.failed(str(read))

    return _write(args, rows, read_batch)


def judge(args: argparse.Namespace) -> int:
    """Write the verdict on each claim by its passages."""
    from attribution.pipeline.judge import judge
    from attribution.verdicts import DecisionPolicy
    from attribution.verifiers import VERIFIERS

    settings = options.settings(args)
    rows = read_rows(args.input, ["claim"])
    policy = DecisionPolicy.of(dict(settings))
    verifier = VERIFIERS.chosen(settings)

    def judge_row(row: Row) -> Result:
        passages = row.fields.get("passages")
        if not isinstance(passages, list):
            return row.failed(
                '"passages" is not a list; expected {"claim": …, "passages": [passage, …]}'
            )
        try:
            judged = judge(row.fields["claim"], passages, verifier, policy)
        except (BadInput, LlmFailed) as error:
            return row.failed(str(error))
        return {**row.fields, **judged.fields(), "verifier": verifier.version}

    return _write(args, rows, lambda batch: map(judge_row, batch))


def calibrate(args: argparse.Namespace) -> int:
    """Write the calibration of the verifier that the rows name; exit status 1 if a line failed."""
    from attribution.verifiers import fitting
    from attribution.verifiers.calibration import own_file

    rows = read_rows(args.input, fitting.REQUIRED, fitting.OPTIONAL)
    version, badges, problems = fitting.read(rows)
    for line, problem in problems:
        progress(f"! line {line}: {problem}")
    if not badges:
        raise BadInput(
            f'{args.input}: no line can be used; expected the output of judge with a field "right"'
        )
    made = fitting.calibrate(version, badges)
    path = args.output or own_file(version)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_text(path, made.text())
    for label, curve in (("supported", made.supported), ("contradicted", made.contradicted)):
        if curve.threshold is None:
            summary = f"no threshold keeps {curve.guarantee:.0%}: no badge is strong"
        else:
            summary = f"at least {curve.guarantee:.0%} right from {curve.threshold:.2f} on"
        progress(f"{label}: {summary}")
    progress(f"{path}: {len(badges)} claims, {len(problems)} lines left out")
    return int(bool(problems))


def _write(
    args: argparse.Namespace,
    rows: Sequence[Row],
    work: Callable[[Sequence[Row]], Iterable[Result]],
) -> int:
    """Write a result for each row, all or none; exit status 1 if any row failed.

    Args:
        args: The arguments, with the output.
        rows: The rows of the input.
        work: Receives some of the rows, none with an error, and returns a result for each.
    """
    failed = 0
    with replacing(args.output) as out:
        for start in range(0, len(rows), ROWS):
            batch = rows[start : start + ROWS]
            results = iter(work([row for row in batch if not row.error]))
            for row in batch:
                result = row.failed(row.error) if row.error else next(results)
                failed += "error" in result
                out.write(json_line(result).encode())
            progress(f"{args.command} {start + len(batch)}/{len(rows)}")
    progress(f"{args.output}: {len(rows) - failed} done, {failed} failed")
    return int(failed > 0)
