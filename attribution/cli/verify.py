"""`verify`, `judge`, `calibrate`, `coherence`, `worth`: files with a pair, a claim with passages,
or a claim a line.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from attribution.cli import options
from attribution.cli.options import Add, check_output, progress
from attribution.errors import BadInput, LlmFailed
from attribution.files import Row, read_rows, replace_text, replacing

BATCH = 256  # pairs between two lines of progress
JUDGED = 20  # claims between two lines of progress
Result = Mapping[str, object]


def commands(add: Add) -> None:
    """Add the commands."""
    p = add("verify", "classify pairs of claim and evidence", verify)
    options.add_rows(p, '"claim", "evidence"')
    options.add_verifier(p, "threshold=0.7")

    p = add("judge", "judge claims by the passages given with them", judge)
    options.add_rows(p, '"claim", "passages"')
    options.add_verifier(p, "threshold=0.7")

    p = add("calibrate", "find how sure a verifier's badges are, from judged ones", calibrate)
    p.add_argument(
        "--input",
        type=Path,
        required=True,
        help='output of judge, each line with "right": true or false',
    )
    p.add_argument(
        "--output", type=Path, help="by default in the data folder, where it is used from then on"
    )

    p = add("coherence", "judge whether sentences say the claims made of them", coherence)
    options.add_rows(p, '"sentence", "claim"')
    options.add_verifier(p, "coherence=0.5")

    p = add("worth", "classify claims by check-worthiness", worth)
    options.add_rows(p, '"claim"')


def verify(args: argparse.Namespace) -> int:
    from attribution.text.lines import readable
    from attribution.text.words import composed, plain
    from attribution.types import Judgement
    from attribution.verdicts import relation
    from attribution.verifiers import VERIFIERS, policy_of
    from attribution.verifiers.pairs import verify_each

    settings = options.settings(args)
    check_output(args.output)
    rows = read_rows(args.input, ["claim", "evidence"])
    verifier, policy = VERIFIERS.build(settings.verifier, settings), policy_of(settings)

    def results() -> Iterable[Result]:
        for start in range(0, len(rows), BATCH):
            batch = rows[start : start + BATCH]
            read = [
                (composed(r.fields["claim"]), readable(r.fields["evidence"]))
                for r in batch
                if not r.error
            ]
            good = [(plain(claim), plain(evidence)) for claim, evidence in read]
            texts = iter(evidence for _, evidence in read)
            judgements = iter(verify_each(verifier, good))
            for row in batch:
                judgement = row.error or next(judgements)
                text = "" if row.error else next(texts)
                if not isinstance(judgement, Judgement):
                    yield row.failed(str(judgement))
                    continue
                yield {
                    **row.fields,
                    "relation": relation(judgement.probabilities, policy),
                    "probabilities": judgement.probabilities.model_dump(),
                    "sentence": text[slice(*judgement.sentence)],
                    "signals": judgement.signals,
                }
            progress(f"verify {start + len(batch)}/{len(rows)}")

    return _write(args.output, results())


def judge(args: argparse.Namespace) -> int:
    from attribution.pipeline.judge import GivenClaim, judge
    from attribution.verifiers import VERIFIERS, policy_of

    settings = options.settings(args)
    check_output(args.output)
    rows = read_rows(args.input, ["claim"])
    verifier, policy = VERIFIERS.build(settings.verifier, settings), policy_of(settings)

    def results() -> Iterable[Result]:
        for number, row in enumerate(rows, 1):
            try:
                if row.error:
                    raise BadInput(row.error)
                passages = row.fields.get("passages")
                if not isinstance(passages, list):
                    raise BadInput(
                        '"passages" is not a list; expected {"claim": …, "passages": [passage, …]}'
                    )
                given = GivenClaim(row.fields["claim"], passages)
                (judged,) = judge([given], verifier, policy)
            except (BadInput, LlmFailed) as error:
                yield row.failed(str(error))
            else:
                yield {**row.fields, **judged.fields(), "verifier": verifier.version}
            if number % JUDGED == 0 or number == len(rows):
                progress(f"judge {number}/{len(rows)}")

    return _write(args.output, results())


def calibrate(args: argparse.Namespace) -> int:
    """Write the calibration of the verifier that the rows name; the exit status is 1 if a line
    could not be used.
    """
    from attribution.studies import calibration
    from attribution.verifiers.calibration import CAREFUL, own_file

    if args.output:
        check_output(args.output)
    version, badges, problems = calibration.read(
        read_rows(args.input, calibration.REQUIRED, calibration.OPTIONAL)
    )
    for line, problem in problems:
        progress(f"! line {line}: {problem}")
    if not badges:
        raise BadInput(
            f'{args.input}: no line can be used; expected the output of judge with a field "right"'
        )
    made, path = calibration.calibrate(version, badges), args.output or own_file(version)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_text(path, made.text())
    for label, curve in (("supported", made.supported), ("contradicted", made.contradicted)):
        shown = f"no threshold keeps {curve.guarantee:.0%}, sure from {CAREFUL:.2f} on"
        if curve.threshold is not None:
            shown = f"at least {curve.guarantee:.0%} right from {curve.threshold:.2f} on"
        if held := curve.held.get(calibration.ALL):
            shown += f"; on other claims {held.right} of {held.shown} ({held.low:.0%} to {held.high:.0%})"
        progress(f"{label}: {shown}")
    progress(f"{path}: {len(badges)} claims, {len(problems)} lines left out")
    return int(bool(problems))


def coherence(args: argparse.Namespace) -> int:
    from attribution.pipeline.claims import entailment_by
    from attribution.verifiers import VERIFIERS

    settings = options.settings(args)
    check_output(args.output)
    rows = read_rows(args.input, ["sentence", "claim"])
    entailment = entailment_by(VERIFIERS.build(settings.verifier, settings))

    def results() -> Iterable[Result]:
        for start in range(0, len(rows), BATCH):
            batch = rows[start : start + BATCH]
            readable = [row.fields for row in batch if not row.error]
            scores = iter(entailment([(row["claim"], row["sentence"]) for row in readable]))
            for row in batch:
                score = None if row.error else next(scores)
                if score is None:
                    problem = "the verifier could not read the pair; shorten it"
                    yield row.failed(row.error or problem)
                    continue
                result = {"coherent": score >= settings.coherence, "coherence": round(score, 4)}
                yield {**row.fields, **result}
            progress(f"coherence {start + len(batch)}/{len(rows)}")

    return _write(args.output, results())


def worth(args: argparse.Namespace) -> int:
    from attribution.claims.worthiness import classify_text

    limit = options.settings(args).answer_limit
    check_output(args.output)
    rows = read_rows(args.input, ["claim"])

    def result(row: Row) -> Result:
        if error := row.error or _too_long(row.fields["claim"], limit):
            return row.failed(error)
        worthiness, reason = classify_text(row.fields["claim"])
        return {**row.fields, "worthiness": worthiness, "reason": reason}

    return _write(args.output, map(result, rows))


def _too_long(claim: str, limit: int) -> str:
    return (
        f"the claim has {len(claim):,} characters; at most {limit:,} are allowed"
        if len(claim) > limit
        else ""
    )


def _write(path: Path, results: Iterable[Result]) -> int:
    """Writes the rows, all or none; returns the exit status: 1 if any row failed."""
    counts = [0, 0]
    with replacing(path) as out:
        for result in results:
            counts["error" in result] += 1
            out.write(json.dumps(result, ensure_ascii=False).encode() + b"\n")
    progress(f"{path}: {counts[0]} done, {counts[1]} failed")
    return int(counts[1] > 0)
