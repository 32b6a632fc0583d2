"""Corrections: (claim, passage) → other wordings of the claim that the passage may support."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from attribution.registry import LLM, Entry
from attribution.types import LlmUsage


class Corrector(Protocol):
    version: str

    @property
    def usage(self) -> LlmUsage | None:
        """What language models cost so far; None where none is used."""
        ...

    def candidates(self, claim: str, passage: str, right: Sequence[str] = ()) -> list[str]:
        """Wordings that differ little from the claim, the likeliest first; what a text in `right` says is not wrong.

        Whether the passage supports one is not decided here: the verifier of the run is asked (`proposals.propose`).
        """
        ...


CORRECTORS = {
    "rule": Entry(
        "attribution.corrections.rule:RuleCorrector",
        "By rule",
        "puts a number, date, unit, name or negation of the passage in place of the claim's",
        english=True,
    ),
    "llm": Entry(
        "attribution.corrections.llm:LlmCorrector",
        "Language model",
        "sends each claim with its deciding passages to the language model",
        needs=(LLM,),
    ),
}
