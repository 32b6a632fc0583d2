"""`download`: the models that entries load or make at their first use, ahead of it."""

from __future__ import annotations

import argparse

from attribution.cli.console import progress
from attribution.cli.tables import tables
from attribution.errors import BadInput, UnknownName
from attribution.registry import load
from attribution.settings import Settings

STEPS = 20  # lines of progress


def download(args: argparse.Namespace) -> None:
    found = {name: entry for table in tables().values() for name, entry in table.items() if entry.download}
    if args.name not in found:
        raise UnknownName(f"{args.name!r} has nothing to download: expected one of {', '.join(found)}")
    shown = -1

    def show(share: float, what: str) -> None:
        nonlocal shown
        if int(share * STEPS) > shown:
            shown = int(share * STEPS)
            progress(f"{args.name}: {share:.0%} {what}")

    setting = found[args.name].model_setting
    if args.model and not setting:
        raise BadInput(f"--model {args.model}: {args.name!r} has one model: leave it out")
    settings = Settings.from_environment(**({setting: args.model} if args.model else {}))
    progress(f"{args.name}: ready in {load(found[args.name].download)(show, settings)}")
