"""Find the claims of an answer that the sources support or contradict, and the sentences that say
so.

question, answer → segmenters → worthiness → independence → enrichment → claims
claims → searchers → fetching → chunkers → embedders → retrieval → candidate evidence
(claim, chunk) pairs → verifiers → verdicts → Report

    import attribution
    report = attribution.check("When was the Eiffel Tower finished?", "The Eiffel Tower was finished
    in 1889.")
    print(report.verdicts[0].label)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attribution.api import Report, check, judge, segment, stream, verify
    from attribution.settings import Settings

__version__ = "0.2.0.dev0"
__all__ = ["Report", "Settings", "__version__", "check", "judge", "segment", "stream", "verify"]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: `--help` and listings stay fast."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(
        importlib.import_module(f"attribution.{'settings' if name == 'Settings' else 'api'}"), name
    )


def __dir__() -> list[str]:
    return __all__
