"""Snapshot files: a ZIP of JSON and JSON Lines, the same bytes for the same run. Reading one trusts nothing in it."""

from __future__ import annotations

import base64
import hashlib
import io
import math
import zipfile
import zlib

from pydantic import ValidationError

from attribution.errors import BadInput
from attribution.provenance import Provenance
from attribution.snapshots.snapshot import Snapshot
from attribution.types import Frozen, Judgement, Page, Probabilities, Report, Span, content_id

FORMAT, VERSION = "attribution-snapshot", 1
MANIFEST = "manifest.json"
MEMBERS = ("report.json", "pages.jsonl", "trail.json", "vectors.jsonl", "judgements.jsonl")
FILE_LIMIT, TOTAL_LIMIT = 100_000_000, 400_000_000  # bytes, packed and unpacked
_EPOCH = (1980, 1, 1, 0, 0, 0)
_END, _END_64, _END_SIZE = b"PK\x05\x06", b"PK\x06\x07", 22


class _Manifest(Frozen):
    format: str
    version: int
    sha256: dict[str, str]  # of each member


class _Vector(Frozen):
    key: str
    data: str  # base64 of little-endian float32


class _Judgement(Frozen):
    key: str
    probabilities: Probabilities
    sentence: Span
    signals: dict[str, float]


def dump(snapshot: Snapshot) -> bytes:
    """The content of a snapshot file."""

    def lines(rows: list[Frozen]) -> str:
        return "".join(row.model_dump_json() + "\n" for row in rows)

    vectors: list[Frozen] = [
        _Vector(key=key, data=base64.b64encode(data).decode()) for key, data in sorted(snapshot.vectors.items())
    ]
    judged: list[Frozen] = [
        _Judgement(key=key, probabilities=j.probabilities, sentence=j.sentence, signals=j.signals)
        for key, j in sorted(snapshot.judgements.items())
    ]
    texts = (
        snapshot.report.to_json(),
        lines(list(snapshot.report.pages)),
        snapshot.provenance.model_dump_json(indent=1),
        lines(vectors),
        lines(judged),
    )
    contents = {name: text.encode("utf-8") for name, text in zip(MEMBERS, texts, strict=True)}
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    manifest = _Manifest(format=FORMAT, version=VERSION, sha256=hashes).model_dump_json(indent=1).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in {MANIFEST: manifest, **contents}.items():
            info = zipfile.ZipInfo(name, _EPOCH)
            info.create_system, info.external_attr = 3, 0o644 << 16  # the same on every system
            archive.writestr(info, content, zipfile.ZIP_DEFLATED, 6)
    return packed.getvalue()


def load(data: bytes) -> Snapshot:
    """Read a snapshot file. BadInput says what is wrong with it."""
    contents = _members(data)
    try:
        report = Report.model_validate_json(contents["report.json"])
        pages = tuple(Page.model_validate_json(line) for line in _lines(contents["pages.jsonl"]))
        provenance = Provenance.model_validate_json(contents["trail.json"])
        vectors = [_Vector.model_validate_json(line) for line in _lines(contents["vectors.jsonl"])]
        judged = [_Judgement.model_validate_json(line) for line in _lines(contents["judgements.jsonl"])]
        decoded = {v.key: base64.b64decode(v.data, validate=True) for v in vectors}
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "line"
        raise _bad(f"{error.title} {where[:80]}: {first['msg'][:120]}") from None
    except (ValueError, RecursionError) as error:
        raise _bad(f"{type(error).__name__}: {str(error)[:120]}") from None
    if tuple(p.model_copy(update={"text": ""}) for p in pages) != report.pages:
        raise _bad("pages.jsonl and report.json have different pages")
    snapshot = Snapshot(
        report.model_copy(update={"pages": pages}),
        provenance,
        decoded,
        {j.key: Judgement(j.probabilities, j.sentence, j.signals) for j in judged},
    )
    _check(snapshot)
    snapshot.settings()  # BadInput for unknown settings
    return snapshot


def _bad(problem: str) -> BadInput:
    return BadInput(f"not a usable snapshot file ({problem}): export it again with `snapshot export`")


def _members(data: bytes) -> dict[str, bytes]:
    """The members, each unpacked up to the limit only and checked against its hash."""
    if len(data) > FILE_LIMIT:
        raise _bad(f"{len(data):,} bytes; the limit is {FILE_LIMIT:,}")
    # Checked before zipfile reads the directory: millions of entries would fill the memory.
    end = data[-_END_SIZE:]
    if not end.startswith(_END) or data[-_END_SIZE - 20 : -_END_SIZE].startswith(_END_64):
        raise _bad("not a plain ZIP file")
    if int.from_bytes(end[10:12], "little") != len(MEMBERS) + 1 or int.from_bytes(end[12:16], "little") > 2000:
        raise _bad("it does not have the members of a snapshot")
    contents: dict[str, bytes] = {}
    budget = TOTAL_LIMIT
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if [info.filename for info in archive.infolist()] != [MANIFEST, *MEMBERS]:
                raise _bad("it does not have the members of a snapshot")
            for info in archive.infolist():
                if info.compress_type not in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED) or info.flag_bits & 1:
                    raise _bad(f"{info.filename} is encrypted or uses an unknown compression")
                with archive.open(info) as member:
                    contents[info.filename] = member.read(budget + 1)
                budget -= len(contents[info.filename])
                if budget < 0:
                    raise _bad(f"more than {TOTAL_LIMIT:,} bytes when unpacked")
        manifest = _Manifest.model_validate_json(contents.pop(MANIFEST))
    except ValidationError:  # a ValueError, too
        raise _bad(f"{MANIFEST} is not valid") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError) as error:
        raise _bad(f"damaged: {error}") from None
    if (manifest.format, manifest.version) != (FORMAT, VERSION):
        raise BadInput(
            f"the file has format {manifest.format[:40]!r}, version {manifest.version}; this explorer reads "
            f"{FORMAT!r}, version {VERSION}: update the explorer, or export the run again"
        )
    for name, content in contents.items():
        if hashlib.sha256(content).hexdigest() != manifest.sha256.get(name):
            raise _bad(f"{name} does not match its hash in the manifest: it was damaged or changed")
    return contents


def _lines(content: bytes) -> list[bytes]:
    return [line for line in content.split(b"\n") if line]


def _check(snapshot: Snapshot) -> None:
    """Check that every offset, id and hash is consistent."""
    report, provenance = snapshot.report, snapshot.provenance
    texts = {page.id: page.text for page in report.pages}
    claims = {claim.id for claim in report.claims}

    def within(span: Span, text: str) -> bool:
        return 0 <= span[0] <= span[1] <= len(text)

    for page in report.pages:
        sha256 = hashlib.sha256(page.text.encode("utf-8", "surrogatepass")).hexdigest()
        if page.sha256 != sha256 or page.id != content_id(page.url, sha256):
            raise _bad(f"the text of page {page.id[:16]} does not match its hash")
        if not page.url.startswith(("https://", "http://", f"{page.kind}:")):
            raise _bad(f"page {page.id[:16]} has an unsupported URL")
    for claim in report.claims:
        if not all(within(span, report.answer) for span in (*claim.spans, *filter(None, [claim.sentence]))):
            raise _bad(f"claim {claim.id[:16]} points outside the answer")
    for piece in report.evidence:
        text = texts.get(piece.page_id, "")
        if piece.claim_id not in claims or not within(piece.sentence, text) or not math.isfinite(piece.similarity):
            raise _bad(f"evidence of claim {piece.claim_id[:16]} refers to an unknown claim or lies outside its page")
        if not within((piece.start, piece.end), text) or text[piece.start : piece.end] != piece.text:
            raise _bad(f"evidence of claim {piece.claim_id[:16]} differs from its page")
    if not all(v.claim_id in claims and math.isfinite(v.confidence) for v in report.verdicts):
        raise _bad("a verdict has no claim")
    if not {t.page_id for t in provenance.traces} | provenance.chunks.keys() <= texts.keys():
        raise _bad("the provenance refers to unknown pages")
    if not all(within(span, texts[page]) for page, spans in provenance.chunks.items() for span in spans):
        raise _bad("a chunk lies outside its page")
    if len({len(v) for v in snapshot.vectors.values()}) > 1 or not all(map(_is_vector, snapshot.vectors.values())):
        raise _bad("its vectors are not finite numbers of one length")
    if not all(0 <= j.sentence[0] <= j.sentence[1] <= 100_000 for j in snapshot.judgements.values()):
        raise _bad("a judgement points outside its passage")


def _is_vector(data: bytes) -> bool:
    import numpy as np

    return len(data) > 0 == len(data) % 4 and bool(np.isfinite(np.frombuffer(data, "<f4")).all())
