"""Quality and speed of the methods as benchmarks/groundedness.py measured them, for their cards in the app."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from attribution.evaluation.groundedness.figures import Estimate
from attribution.types import Frozen

FILE = Path(__file__).parent / "measured.json"


class Measured(Frozen):
    """A method on one public set of labelled responses."""

    macro_f1: Estimate
    accuracy: Estimate
    precision: Estimate
    recall: Estimate
    seconds: float | None  # median of a response
    test: int  # rows


@cache
def _content() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return content


def measured(method: str) -> dict[str, Measured]:
    """The method's figures by set; empty where it was not measured."""
    return {name: Measured.model_validate(found) for name, found in _content()["methods"].get(method, {}).items()}


def conditions() -> dict[str, Any]:
    """Date, models, machine and numbers of rows behind the figures."""
    return dict(_content()["conditions"])
