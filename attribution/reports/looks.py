"""How verdicts look and what they are called, and the four groups of claims that say what to do.

Their colours are in `static/verdicts.css`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from attribution.types import BADGES, WEAK, Label, Relation


@dataclass(frozen=True)
class Look:
    """The icon and the words of a verdict."""

    icon: str
    word: str
    help: str
    weak_word: str = ""  # of a badge that is not sure


LOOKS: dict[str, Look] = {
    "supported": Look(
        "✓",
        "Supported",
        "A source supports it, and none contradicts it.",
        "Likely supported",
    ),
    "contradicted": Look(
        "✗",
        "Contradicted",
        "A source contradicts it, and none supports it more surely.",
        "Possibly contradicted",
    ),
    "conflicting": Look("⚡", "Conflicting", "Some sources support it, others contradict it."),
    "unclear": Look("≈", "Unclear", "Passages discuss it, and none settles it: read them."),
    "no_relation": Look(
        "○", "Nothing related", "Passages were found, but none is about this claim."
    ),
    "missing": Look("?", "Not found", "No matching passage was found; the reason says why."),
    "not_reached": Look(
        "◌", "Not reached", "The run ended before this claim was compared with its sources."
    ),
    "not_checked": Look(
        "–", "Not checked", "An opinion, a question or an offer: there is nothing to verify."
    ),
}
PENDING = Look("·", "Being checked", "Not decided yet.")


class RelationLook(NamedTuple):
    """How the relation of a passage to a claim looks."""

    label: Label  # whose icon and colours it has
    word: str


RELATIONS: dict[Relation, RelationLook] = {
    "entailed": RelationLook("supported", "Supports"),
    "contradicted": RelationLook("contradicted", "Contradicts"),
    "no_relation": RelationLook("no_relation", "Says neither"),
}


@cache
def look(badge: str | None) -> Look:
    """Return the look of a label or a weak badge; a claim without one is pending."""
    label = (badge or "").removeprefix(WEAK)
    style = LOOKS.get(label, PENDING)
    if badge != label and style.weak_word:
        return replace(style, word=style.weak_word)
    return style


def style_class(badge: str | None) -> str:
    """Return the classes that colour a badge."""
    label = (badge or "pending").removeprefix(WEAK)
    return f"v-{label}{' weak' * (label != (badge or label))}"


def counted(badges: Mapping[str, int] | Iterable[str]) -> list[str]:
    """Say how many claims have each badge, problems first: "1 contradicted", "6 supported"."""
    counts = Counter(badges)
    return [f"{counts[name]} {look(name).word.lower()}" for name in BADGES if counts[name]]


# --- groups ---

QUIET = "off"  # the group of claims that nothing is said about


@dataclass(frozen=True)
class Group:
    """A group of claims, its icon, and their badges."""

    word: str
    icon: str
    help: str
    badges: tuple[str, ...]


GROUPS: dict[str, Group] = {
    "wrong": Group("Wrong", "✗", "A source says otherwise: fix these.", ("contradicted",)),
    "check": Group(
        "Check",
        "≈",
        "Possibly contradicted, conflicting or unclear: read these.",
        (f"{WEAK}contradicted", "conflicting", "unclear"),
    ),
    "none": Group(
        "No source",
        "○",
        "No source says anything about these: find one.",
        ("missing", "no_relation"),
    ),
    "ok": Group(
        "OK", "✓", "A source supports these: skim them.", (f"{WEAK}supported", "supported")
    ),
}


def group_of(badge: str) -> str:
    """Return the name of a badge's group; `QUIET` for an opinion or a claim that wasn't reached."""
    for name, group in GROUPS.items():
        if badge in group.badges:
            return name
    return QUIET


def group_counts(badges: Mapping[str, int] | Iterable[str]) -> Counter[str]:
    """Return the number of claims in each group, from badges or from their counts."""
    counts: Counter[str] = Counter()
    for badge, count in Counter(badges).items():
        counts[group_of(badge)] += count
    return counts


def group_data(badges: Mapping[str, int] | Iterable[str]) -> list[dict[str, object]]:
    """Return the groups with their counts as plain data for a component."""
    of_badge = Counter(badges)
    counts = group_counts(of_badge)
    weak = of_badge[f"{WEAK}supported"]
    rows: list[dict[str, object]] = []
    for name, group in GROUPS.items():
        verb = "is" if weak == 1 else "are"
        less_sure = f"{weak} of {counts[name]} {verb} less sure" if name == "ok" and weak else ""
        words = {"word": group.word, "icon": group.icon, "help": group.help, "less": less_sure}
        rows.append({"name": name, **words, "count": counts[name]})
    return rows


def quiet_words(badges: Iterable[str]) -> str:
    """Say what stands beside the groups: “1 not checked”; empty if nothing does."""
    return ", ".join(counted(badge for badge in badges if group_of(badge) == QUIET))
