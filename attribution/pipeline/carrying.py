"""Make the edits and verdicts by hand of one run again in another run, as far as they fit its
claims.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from attribution.edits import Change, Edit, Judge
from attribution.errors import BadInput
from attribution.events import Event, Finished
from attribution.segmenters import SEGMENTERS
from attribution.text.words import occurrences
from attribution.types import AnalystVerdict, Report, Span, quoted
from attribution.verifiers import VERIFIERS

OF_THE_RUN = (
    "add_evidence",
    "check",
    "second",
    "question",
    "resegment",
    "judge",
)  # the other run has its own


@dataclass(frozen=True)
class Carried:
    """The number of changes of an earlier run that were made again, and in words those that do not
    fit.
    """

    before: str  # id of the earlier run
    made: int
    left: tuple[str, ...] = ()


def in_words(edit: Edit) -> str:
    """Return an edit in words, with the labels of the methods it names."""
    tables = (VERIFIERS, SEGMENTERS)
    return edit.words(
        lambda name: next((table[name].label for table in tables if name in table), name)
    )


def carry(
    before: Report, report: Report, edit: Callable[[Report, Change], Iterator[Event]]
) -> Iterator[Event | Carried]:
    """Yield the events of the edits of `before`, each made by `edit` to the other run, and then the
    summary.

    A claim is found by its id or else by its text, words of the answer by what they say. There is
    no summary for
    another answer that no change fits.
    """
    ids: dict[str, str] = {}  # of claims: in the earlier run → in this one
    made, left = (
        0,
        [
            in_words(e)
            for e in before.edits
            if e.change.kind in OF_THE_RUN and e.change.kind != "judge"
        ],
    )
    changes: list[Edit | AnalystVerdict] = [
        e for e in before.edits if e.change.kind not in OF_THE_RUN
    ]
    for old in (*changes, *before.judgements):
        try:
            after = report
            for event in edit(report, _fitted(old, before, report, ids)):
                after = event.report if isinstance(event, Finished) else after
                yield event
        except BadInput:
            left.append(
                in_words(old)
                if isinstance(old, Edit)
                else f"Your verdict on {quoted(old.statement)}"
            )
            continue
        if after is report:
            break  # it was stopped
        report, made = after, made + 1
        if isinstance(old, Edit):
            ids |= dict(zip(old.claims, report.edits[-1].claims, strict=False))
    if made or before.answer == report.answer:
        yield Carried(before.id, made, tuple(left))


def _fitted(
    old: Edit | AnalystVerdict, before: Report, report: Report, ids: dict[str, str]
) -> Change:
    """Return the change with the claims and places of this report."""
    if isinstance(old, AnalystVerdict):
        statements = {c.statement: c.id for c in report.claims}
        return Judge(
            claim_id=statements.get(old.statement, old.claim_id), label=old.label, note=old.note
        )
    change = old.change
    here = {c.id for c in report.claims} | {
        c.id for c in (report.set_aside.claims if report.set_aside else ())
    }
    by_text = {c.text: c.id for c in report.claims}

    def found(claim_id: str) -> str:
        if claim_id in here:
            return claim_id
        return ids.get(claim_id) or by_text.get(old.subject, claim_id)

    update: dict[str, object] = {}
    if hasattr(change, "claim_id"):
        update["claim_id"] = found(change.claim_id)
    if hasattr(change, "claim_ids"):
        update["claim_ids"] = tuple(map(found, change.claim_ids))
    if hasattr(change, "spans") and report.answer != before.answer:
        update["spans"] = tuple(_moved(span, before.answer, report.answer) for span in change.spans)
    return change.model_copy(update=update)


def _moved(span: Span, before: str, answer: str) -> Span:
    """Return where the words of a span stand in another answer. Raises BadInput if they do not."""
    found = min(
        occurrences(before[slice(*span)], answer),
        key=lambda place: abs(place[0] - span[0]),
        default=None,
    )
    if found is None:
        raise BadInput("these words are not in the answer")
    return found
