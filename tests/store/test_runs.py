from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import sqlalchemy as sa

from attribution.settings import Settings
from attribution.store import database
from attribution.store.database import now
from attribution.store.runs import Outdated, new_run_id
from attribution.store.store import Store
from attribution.types import Document, Judgement, Page, Probabilities, Report
from tests import make
from tests.make import claim, page, save_run, save_version


def report(run_id: str = "r1", *pages: Page) -> Report:
    return make.report("a", id=run_id, created_at=now(), claims=(claim(),), pages=pages)


def test_a_run_can_be_opened_from_its_start_also_with_null_characters(store: Store) -> None:
    started = report().model_copy(update={"question": "q\0", "answer": "an\0swer"})
    store.runs.start(started)
    assert store.runs.load("r1", unfinished=True) == started
    assert store.runs.load("r1") is None
    store.runs.finish(started)
    assert store.runs.load("r1", unfinished=True) is None
    assert store.runs.load("r1") == started


def test_starting_again_keeps_what_is_known(store: Store) -> None:
    known = report("r1", page("A page with a text."))
    store.runs.start(report())
    store.runs.save_unfinished(known, known.pages)
    store.runs.start(report())
    assert store.runs.load("r1", unfinished=True) == known
    store.runs.finish(known)
    store.runs.save_unfinished(report())  # too late
    assert store.runs.load("r1") == known


def test_documents_are_kept_for_their_owner_until_the_run_is_finished(store: Store) -> None:
    note = Document("a.txt", b"\x00\xff", "text/plain")
    store.runs.start(report())
    store.runs.save_documents("r1", [note, note])
    assert store.runs.documents("r1") == (note, note)
    assert Store(store.database, "another").runs.documents("r1") == ()
    store.runs.finish(report())
    assert store.runs.documents("r1") == ()


def reworded(saved: Report, text: str) -> Report:
    first = saved.claims[0].model_copy(update={"text": text})
    return saved.model_copy(update={"claims": (first,)})


def test_versions_saved_at_once_all_stay(store: Store) -> None:
    saved = report()
    save_run(store, saved)

    def save(number: int) -> None:
        version = reworded(saved, f"{number}")
        while True:
            with suppress(Outdated):  # another thread was faster
                return save_version(store, version, version.claims[0].id)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(save, range(8)))
    assert store.runs.shown_version("r1") == 9
    store.runs.finish(saved)  # by another server that worked on it, too
    assert store.runs.shown_version("r1") == 9


def finished(settings: Settings, run_id: str, own: str) -> Report:
    """A run with a page, vector, judgement, search and reply of its own and one that both use."""
    store = Store.open(settings.database_url)
    judgement = Judgement(Probabilities(entailed=1, contradicted=0, no_relation=0))
    for name in (own, "both"):
        store.cache.put("vector", {name: b"1234"})
        store.cache.put("judgement", {name: judgement})
        store.cache.put("reply", {name: "a reply"})
        store.cache.put("search", {name: []})
    names = (own, "both")
    pages = [
        page(f"Text of {name}", f"https://x.example/{name}", fetched_at=now()) for name in names
    ]
    made = report(run_id, *pages)
    save_run(store, made)
    return made


def test_a_deleted_run_takes_along_what_no_other_needs(settings: Settings) -> None:
    first = finished(settings, "r1", "one")
    second = finished(settings, "r2", "two")
    store = Store.open(settings.database_url)
    save_version(store, reworded(first, "other words"), first.claims[0].id)
    store.runs.delete("r1")
    assert store.runs.load("r1") is None
    assert store.runs.load("r2") == second
    names, cache = ["one", "two", "both"], store.cache
    for kind in ("vector", "judgement", "reply", "search"):
        assert set(cache.values(kind, names)) == {"two", "both"}
    stored = [name for name in names if cache.page(f"https://x.example/{name}", 1)]
    assert stored == ["two", "both"]
    store.runs.delete("r2")
    for table in set(database.metadata.tables.values()) - {database.revision}:
        assert store.database.scalar(sa.select(sa.func.count()).select_from(table)) == 0, table


def test_documents_that_a_copy_hides_are_not_shown_by_sharing_it(store: Store) -> None:
    mine, reader = Store(store.database, "mine"), Store(store.database, "reader's")
    save_run(mine, report("r1", page("A secret.", url="document:own.txt", kind="document")))
    copied = reader.runs.copy("r1")
    reader.runs.share_documents(copied, shared=True)
    texts = {run_id: text_of(reader, run_id) for run_id in (copied, "r1")}
    assert texts == {copied: "", "r1": ""}
    mine.runs.share_documents("r1", shared=True)
    assert text_of(reader, "r1") == "A secret."


def test_a_copy_needs_what_its_run_used(store: Store) -> None:
    save_run(store, report("r1", page("A text.")))
    again = Store(store.database).runs.copy("r1")
    copied = store.runs.copy("r1")
    store.runs.delete("r1")
    store.runs.delete(copied)
    assert text_of(store, again) == "A text."


def text_of(store: Store, run_id: str) -> str:
    """The text of a run's first page."""
    loaded = store.runs.load(run_id)
    assert loaded is not None
    return loaded.pages[0].text


def test_results_are_found_by_kind_and_id(store: Store) -> None:
    one, two, text = new_run_id(), new_run_id(), page("A text.")
    store.results.save("comparison", one, '{"rows": 0}')
    store.results.save("comparison", one, '{"rows": 1}', [text])
    store.results.save("grid", two, "[]", [text])
    assert store.results.load("comparison", one) == '{"rows": 1}'
    assert store.results.load("grid", two) == "[]"
    assert store.results.load("grid", one) is None
    without_text = Report.model_validate_json(report("r1", text).to_json())
    assert without_text.pages[0].text == ""
    assert store.cache.with_texts(without_text).pages == (text,)
