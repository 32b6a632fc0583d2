"""What all types are made of."""

from __future__ import annotations

import hashlib

from pydantic import BaseModel, ConfigDict

Span = tuple[int, int]


def content_id(*parts: str) -> str:
    """A short hash of the parts alone, so that caches and annotations survive a second run."""
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
