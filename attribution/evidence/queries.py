"""What is searched for a claim: the choices, and those that need no language model."""

from __future__ import annotations

from attribution.registry import LLM, Entry
from attribution.types import Claim

# Nothing is built here: the name alone is the choice, so the entries have no target.
QUERIES = {
    "enriched": Entry("", "The claim, standing alone", "with the question as well, where it leans on its context"),
    "claim": Entry("", "The claim as written", "its own words alone"),
    "with_question": Entry("", "Question and claim", "always both together"),
    "llm": Entry("", "Queries by a language model", "sends the question and each claim to the language model", (LLM,)),
}


def queries(claim: Claim, question: str, choice: str) -> list[str]:
    """One or two queries; for `llm` what stands in where the model wrote none: the claim itself."""
    if choice == "claim":
        return [claim.text]
    together = f"{question} {claim.statement}"
    if choice == "with_question" and question:
        return [together]
    if choice == "llm":
        return [claim.statement]
    return [claim.statement, *([together] if question and not claim.independent else [])]
