"""One claim of a finished run checked again: reworded, taken back to its own words, or with evidence added by hand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from attribution.errors import BadInput, StageFailure
from attribution.evidence.matching import Matcher
from attribution.evidence.sources import open_sources
from attribution.evidence.user_documents import read_document
from attribution.settings import Settings
from attribution.storage import http_responses
from attribution.storage.store import Store
from attribution.types import Claim, Document, Evidence, Failure, Page, Report, Trace
from attribution.verdicts import verdict
from attribution.web.fetcher import fetch

ADDED = "added by hand"


def recheck(
    report: Report,
    claim: Claim,
    settings: Settings,
    store: Store,
    documents: Sequence[Document] = (),
    addresses: Sequence[str] = (),
) -> Report:
    """The run with that claim (found by its id) checked anew over the same pages and those added; no other claim is
    touched, nothing is searched. BadInput for a claim that is not in the run."""
    if claim.id not in {c.id for c in report.claims}:
        raise BadInput(f"claim {claim.id} is not in this run: open the run it belongs to")
    added, failures = _added(settings, store, documents, addresses)
    matcher = Matcher(settings, store, report.question)
    for page in (*report.pages, *added):
        matcher.add(page)
    matcher.trace(Trace(e.claim_id, e.page_id, e.query, e.searcher, e.rank) for e in report.evidence)
    matcher.trace(Trace(claim.id, page.id, "", ADDED, 1) for page in added)
    claim = claim.model_copy(update={"worthiness": "factual", "coherent": True})  # it was asked for
    (evidence,) = matcher.match([claim])
    made = verdict(claim, evidence, failures)
    if claim.enriched and evidence and settings.without_added:
        alone = verdict(claim, matcher.without_added(claim, evidence)).label
        made = made.model_copy(update={"without_added": alone})
    new: dict[str, tuple[Evidence, ...]] = {c.id: () for c in report.claims}
    for piece in report.evidence:
        new[piece.claim_id] = (*new.get(piece.claim_id, ()), piece)
    new[claim.id] = evidence
    verdicts = {v.claim_id: v for v in report.verdicts} | {claim.id: made}
    changed = report.model_copy(
        update={
            "claims": tuple(claim if c.id == claim.id else c for c in report.claims),
            "pages": tuple(sorted(matcher.pages.values(), key=lambda p: (p.kind, p.url, p.id))),
            "evidence": tuple(e for c in report.claims for e in new[c.id]),
            "verdicts": tuple(verdicts[c.id] for c in report.claims if c.id in verdicts),
            "failures": (*report.failures, *(f for f in failures if f not in report.failures)),
        }
    )
    store.save_run(changed, matcher.provenance({}))
    return changed


def _added(
    settings: Settings, store: Store, documents: Sequence[Document], addresses: Sequence[str]
) -> tuple[list[Page], list[Failure]]:
    own = settings.model_copy(update={"sources": ("documents", *addresses)})
    opened = open_sources(own, documents, read_document, store)
    pages, failures = list(opened.pages), list(opened.failures)
    for address in opened.addresses:
        try:
            pages.append(fetch(address, settings, archive=partial(http_responses.save, store)))
        except StageFailure as error:
            failures.append(error.as_failure("fetch", address))
    return pages, failures
