"""The four groups of claims, which say what to do: fix, read, find a source, or skim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from attribution.reports.html import look
from attribution.types import WEAK, Label

QUIET = "off"  # the group of claims that nothing is said about


@dataclass(frozen=True)
class Group:
    """A group, its icon, and the badges of its claims."""

    name: str
    word: str
    icon: str
    badges: tuple[str, ...]
    help: str
    colours: Label  # the verdict whose ink and tint it has
    fill: tuple[str, str]  # of a bar, light and dark


GROUPS: dict[str, Group] = {
    "wrong": Group(
        "wrong",
        "Wrong",
        "✗",
        ("contradicted",),
        "A source says otherwise: fix these.",
        "contradicted",
        ("#cf4a57", "#e0685f"),
    ),
    "check": Group(
        "check",
        "Check",
        "≈",
        (f"{WEAK}contradicted", "conflicting", "unclear"),
        "Possibly contradicted, conflicting or unclear: read these.",
        "unclear",
        ("#6a95b8", "#6d97b8"),
    ),
    "none": Group(
        "none",
        "No source",
        "○",
        ("missing", "no_relation"),
        "No source says anything about these: find one.",
        "no_relation",
        ("#8a939e", "#626c77"),
    ),
    "ok": Group(
        "ok",
        "OK",
        "✓",
        (f"{WEAK}supported", "supported"),
        "A source supports these: skim them.",
        "supported",
        ("#58a271", "#4d9e69"),
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


def groups_css() -> str:
    """Return a class with the colours of each group."""
    rules = [f".g-{QUIET}{{--ink:var(--not_checked-ink);--tint:transparent}}"]
    for name, group in GROUPS.items():
        light, dark = group.fill
        colours = f"--ink:var(--{group.colours}-ink);--tint:var(--{group.colours}-tint)"
        rules.append(f".g-{name}{{{colours};--fill:light-dark({light},{dark})}}")
    return "".join(rules)


def quiet_words(badges: Iterable[str]) -> str:
    """Say what stands beside the groups: “1 opinion, not checked”; empty if nothing does."""
    counts = Counter(badge for badge in badges if group_of(badge) == QUIET)
    words = {"not_checked": "not checked", "not_reached": look("not_reached").noun}
    return ", ".join(f"{counts[badge]} {word}" for badge, word in words.items() if counts[badge])
