"""Check one claim of a finished run again: reworded, as written, or with sources added by hand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from attribution.errors import BadInput, StageFailure
from attribution.evidence.matching import Matcher
from attribution.evidence.sources import open_sources
from attribution.provenance import Trace
from attribution.settings import Settings
from attribution.storage import http_responses
from attribution.storage.store import Store
from attribution.types import Claim, Document, Failure, Page, Report
from attribution.verdicts import decide
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
    """The run with this claim (identified by its id) checked again over its pages and those added.

    No other claim changes, and nothing is searched. Saved as a new version of the run, so that it can be undone.
    BadInput for a claim that is not in the run.
    """
    if claim.id not in {c.id for c in report.claims}:
        raise BadInput(f"claim {claim.id} is not in this run: open the run it belongs to")
    added, failures = _added(settings, store, documents, addresses)
    matcher = Matcher(settings, store, report.question)
    for page in (*report.pages, *added):
        matcher.add(page)
    matcher.trace(Trace(e.claim_id, e.page_id, e.query, e.searcher, e.rank) for e in report.evidence)
    matcher.trace(Trace(claim.id, page.id, "", ADDED, 1) for page in added)
    claim = claim.model_copy(update={"worthiness": "factual", "coherent": True})  # asked for by hand
    (evidence,) = matcher.match([claim])
    verdict = decide(claim, evidence, settings.thresholds, failures)
    verdicts = {v.claim_id: v for v in report.verdicts} | {claim.id: verdict}
    others = [e for e in report.evidence if e.claim_id != claim.id]
    changed = report.model_copy(
        update={
            "claims": tuple(claim if c.id == claim.id else c for c in report.claims),
            "pages": tuple(sorted(matcher.pages.values(), key=lambda p: (p.kind, p.url, p.id))),
            "evidence": tuple(e for c in report.claims for e in (*others, *evidence) if e.claim_id == c.id),
            "verdicts": tuple(verdicts[c.id] for c in report.claims if c.id in verdicts),
            "failures": (*report.failures, *(f for f in failures if f not in report.failures)),
        }
    )
    store.save_version(changed, claim.id, matcher.provenance({}))
    return changed


def _added(
    settings: Settings, store: Store, documents: Sequence[Document], addresses: Sequence[str]
) -> tuple[list[Page], list[Failure]]:
    own = settings.model_copy(update={"sources": ("documents", *addresses)})
    opened = open_sources(own, documents, store)
    pages, failures = list(opened.pages), list(opened.failures)
    for address in opened.addresses:
        try:
            pages.append(fetch(address, settings, archive=partial(http_responses.save, store)))
        except StageFailure as error:
            failures.append(error.as_failure("fetch", address))
    return pages, failures
