"""Decomposers and verifiers as the form calls them."""

from __future__ import annotations

from attribution.segmenters import SEGMENTERS
from attribution.verifiers import VERIFIERS

LABELS = {name: entry.label for name, entry in (*SEGMENTERS.items(), *VERIFIERS.items())}


def label(name: str) -> str:
    return LABELS.get(name, name)
