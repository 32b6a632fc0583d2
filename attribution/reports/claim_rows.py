"""A run's claims, each with all that a view or a file tells of it: what its sources say of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from attribution.edits import Recheck
from attribution.reports.html import as_sentence
from attribution.reports.looks import RELATIONS, group_of
from attribution.text.quantities import clear_contrasts, computed
from attribution.text.words import uncovered, words_of
from attribution.types import (
    WEAK,
    AnalystVerdict,
    Claim,
    Evidence,
    Label,
    Page,
    Report,
    Verdict,
    quoted,
)
from attribution.verdicts import leaning, nearest_evidence
from attribution.verifiers.calibration import assessments, badge_of, model_badge

_PARAGRAPH = re.compile(r"\n[^\S\n]*+\n\s*+|\n#++ ")
CONTEXT = 120  # characters shown on either side of the deciding sentence


class Quote(NamedTuple):
    """A deciding sentence with the text around it, within its paragraph."""

    before: str
    sentence: str
    after: str


def quote(piece: Evidence) -> Quote:
    """Return the deciding sentence of a passage in its context."""
    text = piece.text
    first, last = (place - piece.start for place in piece.sentence)
    before = _PARAGRAPH.split(text[max(0, first - CONTEXT) : first])[-1].lstrip()
    after = _PARAGRAPH.split(text[last : last + CONTEXT])[0].rstrip()
    if len(before) >= CONTEXT - 1:
        before = "… " + before.partition(" ")[2]
    if len(after) >= CONTEXT - 1:
        after = after.rpartition(" ")[0] + " …"
    return Quote(before, text[first:last], after)


@dataclass(frozen=True)
class ClaimRow:
    """A claim, its verdict and its evidence."""

    number: int  # from 1
    claim: Claim
    verdict: Verdict | None
    badge: str  # that is shown: the analyst's assessment, or else the model's
    model_badge: str
    evidence: tuple[Evidence, ...]
    piece: Evidence | None  # the passage that decides or, for an unclear claim, the one to read
    page: Page | None  # of that passage, if there is one
    own: AnalystVerdict | None  # the assessment
    note: str  # the analyst's
    is_edited: bool  # a person changed its text or evidence
    excluded: tuple[Evidence, ...]  # passages that a person took out

    @property
    def group(self) -> str:
        """The name of the claim's group."""
        return group_of(self.badge)


def claim_rows(report: Report, without: str = "not_reached") -> Iterator[ClaimRow]:
    """Yield the claims of a run in their order.

    Args:
        report: The run.
        without: The badge of a claim that has no verdict.
    """
    pages = {page.id: page for page in report.pages}
    verdicts = {verdict.claim_id: verdict for verdict in report.verdicts}
    own = assessments(report)
    edited: set[str] = set()
    for edit in report.edits:
        if not isinstance(edit.change, Recheck):
            edited.update(edit.claims)
    notes = {judgement.claim_id: judgement.note for judgement in report.judgements}
    evidence: dict[str, list[Evidence]] = {claim.id: [] for claim in report.claims}
    for found in report.evidence:
        evidence[found.claim_id].append(found)
    for number, claim in enumerate(report.claims, 1):
        verdict = verdicts.get(claim.id)
        badge = badge_of(verdict, report, without)
        pieces = evidence[claim.id]
        # for what the analyst says, or else for the model's verdict
        piece = nearest_evidence(pieces, badge.removeprefix(WEAK))
        piece = piece or nearest_evidence(pieces, verdict.label if verdict else "")
        yield ClaimRow(
            number=number,
            claim=claim,
            verdict=verdict,
            badge=badge,
            model_badge=model_badge(verdict, report, without),
            evidence=tuple(pieces),
            piece=piece,
            page=pages[piece.page_id] if piece else None,
            own=own.get(claim.id),
            note=notes.get(claim.id, ""),
            is_edited=claim.id in edited,
            excluded=tuple(piece for piece in report.excluded if piece.claim_id == claim.id),
        )


def leans(piece: Evidence) -> bool:
    """Return True if one side is more probable than no relation, though it does not count."""
    return piece.relation == "no_relation" and leaning(piece.probabilities) != "no_relation"


def relation_label(piece: Evidence) -> Label:
    """Return the label whose colours a passage has; "unclear" if it only leans to a side."""
    return "unclear" if leans(piece) else RELATIONS[piece.relation].label


# --- what the sources say, in a sentence ---

MOST_MISSING = 3  # words of a claim that a passage doesn't have
OPEN = "A passage is about this, but doesn't settle it."
UNREAD = "Its sources are still being read."


def verdict_sentence(row: ClaimRow) -> str:
    """Return the sentence that stands above a claim's evidence."""
    label = row.badge.removeprefix(WEAK)
    is_weak = row.badge.startswith(WEAK)
    match label:
        case "supported":
            return _supported(row, is_weak)
        case "contradicted":
            return _contradicted(row, is_weak)
        case "conflicting":
            return _conflicting(row)
        case "unclear":
            return _unclear(row)
        case "no_relation":
            return _unrelated(row)
    return as_sentence(row.verdict.reason) if row.verdict else UNREAD


def _supported(row: ClaimRow, is_weak: bool) -> str:
    if row.piece is None or row.piece.relation != "entailed":
        return "The analyst found this supported."
    if words_of(row.claim.statement) == words_of(row.piece.deciding_sentence):
        return "The source says so word for word."
    equation = computed(row.claim.statement, row.piece.deciding_sentence)
    if equation:
        return f"It follows from the source: {equation}."
    return "The source seems to say so." if is_weak else "The source says so."


def _contradicted(row: ClaimRow, is_weak: bool) -> str:
    says = "The source seems to say" if is_weak else "The source says"
    if row.piece is None or row.piece.relation == "entailed":
        return "The analyst found this contradicted."
    for contrast in clear_contrasts(row.claim.statement, row.piece.deciding_sentence):
        return f"{says} {contrast.source}, not {contrast.claim}."
    is_against = row.piece.relation == "contradicted"
    return f"{says} otherwise." if is_against else "The analyst found this contradicted."


def _conflicting(row: ClaimRow) -> str:
    sides = opposed(row.evidence)
    if sides is None:
        return "The analyst found sources that disagree."
    noun = "passage" if sides[0].page_id == sides[1].page_id else "source"
    return f"One {noun} supports this, another contradicts it."


def _unrelated(row: ClaimRow) -> str:
    for piece in row.excluded:
        if piece.relation != "no_relation":
            said = "so" if piece.relation == "entailed" else "otherwise"
            return f"The passage that said {said} is excluded."
    return "None of the passages that were found is about this."


def opposed(evidence: Sequence[Evidence]) -> tuple[Evidence, Evidence] | None:
    """Return the surest passage of either side, the supporting one first; None without both."""
    support = [piece for piece in evidence if piece.relation == "entailed"]
    against = [piece for piece in evidence if piece.relation == "contradicted"]
    if not support or not against:
        return None
    surest = max(support, key=lambda piece: piece.probabilities.entailed)
    return surest, max(against, key=lambda piece: piece.probabilities.contradicted)


def _unclear(row: ClaimRow) -> str:
    piece, page = row.piece, row.page
    if piece is None or page is None:
        return OPEN
    reservation = piece.reservation
    if reservation and leaning(piece.probabilities) in reservation.relations:
        return f"A passage looks decisive, but {reservation.note}."
    for contrast in clear_contrasts(row.claim.statement, piece.deciding_sentence):
        return f"The closest passage says {contrast.source}, the claim {contrast.claim}."
    missing = uncovered(row.claim.statement, f"{page.title}\n{piece.text}")
    if 0 < len(missing) <= MOST_MISSING:
        words = ", ".join(quoted(word) for word in missing)
        return f"The closest passage doesn't mention {words}."
    return OPEN
