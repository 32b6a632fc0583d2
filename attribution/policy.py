"""The policy of a decision: thresholds, and how the two sides are weighed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args, get_type_hints

LOWEST_THRESHOLD = 0.34  # below it, another relation can be more probable
Decision = Literal["weighed", "plain"]  # plain: the most probable relation of each pair (V24 4.3)
FIELD_OF_SETTING = {
    "threshold": "support",
    "contradiction_threshold": "contradiction",
    "least_sources": "least_sources",
    "decision": "decision",
}
PLAIN: dict[str, Any] = {"sure": 0.0, "more": sys.maxsize}  # every relation counts


@dataclass(frozen=True)
class DecisionPolicy:
    """Everything that turns evidence into a verdict.

    A verifier's entry holds its own policy; settings change parts of it.

    Attributes:
        support: The lowest probability that counts as support.
        contradiction: The lowest probability that counts as a contradiction.
        least_sources: Independent sources that a side needs; copies of one text are one source.
        skipped_steps: Names of the steps (`evidence.steps`) that don't run; with the decision
            `plain`, none runs.
        sure: The lowest probability at which a side can make a claim conflicting.
        more: By how many sources a side must lead to count alone.
    """

    support: float = 0.6
    contradiction: float = 0.7
    least_sources: int = 1
    decision: Decision = "weighed"
    skipped_steps: tuple[str, ...] = ()
    sure: float = 0.75
    more: int = 2

    @property
    def is_plain(self) -> bool:
        return self.decision == "plain"

    @classmethod
    def of(cls, settings: Mapping[str, object]) -> DecisionPolicy:
        """Return the policy that a report was made with."""
        return cls().with_settings(settings)

    def with_settings(self, settings: Mapping[str, object]) -> DecisionPolicy:
        """Return this policy with what the settings choose; other names are ignored."""
        values: dict[str, Any] = {
            FIELD_OF_SETTING[name]: value for name, value in _usable(settings).items()
        }
        if values.get("decision") == "plain":
            values |= PLAIN
        return replace(self, **values)

    def as_settings(self) -> dict[str, object]:
        """Return the settings that choose this policy."""
        return {name: getattr(self, field) for name, field in FIELD_OF_SETTING.items()}


def _usable(settings: Mapping[str, object]) -> dict[str, object]:
    """Return the settings that have a valid value: a report may come from a stranger."""
    usable: dict[str, object] = {}
    for name, field in FIELD_OF_SETTING.items():
        value = settings.get(name)
        kind = KINDS[field]
        if value in get_args(kind):
            usable[name] = value
        elif kind in (int, float) and isinstance(value, int | float):
            usable[name] = kind(value)
    return usable


KINDS = get_type_hints(DecisionPolicy)
