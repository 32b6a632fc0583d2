"""Read what is doubtful a second time: by a language model or any verifier, blind to the first
verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from attribution.errors import AttributionError, BadInput, LlmFailed
from attribution.evidence.judging import Judged, as_evidence, judge_pairs
from attribution.llm.endpoint import EndpointFailed
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.text.value_reading import values
from attribution.text.values import compare
from attribution.types import (
    Claim,
    Evidence,
    Failure,
    Judgement,
    Label,
    LlmUsage,
    Page,
    Pair,
    Probabilities,
    Report,
    Span,
    Verdict,
)
from attribution.verdicts import beside, decide, leaning
from attribution.verifiers import VERIFIERS, Verifier, estimate_cost, policy_of
from attribution.verifiers.calibration import GUARANTEES, graded, strength_of
from attribution.verifiers.llm_brief import BriefLlmVerifier, chosen, neighbourhood
from attribution.verifiers.pairs import CachedVerifier
from attribution.verifiers.roles import in_its_role

LLM = "llm"
PASSAGES = 5  # of a claim that could decide it
UNDECIDED: tuple[Label, ...] = ("unclear", "conflicting")
NOTHING_SAID = Probabilities(entailed=0.0, contradicted=0.0, no_relation=1.0)


@dataclass(frozen=True)
class Doubt:
    """A claim with its first verdict, the evidence behind it, and the places of the passages that
    could decide.
    """

    claim: Claim
    verdict: Verdict
    evidence: tuple[Evidence, ...]
    places: tuple[int, ...]


@dataclass(frozen=True)
class Read:
    """A claim after its second reading; with a failure, the first verdict stays as it was."""

    claim: Claim
    verdict: Verdict
    evidence: tuple[Evidence, ...]
    failure: Failure | None = None


def is_doubtful(verdict: Verdict, version: str) -> bool:
    """Return True for an undecided claim, and for a badge that the calibration of its verifier
    calls weak.
    """
    if verdict.label in GUARANTEES:
        return strength_of(version, verdict) == "weak"
    return verdict.label in UNDECIDED


def doubts(
    claims: Sequence[Claim],
    verdicts: Mapping[str, Verdict],
    evidence: Mapping[str, Sequence[Evidence]],
    version: str,
) -> list[Doubt]:
    """Return the claims that a second reader is asked about, in their order."""
    found = []
    for claim in claims:
        verdict, pieces = verdicts.get(claim.id), tuple(evidence.get(claim.id, ()))
        if verdict is None or verdict.other or not is_doubtful(verdict, version):
            continue
        related = (e.about or leaning(e.probabilities) != "no_relation" for e in pieces)
        speaking = [i for i, speaks in enumerate(related) if speaks and not pieces[i].part]
        places = [
            i for i in speaking if pieces[i].genre != "fact check"
        ]  # which counts by its rating
        places.sort(
            key=lambda i: (
                -max(pieces[i].probabilities.entailed, pieces[i].probabilities.contradicted)
            )
        )
        if places:
            found.append(Doubt(claim, verdict, pieces, tuple(places[:PASSAGES])))
    return found


def doubts_of(report: Report) -> list[Doubt]:
    """Return those of a finished run."""
    evidence: dict[str, list[Evidence]] = {}
    for piece in report.evidence:
        evidence.setdefault(piece.claim_id, []).append(piece)
    verdicts = {v.claim_id: v for v in report.verdicts}
    return doubts(report.claims, verdicts, evidence, report.versions.get("verifier", ""))


class SecondReader:
    """The second reader of one run. Its verdict counts where it decides and, for a support, where
    the values agree.
    """

    def __init__(self, settings: Settings, store: Store, pages: Mapping[str, Page]) -> None:
        """`pages` are those of the run, by id. Raises UnknownName or Unavailable for a reader that
        is not ready.
        """
        self.settings, self.store, self.pages = settings, store, pages
        self.name = settings.second_reader
        self._own = settings.model_copy(update={"verifier": self.name})
        self._verifier = VERIFIERS.build(self.name, self._own)
        self.policy = policy_of(self._own)
        self.asked = 0  # claims
        self._failed: AttributionError | None = None  # no further request would be answered

    @classmethod
    def of(cls, settings: Settings) -> SecondReader | None:
        """Return that of the settings, with their database; None where they name none."""
        return (
            cls(settings, Store.open(settings.database_url), {}) if settings.second_reader else None
        )

    @cached_property
    def reader(self) -> CachedVerifier:
        return CachedVerifier(
            chosen(self._own, PASSAGES) if self.name == LLM else self._verifier, self.store
        )

    @property
    def keys(self) -> set[str]:
        """The keys of its judgements in the store."""
        return self.reader.keys if "reader" in self.__dict__ else set()

    @property
    def version(self) -> str:
        return self.reader.version if "reader" in self.__dict__ else ""

    @property
    def usage(self) -> LlmUsage | None:
        return self.reader.usage if "reader" in self.__dict__ else None

    def estimate(self, found: Sequence[Doubt]) -> LlmUsage | None:
        """Estimate the use of a language model for these claims, an upper bound; None if none is
        asked.
        """
        form = chosen(self._own, PASSAGES, ask=False) if self.name == LLM else self._verifier
        asked = [(doubt, _places(doubt, form)) for doubt in found[: self.settings.second_claims]]
        return estimate_cost(
            form, [pair for doubt, places in asked for pair in self._asked(doubt, places, form)]
        )

    def read(self, found: Sequence[Doubt]) -> Iterator[list[Read]]:
        """Yield the claims, several at once, as they are read: at most `second_claims`, those of
        earlier calls too.

        Where no further request would be answered, all that is left has one failure.
        """
        capped = found[: max(0, self.settings.second_claims - self.asked)]
        self.asked += len(capped)
        size = max(1, self.settings.llm_workers)
        for start in range(0, len(capped), size):
            some = self._read(capped[start : start + size])
            if self._failed:
                yield _kept(
                    [
                        *some,
                        *(one for doubt in capped[start + size :] for one in self._read([doubt])),
                    ]
                )
                return
            yield some

    def _read(self, some: Sequence[Doubt]) -> list[Read]:
        try:
            if self._failed and "reader" not in self.__dict__:
                raise self._failed
            placed = [(doubt, _places(doubt, self.reader.verifier)) for doubt in some]
            judged = iter(self._judged(placed))
        except (BadInput, LlmFailed) as error:
            if isinstance(error, EndpointFailed) or "reader" not in self.__dict__:
                self._failed = error
            if len(some) > 1:  # what was answered is in the store
                return [one for doubt in some for one in self._read([doubt])]
            return [
                Read(
                    some[0].claim,
                    some[0].verdict,
                    some[0].evidence,
                    _failure(some[0].claim.text[:80], error),
                )
            ]
        return [
            self._decided(doubt, places, [next(judged) for _ in places]) for doubt, places in placed
        ]

    def _pairs(self, doubt: Doubt, places: Sequence[int]) -> list[Pair]:
        pieces = [doubt.evidence[i] for i in places]
        return [(doubt.claim.statement, e.text, self.pages[e.page_id].title) for e in pieces]

    def _asked(self, doubt: Doubt, places: Sequence[int], form: Verifier) -> list[Pair]:
        """Return the pairs as the reader gets them: in brief, with the deciding sentence and its
        neighbours.
        """
        pairs = self._pairs(doubt, places)
        if not isinstance(form, BriefLlmVerifier):
            return pairs
        spans = [_sentence(doubt.evidence[i]) for i in places]
        return [
            (p[0], neighbourhood(p[1], span), *p[2:]) for p, span in zip(pairs, spans, strict=True)
        ]

    def _judged(self, asked: Sequence[tuple[Doubt, Sequence[int]]]) -> list[Judged]:
        pairs = [pair for doubt, places in asked for pair in self._pairs(doubt, places)]
        if self.name != LLM:
            return judge_pairs(pairs, self.reader, self.reader.uncounted)
        form = self.reader.verifier
        found = self.reader.verify(
            [pair for doubt, places in asked for pair in self._asked(doubt, places, form)]
        )
        if isinstance(form, BriefLlmVerifier):
            spans = [_sentence(doubt.evidence[i]) for doubt, places in asked for i in places]
            found = [
                replace(judgement, sentence=span)
                for judgement, span in zip(found, spans, strict=True)
            ]
        return [
            Judged(checked(pair, judgement)) for pair, judgement in zip(pairs, found, strict=True)
        ]

    def _decided(self, doubt: Doubt, places: Sequence[int], judged: Sequence[Judged]) -> Read:
        """Let the second reader decide where it finds a side; both verdicts and both probabilities
        are kept.
        """
        claim, pieces = doubt.claim, list(doubt.evidence)
        if not places:
            return Read(claim, doubt.verdict, doubt.evidence)
        for i, pair, own in zip(places, self._pairs(doubt, places), judged, strict=True):
            old = pieces[i]
            page = self.pages[old.page_id].model_copy(
                update={"origin": old.origin, "genre": old.genre}
            )
            place = (old.text, old.start, old.similarity)
            new = as_evidence(claim.id, page, *place, pair, own, None, claim.context, self.policy)
            kept = {name: getattr(old, name) for name in ("query", "searcher", "rank")}
            pieces[i] = new.model_copy(update={**kept, "other": old.probabilities})
        alone, second = (
            decide(claim, [pieces[i] for i in places], self.policy),
            decide(claim, pieces, self.policy),
        )
        if (
            alone.label in GUARANTEES and alone.label == second.label
        ):  # not where the passages it did not read decide
            return Read(
                claim, graded(beside(second, doubt.verdict, "first"), self.version), tuple(pieces)
            )
        for i in places:
            pieces[i] = doubt.evidence[i].model_copy(update={"other": pieces[i].probabilities})
        return Read(claim, beside(doubt.verdict, alone, "second"), tuple(pieces))


def _places(doubt: Doubt, form: Verifier) -> tuple[int, ...]:
    """In brief one passage is read, unless the first reader finds it rather against the claim.

    The "yes" of a model of 1.5 B parameters to such a passage was right in 3 of 16 claims, to
    others in 14 of 21.
    """
    if not isinstance(form, BriefLlmVerifier):
        return doubt.places
    found = doubt.evidence[doubt.places[0]].probabilities
    return doubt.places[:1] if found.entailed >= found.contradicted else ()


def _sentence(piece: Evidence) -> Span:
    """Return the place of the deciding sentence in its passage."""
    return piece.sentence[0] - piece.start, piece.sentence[1] - piece.start


def checked(pair: Pair, found: Judgement) -> Judgement:
    """Return a judgement without a support whose values or roles differ from the passage's."""
    if found.probabilities.entailed < max(
        found.probabilities.contradicted, found.probabilities.no_relation
    ):
        return found
    agrees = none_differs(pair[0], pair[1][slice(*found.sentence)]) and none_differs(*pair[:2])
    if agrees and not in_its_role(pair, found).difference:
        return found
    return Judgement(NOTHING_SAID, found.sentence, found.signals)


def none_differs(claim: str, passage: str) -> bool:
    """Return False if a value of the claim differs from all of the passage's that can be compared
    with it.
    """
    theirs = values(passage)
    for value in values(claim):
        found = {compare(value, other) for other in theirs} - {"not comparable"}
        if found == {"different"}:
            return False
    return True


def _failure(subject: str, error: AttributionError) -> Failure:
    message = f"{error}; the first verdict stays"
    return Failure(
        stage="second", subject=subject, kind="llm_failed", message=message, detail=error.detail
    )


def _kept(some: Sequence[Read]) -> list[Read]:
    """Give the claims that were not read one failure together, which counts them."""
    failed = [one.failure for one in some if one.failure]
    if len(failed) < 2:
        return [*some]
    failure = failed[-1].model_copy(update={"subject": f"{len(failed)} claims"})
    return [replace(one, failure=failure) if one.failure else one for one in some]


def left_out(found: Sequence[Doubt], settings: Settings) -> Failure | None:
    """Say that not all doubtful claims were read again; None if all were."""
    if len(found) <= settings.second_claims:
        return None
    message = (
        f"{len(found) - settings.second_claims} of {len(found)} doubtful claims were not read again: "
        "raise second_claims to read more"
    )
    return Failure(stage="second", subject="claims", kind="budget_spent", message=message)


def second_versions(verdicts: Iterable[Verdict], version: str) -> dict[str, str]:
    """Return the versions of a report: the second reader's, also for each claim that it decided;
    none without one.
    """
    if not version:
        return {}
    decided = (v.claim_id for v in verdicts if v.other and v.other.reader == "first")
    return {"second_reader": version} | {f"verifier:{claim_id}": version for claim_id in decided}


def changed(report: Report) -> tuple[int, int]:
    """Return the number of claims that a second reader changed the verdict of, and of those that it
    read.
    """
    read = [v for v in report.verdicts if v.other]
    return sum(
        v.other.reader == "first" and v.other.label != v.label for v in read if v.other
    ), len(read)
