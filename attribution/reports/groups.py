"""The four groups of claims, which say what to do: fix, read, find a source, or skim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from attribution.reports.html import look
from attribution.types import WEAK

QUIET = "off"  # the group of claims that nothing is said about


@dataclass(frozen=True)
class Group:
    """A group, its icon, and the badges of its claims."""

    name: str
    word: str
    icon: str
    badges: tuple[str, ...]
    help: str


GROUPS: dict[str, Group] = {
    "wrong": Group("wrong", "Wrong", "✗", ("contradicted",), "A source says otherwise: fix these."),
    "check": Group(
        "check",
        "Check",
        "≈",
        (f"{WEAK}contradicted", "conflicting", "unclear"),
        "Possibly contradicted, conflicting or unclear: read these.",
    ),
    "none": Group(
        "none",
        "No source",
        "○",
        ("missing", "no_relation"),
        "No source says anything about these: find one.",
    ),
    "ok": Group(
        "ok",
        "OK",
        "✓",
        (f"{WEAK}supported", "supported"),
        "A source supports these: skim them.",
    ),
}
_GROUP_OF = {badge: group.name for group in GROUPS.values() for badge in group.badges}


def group_of(badge: str) -> str:
    """Return the name of a badge's group; `QUIET` for an opinion or a claim that wasn't reached."""
    return _GROUP_OF.get(badge, QUIET)


def group_counts(badges: Mapping[str, int] | Iterable[str]) -> Counter[str]:
    """Return the number of claims in each group, from badges or from their counts."""
    counts: Counter[str] = Counter()
    for badge, count in Counter(badges).items():
        counts[group_of(badge)] += count
    return counts


def quiet_words(badges: Iterable[str]) -> str:
    """Say what stands beside the groups: “1 opinion, not checked”; empty if nothing does."""
    counts = Counter(badge for badge in badges if group_of(badge) == QUIET)
    words = {"not_checked": "not checked", "not_reached": look("not_reached").noun}
    return ", ".join(f"{counts[badge]} {word}" for badge, word in words.items() if counts[badge])
