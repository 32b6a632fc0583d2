"""`list`: the implementations of each table."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from attribution.cli.console import print_json
from attribution.registry import Table
from attribution.settings import Settings

NAMES = ("segmenters", "searchers", "chunkers", "embedders", "verifiers", "methods")


def tables() -> Mapping[str, Table]:
    from attribution.chunkers import CHUNKERS
    from attribution.embedders import EMBEDDERS
    from attribution.evaluation.groundedness import METHODS
    from attribution.searchers import SEARCHERS
    from attribution.segmenters import SEGMENTERS
    from attribution.verifiers import VERIFIERS

    return dict(zip(NAMES, (SEGMENTERS, SEARCHERS, CHUNKERS, EMBEDDERS, VERIFIERS, METHODS), strict=True))


def list_tables(args: argparse.Namespace) -> None:
    settings = Settings.from_environment()
    rows = []
    for table in [args.table] if args.table else NAMES:
        for name, entry in tables()[table].items():
            needs = entry.missing(settings)
            row = {"table": table, "name": name, "label": entry.label, "note": entry.note}
            rows.append({**row, "ready": not needs, "needs": needs})
    print_json(rows)
