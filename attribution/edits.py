"""Define the edits of a run: each kind is a frozen pydantic model, and a report lists those that it
was made with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from attribution.frozen import NOTE, AnalystLabel, Frozen, Span, quoted


class _Searched(Frozen):
    """A change after which claims are compared with the pages again; `search` also searches for
    them.
    """

    search: bool = Field(False, exclude_if=lambda search: not search)


class Reword(_Searched):
    """A new text for a claim."""

    kind: Literal["reword"] = "reword"
    claim_id: str
    text: str


class AsWritten(_Searched):
    """A check of a claim in the words of the answer, without the words that enrichment added."""

    kind: Literal["as_written"] = "as_written"
    claim_id: str


class Split(_Searched):
    """Several claims in place of one."""

    kind: Literal["split"] = "split"
    claim_id: str
    texts: tuple[str, ...]


class Merge(_Searched):
    """One claim in place of several, at the position of the first one."""

    kind: Literal["merge"] = "merge"
    claim_ids: tuple[str, ...]
    text: str


class AddClaim(_Searched):
    """A claim that the segmenter did not find."""

    kind: Literal["add_claim"] = "add_claim"
    text: str
    spans: tuple[Span, ...] = ()


class Drop(Frozen):
    """The removal of a claim, which is set aside."""

    kind: Literal["drop"] = "drop"
    claim_id: str


class Restore(Frozen):
    """The return of a claim that was set aside."""

    kind: Literal["restore"] = "restore"
    claim_id: str


class Pin(Frozen):
    """A claim's pin, set or removed: a pinned claim is listed first and survives another
    segmentation.
    """

    kind: Literal["pin"] = "pin"
    claim_id: str
    pinned: bool = True


class Place(Frozen):
    """New characters of the answer for a claim."""

    kind: Literal["place"] = "place"
    claim_id: str
    spans: tuple[Span, ...]


class AddEvidence(_Searched):
    """Documents, web addresses or pasted text to check a claim against; their pages are in the
    report.
    """

    kind: Literal["add_evidence"] = "add_evidence"
    claim_id: str
    names: tuple[str, ...] = ()  # of documents, and web addresses


class CheckAgain(_Searched):
    """A new check of a claim with the same wording, by the verifier and with the sources that are
    named.
    """

    kind: Literal["check"] = "check"
    claim_id: str
    verifier: str = ""  # empty: the run's
    sources: tuple[str, ...] = ()  # to search; empty: the run's


class ReadAgain(Frozen):
    """A second reading of all doubtful claims, by a language model or another verifier."""

    kind: Literal["second"] = "second"
    reader: str


class Exclude(Frozen):
    """The exclusion of a passage, which no longer counts for one claim, or its reversal."""

    kind: Literal["exclude"] = "exclude"
    claim_id: str
    page_id: str
    start: int
    end: int
    excluded: bool = True


class Judge(Frozen):
    """The analyst's own verdict on a claim, with a note; no label clears it. The model's verdict
    stays as it is.
    """

    kind: Literal["judge"] = "judge"
    claim_id: str
    label: AnalystLabel | None
    note: str = Field("", max_length=NOTE)


class ChangeQuestion(_Searched):
    """A new question for the same answer."""

    kind: Literal["question"] = "question"
    question: str


class Resegment(_Searched):
    """A segmentation of the answer by another segmenter; pinned claims stay."""

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
    | ReadAgain
    | Exclude
    | Judge
    | ChangeQuestion
    | Resegment,
    Field(discriminator="kind"),
]


class Edit(Frozen):
    """A change made by hand, with its time."""

    model_config = ConfigDict(extra="ignore")  # saved runs may have a field that is gone

    at: str  # ISO 8601, UTC
    change: Change
    subject: str = ""  # the claim's text before, or the question
    claims: tuple[str, ...] = ()  # the ids of the claims it made or changed

    def words(self, label: Callable[[str], str]) -> str:
        """Return the change in words, for a list: “Reworded: “a” → “b””; `label` is that of a
        method by its name.
        """
        subject, change = quoted(self.subject), self.change
        match change:
            case Reword(text=text):
                summary = f"Reworded: {subject} → {quoted(text)}"
            case AsWritten():
                summary = f"Checked as written: {subject}"
            case Split(texts=texts):
                summary = f"Split into {len(texts)}: {subject}"
            case Merge(claim_ids=ids, text=text):
                summary = f"{len(ids)} claims merged: {quoted(text)}"
            case AddClaim(text=text):
                summary = f"Claim added: {quoted(text)}"
            case Drop():
                summary = f"Dropped: {subject}"
            case Restore():
                summary = f"Restored: {subject}"
            case Pin(pinned=pinned):
                summary = f"{'Pinned' if pinned else 'Unpinned'}: {subject}"
            case Place():
                summary = f"Place in the answer changed: {subject}"
            case AddEvidence(names=names):
                what = f"Evidence added ({quoted(', '.join(names))})" if names else "Checked again"
                summary = f"{what}: {subject}"
            case CheckAgain(verifier=verifier):
                summary = f"Checked again{f' by {label(verifier)}' if verifier else ''}: {subject}"
            case ReadAgain(reader=reader):
                summary = f"Doubtful claims read again by {label(reader)}"
            case Exclude(excluded=excluded):
                summary = (
                    f"Passage {'excluded from' if excluded else 'included again for'}: {subject}"
                )
            case Judge(label=given):
                summary = f"Judged {given}: {subject}" if given else f"Judgement cleared: {subject}"
            case ChangeQuestion(question=question):
                summary = f"Question changed: {subject} → {quoted(question)}"
            case Resegment(segmenter=segmenter):
                summary = f"Answer split by {label(segmenter)}"
        return f"{summary}, searched again" if getattr(change, "search", False) else summary
