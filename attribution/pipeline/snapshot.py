"""Snapshots: everything a run used, so that it can be run again without searching or downloading,
and their files.

A file is gzip-compressed JSON Lines: a header, the report, its provenance, then a line for each
page, vector and judgement. Nothing in it is trusted: lines are read one by one, up to limits.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import math
import sys
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from typing import TypeVar

import numpy as np
import sqlalchemy as sa
from pydantic import ValidationError

from attribution.errors import BadInput
from attribution.events import BEFORE_SEARCH, Spent
from attribution.evidence import GatherStep, LlmRecord, PreparedClaims
from attribution.evidence.permissions import Filtered, filter_asked
from attribution.files import VALUES, count_values
from attribution.provenance import Provenance
from attribution.settings import CHANGES, Settings
from attribution.store.cache import Cache
from attribution.store.database import Database
from attribution.store.runs import Runs
from attribution.store.store import Store
from attribution.types import (
    Claim,
    Evidence,
    Failure,
    Frozen,
    Judgement,
    Page,
    Report,
    Span,
    content_id,
)
from attribution.verifiers import with_policy

T = TypeVar("T")
# if only these change, the claims of the snapshot are used
AFTER_CLAIMS = frozenset(name for name, changes in CHANGES.items() if changes != "claims")


@dataclass(frozen=True)
class Snapshot:
    """A run, its provenance, and what its models returned; vectors are float32 bytes, by the keys
    of the cache.
    """

    report: Report  # with its pages' texts
    provenance: Provenance
    vectors: dict[str, bytes]
    judgements: dict[str, Judgement]

    @classmethod
    def of(cls, store: Store, run_id: str) -> Snapshot:
        """Return the snapshot of a saved run.

        Raises:
            BadInput: There is no run of that id, or parts of it are missing.
        """
        report = store.runs.load(run_id)
        provenance = store.runs.provenance(run_id)
        if report is None:
            raise BadInput(
                f"there is no saved run {run_id!r}: expected the `id` of a report, or what "
                "follows ?run= in its address"
            )
        if provenance is None or not all(page.text for page in report.pages):
            raise BadInput(f"run {run_id} was saved without all that it used: run it again")
        vectors = store.cache.vectors(provenance.vectors)
        judgements = store.cache.judgements(provenance.judgements)
        return cls(report, provenance, vectors, judgements)

    def settings(self, **choices: object) -> Settings:
        """Return the run's settings, as far as a file may choose them, with the caller's choices."""
        return Settings.from_environment(**self.filtered().chosen | choices)

    def filtered(self) -> Filtered:
        """Return the run's settings, compared with those of this machine."""
        return filter_asked(self.report.settings, Settings.from_environment())

    def claims(self, question: str, answer: str, settings: Settings) -> PreparedClaims | None:
        """Return the claims and the failures of segmentation; None if the answer or settings
        require new claims.
        """
        report = self.report
        if (question, answer) != (report.question, report.answer):
            return None
        before = with_policy(self.settings()).public()
        after = with_policy(settings).public()
        for name in before.keys() | after.keys():
            if before.get(name) != after.get(name) and name not in AFTER_CLAIMS:
                return None
        failures = _outside(report.failures, ("search", "fetch", "embed", "verify", "second"))
        llm = LlmRecord(report.versions, report.usage.llm)
        return PreparedClaims(report.claims, failures, llm)

    def gather(
        self, claims: Sequence[Claim], question: str, stop: threading.Event
    ) -> Iterator[GatherStep]:
        """Yield the frozen pages, with what finding them cost then."""
        repeated = ("verify", "second", *BEFORE_SEARCH)  # these stages may now fail or succeed
        usage = self.report.usage
        spent = Spent(usage.queries, usage.downloads, usage.seconds, usage.searches)
        yield GatherStep(
            "fetch",
            1,
            1,
            pages=self.report.pages,
            traces=self.provenance.traces,
            failures=_outside(self.report.failures, repeated),
            spent=spent,
            llm=LlmRecord(_of_queries(self.report.versions), _of_queries(usage.llm)),
        )
        for claim in claims:
            stages = ("verify",) if claim in self.report.claims else repeated
            failures = _outside(self.provenance.concerns.get(claim.id, ()), stages)
            if failures:
                yield GatherStep("fetch", 1, 1, (claim.id,), failures=failures, spent=spent)

    def over(self, store: Store) -> Store:
        """Return the store, reading the snapshot's vectors and judgements first; they and its
        pages serve no other runs.
        """
        cache = _SnapshotCache(store.database, self)
        replaying = Store(store.database, store.rights.by, cache)
        replaying.runs = _Replays(store.database, replaying.rights, cache, replaying.results)
        return replaying

    def recomputed(self) -> Snapshot:
        """Return the snapshot without the output of its models, which a replay computes again."""
        return replace(self, vectors={}, judgements={})


def _outside(failures: Sequence[Failure], stages: Sequence[str]) -> tuple[Failure, ...]:
    return tuple(failure for failure in failures if failure.stage not in stages)


def _of_queries(by_stage: Mapping[str, T]) -> dict[str, T]:
    return {stage: value for stage, value in by_stage.items() if stage == "queries"}


class _SnapshotCache(Cache):
    def __init__(self, database: Database, snapshot: Snapshot) -> None:
        super().__init__(database)
        self._snapshot = snapshot

    def vectors(self, keys: Sequence[str]) -> dict[str, bytes]:
        own = {key: self._snapshot.vectors[key] for key in keys if key in self._snapshot.vectors}
        return super().vectors([key for key in keys if key not in own]) | own

    def judgements(self, keys: Sequence[str]) -> dict[str, Judgement]:
        frozen = self._snapshot.judgements
        own = {key: frozen[key] for key in keys if key in frozen}
        return super().judgements([key for key in keys if key not in own]) | own

    def put_pages(self, pages: Sequence[Page], db: sa.Connection | None = None) -> None:
        self.freeze_pages(pages, db)


class _Replays(Runs):
    def save_unfinished(self, report: Report, pages: Sequence[Page] = ()) -> None:
        """Nothing: a replay that is interrupted is started again from its file."""


# --- files ---

FORMAT, VERSION = "attribution-snapshot", 2
FILE_LIMIT, TOTAL_LIMIT = 50_000_000, 200_000_000  # bytes, compressed and uncompressed
LINE_LIMIT, LINES = 32_000_000, 100_000  # bytes of a line, and lines
CLAIMS = 5_000  # each is drawn; an answer of 20,000 characters has at most so many sentences
SENTENCE_LIMIT = 100_000  # characters of a passage
DAMAGED = (gzip.BadGzipFile, EOFError, zlib.error)


class BadFile(BadInput):
    """A snapshot file that cannot be used."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"not a usable snapshot file ({problem}): export it again with `snapshot export`"
        )
        self.problem = problem


class _Header(Frozen):
    format: str
    version: int


class _Vector(Frozen):
    key: str
    data: str  # base64 of little-endian float32


class _Judgement(Frozen):
    key: str
    value: Judgement


class _Record(Frozen):
    """One page, vector or judgement."""

    page: Page | None = None
    vector: _Vector | None = None
    judgement: _Judgement | None = None


def dump(snapshot: Snapshot) -> bytes:
    """Return the content of a snapshot file. Raises BadInput if it would be too large to read."""
    report = snapshot.report.model_dump_json(exclude={"pages": {"__all__": {"text"}}})
    header = _Header(format=FORMAT, version=VERSION).model_dump_json()
    lines = [header, report, snapshot.provenance.model_dump_json()]
    records = [_Record(page=page) for page in snapshot.report.pages]
    for key, data in sorted(snapshot.vectors.items()):
        records.append(_Record(vector=_Vector(key=key, data=base64.b64encode(data).decode())))
    for key, judgement in sorted(snapshot.judgements.items()):
        records.append(_Record(judgement=_Judgement(key=key, value=judgement)))
    lines += [record.model_dump_json(exclude_none=True) for record in records]
    content = "".join(f"{line}\n" for line in lines)
    data = gzip.compress(content.encode("utf-8"), mtime=0)
    try:
        for _ in _lines(data):
            pass
    except BadFile as error:
        raise BadInput(f"the run is too large for a snapshot file: {error.problem}") from None
    return data


def load(data: bytes) -> Snapshot:
    """Read a snapshot file. Raises BadInput, which says what is wrong with it."""
    try:
        lines = _lines(data)
        _check_header(_Header.model_validate_json(next(lines, b"")))
        report = Report.model_validate_json(next(lines, b""))
        provenance = Provenance.model_validate_json(next(lines, b""))
        snapshot = _with_records(report, provenance, lines)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "line"
        raise BadFile(f"{error.title} {place[:80]}: {first['msg'][:120]}") from None
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{type(error).__name__}: {str(error)[:120]}") from None
    _check(snapshot)
    # sources and models that this machine does not allow are left out, unknown settings refused
    snapshot.filtered().check("sources", "model")
    return snapshot


def _lines(data: bytes) -> Iterator[bytes]:
    """Yield the lines of a file up to the limits."""
    if len(data) > FILE_LIMIT:
        raise BadFile(f"{len(data):,} bytes; the limit is {FILE_LIMIT:,}")
    total = 0
    with gzip.open(BytesIO(data)) as file:
        for number in range(1, LINES + 1):
            try:
                line = file.readline(LINE_LIMIT + 1)
            except DAMAGED as error:
                raise BadFile(f"damaged: {error}") from None
            if not line:
                return
            total += len(line)
            if total > TOTAL_LIMIT:
                raise BadFile(f"more than {TOTAL_LIMIT:,} bytes when unpacked")
            if len(line) > LINE_LIMIT or count_values(line) > VALUES:
                raise BadFile(
                    f"line {number} has more than {LINE_LIMIT:,} bytes or {VALUES:,} values"
                )
            yield line
    raise BadFile(f"more than {LINES:,} lines")


def _check_header(header: _Header) -> None:
    if (header.format, header.version) != (FORMAT, VERSION):
        raise BadInput(
            f"the file has format {header.format[:40]!r}, version {header.version}; this explorer "
            f"reads {FORMAT!r}, version {VERSION}: export the snapshot again"
        )


def _with_records(report: Report, provenance: Provenance, lines: Iterator[bytes]) -> Snapshot:
    """Read the pages, vectors and judgements of a report."""
    pages: list[Page] = []
    vectors: dict[str, bytes] = {}
    judgements: dict[str, Judgement] = {}
    memory = TOTAL_LIMIT
    for line in lines:
        record = _Record.model_validate_json(line)
        if record.page and len(pages) < len(report.pages):
            memory -= sys.getsizeof(record.page.text)  # one 😀 makes each letter four bytes
            if memory < 0:
                raise BadFile(f"the texts of its pages take more than {TOTAL_LIMIT:,} bytes")
            pages.append(record.page)
        elif record.page:
            raise BadFile("it has more pages than its report")
        if record.vector:
            vectors[record.vector.key] = base64.b64decode(record.vector.data, validate=True)
        if record.judgement:
            judgements[record.judgement.key] = record.judgement.value
    if tuple(page.model_copy(update={"text": ""}) for page in pages) != report.pages:
        raise BadFile("the pages differ from those of the report")
    report = report.model_copy(update={"pages": tuple(pages)})
    return Snapshot(report, provenance, vectors, judgements)


def _check(snapshot: Snapshot) -> None:
    """Raise BadInput unless every offset, id and number of a snapshot is consistent."""
    report = snapshot.report
    texts = {page.id: page.text for page in report.pages}
    claims = {claim.id for claim in report.claims}
    for page in report.pages:
        _check_page(page)
    _check_claims(report)
    for piece in report.evidence:
        _check_evidence(piece, texts.get(piece.page_id, ""), claims)
    for verdict in report.verdicts:
        if verdict.claim_id not in claims or not math.isfinite(verdict.confidence):
            raise BadFile("a verdict has no claim")
    _check_provenance(snapshot.provenance, texts)
    _check_outputs(snapshot)


def _check_claims(report: Report) -> None:
    if len(report.claims) > CLAIMS:
        raise BadFile(f"{len(report.claims):,} claims; at most {CLAIMS:,} are read")
    for claim in report.claims:
        sentence = [claim.sentence] if claim.sentence else []
        if not all(_is_within(span, report.answer) for span in (*claim.spans, *sentence)):
            raise BadFile(f"claim {claim.id[:16]} points outside the answer")


def _check_provenance(provenance: Provenance, texts: Mapping[str, str]) -> None:
    traced = {trace.page_id for trace in provenance.traces}
    if not traced | provenance.chunks.keys() <= texts.keys():
        raise BadFile("the provenance refers to unknown pages")
    for page_id, chunks in provenance.chunks.items():
        if not all(_is_within(chunk, texts[page_id]) for chunk in chunks):
            raise BadFile("a chunk lies outside its page")


def _check_outputs(snapshot: Snapshot) -> None:
    lengths = {len(vector) for vector in snapshot.vectors.values()}
    if len(lengths) > 1 or not all(map(_is_vector, snapshot.vectors.values())):
        raise BadFile("its vectors are not finite numbers of one length")
    for judgement in snapshot.judgements.values():
        if not 0 <= judgement.sentence[0] <= judgement.sentence[1] <= SENTENCE_LIMIT:
            raise BadFile("a judgement points outside its passage")


def _check_page(page: Page) -> None:
    sha256 = hashlib.sha256(page.text.encode("utf-8", "surrogatepass")).hexdigest()
    if page.sha256 != sha256 or page.id != content_id(page.url, sha256):
        raise BadFile(f"the text of page {page.id[:16]} does not match its hash")
    if not page.url.startswith(("https://", "http://", f"{page.kind}:")):
        raise BadFile(f"page {page.id[:16]} has an unsupported URL")


def _check_evidence(piece: Evidence, text: str, claims: set[str]) -> None:
    name = f"evidence of claim {piece.claim_id[:16]}"
    is_placed = piece.claim_id in claims and _is_within(piece.sentence, text)
    if not is_placed or not math.isfinite(piece.similarity):
        raise BadFile(f"{name} has an unknown claim or lies outside its page")
    place = (piece.start, piece.end)
    if not _is_within(place, text) or text[slice(*place)] != piece.text:
        raise BadFile(f"{name} differs from its page")


def _is_within(span: Span, text: str) -> bool:
    return 0 <= span[0] <= span[1] <= len(text)


def _is_vector(data: bytes) -> bool:
    if not data or len(data) % 4:
        return False
    return bool(np.isfinite(np.frombuffer(data, "<f4")).all())
