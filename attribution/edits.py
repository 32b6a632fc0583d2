"""Define frozen models, with what all of them share, and the edits of a run.

A report lists the edits that it was made with.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

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


class Reword(Frozen):
    """A new text for a claim. With its own text, it loses the words that enrichment added."""

    kind: Literal["reword"] = "reword"
    claim_id: str
    text: str


class Split(Frozen):
    """Several claims in place of one."""

    kind: Literal["split"] = "split"
    claim_id: str
    texts: tuple[str, ...]


class Merge(Frozen):
    """One claim in place of several, at the position of the first one."""

    kind: Literal["merge"] = "merge"
    claim_ids: tuple[str, ...]
    text: str


class AddEvidence(Frozen):
    """Documents, web addresses, pasted text or another search for one claim; the pages are in the
    report.
    """

    kind: Literal["add_evidence"] = "add_evidence"
    claim_id: str
    names: tuple[str, ...] = ()  # of documents, and web addresses
    search: bool = False
    sources: tuple[str, ...] = ()  # to search; empty: the run's


class Recheck(Frozen):
    """A check of the unclear claims by a second verifier."""

    model_config = ConfigDict(extra="ignore")  # saved runs may have a field that is gone

    kind: Literal["recheck"] = "recheck"
    verifier: str


class Exclude(Frozen):
    """The exclusion of a passage, which no longer counts for one claim, or its reversal."""

    kind: Literal["exclude"] = "exclude"
    claim_id: str
    page_id: str
    start: int
    end: int
    excluded: bool = True


class Judge(Frozen):
    """The analyst's assessment of a claim, with a note, or a note alone; neither clears both. The
    model's verdict stays as it is.
    """

    kind: Literal["judge"] = "judge"
    claim_id: str
    label: AnalystLabel | None
    note: str = Field("", max_length=NOTE)


Change = Annotated[
    Reword | Split | Merge | AddEvidence | Recheck | Exclude | Judge,
    Field(discriminator="kind"),
]


class Edit(Frozen):
    """A change made by hand, with its time."""

    at: str  # ISO 8601, UTC
    change: Change
    subject: str = ""  # the claim's text before
    claims: tuple[str, ...] = ()  # the ids of the claims it made or changed

    @property
    def summary(self) -> str:
        """The change in words: “Reworded: “a” → “b””."""
        subject = quoted(self.subject)
        match self.change:
            case Reword(text=text):
                summary = f"Reworded: {subject} → {quoted(text)}"
            case Split(texts=texts):
                summary = f"Split into {len(texts)}: {subject}"
            case Merge(claim_ids=ids, text=text):
                summary = f"{len(ids)} claims merged: {quoted(text)}"
            case AddEvidence(search=True):
                summary = f"Searched again: {subject}"
            case AddEvidence(names=names):
                added = f"Evidence added ({quoted(', '.join(names))})" if names else "Checked again"
                summary = f"{added}: {subject}"
            case Recheck(verifier=verifier):
                summary = f"Rechecked by {verifier}: unclear claims"
            case Exclude(excluded=excluded):
                action = "excluded from" if excluded else "included again for"
                summary = f"Passage {action}: {subject}"
            case Judge(label=None, note=note):
                summary = f"Note: {subject}" if note else f"Assessment cleared: {subject}"
            case Judge(label=label):
                summary = f"Assessed as {label}: {subject}"
        return summary
