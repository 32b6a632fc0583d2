"""Define the edits of a run: each kind is a frozen pydantic model, and a report lists those that it
was made with.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from attribution.frozen import NOTE, AnalystLabel, Frozen, quoted


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
    search: bool = Field(False, exclude_if=lambda search: not search)
    sources: tuple[str, ...] = ()  # to search; empty: the run's


class Recheck(Frozen):
    """A check of the unclear claims, or of one claim, by a second verifier."""

    kind: Literal["recheck"] = "recheck"
    verifier: str
    claim_id: str = ""  # empty: all unclear claims


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
            case Recheck(verifier=verifier, claim_id=claim_id):
                what = subject if claim_id else "unclear claims"
                summary = f"Rechecked by {verifier}: {what}"
            case Exclude(excluded=excluded):
                action = "excluded from" if excluded else "included again for"
                summary = f"Passage {action}: {subject}"
            case Judge(label=None, note=note):
                summary = f"Note: {subject}" if note else f"Judgement cleared: {subject}"
            case Judge(label=label):
                summary = f"Judged {label}: {subject}"
        return summary
