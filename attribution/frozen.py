"""Parts of the values of the program: frozen models, spans, ids by content, quoted texts."""

from __future__ import annotations

import hashlib
from typing import Literal

from pydantic import BaseModel, ConfigDict

Span = tuple[int, int]


def content_id(*parts: str) -> str:
    """Return a short hash that depends only on the parts, so that caches and annotations survive a
    second run.

    Other parts make other text: the separator is escaped within a part.
    """
    text = "\x1f".join(part.replace("\x1e", "\x1e0").replace("\x1f", "\x1e1") for part in parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


AnalystLabel = Literal["supported", "contradicted", "conflicting", "unclear"]
NOTE = 2_000  # characters of an analyst's note on a claim
QUOTED = 60  # characters of a quoted text


def quoted(text: str, limit: int = QUOTED) -> str:
    """Return a text in quotation marks, on one line, cut between words where it is long."""
    line = " ".join(text.split())
    return f"“{line if len(line) <= limit else line[:limit].rsplit(' ', 1)[0] + ' …'}”"
