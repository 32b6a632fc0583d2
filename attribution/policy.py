"""The policy of a decision: from which probability on, by which rule, and of which passages
verdicts are made.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args, get_type_hints

LOWEST_THRESHOLD = 0.34  # below it, another relation can be more probable
Aggregation = Literal[
    "both", "strictest", "most_frequent", "any"
]  # where passages disagree, see `verdicts`
Decision = Literal["weighed", "plain"]  # plain: the most probable relation of each pair (V24 4.3)
CHOSEN = {  # setting → the field of the policy that it chooses; None leaves the verifier's own
    "threshold": "support",
    "contradiction_threshold": "contradiction",
    **{name: name for name in ("aggregation", "least_sources", "decision")},
}
PLAIN = {
    "weighed_by_relevance": False,
    "sure": 0.0,
    "alone": 0.0,
    "more": sys.maxsize,
}  # every relation counts


@dataclass(frozen=True)
class Counted:
    """The passages of a claim that count; by default all of them. Pages give sites, dates and
    languages.
    """

    top_k: int | None = None  # the nearest ones; None: all
    without_sites: frozenset[str] = frozenset()
    published_from: str = ""  # ISO dates; a page without a date is left out only if `dated` is set
    published_to: str = ""
    dated: bool = False  # leave out pages without a date, if a date range is given
    languages: frozenset[str] = field(
        default=frozenset()
    )  # ISO 639-1; empty: all. Unknown ones stay
    duplicates_once: bool = False  # passages of a claim that say the same count once


@dataclass(frozen=True)
class DecisionPolicy:
    """Everything that turns evidence into a verdict. A verifier's entry holds its own; settings
    change parts of it.
    """

    support: float = 0.5  # least probabilities of the two relations that count
    contradiction: float = 0.54
    aggregation: Aggregation = "both"
    least_sources: int = 1  # independent ones that a side needs; copies of one text are one source
    decision: Decision = "weighed"
    weighed_by_relevance: bool = False  # the weights were fitted on the embedded base model
    sure: float = 0.75  # probability from which on a side can make a claim conflicting
    alone: float = 0.9  # and from which on one page contradicts a claim though no value differs
    more: int = 2  # sources that a side must have more to count alone
    counted: Counted = Counted()

    @classmethod
    def of(cls, settings: Mapping[str, object]) -> DecisionPolicy:
        """Return the policy that a report was made with; earlier ones had one threshold for both
        relations.
        """
        given = {"contradiction_threshold": settings.get("threshold"), **settings}
        return cls().with_settings(
            {"threshold": 0.5, "contradiction_threshold": 0.5} | _usable(given)
        )

    def with_settings(self, settings: Mapping[str, object]) -> DecisionPolicy:
        """Return this policy with what the settings choose; names that choose nothing of it are
        ignored.
        """
        values: dict[str, Any] = {CHOSEN[name]: value for name, value in _usable(settings).items()}
        if values.get("decision") == "plain":
            values |= PLAIN
        return replace(self, **values)

    def as_settings(self) -> dict[str, object]:
        """Return the settings that choose this policy."""
        return {name: getattr(self, attribute) for name, attribute in CHOSEN.items()}


def _usable(settings: Mapping[str, object]) -> dict[str, object]:
    """Return the chosen parts of a policy; the settings of a report may come from another version
    or a stranger.
    """
    found = dict[str, object]()
    for name in CHOSEN.keys() & settings.keys():
        value, kind = settings[name], _KINDS[CHOSEN[name]]
        if value in get_args(kind):
            found[name] = value
        elif kind in (int, float) and isinstance(value, int | float):
            found[name] = kind(value)
    return found


_KINDS = get_type_hints(DecisionPolicy)
