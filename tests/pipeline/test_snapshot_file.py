import hashlib
import io
import json
import zipfile
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st

from attribution.errors import BadInput
from attribution.pipeline import snapshot
from attribution.pipeline.snapshot import MANIFEST, MEMBERS, Snapshot, dump, load
from attribution.provenance import Provenance, Trace
from attribution.settings import Settings
from attribution.types import Judgement, Probabilities, Verdict, content_id
from tests.make import claim, evidence, page, report

PAGE = page("Die Nil ist lang.\u2028Zeile zwei 😀.")
CLAIM = claim("The Nile is long.")


def made() -> Snapshot:
    piece = evidence(
        CLAIM, 0.9, 0.05, "entailed", page_id=PAGE.id, text=PAGE.text[0:4], sentence=(0, 17)
    )
    made = report(
        CLAIM.text,
        question="Wie lang? \u2028",
        settings=Settings().public(),
        versions={"verifier": "v"},
        claims=(CLAIM,),
        pages=(PAGE,),
        evidence=(piece,),
        verdicts=(Verdict(claim_id=CLAIM.id, label="supported", confidence=0.9, reason="because"),),
    )
    judged = Judgement(
        Probabilities(entailed=0.5, contradicted=0.25, no_relation=0.25),
        (0, 4),
        {"words": 0.1},
        0.2,
    )
    provenance = Provenance(
        traces=(Trace(CLAIM.id, PAGE.id, "q", "library", 1),),
        chunks={PAGE.id: ((0, 4),)},
        vectors=("a",),
    )
    return Snapshot(made, provenance, {"a": b"\0\0\x80?" * 3}, {"j": judged})


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(contents: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return out.getvalue()


def forged(name: str, change: Callable[[str], str]) -> bytes:
    """A file with one member changed, and hashes that fit it."""
    contents = members(dump(made()))
    before = contents[name].decode()
    contents[name] = change(before).encode()
    assert contents[name].decode() != before
    manifest = json.loads(contents[MANIFEST])
    if name != MANIFEST:
        manifest["sha256"][name] = hashlib.sha256(contents[name]).hexdigest()
        contents[MANIFEST] = json.dumps(manifest).encode()
    return packed(contents)


def test_what_goes_out_comes_back_and_the_bytes_do_not_change() -> None:
    data = dump(made())
    assert load(data) == made()
    assert dump(load(data)) == data == dump(made())
    assert [i.date_time for i in zipfile.ZipFile(io.BytesIO(data)).infolist()] == [
        (1980, 1, 1, 0, 0, 0)
    ] * 6


def _with_many_claims(report: str) -> str:
    fields = json.loads(report)
    fields["claims"] += [{**fields["claims"][0], "id": str(n)} for n in range(5_000)]
    return json.dumps(fields)


def renamed(old: str, new: str) -> bytes:
    return packed(
        {new if name == old else name: content for name, content in members(dump(made())).items()}
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a plain ZIP"),
        (b"no zip at all " * 10, "not a plain ZIP"),
        (dump(made())[:-40], "not a plain ZIP"),
        (renamed("pages.jsonl", "../../pages.jsonl"), "members of a snapshot"),
        (renamed("pages.jsonl", "/etc/passwd"), "members of a snapshot"),
        (renamed("pages.jsonl", "report.json\\x"), "members of a snapshot"),
        (packed(members(dump(made())) | {"more.txt": b"x"}), "members of a snapshot"),
        (packed({f"{i}": b"" for i in range(5000)}), "members of a snapshot"),
        (packed({MANIFEST: b"{}"}), "members of a snapshot"),
        (packed(members(dump(made())), zipfile.ZIP_BZIP2), "unknown compression"),
        (packed(members(dump(made())) | {"pages.jsonl": b"{}"}), "damaged or changed"),
        (
            forged(
                MANIFEST,
                lambda s: s.replace('"version":1', '"version":2').replace(
                    '"version": 1', '"version": 2'
                ),
            ),
            "update the explorer",
        ),
        (forged(MANIFEST, lambda s: "[]"), "manifest.json is not valid"),
        (forged("pages.jsonl", lambda s: s.replace("lang", "kurz")), "does not match its hash"),
        (forged("pages.jsonl", lambda s: s * 2), "different pages"),
        (forged("pages.jsonl", lambda s: "[" * 100_000), "JSON"),
        (
            forged("report.json", lambda s: s.replace('"confidence": 0.9', '"confidence": "high"')),
            "confidence",
        ),
        (
            forged(
                "report.json", lambda s: s.replace('"confidence": 0.9', '"confidence": Infinity')
            ),
            "verdict",
        ),
        (
            forged("report.json", lambda s: s.replace('"end": 4', '"end": 400')),
            "outside its page|differs",
        ),
        (
            forged("report.json", lambda s: s.replace('"start": 0', '"start": -3')),
            "outside its page|differs",
        ),
        (
            forged(
                "report.json", lambda s: s.replace('"stopped": false', '"stopped": false, "x": 1')
            ),
            "Report x",
        ),
        (forged("report.json", lambda s: s.replace('"top_k": 5', '"top_k": 5000')), "top_k"),
        (
            forged("report.json", lambda s: s.replace('"top_k": 5', '"top_k": 5, "no_such": 1')),
            "no_such",
        ),
        (forged("report.json", _with_many_claims), "5,001 claims; at most 5,000"),
        (forged("trail.json", lambda s: s.replace(PAGE.id, "0" * 16)), "unknown pages"),
        (forged("vectors.jsonl", lambda s: s.replace('"data":"', '"data":"*')), "Error"),
        (
            forged("vectors.jsonl", lambda s: s.replace("AACAPwAAgD8AAIA/", "AADAfwAAwH8AAMB/")),
            "finite",
        ),
        (forged("judgements.jsonl", lambda s: s.replace("0.5", "7.5")), "less than or equal to 1"),
    ],
)
def test_a_file_that_is_hostile_or_damaged_is_refused_by_name(data: bytes, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        load(data)


def test_an_address_that_is_no_web_page_is_refused() -> None:
    text = members(dump(made()))["pages.jsonl"].decode()
    bad = "javascript:alert(1)"
    row = json.loads(text) | {"url": bad, "id": content_id(bad, PAGE.sha256)}
    contents = members(dump(made()))
    report = json.loads(contents["report.json"])
    report["pages"][0] |= {"url": bad, "id": row["id"]}
    contents["report.json"] = json.dumps(report).encode()
    contents["pages.jsonl"] = json.dumps(row).encode()
    manifest = json.loads(contents[MANIFEST])
    manifest["sha256"] = {name: hashlib.sha256(contents[name]).hexdigest() for name in MEMBERS}
    contents[MANIFEST] = json.dumps(manifest).encode()
    with pytest.raises(BadInput, match="unsupported URL"):
        load(packed(contents))


def test_a_bomb_is_unpacked_no_further_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "TOTAL_LIMIT", 1_000_000)
    bomb = packed(members(dump(made())) | {"pages.jsonl": b"0" * 50_000_000})
    assert len(bomb) < 100_000
    with pytest.raises(BadInput, match="1,000,000 bytes when unpacked"):
        load(bomb)
    monkeypatch.setattr(snapshot, "FILE_LIMIT", 1000)
    with pytest.raises(BadInput, match="the limit is 1,000"):
        load(bomb)


def test_a_directory_that_points_before_the_file_is_damage() -> None:
    data = bytearray(dump(made()))
    offset = int.from_bytes(
        data[-6:-2], "little"
    )  # of the directory, in the record that ends the archive
    data[-6:-2] = (offset + 65_536).to_bytes(4, "little")
    with pytest.raises(BadInput, match="damaged"):
        load(bytes(data))


@given(st.integers(0, 5000), st.binary(min_size=1, max_size=8))
@budget(max_examples=60)
def test_any_damage_is_a_refusal_or_does_no_harm(place: int, noise: bytes) -> None:
    data = dump(made())
    at = place % len(data)
    broken = data[:at] + noise + data[at + len(noise) :]
    try:
        loaded = load(broken)
    except BadInput:
        return
    assert loaded == made()  # only bytes that carry nothing were hit
