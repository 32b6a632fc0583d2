import gzip
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st

from attribution.errors import BadInput
from attribution.pipeline import snapshot
from attribution.pipeline.snapshot import Snapshot, dump, load
from attribution.provenance import Provenance, Trace
from attribution.settings import Settings
from attribution.types import Judgement, Probabilities, Verdict, content_id
from tests.make import claim, evidence, page, report

PAGE = page("Die Nil ist lang.\u2028Zeile zwei 😀.")
CLAIM = claim("The Nile is long.")
LINES = ("header", "report", "provenance", "page", "vector", "judgement")


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
    )
    provenance = Provenance(
        traces=(Trace(CLAIM.id, PAGE.id, "q", "library", 1),),
        chunks={PAGE.id: ((0, 4),)},
        vectors=("a",),
    )
    return Snapshot(made, provenance, {"a": b"\0\0\x80?" * 3}, {"j": judged})


def lines(data: bytes) -> dict[str, str]:
    """The lines of the file of `made`, by what they hold."""
    return dict(zip(LINES, gzip.decompress(data).decode().split("\n")[:-1], strict=True))


def packed(contents: dict[str, str]) -> bytes:
    return gzip.compress("".join(line + "\n" for line in contents.values()).encode())


def forged(name: str, change: Callable[[str], str]) -> bytes:
    """A file with one line changed."""
    contents = lines(dump(made()))
    before = contents[name]
    contents[name] = change(before)
    assert contents[name] != before
    return packed(contents)


def replaced(name: str, old: str, new: str) -> bytes:
    return forged(name, lambda line: line.replace(old, new))


def test_what_goes_out_comes_back_and_the_bytes_do_not_change() -> None:
    data = dump(made())
    assert load(data) == made()
    assert dump(load(data)) == data == dump(made())


def _with_many_claims(report: str) -> str:
    fields = json.loads(report)
    fields["claims"] += [{**fields["claims"][0], "id": str(n)} for n in range(5_000)]
    return json.dumps(fields)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "snapshot file"),
        (b"no gzip at all " * 10, "damaged"),
        (dump(made())[:-40], "damaged"),
        (dump(made()) + b"more", "damaged"),
        (replaced("header", '"version":2', '"version":3'), "export the snapshot again"),
        (forged("header", lambda _: "[]"), "snapshot file"),
        (replaced("page", "lang", "kurz"), "does not match its hash"),
        (forged("page", lambda line: f"{line}\n{line}"), "more pages"),
        (forged("page", lambda _: "{}"), "pages differ"),
        (forged("page", lambda _: "[" * 100_000), "JSON"),
        (replaced("report", '"confidence":0.9', '"confidence":"high"'), "confidence"),
        (replaced("report", '"confidence":0.9', '"confidence":Infinity'), "verdict"),
        (replaced("report", '"end":4', '"end":400'), "outside its page|differs"),
        (replaced("report", '"start":0', '"start":-3'), "outside its page|differs"),
        (replaced("report", '"stopped":false', '"stopped":false,"x":1'), "Report x"),
        (replaced("report", '"top_k":5', '"top_k":5000'), "top_k"),
        (replaced("report", '"top_k":5', '"top_k":5,"no_such":1'), "no_such"),
        (forged("report", _with_many_claims), "5,001 claims; at most 5,000"),
        (replaced("provenance", PAGE.id, "0" * 16), "unknown pages"),
        (replaced("vector", '"data":"', '"data":"*'), "Error"),
        (replaced("vector", "AACAPwAAgD8AAIA/", "AADAfwAAwH8AAMB/"), "finite"),
        (replaced("judgement", "0.5", "7.5"), "less than or equal to 1"),
    ],
)
def test_a_file_that_is_hostile_or_damaged_is_refused_by_name(data: bytes, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        load(data)


def test_an_address_that_is_no_web_page_is_refused() -> None:
    contents = lines(dump(made()))
    address = "javascript:alert(1)"
    changes = {"url": address, "id": content_id(address, PAGE.sha256)}
    report, record = json.loads(contents["report"]), json.loads(contents["page"])
    report["pages"][0] |= changes
    record["page"] |= changes
    contents |= {"report": json.dumps(report), "page": json.dumps(record)}
    with pytest.raises(BadInput, match="unsupported URL"):
        load(packed(contents))


def test_a_bomb_is_unpacked_no_further_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "TOTAL_LIMIT", 1_000_000)
    bomb = forged("page", lambda _: "0" * 50_000_000)
    assert len(bomb) < 100_000
    with pytest.raises(BadInput, match="1,000,000 bytes when unpacked"):
        load(bomb)
    monkeypatch.setattr(snapshot, "FILE_LIMIT", 1000)
    with pytest.raises(BadInput, match="the limit is 1,000"):
        load(bomb)


def test_what_could_not_be_read_again_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "LINE_LIMIT", 100)
    with pytest.raises(BadInput, match="too large for a snapshot file: line 2 has more than"):
        dump(made())


def test_letters_of_four_bytes_count_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.loads(lines(dump(made()))["page"])["page"]["text"]
    monkeypatch.setattr(snapshot, "TOTAL_LIMIT", 10_000)
    with pytest.raises(BadInput, match="does not match its hash"):
        load(replaced("page", text, "a" * 5_000))
    with pytest.raises(BadInput, match="10,000 bytes"):
        load(replaced("page", text, "a" * 5_000 + "😀"))


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
