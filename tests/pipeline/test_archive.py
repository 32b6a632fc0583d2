"""All runs in one file: everything comes back, and nothing hostile or damaged changes anything."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator

import pytest

from attribution.errors import BadInput
from attribution.pipeline import archive
from attribution.pipeline.archive import export_history, import_history
from attribution.pipeline.snapshot import MANIFEST
from attribution.provenance import Provenance, Trace
from attribution.settings import Settings
from attribution.store.history import HistoryQuery
from attribution.store.store import Store
from attribution.types import AnalystVerdict, Report, Verdict
from tests.make import claim, evidence, page, save_version
from tests.pages.hostile import TEXTS
from tests.pipeline.test_snapshot_file import members, packed

PAGE, CLAIM = page("The Nile is long. \u2028 Line two 😀."), claim("The Nile is long.")
FIRST, SECOND, GOING = "0" * 16, "1" * 16, "2" * 16


def made(run_id: str, title: str = "") -> Report:
    piece = evidence(CLAIM, 0.9, 0.05, "entailed").model_copy(
        update={"page_id": PAGE.id, "text": PAGE.text[0:4], "sentence": (0, 17)}
    )
    return Report(
        id=run_id, created_at="2026-11-01T10:00:00+00:00", question=f"How long? {title}", answer=CLAIM.text,
        settings=Settings().public(), versions={"verifier": "v"}, claims=(CLAIM,), pages=(PAGE,), evidence=(piece,),
        verdicts=(Verdict(claim_id=CLAIM.id, label="supported", confidence=0.9, reason="because"),),
    )  # fmt: skip


@pytest.fixture
def full(store: Store) -> Store:
    """Two runs, the first with two versions, and one that did not finish."""
    store = Store(store.database, "mine")
    provenance = Provenance(traces=(Trace(CLAIM.id, PAGE.id, "q", "library", 1),), chunks={PAGE.id: ((0, 4),)})
    for run_id, title in ((FIRST, TEXTS[0]), (SECOND, "second")):
        store.runs.save(made(run_id, title), provenance)
        store.history.describe(run_id, title, ["a", TEXTS[1]], "\n".join(TEXTS))
    save_version(store, made(FIRST, "reworded"), CLAIM.id)
    store.runs.set_private(FIRST)
    store.runs.start(GOING, "q", CLAIM.text, {}, "2026-11-02T10:00:00+00:00")
    store.runs.save_unfinished(made(GOING), [PAGE])
    return store


@pytest.fixture
def elsewhere(tmp_path: object) -> Iterator[Store]:
    store = Store.open(f"sqlite:///{tmp_path}/elsewhere.sqlite3", by="yours")
    yield store
    store.close()


def rows(store: Store) -> list[tuple[object, ...]]:
    return [tuple(row) for row in store.history.find(HistoryQuery(order="oldest")).rows]


def test_the_analyst_s_verdicts_come_back_and_those_on_other_claims_are_refused(store: Store, elsewhere: Store) -> None:
    own = AnalystVerdict(
        claim_id=CLAIM.id, statement=CLAIM.text, label="unclear", badge="supported", note=TEXTS[0], at="2026-11-02"
    )
    report = made(FIRST).model_copy(update={"judgements": (own,)})
    store.runs.save(report)
    data = export_history(store)
    assert import_history(elsewhere, data).ids == (FIRST,) and import_history(elsewhere, data).known == 1
    loaded = elsewhere.runs.load(FIRST)
    assert loaded is not None and loaded.judgements == (own,)
    for bad in ({"claim_id": "c9"}, {"label": "right"}, {"note": "x" * 2001}):
        file = forged(data, lambda run, bad=bad: run["versions"][0]["report"]["judgements"][0].update(bad))
        with pytest.raises(BadInput, match="versions.0.report"):
            import_history(elsewhere, file)


def test_everything_comes_back_on_another_machine(full: Store, elsewhere: Store) -> None:
    data = export_history(full)
    assert import_history(elsewhere, data) == ((FIRST, SECOND, GOING), 0)
    for run_id in (FIRST, SECOND):
        assert elsewhere.runs.load(run_id) == full.runs.load(run_id)
        assert elsewhere.runs.provenance(run_id) == full.runs.provenance(run_id)
        assert elsewhere.runs.versions(run_id) == full.runs.versions(run_id)
    assert rows(elsewhere)[:2] == rows(full)[:2]
    assert elsewhere.rights.access(FIRST) == (True, True, False)
    assert not Store(elsewhere.database).rights.access(FIRST).own
    stopped = elsewhere.runs.load(GOING)
    assert stopped is not None and stopped.stopped and stopped.verdicts == made(GOING).verdicts
    assert elsewhere.cache.page(PAGE.url) is None  # it never serves as a download
    assert export_history(elsewhere, [FIRST, SECOND]) == export_history(full, [FIRST, SECOND])
    assert elsewhere.runs.undo(FIRST) == made(FIRST, TEXTS[0])
    for run_id in (FIRST, SECOND, GOING):  # with nothing left behind
        elsewhere.runs.delete(run_id)
    assert not elsewhere.database.rows(archive.t.frozen_pages, [PAGE.id])


def test_what_is_there_already_stays_and_is_restored(full: Store) -> None:
    data, before = export_history(full, [FIRST, SECOND]), rows(full)
    full.history.put_aside([FIRST])
    assert import_history(full, data) == ((), 2)
    assert rows(full) == before
    others = Store(full.database, "another browser's")
    copies = import_history(others, data).ids
    assert len(copies) == 2 and not {FIRST, SECOND} & set(copies)
    loaded = others.runs.load(copies[0])
    assert loaded is not None and loaded.id == copies[0] and rows(full) == before
    assert full.runs.load(copies[0]) is None  # it is private there too


def test_only_own_runs_are_exported(full: Store) -> None:
    for other in ("another browser's", ""):
        assert members(export_history(Store(full.database, other)))["runs.jsonl"] == b""
    full.history.put_aside([SECOND])
    assert SECOND.encode() not in members(export_history(full))["runs.jsonl"]


def forged(data: bytes, change: Callable[[dict[str, object]], object], member: str = "runs.jsonl") -> bytes:
    """The file with its last line changed, and hashes that fit."""
    contents = members(data)
    *others, last = contents[member].splitlines(keepends=True)
    row = json.loads(last)
    change(row)
    contents[member] = b"".join(others) + json.dumps(row).encode()
    manifest = json.loads(contents[MANIFEST])
    manifest["sha256"][member] = hashlib.sha256(contents[member]).hexdigest()
    contents[MANIFEST] = json.dumps(manifest).encode()
    return packed(contents)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda run: run.update(id="../../etc"), "ArchivedRun id"),
        (lambda run: run.update(id=FIRST), "occurs twice"),
        (lambda run: run.update(created_at="yesterday"), "created_at"),
        (lambda run: run.update(owner="me"), "owner"),
        (lambda run: run.update(shown=7), "not numbered in order"),
        (lambda run: run.update(title="x" * 300), "title has 300 characters"),
        (lambda run: run.update(tags=["x" * 300]), "a tag can have"),
        (lambda run: run["versions"].append(run["versions"][0]), "not numbered in order"),
        (lambda run: run["versions"][0].update(parent=1), "from one that is not there"),
        (lambda run: run["versions"][0].update(more={"evil": "x"}), "fields of another version"),
        (lambda run: run["versions"][0]["report"].update(answer=""), "points outside the answer"),
        (lambda run: run["versions"][0]["report"]["pages"][0].update(url="javascript:x"), "does not match its hash"),
        (lambda run: run["versions"][0]["report"]["evidence"][0].update(text="forged"), "differs from its page"),
        (lambda run: run["versions"][0]["report"]["verdicts"][0].update(claim_id="x"), "a verdict has no claim"),
    ],
)  # fmt: skip
def test_a_forged_file_changes_nothing(
    full: Store, elsewhere: Store, change: Callable[[dict[str, object]], object], message: str
) -> None:
    bad = forged(export_history(full, [FIRST, SECOND]), change)
    with pytest.raises(BadInput, match=message):
        import_history(elsewhere, bad)
    assert rows(elsewhere) == [] and not elsewhere.database.rows(archive.t.frozen_pages, [PAGE.id])


def test_a_damaged_file_changes_nothing(full: Store, elsewhere: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    data = export_history(full)
    torn = forged(data, lambda page: page.update(text="Another text."), "pages.jsonl")
    for bad, message in (
        (b"", "not a plain ZIP file"),
        (data[:-30], "not a plain ZIP file"),
        (packed({**members(data), "runs.jsonl": b"{}"}), "damaged or changed"),
        (packed({**members(data), "more": b"{}"}), "the members of a history"),
        (torn, "the text of page .* does not match its hash"),
    ):
        with pytest.raises(BadInput, match=message):
            import_history(elsewhere, bad)
    monkeypatch.setattr(archive.runs, "write_summary", lambda *_: 1 / 0)  # a failure half way
    with pytest.raises(ZeroDivisionError):
        import_history(elsewhere, data)
    assert rows(elsewhere) == [] and not elsewhere.database.rows(archive.t.frozen_pages, [PAGE.id])


def test_a_file_does_not_say_where_texts_are_sent(full: Store, elsewhere: Store) -> None:
    def change(run: dict[str, object]) -> None:
        run["settings"]["openai_base_url"] = "https://evil.example"  # type: ignore[index]
        run["versions"][0]["report"]["settings"]["library"] = "/etc"  # type: ignore[index]

    import_history(elsewhere, forged(export_history(full, [SECOND]), change))
    loaded, inputs = elsewhere.runs.load(SECOND), elsewhere.runs.inputs(SECOND)
    assert loaded is not None and inputs is not None
    assert "library" not in loaded.settings and "openai_base_url" not in inputs.settings
