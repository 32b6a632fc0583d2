"""Snapshot files: one run, its pages, and what its models returned. Reading one trusts nothing in it."""

from __future__ import annotations

import base64
import hashlib
import math
import sys
from collections.abc import Callable, Iterator

from pydantic import ValidationError

from attribution.errors import BadInput
from attribution.provenance import Provenance
from attribution.snapshots.package import TOTAL_LIMIT, Format, Unpacked, invalid, pack, unpack
from attribution.snapshots.snapshot import Snapshot
from attribution.types import Frozen, Judgement, Page, Probabilities, Report, Span, content_id

MEMBERS = ("report.json", "pages.jsonl", "trail.json", "vectors.jsonl", "judgements.jsonl")
SNAPSHOT = Format("attribution-snapshot", 1, MEMBERS, "snapshot", "export it again with `snapshot export`")


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
    """The content of a snapshot file."""

    def text(rows: list[Frozen]) -> str:
        return "".join(row.model_dump_json() + "\n" for row in rows)

    vectors: list[Frozen] = [
        _Vector(key=key, data=base64.b64encode(data).decode()) for key, data in sorted(snapshot.vectors.items())
    ]
    judged: list[Frozen] = [
        _Judgement(key=key, probabilities=j.probabilities, sentence=j.sentence, signals=j.signals, against=j.against)
        for key, j in sorted(snapshot.judgements.items())
    ]
    texts = (
        snapshot.report.to_json(),
        text(list(snapshot.report.pages)),
        snapshot.provenance.model_dump_json(indent=1),
        text(vectors),
        text(judged),
    )
    return pack(SNAPSHOT, {name: text.encode("utf-8") for name, text in zip(MEMBERS, texts, strict=True)})


def load(data: bytes) -> Snapshot:
    """Read a snapshot file. BadInput says what is wrong with it."""
    file = unpack(SNAPSHOT, data)
    try:
        report = Report.model_validate_json(file.document("report.json"))
        pages = tuple(read_pages(SNAPSHOT, file))
        provenance = Provenance.model_validate_json(file.document("trail.json"))
        vectors = map(_Vector.model_validate_json, file.documents("vectors.jsonl"))
        decoded = {v.key: base64.b64decode(v.data, validate=True) for v in vectors}
        judged = map(_Judgement.model_validate_json, file.documents("judgements.jsonl"))
        judgements = {j.key: Judgement(j.probabilities, j.sentence, j.signals, j.against) for j in judged}
    except ValidationError as error:
        raise invalid(SNAPSHOT, error) from None
    except (ValueError, RecursionError) as error:
        raise SNAPSHOT.bad(f"{type(error).__name__}: {str(error)[:120]}") from None
    if tuple(p.model_copy(update={"text": ""}) for p in pages) != report.pages:
        raise SNAPSHOT.bad("pages.jsonl and report.json have different pages")
    snapshot = Snapshot(
        report.model_copy(update={"pages": pages}),
        provenance,
        decoded,
        judgements,
    )
    check(snapshot.report, snapshot.provenance)
    _check_outputs(snapshot)
    snapshot.sifted().check("sources", "model")  # those are left out; BadInput for settings that there are not
    return snapshot


def read_pages(kind: Format, file: Unpacked) -> Iterator[Page]:
    """The pages of pages.jsonl, each with the text that its hash names. BadInput where they take too much memory."""
    left = TOTAL_LIMIT
    for document in file.documents("pages.jsonl"):
        page = Page.model_validate_json(document)
        left -= sys.getsizeof(page.text)  # one 😀 makes each letter of its text four bytes
        if left < 0:
            raise kind.bad(f"the texts of its pages take more than {TOTAL_LIMIT:,} bytes of memory")
        if page.sha256 != hashlib.sha256(page.text.encode("utf-8", "surrogatepass")).hexdigest():
            raise kind.bad(f"the text of page {page.id[:16]} does not match its hash")
        yield page


def check(report: Report, provenance: Provenance, bad: Callable[[str], BadInput] = SNAPSHOT.bad) -> None:
    """Check that every offset and id of a run is consistent, its pages being those of `read_pages`.

    Raises what `bad` makes of a problem.
    """
    texts = {page.id: page.text for page in report.pages}
    claims = {claim.id for claim in report.claims}

    def within(span: Span, text: str) -> bool:
        return 0 <= span[0] <= span[1] <= len(text)

    for page in report.pages:
        if page.id != content_id(page.url, page.sha256):
            raise bad(f"the text of page {page.id[:16]} does not match its hash")
        if not page.url.startswith(("https://", "http://", f"{page.kind}:")):
            raise bad(f"page {page.id[:16]} has an unsupported URL")
    for claim in report.claims:
        if not all(within(span, report.answer) for span in (*claim.spans, *filter(None, [claim.sentence]))):
            raise bad(f"claim {claim.id[:16]} points outside the answer")
    for piece in report.evidence:
        text = texts.get(piece.page_id, "")
        if piece.claim_id not in claims or not within(piece.sentence, text) or not math.isfinite(piece.similarity):
            raise bad(f"evidence of claim {piece.claim_id[:16]} refers to an unknown claim or lies outside its page")
        if not within((piece.start, piece.end), text) or text[piece.start : piece.end] != piece.text:
            raise bad(f"evidence of claim {piece.claim_id[:16]} differs from its page")
    if not all(v.claim_id in claims and math.isfinite(v.confidence) for v in report.verdicts):
        raise bad("a verdict has no claim")
    if not {t.page_id for t in provenance.traces} | provenance.chunks.keys() <= texts.keys():
        raise bad("the provenance refers to unknown pages")
    if not all(within(span, texts[page]) for page, spans in provenance.chunks.items() for span in spans):
        raise bad("a chunk lies outside its page")


def _check_outputs(snapshot: Snapshot) -> None:
    if len({len(v) for v in snapshot.vectors.values()}) > 1 or not all(map(_is_vector, snapshot.vectors.values())):
        raise SNAPSHOT.bad("its vectors are not finite numbers of one length")
    if not all(0 <= j.sentence[0] <= j.sentence[1] <= 100_000 for j in snapshot.judgements.values()):
        raise SNAPSHOT.bad("a judgement points outside its passage")


def _is_vector(data: bytes) -> bool:
    import numpy as np

    return len(data) > 0 == len(data) % 4 and bool(np.isfinite(np.frombuffer(data, "<f4")).all())
