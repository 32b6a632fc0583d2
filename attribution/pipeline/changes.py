"""Apply changes to a report without any model: claims, passages and verdicts are kept, set aside
or reopened.

Claims have a content hash as id: a claim whose text is edited is a new claim, and all others stay
as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from attribution import edits
from attribution.errors import BadInput
from attribution.segmenters.alignment import align
from attribution.store.database import now
from attribution.types import (
    AnalystVerdict,
    Claim,
    Evidence,
    Failure,
    Report,
    SetAside,
    Span,
    Verdict,
    content_id,
)
from attribution.verdicts import DecisionPolicy, decide

WRITTEN_BY_HAND = {  # properties of a text that a person wrote
    "enriched": None,
    "worthiness": "factual",
    "worthiness_reason": "",
    "independent": True,
    "independence_reason": "",
    "coherence": None,
    "coherent": True,
}
EXCLUDED = "You excluded every passage that was found."
UNDECIDED = ("unclear", "conflicting")


@dataclass(frozen=True)
class Changed:
    """The report after a change.

    Attributes:
        report: The report, in which open claims have no new verdict yet.
        subject: The text that was changed.
        claims: Ids of the claims that were made or changed.
        open: Ids of the claims to compare with the pages again.
        origins: Ids of the claims that the open ones were made from.
    """

    report: Report
    subject: str
    claims: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()


class Place(NamedTuple):
    """The passage of a piece of evidence, for any claim."""

    page_id: str
    start: int
    end: int

    @classmethod
    def of(cls, piece: Evidence) -> Place:
        return cls(piece.page_id, piece.start, piece.end)


def apply(report: Report, change: edits.Change) -> Changed:
    """Apply a change to the claims or passages.

    Raises:
        BadInput: The change does not fit this report.
    """
    match change:
        case edits.Reword():
            return _reword(report, change)
        case edits.Split():
            return _split(report, change)
        case edits.Merge():
            return _merge(report, change)
        case edits.AddEvidence():
            claim = claim_of(report, change.claim_id)
            checked = claim.model_copy(update={"worthiness": "factual", "coherent": True})
            return _replace_claims(report, [claim], [checked])
        case edits.Recheck():
            return _recheck(report)
        case edits.Exclude():
            return _exclude(report, change)
        case edits.Judge():
            return _judge(report, change)


def claim_of(report: Report, claim_id: str) -> Claim:
    """Return the claim with that id.

    Raises:
        BadInput: The report has none.
    """
    for claim in report.claims:
        if claim.id == claim_id:
            return claim
    raise BadInput(f"claim {claim_id[:40]!r} is not in this run: open the run it belongs to")


def verdict_of(report: Report, claim: Claim) -> Verdict:
    """Return the verdict on a claim that has one."""
    return next(verdict for verdict in report.verdicts if verdict.claim_id == claim.id)


def unclear_claims(report: Report) -> list[Claim]:
    """Return the claims that a second verifier may decide."""
    undecided = {v.claim_id for v in report.verdicts if v.label in UNDECIDED}
    return [claim for claim in report.claims if claim.id in undecided]


# --- claims ---


def _reword(report: Report, change: edits.Reword) -> Changed:
    claim = claim_of(report, change.claim_id)
    text = _one_line(change.text)
    if text == claim.text and claim.enriched is None:
        raise BadInput("the text is the same as before: change it")
    reworded = _by_hand(claim, text, claim.spans)
    return _replace_claims(report, [claim], [reworded])


def _split(report: Report, change: edits.Split) -> Changed:
    claim = claim_of(report, change.claim_id)
    lines = [_one_line(text) for text in change.texts if text.strip()]
    texts = list(dict.fromkeys(lines))
    if len(texts) < 2:
        raise BadInput(
            f"a claim is split into two or more; found {len(texts)}: "
            "write each on a line of its own"
        )
    parts = [_by_hand(claim, text, _spans_within(report, claim, text)) for text in texts]
    return _replace_claims(report, [claim], parts)


def _spans_within(report: Report, claim: Claim, text: str) -> tuple[Span, ...]:
    """Return the place of a part's words within its claim's; the whole place if there is none."""
    aligned = align(text, report.answer, claim.spans).spans
    inside = [
        (start, end)
        for start, end in aligned
        if any(first <= start and end <= last for first, last in claim.spans)
    ]
    return tuple(inside) or claim.spans


def _merge(report: Report, change: edits.Merge) -> Changed:
    ids = {claim_of(report, claim_id).id for claim_id in change.claim_ids}
    claims = [claim for claim in report.claims if claim.id in ids]
    if len(claims) < 2:
        raise BadInput("two or more claims are merged into one: choose another claim")
    spans: set[Span] = set()
    for claim in claims:
        spans.update(claim.spans)
    first = claims[0]
    if len({claim.sentence for claim in claims}) > 1:
        first = first.model_copy(update={"sentence": None})
    merged = _by_hand(first, _one_line(change.text), tuple(sorted(spans)))
    return _replace_claims(report, claims, [merged])


def _recheck(report: Report) -> Changed:
    ids = tuple(claim.id for claim in unclear_claims(report))
    if not ids:
        raise BadInput("no claim of this run is unclear: there is nothing to recheck")
    return Changed(report, "", ids, ids)


def _replace_claims(report: Report, old: Sequence[Claim], new: Sequence[Claim]) -> Changed:
    """Replace claims by others, which are to be compared with the pages again."""
    replaced = tuple(claim.id for claim in old)
    others = [claim for claim in report.claims if claim.id not in replaced]
    ids = tuple(claim.id for claim in new)
    all_ids = [claim.id for claim in (*others, *new)]
    if len(set(all_ids)) < len(all_ids):
        raise BadInput("there is a claim with this text at this place already: change the text")
    place = report.claims.index(old[0])
    claims = (*others[:place], *new, *others[place:])
    opened = _in_order(report, claims, report.evidence, report.verdicts)
    return Changed(opened, old[0].text, ids, ids, replaced)


def _by_hand(like: Claim, text: str, spans: tuple[Span, ...]) -> Claim:
    """Make the claim that a person wrote in place of another."""
    place = spans[0] if spans else like.sentence
    claim_id = content_id(text, str(place))
    written = {"id": claim_id, "text": text, "spans": spans}
    return like.model_copy(update=written | WRITTEN_BY_HAND)


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    if not any(character.isalnum() for character in line):
        raise BadInput("the text of a claim is empty: write what should be checked")
    return line


# --- passages and assessments ---


def _exclude(report: Report, change: edits.Exclude) -> Changed:
    """Take a passage out of a claim's evidence, or back in."""
    claim = claim_of(report, change.claim_id)
    place = Place(change.page_id, change.start, change.end)
    counted = list(report.evidence)
    excluded = list(report.excluded)
    before, after = (counted, excluded) if change.excluded else (excluded, counted)
    pieces = [e for e in before if e.claim_id == claim.id and Place.of(e) == place]
    if not pieces:
        relation = "evidence for" if change.excluded else "excluded from"
        raise BadInput(f"this passage is not {relation} this claim")
    before.remove(pieces[0])
    after.append(pieces[0])
    of_claim = [piece for piece in counted if piece.claim_id == claim.id]
    of_claim.sort(key=lambda piece: -piece.similarity)
    decided = _decide(report, claim, of_claim, is_reduced=True)
    return Changed(_with_excluded(decided, excluded), claim.text, (claim.id,))


def _judge(report: Report, change: edits.Judge) -> Changed:
    """Set or clear the analyst's verdict; it changes no claim."""
    claim = claim_of(report, change.claim_id)
    note = change.note.strip()
    before = [judged for judged in report.judgements if judged.claim_id == claim.id]
    judgements = [judged for judged in report.judgements if judged.claim_id != claim.id]
    is_cleared = change.label is None and not note
    if is_cleared and not before:
        raise BadInput("there is no verdict of yours on this claim")
    if before and (before[0].label, before[0].note) == (change.label, note):
        raise BadInput("your verdict on this claim is the same already")
    if not is_cleared:
        judgement = AnalystVerdict(
            claim_id=claim.id,
            statement=claim.statement,
            label=change.label,
            badge=verdict_of(report, claim).label,
            note=note,
            at=now(),
        )
        judgements.append(judgement)
    judged = report.model_copy(update={"judgements": tuple(judgements)})
    return Changed(judged, claim.text)


# --- reports ---


def with_verdict(report: Report, verdict: Verdict, evidence: Sequence[Evidence]) -> Report:
    """Replace the verdict on one claim, and its evidence."""
    pieces = [piece for piece in report.evidence if piece.claim_id != verdict.claim_id]
    verdicts = [other for other in report.verdicts if other.claim_id != verdict.claim_id]
    pieces += evidence
    verdicts.append(verdict)
    return _in_order(report, report.claims, pieces, verdicts)


def with_evidence(
    report: Report,
    claim: Claim,
    origins: Sequence[str],
    evidence: Sequence[Evidence],
    failures: Sequence[Failure] = (),
) -> Report:
    """Decide a claim by new evidence.

    Args:
        report: The report, which has the claim.
        claim: The claim.
        origins: Ids of the claims that it was made from.
        evidence: New evidence, without which passages excluded from the claim or from its origins
            are set aside.
        failures: What went wrong while the evidence was looked for.
    """
    before = report.excluded
    others = [piece for piece in before if piece.claim_id != claim.id]
    excluded = [piece for piece in before if piece.claim_id == claim.id]
    counted: list[Evidence] = []
    places = {Place.of(e) for e in before if e.claim_id in (*origins, claim.id)}
    for piece in evidence:
        if Place.of(piece) in places:
            excluded.append(piece)
        else:
            counted.append(piece)
    decided = _decide(report, claim, counted, bool(excluded), failures)
    newest = {Place.of(piece): piece for piece in excluded}
    return _with_excluded(decided, [*others, *newest.values()])


def tidied(report: Report) -> Report:
    """Remove what no longer applies: excluded evidence without its claim, and judgements of other
    words.
    """
    present = {claim.id for claim in report.claims}
    excluded = [e for e in report.excluded if e.claim_id in present]
    report = report.model_copy(update={"judgements": report.fitting_judgements()})
    return _with_excluded(report, excluded)


def _decide(
    report: Report,
    claim: Claim,
    evidence: Sequence[Evidence],
    is_reduced: bool,
    failures: Sequence[Failure] = (),
) -> Report:
    """Decide a claim by this evidence, from which a person may have excluded passages."""
    verdict = decide(claim, evidence, DecisionPolicy.of(report.settings), failures)
    if is_reduced and verdict.label == "missing":
        verdict = verdict.model_copy(update={"reason": EXCLUDED})
    return with_verdict(report, verdict, evidence)


def _with_excluded(report: Report, excluded: Sequence[Evidence]) -> Report:
    set_aside = SetAside(evidence=tuple(excluded)) if excluded else None
    return report.model_copy(update={"set_aside": set_aside})


def _in_order(
    report: Report,
    claims: Sequence[Claim],
    evidence: Sequence[Evidence],
    verdicts: Sequence[Verdict],
) -> Report:
    """Keep evidence and verdicts that belong to the claims, in the order of the claims."""
    order = {claim.id: place for place, claim in enumerate(claims)}
    kept_evidence = [piece for piece in evidence if piece.claim_id in order]
    kept_verdicts = [verdict for verdict in verdicts if verdict.claim_id in order]
    kept_evidence.sort(key=lambda piece: order[piece.claim_id])
    kept_verdicts.sort(key=lambda verdict: order[verdict.claim_id])
    changes = {
        "claims": tuple(claims),
        "evidence": tuple(kept_evidence),
        "verdicts": tuple(kept_verdicts),
    }
    return report.model_copy(update=changes)
