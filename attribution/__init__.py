"""Find which claims of an answer its sources support or contradict, and the sentences that say so.

import attribution
report = attribution.check("When was the Eiffel Tower built?", "It was finished in 1889.")
print(report.verdicts[0].label)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attribution.api import Report as Report
    from attribution.api import check as check
    from attribution.api import judge as judge
    from attribution.api import segment as segment
    from attribution.api import stream as stream
    from attribution.api import verify as verify
    from attribution.errors import *  # noqa: F403
    from attribution.events import *  # noqa: F403
    from attribution.settings import Settings as Settings
    from attribution.types import Claim as Claim
    from attribution.types import Evidence as Evidence
    from attribution.types import Verdict as Verdict

__version__ = "0.2.0.dev0"

_MODULES = {
    "api": "Report check judge segment stream verify",
    "types": "Claim Evidence Verdict",
    "settings": "Settings",
    "events": (
        "Event Queued RunStarted StageStarted Progress Spent ClaimsReady PageReady VerdictReady "
        "Failed Finished"
    ),
    "errors": (
        "AttributionError BadInput BadSetting UnknownName NotYours Unavailable ModelUnavailable "
        "Busy Stopped StoreError SearchFailed FetchFailed LlmFailed"
    ),
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names.split()}
__all__ = ["__version__", *_PLACES]  # noqa: PLE0604


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that `--help` and listings stay fast."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"attribution.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
