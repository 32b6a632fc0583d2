"""`verify` and `worth`: files with one claim, or one pair of claim and evidence, a line."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any, TextIO

from attribution.cli import options
from attribution.cli.console import progress
from attribution.errors import BadInput
from attribution.json_lines import read_rows

BATCH = 256  # pairs between two lines of progress


def verify(args: argparse.Namespace) -> None:
    from attribution.registry import build
    from attribution.verdicts import relation
    from attribution.verifiers import VERIFIERS

    settings = options.settings(args)
    verifier = build(VERIFIERS, settings.verifier, settings, "verifier")
    rows = list(read_rows(args.input, ["claim", "evidence"]))
    partial = args.output.with_name(args.output.name + ".part")
    with partial.open("w", encoding="utf-8") as out:
        for start in range(0, len(rows), BATCH):
            batch = rows[start : start + BATCH]
            try:
                judgements = verifier.verify([(r["claim"], r["evidence"]) for r in batch])
            except BadInput as error:
                partial.unlink()
                raise BadInput(f"{args.input}, rows {start + 1} to {start + len(batch)}: {error}") from None
            for row, j in zip(batch, judgements, strict=True):
                result = {
                    "relation": relation(j.probabilities, settings.threshold),
                    "probabilities": j.probabilities.model_dump(),
                    "sentence": row["evidence"][slice(*j.sentence)],
                    "signals": j.signals,
                }
                _write(out, {**row, **result})
            progress(f"verify {start + len(batch)}/{len(rows)}")
    partial.replace(args.output)


def worth(args: argparse.Namespace) -> None:
    from attribution.claims.worthiness import classify
    from attribution.types import Claim, content_id

    rows = list(read_rows(args.input, ["claim"]))
    claims = classify([Claim(id=content_id(r["claim"]), text=r["claim"], spans=()) for r in rows])
    with args.output.open("w", encoding="utf-8") as out:
        for row, claim in zip(rows, claims, strict=True):
            _write(out, {**row, "worthiness": claim.worthiness, "reason": claim.worthiness_reason})


def _write(out: TextIO, row: Mapping[str, Any]) -> None:
    out.write(json.dumps(row, ensure_ascii=False) + "\n")
