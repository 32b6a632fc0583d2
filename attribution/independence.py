"""Can a claim be verified on its own (V24, section 4.2)? By rules on its words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attribution.types import Claim

_LEANS = re.compile(
    r"\b(he|she|they|him|her|hers|his|them|their|theirs|it|its|this|these|those|such|former|latter|both)\b",
    re.IGNORECASE,
)
_NAME_OR_FIGURE = re.compile(r"\d|(?<!^)\b[A-Z]\w+")


def judge(claims: Sequence[Claim]) -> list[Claim]:
    """Claims with `independent` set: no word that points elsewhere, and a name or figure of its own."""
    return [
        c.model_copy(update={"independent": not _LEANS.search(c.text) and bool(_NAME_OR_FIGURE.search(c.text))})
        for c in claims
    ]
