"""Web addresses within a text, without the punctuation and brackets around them."""

from __future__ import annotations

import re

from attribution.types import Span

_ADDRESS = re.compile(r"(?:https?://|(?<![\w./@-])www\.)[^\s<>\"'`\[\]{}|\\^¹²³⁰⁴-⁹，。】]+", re.IGNORECASE)


def addresses(text: str) -> list[tuple[Span, str]]:
    """Where each http(s) address stands, and the address; `www.` without a scheme gets https."""
    found = []
    for match in _ADDRESS.finditer(text):
        end = match.end()
        while end > match.start():
            last = text[end - 1]
            unopened = last == ")" and text.count("(", match.start(), end) < text.count(")", match.start(), end)
            if not unopened and last not in ".,;:!?*_~'\"”’»":
                break
            end -= 1
        address = text[match.start() : end]
        if re.search(r"\w\.\w|://\w", address):
            found.append(((match.start(), end), address if "://" in address else f"https://{address}"))
    return found
