"""Check the citations of a finished run: find the marks, read their sources, judge the claims they
are attached to.
"""

from __future__ import annotations

import sys
import threading
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from attribution.evidence.matching import Matcher
from attribution.evidence.sources import source_names
from attribution.review.citation_marks import Cited, Mark, find
from attribution.review.cited_sources import Unread, read_sources, read_works
from attribution.review.support import (
    UNREAD,
    Citation,
    CitationReport,
    CitedClaim,
    CitedSources,
    Figures,
    Outcome,
    Standing,
    Support,
    support,
)
from attribution.settings import Settings
from attribution.store.database import now
from attribution.store.store import Store
from attribution.text.references import AnswerSource, Listed
from attribution.types import Claim, Evidence, Page, Report, Span, content_id


def attach(
    answer: str, marks: Sequence[Mark], claims: Sequence[Claim], lists: Listed
) -> dict[str, tuple[int, ...]]:
    """Return for each claim the marks attached to it, as indices into `marks`; claims without a
    mark are left out.

    A mark belongs to the sentence it stands in or right after; one that opens a paragraph belongs
    to the sentence that
    follows. Within a sentence it is attached to the claims that end between the previous mark and
    itself; if there are
    none, to all claims of the sentence.
    """
    sentences: dict[Span, list[Claim]] = {}
    for claim in claims:
        if claim.spans and not lists.holds(claim.spans[0][0]):
            sentences.setdefault(claim.sentence or _extent(claim), []).append(claim)
    bare = _without(answer, marks)
    ordered = sorted(sentences)
    of_sentence: dict[Span, list[int]] = {}
    for number, mark in enumerate(marks):
        if (sentence := _sentence_of(mark, ordered, answer, bare)) is not None:
            of_sentence.setdefault(sentence, []).append(number)
    standing: dict[str, list[int]] = {}
    for sentence, numbers in of_sentence.items():
        before = sentence[0]
        for group in _groups(numbers, marks, bare):
            first, last = marks[group[0]], marks[group[-1]]
            within = [c for c in sentences[sentence] if _ends_at(c, before, first.start, bare)]
            for claim in within or sentences[sentence]:
                standing.setdefault(claim.id, []).extend(group)
            before = last.end
    return {claim_id: tuple(dict.fromkeys(numbers)) for claim_id, numbers in standing.items()}


def _extent(claim: Claim) -> Span:
    return min(start for start, _ in claim.spans), max(end for _, end in claim.spans)


def _without(answer: str, marks: Sequence[Mark]) -> str:
    """Replace the marks in the answer by blanks, keeping its length."""
    text = list(answer)
    for mark in marks:
        if mark.form != "link":  # its words are part of the sentence
            text[mark.start : mark.end] = " " * (mark.end - mark.start)
    return "".join(text)


def _silent(text: str) -> bool:
    return not any(map(str.isalnum, text))


def _parted(text: str) -> bool:
    """Return True if the text contains a paragraph break."""
    return "\n\n" in text.replace("\r\n", "\n").replace(" ", "")


def _sentence_of(mark: Mark, sentences: Sequence[Span], answer: str, bare: str) -> Span | None:
    following = bisect_right(sentences, (mark.start, sys.maxsize))
    if following:
        _, end = nearest = sentences[following - 1]
        between = answer[end : mark.start]
        if mark.start < end or (_silent(bare[end : mark.start]) and not _parted(between)):
            return nearest
    if following < len(sentences):
        nearest = sentences[following]
        if _silent(bare[mark.end : nearest[0]]) and not _parted(answer[mark.end : nearest[0]]):
            return nearest
    return None


def _groups(numbers: Sequence[int], marks: Sequence[Mark], bare: str) -> list[list[int]]:
    """Group marks that have no words between them."""
    groups: list[list[int]] = []
    for number in numbers:
        if groups and _silent(bare[marks[groups[-1][-1]].end : marks[number].start]):
            groups[-1].append(number)
        else:
            groups.append([number])
    return groups


def _ends_at(claim: Claim, before: int, mark: int, bare: str) -> bool:
    """Return True if the claim ends after the previous mark, and says nothing beyond this mark."""
    _, end = _extent(claim)
    return (
        end > before and not _silent(bare[before:end]) and (end <= mark or _silent(bare[mark:end]))
    )


KIND = "citations"  # of the saved result
STOPPED = Unread("unreachable", "The check was stopped before this source was read.")
GROUP = 4  # claims that are judged together


@dataclass(frozen=True)
class Step:
    """`done` of `total` sources read, then claims judged."""

    stage: str  # read or judge
    done: int
    total: int


def claims_id(report: Report) -> str:
    """Return a hash of everything in a run that a check depends on."""
    claims = (f"{c.id} {c.statement} {c.checked}" for c in report.claims)
    names = ("threshold", "contradiction_threshold", "verifier", "top_k")
    return content_id(report.answer, *claims, *(str(report.settings.get(name)) for name in names))


def saved(report: Report, store: Store) -> CitationReport | None:
    """Return the saved check of a run, or None if there is none for its current claims."""
    body = store.results.load(KIND, report.id)
    found = CitationReport.model_validate_json(body) if body else None
    return found if found and found.claims_id == claims_id(report) else None


def check(
    report: Report,
    settings: Settings,
    store: Store,
    stop: threading.Event | None = None,
    listed: str = "",
    save: bool = True,
) -> Iterator[Step | CitationReport]:
    """Yield steps, then the result, which is saved with the run. `listed` names sources that the
    answer does not list.

    Stopping keeps the results so far: sources that were not read count as unreachable, with that
    reason. Raises
    NotYours for somebody else's run, unless the result is not saved.
    """
    store, stop = Store(store.database, store.rights.by), stop or threading.Event()
    if save := save and bool(report.id):
        store.rights.check_change(report.id)
    subject = _Subject.of(report, listed)
    found: dict[str, Page | Unread] = {}
    yield Step("read", 0, len(subject.wanted))
    for source, text in read_sources(subject.wanted, report.pages, settings, store, stop):
        found[source.key] = text
        yield Step("read", len(found), len(subject.wanted))
    sources = {source.key: found.get(source.key, STOPPED) for source in subject.wanted}
    works = read_works(subject.wanted, settings, stop)
    bench = _Bench(
        report,
        settings,
        store,
        {key: page for key, page in sources.items() if isinstance(page, Page)},
    )
    citing = [c for c in subject.claims if subject.keys[c.id]]
    judged: dict[str, tuple[Support, list[tuple[Evidence, ...]]]] = {}
    for start in range(0, len(citing), GROUP):
        yield Step("judge", start, len(citing))
        if stop.is_set():
            break
        group = citing[start : start + GROUP]
        judged |= zip((c.id for c in group), bench.judge(group, subject.keys), strict=True)
    yield Step("judge", len(citing), len(citing))
    result = subject.result(report, sources, judged, bench.version).model_copy(
        update={"works": works, "stopped": stop.is_set()}
    )
    if save:
        store.results.save(KIND, report.id, result.to_json())
    yield result


@dataclass(frozen=True)
class _Subject:
    """The claims to check, which stand outside lists of sources, and the sources that each cites."""

    cited: Cited
    claims: Sequence[Claim]
    marks: Mapping[str, tuple[int, ...]]  # of a claim
    keys: Mapping[str, tuple[str, ...]]  # of the sources of a claim
    listed: str

    @classmethod
    def of(cls, report: Report, listed: str) -> _Subject:
        cited = find(report.answer, listed, source_names(pages=report.pages))
        claims = [
            c
            for c in report.claims
            if c.checked and not (c.spans and cited.lists.holds(c.spans[0][0]))
        ]
        marks = attach(report.answer, cited.marks, claims, cited.lists)
        named = {
            c.id: (key for n in marks.get(c.id, ()) for key in cited.marks[n].sources)
            for c in claims
        }
        return cls(
            cited,
            claims,
            marks,
            {i: tuple(dict.fromkeys(keys)) for i, keys in named.items()},
            listed,
        )

    @property
    def wanted(self) -> list[AnswerSource]:
        """The sources that a claim cites."""
        keys = {key for of_claim in self.keys.values() for key in of_claim}
        return [source for source in self.cited.sources if source.key in keys]

    def result(
        self,
        report: Report,
        sources: Mapping[str, Page | Unread],
        judged: Mapping[str, tuple[Support, Sequence[tuple[Evidence, ...]]]],
        verifier: str,
    ) -> CitationReport:
        """Return the figures and findings; `sources` are pages or the reason why one wasn't read."""
        citations, claims = list[Citation](), list[CitedClaim]()
        supported = {v.claim_id for v in report.verdicts if v.label == "supported"}
        for claim in self.claims:
            together, keys = False, self.keys[claim.id]
            own: list[Citation] = []
            if claim.id in judged:
                support, evidence = judged[claim.id]
                together, own = (
                    support.together,
                    list(_citations(claim, keys, support, evidence, sources)),
                )
            standing = _standing(keys, [c.outcome for c in own], together, claim.id in supported)
            marks = self.marks.get(claim.id, ())
            claims.append(
                CitedClaim(claim_id=claim.id, standing=standing, marks=marks, together=together)
            )
            citations += own
        decided = {c.claim_id for c in claims if c.standing != "cited_unreachable"}
        readable = [c for c in citations if c.outcome not in UNREAD and c.claim_id in decided]
        attached = {n for numbers in self.marks.values() for n in numbers}
        pages = {
            p.id: p.model_copy(update={"text": ""}) for p in sources.values() if isinstance(p, Page)
        }
        supports = [support for support, _ in judged.values()]
        return CitationReport(
            claims_id=claims_id(report),
            created_at=now(),
            verifier=verifier,
            marks=self.cited.marks,
            sources=self.cited.sources,
            pages=tuple(pages.values()),
            citations=tuple(citations),
            claims=tuple(claims),
            figures=Figures.of(
                len(decided),
                sum(s.together for s in supports),
                len(readable),
                sum(s.precise for s in supports),
            ),
            unattached=tuple(n for n in range(len(self.cited.marks)) if n not in attached),
            listed=self.listed,
        )


class _Bench:
    """The passages of each source, compared with the claims that cite it."""

    def __init__(
        self, report: Report, settings: Settings, store: Store, pages: Mapping[str, Page]
    ) -> None:
        plain = settings.model_copy(update={"without_added": False})
        self._settings, self._matchers = settings, dict[str, Matcher]()
        for key, page in pages.items():
            self._matchers[key] = Matcher(plain, store, report.question)
            self._matchers[key].add(page)
        self._any = next(iter(self._matchers.values()), None) or Matcher(
            plain, store, report.question
        )
        self.version = self._any.verifier.version

    def judge(
        self, claims: Sequence[Claim], keys: Mapping[str, Sequence[str]]
    ) -> list[tuple[Support, list[tuple[Evidence, ...]]]]:
        """Return the support for each claim, and the evidence of each of its sources."""
        found: dict[tuple[str, str], tuple[Evidence, ...]] = {}
        for key, matcher in self._matchers.items():
            citing = [claim for claim in claims if key in keys[claim.id]]
            found |= {
                (c.id, key): evidence
                for c, evidence in zip(citing, matcher.match(citing), strict=True)
            }
        evidence = [[found.get((c.id, key), ()) for key in keys[c.id]] for c in claims]
        cited = [
            CitedSources(
                c.statement,
                tuple(
                    self._read(key, pieces)
                    for key, pieces in zip(keys[c.id], of_claim, strict=True)
                ),
            )
            for c, of_claim in zip(claims, evidence, strict=True)
        ]
        return list(
            zip(support(cited, self._any.verifier.verify, self._any.policy), evidence, strict=True)
        )

    def _read(self, key: str, evidence: Sequence[Evidence]) -> tuple[tuple[str, str], ...]:
        """Return the passages of a source for the verifier, each with the title of its page."""
        return tuple((e.text, self._matchers[key].pages[e.page_id].title) for e in evidence)


def _citations(
    claim: Claim,
    keys: Sequence[str],
    found: Support,
    evidence: Sequence[tuple[Evidence, ...]],
    sources: Mapping[str, Page | Unread],
) -> Iterator[Citation]:
    for i, key in enumerate(keys):
        source = sources[key]
        if not isinstance(source, Page):
            yield Citation(
                claim_id=claim.id, source=key, outcome=source.outcome, reason=source.reason
            )
            continue
        best = found.best[i]
        outcome: Outcome
        outcome, reason = "not_supported", "No passage of this source supports it."
        if best is None:
            reason = "No passage of this source is about it."
        elif found.alone[i]:
            outcome, reason = "supported", "This source supports it."
        elif found.contradicted[i]:
            outcome, reason = "contradicted", "This source contradicts it."
        elif found.together and found.relevant[i]:
            outcome, reason = "supported", "It supports the claim together with the other sources."
        yield Citation(
            claim_id=claim.id,
            source=key,
            outcome=outcome,
            reason=reason,
            relevant=found.relevant[i],
            page_id=source.id,
            evidence=evidence[i][best] if best is not None else None,
        )


def _standing(
    keys: Sequence[str], outcomes: Sequence[Outcome], together: bool, elsewhere: bool
) -> Standing:
    if not keys:
        return "uncited_supported" if elsewhere else "uncited_unsupported"
    if together:
        return "cited_supported"
    unread = not outcomes or any(outcome in UNREAD for outcome in outcomes)
    return "cited_unreachable" if unread else "cited_not_supported"
