"""Snapshots: everything a run used, so that it can be run again without searching or downloading,
and their files.

A file is a ZIP package of JSON with a manifest. Nothing in it is trusted: members are read document
by document, a line
of a .jsonl member or the whole of a .json one, and never held in memory.
"""

from __future__ import annotations

import base64
import hashlib
import io
import math
import sys
import threading
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

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
    Failure,
    Frozen,
    Judgement,
    Page,
    Probabilities,
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
        """The snapshot of a saved run. BadInput if there is none of that id, or parts of it are
        missing.
        """
        report, provenance = store.runs.load(run_id), store.runs.provenance(run_id)
        if report is None:
            raise BadInput(
                f"there is no saved run {run_id!r}: expected the `id` of a report, or what follows ?run= in its address"
            )
        if provenance is None or not all(page.text for page in report.pages):
            raise BadInput(f"run {run_id} was saved without all that it used: run it again")
        cache = store.cache
        return cls(
            report,
            provenance,
            cache.vectors(provenance.vectors),
            cache.judgements(provenance.judgements),
        )

    def settings(self, **choices: object) -> Settings:
        """The run's settings, as far as a file may choose them, with other choices, which are the
        caller's own.
        """
        return Settings.from_environment(**self.filtered().chosen | choices)

    def filtered(self) -> Filtered:
        """The run's settings, compared with those of this machine."""
        return filter_asked(self.report.settings, Settings.from_environment())

    def claims(self, question: str, answer: str, settings: Settings) -> PreparedClaims | None:
        """The claims and the failures of segmentation; None if the answer or settings require new
        claims.
        """
        if (question, answer) != (self.report.question, self.report.answer):
            return None
        then, now = with_policy(self.settings()).public(), with_policy(settings).public()
        changed = {name for name in then.keys() | now.keys() if then.get(name) != now.get(name)}
        if not changed <= AFTER_CLAIMS:
            return None
        failures = _outside(self.report.failures, ("search", "fetch", "embed", "verify"))
        return PreparedClaims(
            self.report.claims, failures, LlmRecord(self.report.versions, self.report.usage.llm)
        )

    def gather(
        self, claims: Sequence[Claim], question: str, stop: threading.Event
    ) -> Iterator[GatherStep]:
        """The frozen pages, with what finding them cost then. Nothing is searched or downloaded."""
        anew = ("verify", *BEFORE_SEARCH)  # run again, so they may fail or succeed
        usage = self.report.usage
        spent = Spent(usage.queries, usage.downloads, usage.seconds, usage.searches)
        yield GatherStep(
            "fetch",
            1,
            1,
            pages=self.report.pages,
            traces=self.provenance.traces,
            failures=_outside(self.report.failures, anew),
            spent=spent,
            llm=LlmRecord(_of_queries(self.report.versions), _of_queries(usage.llm)),
        )
        for claim in claims:
            same = claim in self.report.claims
            if failures := _outside(
                self.provenance.concerns.get(claim.id, ()), ("verify",) if same else anew
            ):
                yield GatherStep("fetch", 1, 1, (claim.id,), failures=failures, spent=spent)

    def over(self, store: Store) -> Store:
        """The store, reading the snapshot's vectors and judgements first; they and its pages serve
        no other runs.
        """
        replaying = Store(store.database, store.rights.by, _SnapshotCache(store.database, self))
        replaying.runs = _Replays(
            replaying.database, replaying.rights, replaying.cache, replaying.results
        )
        return replaying

    def recomputed(self) -> Snapshot:
        """The snapshot without the output of its models, which a replay then computes again."""
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
        own = self._snapshot.vectors
        return super().vectors([k for k in keys if k not in own]) | {
            k: own[k] for k in keys if k in own
        }

    def judgements(self, keys: Sequence[str]) -> dict[str, Judgement]:
        own = self._snapshot.judgements
        return super().judgements([k for k in keys if k not in own]) | {
            k: own[k] for k in keys if k in own
        }

    def put_pages(self, pages: Sequence[Page], db: sa.Connection | None = None) -> None:
        self.freeze_pages(pages, db)


class _Replays(Runs):
    def save_unfinished(self, report: Report, pages: Sequence[Page] = ()) -> None:
        """Nothing: a replay that is interrupted is started again from its file."""


FORMAT, VERSION, MANIFEST = "attribution-snapshot", 1, "manifest.json"
MEMBERS = ("report.json", "pages.jsonl", "trail.json", "vectors.jsonl", "judgements.jsonl")
FILE_LIMIT, TOTAL_LIMIT = 50_000_000, 200_000_000  # bytes, packed and unpacked
DOCUMENT_LIMIT, DOCUMENTS = 32_000_000, 100_000  # bytes of one document, and documents of a member
# of a run, of which each is drawn; an answer of 20,000 characters has at most so many sentences
CLAIMS = 5_000
RATIO, FLOOR = (
    50,
    1_000_000,
)  # unpacked bytes for each packed one, beyond the first ones; real files have 3 to 10
_EPOCH = (1980, 1, 1, 0, 0, 0)
_END, _END_64, _END_SIZE = b"PK\x05\x06", b"PK\x06\x07", 22


class Manifest(Frozen):
    format: str
    version: int
    sha256: dict[str, str]  # of each member


class BadFile(BadInput):
    def __init__(self, problem: str) -> None:
        super().__init__(
            f"not a usable snapshot file ({problem}): export it again with `snapshot export`"
        )
        self.problem = problem


class Unpacked:
    """A file that `unpack` has checked."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def document(self, member: str) -> bytes:
        """Return the whole of a .json member."""
        return next(self.documents(member), b"")

    def documents(self, member: str) -> Iterator[bytes]:
        """Yield the documents of a member, one at a time."""
        with self._archive.open(member) as packed:
            stream = io.BufferedReader(packed, 1 << 16)  # type: ignore[type-var]
            read = stream.readline if member.endswith(".jsonl") else stream.read
            while document := read(DOCUMENT_LIMIT + 1):
                yield document


def pack(contents: Mapping[str, bytes]) -> bytes:
    """Return the content of the file. Raises BadInput if it would be too large to be read again."""
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    manifest = (
        Manifest(format=FORMAT, version=VERSION, sha256=hashes).model_dump_json(indent=1).encode()
    )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in {MANIFEST: manifest, **contents}.items():
            info = zipfile.ZipInfo(name, _EPOCH)
            info.create_system, info.external_attr = 3, 0o644 << 16  # the same on every system
            archive.writestr(info, content, zipfile.ZIP_DEFLATED, 6)
    try:
        unpack(packed.getvalue())
    except BadFile as error:
        raise BadInput(f"the run is too large for a snapshot file: {error.problem}") from None
    return packed.getvalue()


def unpack(data: bytes) -> Unpacked:
    """Open the file and check its members against the limits and their hashes. BadInput says what
    is wrong.
    """
    if len(data) > FILE_LIMIT:
        raise BadFile(f"{len(data):,} bytes; the limit is {FILE_LIMIT:,}")
    # Checked before zipfile reads the directory: millions of entries would fill the memory.
    end = data[-_END_SIZE:]
    if not end.startswith(_END) or data[-_END_SIZE - 20 : -_END_SIZE].startswith(_END_64):
        raise BadFile("not a plain ZIP file")
    if (
        int.from_bytes(end[10:12], "little") != len(MEMBERS) + 1
        or int.from_bytes(end[12:16], "little") > 2000
    ):
        raise BadFile("it does not have the members of a snapshot")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        if [info.filename for info in archive.infolist()] != [MANIFEST, *MEMBERS]:
            raise BadFile("it does not have the members of a snapshot")
        for info in archive.infolist():
            if (
                info.compress_type not in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED)
                or info.flag_bits & 1
            ):
                raise BadFile(f"{info.filename} is encrypted or uses an unknown compression")
        unpacked = Unpacked(archive)
        manifest = Manifest.model_validate_json(unpacked.document(MANIFEST))
        hashes = _checked(unpacked, min(TOTAL_LIMIT, FLOOR + RATIO * len(data)))
    except ValidationError:  # a ValueError, too
        raise BadFile(f"{MANIFEST} is not valid") from None
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
        OSError,
        ValueError,
    ) as error:
        raise BadFile(f"damaged: {error}") from None
    if (manifest.format, manifest.version) != (FORMAT, VERSION):
        raise BadInput(
            f"the file has format {manifest.format[:40]!r}, version {manifest.version}; this explorer reads "
            f"{FORMAT!r}, version {VERSION}: update the explorer, or export the snapshot again"
        )
    for name, found in hashes.items():
        if found != manifest.sha256.get(name):
            raise BadFile(
                f"{name} does not match its hash in the manifest: it was damaged or changed"
            )
    return unpacked


def _checked(unpacked: Unpacked, most: int) -> dict[str, str]:
    """Return the hash of each member. Raises BadInput if one exceeds a limit, before more of it is
    unpacked.
    """
    hashes, total = {}, 0
    for name in MEMBERS:
        sha256 = hashlib.sha256()
        for number, document in enumerate(unpacked.documents(name), 1):
            total += len(document)
            if total > most:
                raise BadFile(f"more than {most:,} bytes when unpacked")
            if len(document) > DOCUMENT_LIMIT or count_values(document) > VALUES:
                raise BadFile(
                    f"line {number} of {name} has more than {DOCUMENT_LIMIT:,} bytes or {VALUES:,} values"
                )
            if number > DOCUMENTS:
                raise BadFile(f"{name} has more than {DOCUMENTS:,} lines")
            sha256.update(document)
        hashes[name] = sha256.hexdigest()
    return hashes


def _invalid(error: ValidationError) -> BadInput:
    """Return an error that says what does not match the schema, and where."""
    first = error.errors(include_url=False)[0]
    where = ".".join(map(str, first["loc"])) or "line"
    return BadFile(f"{error.title} {where[:80]}: {first['msg'][:120]}")


class _Vector(Frozen):
    key: str
    data: str  # base64 of little-endian float32


class _Judgement(Frozen):
    key: str
    probabilities: Probabilities
    sentence: Span
    signals: dict[str, float]
    against: float | None = None


def dump(snapshot: Snapshot) -> bytes:
    """Return the content of a snapshot file."""

    def text(rows: list[Frozen]) -> str:
        return "".join(row.model_dump_json() + "\n" for row in rows)

    vectors: list[Frozen] = [
        _Vector(key=key, data=base64.b64encode(data).decode())
        for key, data in sorted(snapshot.vectors.items())
    ]
    judged: list[Frozen] = [
        _Judgement(
            key=key,
            probabilities=j.probabilities,
            sentence=j.sentence,
            signals=j.signals,
            against=j.against,
        )
        for key, j in sorted(snapshot.judgements.items())
    ]
    texts = (
        snapshot.report.to_json(),
        text(list(snapshot.report.pages)),
        snapshot.provenance.model_dump_json(indent=1),
        text(vectors),
        text(judged),
    )
    return pack({name: text.encode("utf-8") for name, text in zip(MEMBERS, texts, strict=True)})


def load(data: bytes) -> Snapshot:
    """Read a snapshot file. BadInput says what is wrong with it."""
    file = unpack(data)
    try:
        report = Report.model_validate_json(file.document("report.json"))
        pages = tuple(_pages(file))
        provenance = Provenance.model_validate_json(file.document("trail.json"))
        vectors = map(_Vector.model_validate_json, file.documents("vectors.jsonl"))
        decoded = {v.key: base64.b64decode(v.data, validate=True) for v in vectors}
        judged = map(_Judgement.model_validate_json, file.documents("judgements.jsonl"))
        judgements = {
            j.key: Judgement(j.probabilities, j.sentence, j.signals, j.against) for j in judged
        }
    except ValidationError as error:
        raise _invalid(error) from None
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{type(error).__name__}: {str(error)[:120]}") from None
    if tuple(p.model_copy(update={"text": ""}) for p in pages) != report.pages:
        raise BadFile("pages.jsonl and report.json have different pages")
    snapshot = Snapshot(report.model_copy(update={"pages": pages}), provenance, decoded, judgements)
    _check(snapshot.report, snapshot.provenance)
    _check_outputs(snapshot)
    snapshot.filtered().check(
        "sources", "model"
    )  # those are left out; BadInput for settings that do not exist
    return snapshot


def _pages(file: Unpacked) -> Iterator[Page]:
    """Yield the pages of pages.jsonl. Raises BadInput for a text that does not match its hash, or
    too much text.
    """
    left = TOTAL_LIMIT
    for document in file.documents("pages.jsonl"):
        page = Page.model_validate_json(document)
        left -= sys.getsizeof(page.text)  # one 😀 makes each letter of its text four bytes
        if left < 0:
            raise BadFile(f"the texts of its pages take more than {TOTAL_LIMIT:,} bytes of memory")
        if page.sha256 != hashlib.sha256(page.text.encode("utf-8", "surrogatepass")).hexdigest():
            raise BadFile(f"the text of page {page.id[:16]} does not match its hash")
        yield page


def _check(report: Report, provenance: Provenance) -> None:
    """Check that every offset and id of a run is consistent, its pages being those of `_pages`.
    Raises BadInput.
    """
    if len(report.claims) > CLAIMS:
        raise BadFile(f"{len(report.claims):,} claims; at most {CLAIMS:,} are read")
    texts = {page.id: page.text for page in report.pages}
    claims = {claim.id for claim in report.claims}

    def within(span: Span, text: str) -> bool:
        return 0 <= span[0] <= span[1] <= len(text)

    for page in report.pages:
        if page.id != content_id(page.url, page.sha256):
            raise BadFile(f"the text of page {page.id[:16]} does not match its hash")
        if not page.url.startswith(("https://", "http://", f"{page.kind}:")):
            raise BadFile(f"page {page.id[:16]} has an unsupported URL")
    for claim in report.claims:
        if not all(
            within(span, report.answer) for span in (*claim.spans, *filter(None, [claim.sentence]))
        ):
            raise BadFile(f"claim {claim.id[:16]} points outside the answer")
    for piece in report.evidence:
        text = texts.get(piece.page_id, "")
        if (
            piece.claim_id not in claims
            or not within(piece.sentence, text)
            or not math.isfinite(piece.similarity)
        ):
            raise BadFile(
                f"evidence of claim {piece.claim_id[:16]} has an unknown claim or lies outside its page"
            )
        if (
            not within((piece.start, piece.end), text)
            or text[piece.start : piece.end] != piece.text
        ):
            raise BadFile(f"evidence of claim {piece.claim_id[:16]} differs from its page")
    if not all(v.claim_id in claims and math.isfinite(v.confidence) for v in report.verdicts):
        raise BadFile("a verdict has no claim")
    if not {t.page_id for t in provenance.traces} | provenance.chunks.keys() <= texts.keys():
        raise BadFile("the provenance refers to unknown pages")
    if not all(
        within(span, texts[page]) for page, spans in provenance.chunks.items() for span in spans
    ):
        raise BadFile("a chunk lies outside its page")


def _check_outputs(snapshot: Snapshot) -> None:
    if len({len(v) for v in snapshot.vectors.values()}) > 1 or not all(
        map(_is_vector, snapshot.vectors.values())
    ):
        raise BadFile("its vectors are not finite numbers of one length")
    if not all(
        0 <= j.sentence[0] <= j.sentence[1] <= 100_000 for j in snapshot.judgements.values()
    ):
        raise BadFile("a judgement points outside its passage")


def _is_vector(data: bytes) -> bool:
    import numpy as np

    return len(data) > 0 == len(data) % 4 and bool(np.isfinite(np.frombuffer(data, "<f4")).all())
