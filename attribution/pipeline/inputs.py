"""Question and answer, before anything is done with them."""

from __future__ import annotations

import unicodedata

from attribution.errors import BadInput
from attribution.settings import Settings
from attribution.text.characters import PROBLEM, has_half_pair


def check_input(question: str, answer: str, settings: Settings) -> None:
    """BadInput for an answer that is empty, too long or not text."""
    if not answer.strip():
        raise BadInput("The answer is empty: paste the text whose claims should be checked.")
    for name, text in (("answer", answer), ("question", question)):
        if has_half_pair(text):
            raise BadInput(f"The {name} is not text: {PROBLEM}.")
        if len(text) > settings.answer_limit:
            raise BadInput(
                f"The {name} has {len(text):,} characters; at most {settings.answer_limit:,} can be analysed. "
                "Shorten it, or analyse it in parts."
            )
        controls = sum(unicodedata.category(c) == "Cc" and c not in "\n\r\t" for c in text) + text.count("\ufffd")
        if controls > max(2, len(text) // 50):
            raise BadInput(
                f"The {name} contains {controls} control characters, so it is not text. Paste plain text or Markdown."
            )
