"""Web addresses within a text, without the punctuation and brackets around them."""

from __future__ import annotations

import re

from attribution.types import Span

_ADDRESS = re.compile(r"(?:https?://|(?<![\w./@-])www\.)[^\s<>\"'`\[\]{}|\\^¹²³⁰⁴-⁹，。】]+", re.IGNORECASE)
_HOST = re.compile(r"\w\.\w|://\w")


def addresses(text: str) -> list[tuple[Span, str]]:
    """Where each http(s) address stands, and the address; `www.` without a scheme gets https."""
    found = []
    for match in _ADDRESS.finditer(text):
        end, unopened = match.end(), match[0].count(")") - match[0].count("(")
        while end > match.start():
            last = text[end - 1]
            if not (last == ")" and unopened > 0) and last not in ".,;:!?*_~'\"”’»":
                break
            unopened -= last == ")"
            end -= 1
        address = text[match.start() : end]
        if _HOST.search(address):
            found.append(((match.start(), end), address if "://" in address else f"https://{address}"))
    return found
