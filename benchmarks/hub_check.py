"""Run the published models of the hub once, and say what was seen.

python -m benchmarks.hub_check [--input SET.jsonl]

Downloads the models of the groundedness methods (T24 5.2, T24 5.3), and measures each on a labelled
set, by default the one in examples/. A model that cannot be downloaded is
named with the hub's reply; the exit status is 1 if none can be.
"""

from __future__ import annotations

import argparse
import threading
from pathlib import Path

from attribution.settings import ROOT, Settings
from attribution.studies.groundedness.evaluation import (
    LeftOut,
    Outcome,
    evaluate,
    quality_table,
    run,
)
from attribution.studies.groundedness.labelled_set import OPTIONAL, REQUIRED, labelled_set
from attribution.studies.groundedness.methods import hub
from attribution.text_files import read_rows

MODELS = {
    "hem_v1": [hub.HEM_V1],
    "hem_v2": [hub.HEM_V2, hub.FLAN_T5],
    "factkb": [hub.FACTKB, hub.ROBERTA],
    "contextnli": [hub.CONTEXT_NLI],
}


def download(model: hub.HubClassifier) -> str:
    """Download a model once; return why that is impossible, or nothing."""
    from huggingface_hub import snapshot_download

    if model.is_downloaded():
        return ""
    patterns = ["*.json", "*.txt", "*.model"]
    if model.files != hub.TOKENIZER:
        patterns += model.files
    try:
        snapshot_download(model.name, revision=model.revision, allow_patterns=patterns)
    except Exception as error:  # the hub's client raises errors of several libraries
        return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return ""


def main(argv: list[str] | None = None) -> int:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--input", type=Path, default=ROOT / "examples" / "groundedness.jsonl")
    args = p.parse_args(argv)
    rows = labelled_set(read_rows(args.input, REQUIRED, OPTIONAL)).rows
    ready: list[str] = []
    for method, models in MODELS.items():
        problem = next(filter(None, map(download, models)), "")
        if problem:
            print(f"{method}: {models[0].name} could not be had: {problem}")
        else:
            ready.append(method)
    outcomes: list[Outcome] = []
    for one in run(rows, ready, Settings.from_environment(), threading.Event()):
        if isinstance(one, LeftOut):
            print(f"{one.method}: could not be run: {one.reason}")
        else:
            outcomes.append(one)
    measured = evaluate(rows, outcomes, ready)
    if measured.figures:
        print(quality_table(measured).markdown())
    return int(not measured.figures)


if __name__ == "__main__":
    raise SystemExit(main())
