"""Find the claims of an answer that the sources support or contradict, and the sentences that say so.

question, answer → segmenters → worthiness → independence → enrichment → claims
claims → searchers → fetching → chunkers → embedders → retrieval → candidate evidence
(claim, chunk) pairs → verifiers → verdicts → Report

    from attribution import Settings, run
    for event in run(question, answer, Settings.from_environment()): ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attribution.pipeline.run import run
    from attribution.pipeline.snapshot import Snapshot
    from attribution.settings import Settings
    from attribution.types import Report

__all__ = ["Report", "Settings", "Snapshot", "run"]
_HOMES = {
    "run": "attribution.pipeline.run",
    "Settings": "attribution.settings",
    "Report": "attribution.types",
    "Snapshot": "attribution.pipeline.snapshot",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: `--help` and listings stay fast."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
