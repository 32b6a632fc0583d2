"""Changes that a person makes to a finished run, as data; `pipeline.editing` carries them out.

Every kind is a frozen type of its own. A report lists those that it was made with.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from attribution.types.base import Frozen, Span

QUOTED = 80  # characters of a text that is named in words


class _Searched(Frozen):
    """A change after which claims are compared with the pages again, and searched for where `search` says so."""

    search: bool = Field(False, exclude_if=lambda search: not search)


class Reword(_Searched):
    """Another text for a claim."""

    kind: Literal["reword"] = "reword"
    claim_id: str
    text: str


class AsWritten(_Searched):
    """A claim is checked in the words of the answer, without what enrichment added."""

    kind: Literal["as_written"] = "as_written"
    claim_id: str


class Split(_Searched):
    """Several claims in place of one."""

    kind: Literal["split"] = "split"
    claim_id: str
    texts: tuple[str, ...]


class Merge(_Searched):
    """One claim in place of several; it stands where the first of them stood."""

    kind: Literal["merge"] = "merge"
    claim_ids: tuple[str, ...]
    text: str


class AddClaim(_Searched):
    """A claim that the segmenter did not find."""

    kind: Literal["add_claim"] = "add_claim"
    text: str
    spans: tuple[Span, ...] = ()


class Drop(Frozen):
    """A claim is set aside."""

    kind: Literal["drop"] = "drop"
    claim_id: str


class Restore(Frozen):
    """A claim that was set aside is put back."""

    kind: Literal["restore"] = "restore"
    claim_id: str


class Pin(Frozen):
    """A claim is listed first and outlives another segmentation, or no longer."""

    kind: Literal["pin"] = "pin"
    claim_id: str
    pinned: bool = True


class Place(Frozen):
    """Other characters of the answer for a claim."""

    kind: Literal["place"] = "place"
    claim_id: str
    spans: tuple[Span, ...]


class AddEvidence(_Searched):
    """Documents, web addresses or pasted text to check a claim against; their pages are in the report."""

    kind: Literal["add_evidence"] = "add_evidence"
    claim_id: str
    names: tuple[str, ...] = ()  # of the documents, and the addresses


class CheckAgain(_Searched):
    """A claim is checked again as it is worded, by another verifier or with other sources where they are named."""

    kind: Literal["check"] = "check"
    claim_id: str
    verifier: str = ""  # empty: the run's
    sources: tuple[str, ...] = ()  # to search; empty: the run's


class Exclude(Frozen):
    """One passage no longer counts for one claim, or counts again."""

    kind: Literal["exclude"] = "exclude"
    claim_id: str
    page_id: str
    start: int
    end: int
    excluded: bool = True


class ChangeQuestion(_Searched):
    """Another question for the same answer."""

    kind: Literal["question"] = "question"
    question: str


class Resegment(_Searched):
    """The answer split by another segmenter; pinned claims stay."""

    kind: Literal["resegment"] = "resegment"
    segmenter: str


Change = Annotated[
    Reword
    | AsWritten
    | Split
    | Merge
    | AddClaim
    | Drop
    | Restore
    | Pin
    | Place
    | AddEvidence
    | CheckAgain
    | Exclude
    | ChangeQuestion
    | Resegment,
    Field(discriminator="kind"),
]


class Edit(Frozen):
    """A change that was made."""

    at: str  # ISO 8601, UTC
    change: Change
    subject: str = ""  # the claim's text before, or the question
    claims: tuple[str, ...] = ()  # the ids of the claims it made or changed

    @property
    def words(self) -> str:
        """What was done, for a list: “Claim reworded: “a” → “b””."""
        subject, change = quoted(self.subject), self.change
        match change:
            case Reword(text=text):
                said = f"Reworded: {subject} → {quoted(text)}"
            case AsWritten():
                said = f"Checked as written: {subject}"
            case Split(texts=texts):
                said = f"Split into {len(texts)}: {subject}"
            case Merge(claim_ids=ids, text=text):
                said = f"{len(ids)} claims merged: {quoted(text)}"
            case AddClaim(text=text):
                said = f"Claim added: {quoted(text)}"
            case Drop():
                said = f"Dropped: {subject}"
            case Restore():
                said = f"Restored: {subject}"
            case Pin(pinned=pinned):
                said = f"{'Pinned' if pinned else 'Unpinned'}: {subject}"
            case Place():
                said = f"Place in the answer changed: {subject}"
            case AddEvidence(names=names):
                what = f"Evidence added ({quoted(', '.join(names))})" if names else "Checked again"
                said = f"{what}: {subject}"
            case CheckAgain(verifier=verifier):
                said = f"Checked again{f' by {verifier}' if verifier else ''}: {subject}"
            case Exclude(excluded=excluded):
                said = f"Passage {'excluded from' if excluded else 'included again for'}: {subject}"
            case ChangeQuestion(question=question):
                said = f"Question changed: {subject} → {quoted(question)}"
            case Resegment(segmenter=segmenter):
                said = f"Answer split by {segmenter}"
        return f"{said}, searched again" if getattr(change, "search", False) else said


def quoted(text: str) -> str:
    """A text in quotation marks, shortened."""
    line = " ".join(text.split())
    return f"“{line if len(line) <= QUOTED else line[: QUOTED - 2].rstrip() + ' …'}”"
