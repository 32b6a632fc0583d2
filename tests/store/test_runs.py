from concurrent.futures import ThreadPoolExecutor

import sqlalchemy as sa

from attribution.settings import Settings
from attribution.store import schema
from attribution.store.database import now
from attribution.store.runs import new_run_id
from attribution.store.store import Store
from attribution.types import Judgement, Probabilities, Report
from tests import make
from tests.make import claim, page, save_version


def report(store: Store, run_id: str = "r1") -> Report:
    p = page("A page with a text.", fetched_at=now())
    return make.report("a", id=run_id, created_at=now(), claims=(claim(),), pages=(p,))


def test_a_run_comes_back_with_its_pages_texts(store: Store) -> None:
    saved = report(store)
    store.runs.save(saved)
    assert store.runs.load("r1") == saved
    assert store.runs.load("other") is None
    assert "A page with a text." not in saved.to_json()


def test_an_answer_with_a_null_character_is_saved(store: Store) -> None:
    store.runs.start("r2", "q\0", "an\0swer", {})
    inputs = store.runs.inputs("r2")
    assert inputs
    assert (inputs.question, inputs.answer) == ("q\ufffd", "an\ufffdswer")


def reworded(saved: Report, text: str) -> Report:
    (first, *others) = saved.claims
    return saved.model_copy(update={"claims": (first.model_copy(update={"text": text}), *others)})


def test_versions_saved_at_once_all_stay(store: Store) -> None:
    saved = report(store)
    store.runs.save(saved)
    with ThreadPoolExecutor(4) as pool:
        list(
            pool.map(
                lambda n: save_version(store, reworded(saved, f"{n}"), saved.claims[0].id), range(8)
            )
        )
    with store.database.engine.connect() as db:
        assert db.execute(sa.text("SELECT count(*) FROM run_versions")).scalar() == 9


def test_a_run_has_an_address_from_its_start(store: Store) -> None:
    run_id = new_run_id()
    store.runs.start(run_id, "q", "a", {"top_k": 5})
    assert store.runs.load(run_id) is None
    inputs = store.runs.inputs(run_id)
    assert inputs is not None
    assert inputs[1:] == ("q", "a", {"top_k": 5}, False)
    store.runs.save(report(store, run_id))
    inputs = store.runs.inputs(run_id)
    assert inputs is not None
    assert inputs.finished
    assert store.runs.load(run_id)
    assert store.runs.inputs("unknown") is None


def test_a_deleted_run_takes_along_what_no_other_needs(settings: Settings) -> None:
    def finish(run_id: str, own: str) -> Report:
        """A run with one page, vector, judgement, search and reply of its own and one that both
        runs use.
        """
        store = Store.open(settings.database_url)
        judgement = Judgement(Probabilities(entailed=1, contradicted=0, no_relation=0), (0, 1))
        for name in (own, "both"):
            store.cache.put_vectors({name: b"1234"})
            store.cache.judgements([name])
            store.cache.put_judgements({name: judgement})
            store.cache.reply(name)
            store.cache.put_reply(name, "a reply")
            store.cache.search("web", name, 3, 1)
            store.cache.put_search("web", name, 3, [])
        pages = tuple(
            page(f"Text of {name}", f"https://x.example/{name}") for name in (own, "both")
        )
        made = report(store, run_id).model_copy(update={"pages": pages})
        store.runs.save(made)
        return made

    first, second = finish("r1", "one"), finish("r2", "two")
    store = Store.open(settings.database_url)
    save_version(store, reworded(first, "other words"), first.claims[0].id)
    store.runs.delete("r1")
    assert store.runs.load("r1") is None
    assert store.runs.inputs("r1") is None
    assert store.runs.load("r2") == second
    names = ["one", "two", "both"]
    assert set(store.cache.vectors(names)) == set(store.cache.judgements(names)) == {"two", "both"}
    assert [name for name in names if store.cache.reply(name)] == ["two", "both"]
    assert [name for name in names if store.cache.search("web", name, 3, 1) is not None] == [
        "two",
        "both",
    ]
    assert [name for name in names if store.cache.page(f"https://x.example/{name}")] == [
        "two",
        "both",
    ]
    store.runs.delete("r2")
    with store.database.engine.connect() as db:
        for table in set(schema.metadata.tables) - {schema.revision.name}:
            assert db.execute(sa.text(f"SELECT count(*) FROM {table}")).scalar() == 0, table


def test_documents_that_a_copy_hides_are_not_shown_by_sharing_it(store: Store) -> None:
    own = page("A secret.", url="document:own.txt").model_copy(update={"kind": "document"})
    mine, reader = Store(store.database, "mine"), Store(store.database, "reader's")
    mine.runs.save(make.report("a", id="r1", pages=(own,)))
    copied = reader.runs.copy("r1")
    reader.runs.share_documents(copied, shared=True)
    loaded = reader.runs.load(copied)
    assert loaded is not None
    assert loaded.pages[0].text == ""
    mine.runs.share_documents("r1", shared=True)
    loaded = reader.runs.load("r1")
    assert loaded is not None
    assert loaded.pages[0].text == "A secret."


def test_results_are_found_by_kind_and_id(store: Store) -> None:
    one, two, text = new_run_id(), new_run_id(), page("A text.")
    store.results.save("comparison", one, '{"rows": 0}')
    store.results.save("comparison", one, '{"rows": 1}', [text])
    store.results.save("grid", two, "[]", [text])
    assert store.results.load("comparison", one) == '{"rows": 1}'
    assert store.results.load("grid", two) == "[]"
    assert store.results.load("grid", one) is None
    assert store.results.load("comparison", "unknown") is None
    assert store.cache.page(text.url) is None  # the page of a result is no download
    report = make.report(pages=(text,))
    stored = Report.model_validate_json(report.to_json())
    assert stored.pages[0].text == ""
    assert store.cache.with_texts(stored) == report
