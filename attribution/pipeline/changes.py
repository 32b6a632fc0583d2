"""Apply changes to a report, without any model: claims, passages and verdicts are kept, set aside
or reopened.

Claims have a content hash as id: a claim whose text is edited is a new claim, and all others stay
as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from attribution import edits
from attribution.errors import BadInput
from attribution.policy import DecisionPolicy
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
from attribution.verdicts import decide

BY_HAND = {  # properties of a text that a person wrote
    "enriched": None,
    "worthiness": "factual",
    "worthiness_reason": "",
    "independent": True,
    "independence_reason": "",
    "coherence": None,
    "coherent": True,
}


@dataclass(frozen=True)
class Changed:
    """The report after a change. `open` are the claims to compare with the pages again."""

    report: Report
    open: tuple[str, ...] = ()
    origins: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # new or open claim → what it was made from
    subject: str = ""  # the text that was changed
    claims: tuple[str, ...] = ()  # made or changed


def apply(report: Report, change: edits.Change) -> Changed:
    """Apply a change to the claims or passages. Raises BadInput for a change that does not fit this
    report.
    """
    match change:
        case edits.Reword():
            return _reword(report, change)
        case edits.AsWritten():
            claim = claim_of(report, change.claim_id)
            if claim.enriched is None:
                raise BadInput("this claim is checked as it is written: nothing was added to it")
            return _replaced(report, [claim], [claim.model_copy(update={"enriched": None})])
        case edits.Split():
            return _split(report, change)
        case edits.Merge():
            return _merge(report, change)
        case edits.AddClaim():
            return _add(report, change)
        case edits.Drop():
            claim = claim_of(report, change.claim_id)
            rest = with_claims(report, [c for c in report.claims if c.id != claim.id])
            return Changed(
                with_aside(rest, claims=(*aside(report).claims, claim)), subject=claim.text
            )
        case edits.Restore():
            claim = named(aside(report).claims, change.claim_id, "was not dropped from this run")
            back = with_aside(
                report, claims=tuple(c for c in aside(report).claims if c.id != claim.id)
            )
            back = with_claims(back, inserted(report.claims, claim))
            return Changed(back, (claim.id,), {}, claim.text, (claim.id,))
        case edits.Pin():
            return _pin(report, change)
        case edits.Place():
            return _place(report, change)
        case edits.AddEvidence() | edits.CheckAgain():
            claim = claim_of(report, change.claim_id)
            return _replaced(
                report,
                [claim],
                [claim.model_copy(update={"worthiness": "factual", "coherent": True})],
            )
        case edits.Exclude():
            return _exclude(report, change)
        case edits.Judge():
            return _judge(report, change)
        case _:
            raise TypeError(f"{change.kind} needs models: see editing.edit")


# --- texts ---


def _text(text: str) -> str:
    line = " ".join(text.split())
    if not any(character.isalnum() for character in line):
        raise BadInput("the text of a claim is empty: write what should be checked")
    return line


def _claim(text: str, spans: tuple[Span, ...], like: Claim | None = None) -> Claim:
    """Make a claim that a person wrote."""
    claim = like or Claim(id="-", text=text, spans=spans)
    new = {
        "text": text,
        "spans": spans,
        "id": content_id(text, str(spans[0] if spans else claim.sentence)),
    }
    return claim.model_copy(update=new | BY_HAND)


def _replaced(report: Report, old: Sequence[Claim], new: Sequence[Claim]) -> Changed:
    """Replace claims by others, which are to be compared with the pages again."""
    gone = {c.id for c in old}
    rest = [c for c in report.claims if c.id not in gone]
    ids = [c.id for c in new]
    if len(set(ids)) < len(ids) or {c.id for c in rest} & set(ids):
        raise BadInput(
            "there is a claim with this text at this place already: change the text, or drop one of the two"
        )
    at = next(
        i for i, c in enumerate(report.claims) if c.id in gone
    )  # no claim before it is replaced
    stripped = with_claims(report, rest)
    opened = stripped.model_copy(update={"claims": (*rest[:at], *new, *rest[at:])})
    origins = tuple(c.id for c in old)
    return Changed(opened, tuple(ids), dict.fromkeys(ids, origins), old[0].text, tuple(ids))


def _reword(report: Report, change: edits.Reword) -> Changed:
    claim, text = claim_of(report, change.claim_id), _text(change.text)
    if text == claim.text and claim.enriched is None and not change.search:
        raise BadInput("the text is the same as before: change it, or search again")
    return _replaced(report, [claim], [_claim(text, claim.spans, claim)])


def _split(report: Report, change: edits.Split) -> Changed:
    claim = claim_of(report, change.claim_id)
    texts = list(dict.fromkeys(_text(text) for text in change.texts if text.strip()))
    if len(texts) < 2:
        raise BadInput(
            f"a claim is split into two or more; found {len(texts)}: write each on a line of its own"
        )
    parts = []
    for text in texts:
        found = align(text, report.answer, claim.spans)
        inside = tuple(
            (a, b) for a, b in found.spans if any(x <= a and b <= y for x, y in claim.spans)
        )
        parts.append(_claim(text, inside or claim.spans, claim))
    return _replaced(report, [claim], parts)


def _merge(report: Report, change: edits.Merge) -> Changed:
    wanted = {claim_of(report, claim_id).id for claim_id in change.claim_ids}
    claims = [c for c in report.claims if c.id in wanted]
    if len(claims) < 2:
        raise BadInput("two or more claims are merged into one: choose another claim")
    spans = tuple(sorted({span for c in claims for span in c.spans}))
    sentence = claims[0].sentence if len({c.sentence for c in claims}) == 1 else None
    like = claims[0].model_copy(
        update={"sentence": sentence, "pinned": any(c.pinned for c in claims)}
    )
    return _replaced(report, claims, [_claim(_text(change.text), spans, like)])


def _add(report: Report, change: edits.AddClaim) -> Changed:
    claim = _claim(_text(change.text), checked_spans(report.answer, change.spans))
    if any(c.id == claim.id for c in report.claims):
        raise BadInput("there is a claim with this text at this place already")
    added = with_claims(report, inserted(report.claims, claim))
    return Changed(added, (claim.id,), {}, claim.text, (claim.id,))


# --- places, pins, passages ---


def _place(report: Report, change: edits.Place) -> Changed:
    claim, spans = claim_of(report, change.claim_id), checked_spans(report.answer, change.spans)
    if not spans or spans == claim.spans:
        raise BadInput("this is the place of the claim already: select other words of the answer")
    moved = claim.model_copy(
        update={
            "spans": spans,
            "alignment": 1.0,
            "id": content_id(claim.text, str(spans[0])),
        }  # chosen by a person
    )
    if any(c.id == moved.id for c in report.claims if c.id != claim.id):
        raise BadInput("there is a claim with this text at this place already")
    origins = {moved.id: (claim.id,)}
    return Changed(renamed(report, claim, moved), (), origins, claim.text, (moved.id,))


def _pin(report: Report, change: edits.Pin) -> Changed:
    claim = claim_of(report, change.claim_id)
    if claim.pinned == change.pinned:
        raise BadInput(f"this claim is {'pinned' if claim.pinned else 'not pinned'} already")
    others = [c for c in report.claims if c.id != claim.id]
    pinned = claim.model_copy(update={"pinned": change.pinned})
    return Changed(
        with_claims(report, inserted(others, pinned)), subject=claim.text, claims=(claim.id,)
    )


def _exclude(report: Report, change: edits.Exclude) -> Changed:
    claim, key = (
        claim_of(report, change.claim_id),
        (change.claim_id, change.page_id, change.start, change.end),
    )
    there, out = (
        (report.evidence, aside(report).evidence)
        if change.excluded
        else (aside(report).evidence, report.evidence)
    )
    piece = next((e for e in there if place_of(e) == key), None)
    if piece is None:
        raise BadInput(
            f"this passage is not {'evidence for' if change.excluded else 'excluded from'} this claim"
        )
    left = tuple(e for e in there if e is not piece)
    evidence, excluded = (left, (*out, piece)) if change.excluded else ((*out, piece), left)
    of_claim = sorted((e for e in evidence if e.claim_id == claim.id), key=lambda e: -e.similarity)
    changed = decided(report, claim, of_claim, excluded=True)
    return Changed(with_aside(changed, evidence=excluded), subject=claim.text, claims=(claim.id,))


def _judge(report: Report, change: edits.Judge) -> Changed:
    """Set or clear the analyst's verdict; it changes no claim."""
    claim, note = claim_of(report, change.claim_id), change.note.strip()
    before = next((j for j in report.judgements if j.claim_id == claim.id), None)
    judged = tuple(j for j in report.judgements if j is not before)
    if change.label is None:
        if before is None:
            raise BadInput("there is no verdict of yours on this claim")
    elif before and (before.label, before.note) == (change.label, note):
        raise BadInput(f"your verdict on this claim is {before.label} already")
    else:
        badge = next((v.label for v in report.verdicts if v.claim_id == claim.id), None)
        judged += (
            AnalystVerdict(
                claim_id=claim.id,
                statement=claim.statement,
                label=change.label,
                badge=badge,
                note=note,
                at=now(),
            ),
        )
    return Changed(report.model_copy(update={"judgements": judged}), subject=claim.text)


EXCLUDED = "You excluded every passage that was found."


def claim_of(report: Report, claim_id: str) -> Claim:
    """Return the claim with that id. Raises BadInput if the report has none."""
    return named(report.claims, claim_id, "is not in this run: open the run it belongs to")


def named(claims: Sequence[Claim], claim_id: str, problem: str) -> Claim:
    """Return the claim with that id. Raises BadInput with the problem if there is none."""
    found = next((c for c in claims if c.id == claim_id), None)
    if found is None:
        raise BadInput(f"claim {claim_id[:40]!r} {problem}")
    return found


def aside(report: Report) -> SetAside:
    """Return the claims and evidence that were set aside."""
    return report.set_aside or SetAside()


def with_aside(report: Report, **changes: tuple[Claim, ...] | tuple[Evidence, ...]) -> Report:
    """Replace the claims or passages that are set aside."""
    changed = aside(report).model_copy(update=changes)
    return report.model_copy(
        update={"set_aside": changed if changed.claims or changed.evidence else None}
    )


def with_claims(report: Report, claims: Sequence[Claim]) -> Report:
    """Replace the claims; evidence and verdicts of remaining claims stay, in the order of the
    claims.
    """
    evidence: dict[str, list[Evidence]] = {c.id: [] for c in claims}
    for piece in report.evidence:
        if piece.claim_id in evidence:
            evidence[piece.claim_id].append(piece)
    return replaced(report, claims, evidence, {v.claim_id: v for v in report.verdicts})


def replaced(
    report: Report,
    claims: Sequence[Claim],
    evidence: Mapping[str, Sequence[Evidence]],
    verdicts: Mapping[str, Verdict],
) -> Report:
    """Replace the claims, and keep of evidence and verdicts only what belongs to them."""
    return report.model_copy(
        update={
            "claims": tuple(claims),
            "evidence": tuple(e for c in claims for e in evidence.get(c.id, ())),
            "verdicts": tuple(verdicts[c.id] for c in claims if c.id in verdicts),
        }
    )


def inserted(claims: Sequence[Claim], claim: Claim) -> list[Claim]:
    """Insert a claim after the pinned ones, in the order of the answer."""

    def place(c: Claim) -> tuple[bool, float]:
        return not c.pinned, c.spans[0][0] if c.spans else float("inf")

    if claim.pinned:
        at = sum(c.pinned for c in claims)
    else:
        at = next(
            (i for i, c in enumerate(claims) if not c.pinned and place(c) > place(claim)),
            len(claims),
        )
    return [*claims[:at], claim, *claims[at:]]


def checked_spans(answer: str, spans: Sequence[Span]) -> tuple[Span, ...]:
    """Sort spans and trim their white space. Raises BadInput for one that is empty or outside the
    answer.
    """
    found = []
    for start, end in sorted(set(spans)):
        if not 0 <= start < end <= len(answer) or not answer[start:end].strip():
            raise BadInput(
                f"characters {start} to {end} are not text of this answer, which has {len(answer)} characters"
            )
        text = answer[start:end]
        found.append((start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())))
    return tuple(found)


def renamed(report: Report, old: Claim, new: Claim) -> Report:
    """Replace a claim by one with another id but the same text, so that evidence and verdict still
    apply.
    """
    to = {"claim_id": new.id}

    def mine(pieces: Sequence[Evidence]) -> tuple[Evidence, ...]:
        return tuple(e.model_copy(update=to) if e.claim_id == old.id else e for e in pieces)

    renamed = report.model_copy(
        update={
            "claims": tuple(new if c.id == old.id else c for c in report.claims),
            "evidence": mine(report.evidence),
            "verdicts": tuple(
                v.model_copy(update=to) if v.claim_id == old.id else v for v in report.verdicts
            ),
            "judgements": tuple(
                j.model_copy(update=to) if j.claim_id == old.id else j for j in report.judgements
            ),
        }
    )
    return (
        with_aside(renamed, evidence=mine(aside(report).evidence))
        if aside(report).evidence
        else renamed
    )


def place_of(piece: Evidence) -> tuple[str, str, int, int]:
    """Return the key of a passage among the evidence."""
    return piece.claim_id, piece.page_id, piece.start, piece.end


def with_verdict(report: Report, verdict: Verdict, evidence: Sequence[Evidence]) -> Report:
    """Replace the verdict on one claim, and its evidence."""
    by_claim: dict[str, list[Evidence]] = {c.id: [] for c in report.claims}
    for piece in report.evidence:
        by_claim[piece.claim_id].append(piece)
    verdicts = {v.claim_id: v for v in report.verdicts} | {verdict.claim_id: verdict}
    return replaced(report, report.claims, by_claim | {verdict.claim_id: list(evidence)}, verdicts)


def decided(
    report: Report,
    claim: Claim,
    evidence: Sequence[Evidence],
    excluded: bool,
    failures: Sequence[Failure] = (),
) -> Report:
    """Decide a claim again by this evidence; `excluded` is True if a person took passages out of
    it.
    """
    verdict = decide(claim, evidence, DecisionPolicy.of(report.settings), failures)
    if excluded and verdict.label == "missing":
        verdict = verdict.model_copy(update={"reason": EXCLUDED})
    return with_verdict(report, verdict, evidence)


def with_found(
    report: Report,
    claim: Claim,
    origins: Sequence[str],
    evidence: Sequence[Evidence],
    failures: Sequence[Failure] = (),
) -> Report:
    """Add the evidence found for a claim, without the passages excluded from it or from its
    origins.
    """
    before = [e for e in aside(report).evidence if e.claim_id in {*origins, claim.id}]
    excluded = {place_of(e)[1:] for e in before}
    out = {place_of(e): e for e in before if e.claim_id == claim.id}
    out |= {place_of(e): e for e in evidence if place_of(e)[1:] in excluded}
    report = decided(
        report, claim, [e for e in evidence if place_of(e) not in out], bool(out), failures
    )
    others = [e for e in aside(report).evidence if e.claim_id != claim.id]
    return with_aside(report, evidence=(*others, *out.values()))


def tidied(report: Report) -> Report:
    """Remove what no longer applies: what is set aside but back or without its claim, and
    judgements of other words.
    """
    here = {c.id for c in report.claims}
    dropped = tuple(c for c in aside(report).claims if c.id not in here)
    known = here | {c.id for c in dropped}
    excluded = tuple(e for e in aside(report).evidence if e.claim_id in known)
    report = report.model_copy(update={"judgements": report.fitting_judgements()})
    return with_aside(report, claims=dropped, evidence=excluded)
