"""Icons, words and colours of the verdicts: the page, its charts and the exports use the same."""

from __future__ import annotations

from dataclasses import dataclass

from attribution.types import LABELS, Label, Relation


@dataclass(frozen=True)
class Look:
    """Icon, words and colours (ink on tint, light and dark) of a verdict; `line` is the underline of its span."""

    icon: str
    word: str
    noun: str  # after a count
    ink: str
    tint: str
    dark_ink: str
    dark_tint: str
    line: str
    help: str


LOOKS: dict[Label, Look] = {
    "supported": Look(
        "✓", "Supported", "supported",
        "#116329", "#d6f5dc", "#7ee2a0", "#12351f", "solid",
        "A source supports it, and none contradicts it (entailment).",
    ),
    "contradicted": Look(
        "✗", "Contradicted", "contradicted",
        "#a40e26", "#ffe3e1", "#ffa198", "#471418", "double",
        "A source contradicts it, and none supports it (contradiction).",
    ),
    "conflicting": Look(
        "⚡", "Conflicting", "conflicting",
        "#7a4b00", "#ffedc2", "#f2c46d", "#3d2a05", "wavy",
        "Some sources support it, others contradict it.",
    ),
    "unclear": Look(
        "≈", "Unclear", "unclear",
        "#2f5573", "#dfeaf3", "#a9cbe6", "#1f3547", "dotted",
        "Passages are about it, but the model cannot tell: read them.",
    ),
    "no_relation": Look(
        "○", "Nothing related", "with nothing related",
        "#444c56", "#e6eaef", "#b6c0cc", "#2b3138", "dotted",
        "Passages were found, but none supports or contradicts it (neutral).",
    ),
    "missing": Look(
        "?", "Not found", "not found",
        "#4a3a78", "#ece6fb", "#cbb8ff", "#2c2349", "dashed",
        "No passage was retrieved; the reason names the step that failed.",
    ),
    "not_reached": Look(
        "◌", "Not reached", "not reached",
        "#4d5560", "#f6f4f1", "#aab3bd", "#201f1d", "dashed",
        "The run ended before this claim was compared with its sources.",
    ),
    "not_checked": Look(
        "–", "Not checked", "not checked",
        "#57606a", "transparent", "#9aa4af", "transparent", "none",
        "An opinion, a question or an offer: there is nothing to verify.",
    ),
}  # fmt: skip
PENDING = Look(
    "·", "Being checked", "being checked", "#57606a", "#f1efec", "#9aa4af", "#23211e", "none", "Not decided yet."
)
RELATIONS: dict[Relation, tuple[Label, str]] = {
    "entailed": ("supported", "Supports"),
    "contradicted": ("contradicted", "Contradicts"),
    "no_relation": ("no_relation", "Nothing related"),
}


def look(label: str | None) -> Look:
    """The look of a verdict; a claim without one is pending."""
    return next((LOOKS[name] for name in LABELS if name == label), PENDING)
