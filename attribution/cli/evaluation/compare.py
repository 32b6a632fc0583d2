"""`compare`: several segmenters over the same evidence. `answers`: two answers over the same evidence."""

from __future__ import annotations

import argparse
import json

from attribution.cli import options
from attribution.cli.console import check_output, progress
from attribution.errors import BadInput
from attribution.files import replacing
from attribution.text.json_lines import read_rows


def compare(args: argparse.Namespace) -> int:
    """Writes tables and a line of comparisons.jsonl for each answer; those already there are not compared again."""
    from attribution.evaluation.experiment import run

    settings = options.settings(args)
    rows = read_rows(args.input, ["answer"], ["question"])
    failed = 0
    for done, total, problem in run(rows, settings, args.segmenters, args.out):
        failed += bool(problem)
        progress(f"compare {done}/{total}" + (f": {problem}" if problem else ""))
    progress(f"{args.out}: {len(rows) - failed} compared, {failed} failed; tables.md, CSV tables, comparisons.jsonl")
    return int(failed > 0)


def answers(args: argparse.Namespace) -> int:
    """Writes a line for each pair of answers: their claims, what they have to do with each other, and the verdicts."""
    from attribution.claims.conversation import turns_of
    from attribution.evaluation.answers_data import json_data
    from attribution.evaluation.two_answers import TwoAnswersReady, compare_answers
    from attribution.storage.store import Store

    settings = options.settings(args)
    check_output(args.output)
    rows = read_rows(args.input, ["first", "second"], ["question"])
    store, failed = Store.open(settings.database_url), 0
    with replacing(args.output) as out:
        for number, row in enumerate(rows, 1):
            line = row.failed(row.error) if row.error else dict(row.fields)
            if not row.error:
                try:
                    question = str(row.fields.get("question") or "")
                    texts, context = (row.fields["first"], row.fields["second"]), turns_of(row.fields.get("turns"))
                    *_, last = compare_answers(question, *texts, settings, store, context=context)
                    assert isinstance(last, TwoAnswersReady)
                    line["result"] = json_data(last.result)
                except BadInput as error:
                    line = row.failed(str(error))
            failed += "error" in line
            out.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            progress(f"answers {number}/{len(rows)}" + (f": {line['error']}" if "error" in line else ""))
    progress(f"{args.output}: {len(rows) - failed} done, {failed} failed")
    return int(failed > 0)
