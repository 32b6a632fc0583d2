"""Opening: new, old and newer databases, several threads and processes at once."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa

from attribution.collections.store import DocumentStore
from attribution.errors import StoreError
from attribution.settings import Settings
from attribution.snapshots.snapshot import Snapshot
from attribution.storage import http_responses, tables
from attribution.storage.database import MIGRATIONS, REVISION, use_write_ahead_log
from attribution.storage.store import Store

ROOT = Path(__file__).parents[2]
VERSION_1 = ROOT / "tests" / "data" / "database_v1.sql"  # the dump of a database from before the migrations
LATER_TABLES = ("collections", "documents", "document_vectors", "documents_text_1", "responses")
RUN = "0123456789abcdef"


def version_1(path: Path, without: tuple[str, ...] = ()) -> str:
    database = sqlite3.connect(path)
    database.executescript(VERSION_1.read_text(encoding="utf-8"))
    for table in without:
        database.execute(f"DROP TABLE {table}")
    database.commit()
    database.close()
    return f"sqlite:///{path}"


def schema(url: str) -> dict[str, object]:
    inspector = sa.inspect(sa.create_engine(url, poolclass=sa.NullPool))
    return {
        name: (
            [(c["name"], str(c["type"]), c["nullable"], c["primary_key"]) for c in inspector.get_columns(name)],
            sorted(tuple(c["column_names"]) for c in inspector.get_unique_constraints(name)),
            sorted((i["name"], tuple(i["column_names"])) for i in inspector.get_indexes(name)),
        )
        for name in tables.metadata.tables
    }


def test_a_database_from_before_the_migrations_opens_with_everything_in_it(tmp_path: Path) -> None:
    store = Store.open(version_1(tmp_path / "old.sqlite3"))
    snapshot = Snapshot.of(store, RUN)
    (page,) = snapshot.report.pages
    assert page.text == "The Nile flows north." and snapshot.report.verdicts[0].label == "supported"
    assert snapshot.provenance.traces[0].searcher == "duckduckgo"
    assert snapshot.vectors == {"v1": b"\x00\x00\x80\x3f"} and snapshot.judgements["j1"].sentence == (0, 21)
    inputs = store.run_inputs(RUN)
    assert inputs is not None and (inputs.answer, inputs.settings["top_k"]) == ("The Nile flows north.", 5)
    assert [v.number for v in store.versions(RUN)] == [1] and not store.access(RUN, "").private
    assert store.page("https://example.org/nile/") == page and store.reply("r1") == "a reply"
    assert store.search("duckduckgo", "Nile", 3, days=36_500)
    frozen = store.load_run("fedcba9876543210")
    assert frozen is not None and frozen.pages[0].text == "A frozen page."
    assert http_responses.load(store, [page.id])[page.id].body == b"The Nile flows north."
    documents = DocumentStore(store)
    (rivers,) = documents.collections("a-model/1")
    assert (rivers.name, rivers.documents, rivers.embedded) == ("rivers", 2, 1)
    assert documents.vectors("rivers", "a-model/1") == ([1], [b"\x00\x00\x80\x3f"])
    with documents.full_text("rivers") as table:
        rows = table.database.execute(f"SELECT rowid FROM {table.name} WHERE {table.name} MATCH 'hamburg'").fetchall()
    assert rows == [(2,)] and documents.remove("rivers") == 2
    store.set_owner(RUN, "a token")
    store.delete_run(RUN, "a token")  # what it uses was recorded by the migration
    assert store.page(page.url) is None and store.vectors(["v1"]) == {} and store.load_run("fedcba9876543210") == frozen
    store.close()


def test_an_old_database_without_the_later_tables_gets_them(tmp_path: Path) -> None:
    store = Store.open(version_1(tmp_path / "old.sqlite3", without=LATER_TABLES))
    assert store.load_run(RUN) and DocumentStore(store).collections() == [] and http_responses.load(store, ["x"]) == {}
    store.close()


def test_new_and_upgraded_databases_have_the_tables_of_the_code(tmp_path: Path) -> None:
    urls = [version_1(tmp_path / "old.sqlite3"), f"sqlite:///{tmp_path}/new.sqlite3"]
    for url in urls:
        Store.open(url).close()
    expected = sa.create_engine(f"sqlite:///{tmp_path}/expected.sqlite3", poolclass=sa.NullPool)
    tables.metadata.create_all(expected)
    assert schema(urls[0]) == schema(urls[1]) == schema(str(expected.url))


def test_the_revision_of_the_code_is_the_newest_migration() -> None:
    from alembic.script import ScriptDirectory

    assert ScriptDirectory(str(MIGRATIONS)).get_current_head() == REVISION


def test_earlier_versions_refuse_an_upgraded_database(settings: Settings, store: Store) -> None:
    with store.engine.connect() as db:  # what they compare with 1
        assert db.exec_driver_sql("SELECT schema_version FROM meta").scalar() == 2


def test_a_newer_database_is_refused_by_name_and_left_alone(settings: Settings, store: Store) -> None:
    with store.engine.begin() as db:
        db.exec_driver_sql("UPDATE alembic_version SET version_num = '99'")
    with pytest.raises(StoreError, match=f"schema 99, this version reads up to {REVISION}: update the explorer"):
        Store.open(settings.database_url)
    with store.engine.connect() as db:
        assert db.exec_driver_sql("SELECT version_num FROM alembic_version").scalar() == "99"


def test_an_unwritable_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="ATTRIBUTION_DATABASE_URL"):
        Store.open(f"sqlite:///{tmp_path}/file/x.sqlite3")


def test_alembic_is_imported_only_for_an_upgrade(settings: Settings, store: Store) -> None:
    script = (
        "import sys; from attribution.storage.store import Store; Store.open(sys.argv[1]).load_run('x');"
        "sys.exit('alembic was imported' if 'alembic' in sys.modules else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script, settings.database_url], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_processes_that_open_an_old_database_at_once_all_can(tmp_path: Path) -> None:
    url = version_1(tmp_path / "old.sqlite3")
    script = (
        "import sys; from attribution.storage.store import Store; assert Store.open(sys.argv[1]).load_run(sys.argv[2])"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", script, url, RUN], stderr=subprocess.PIPE, text=True, cwd=ROOT)
        for _ in range(3)
    ]
    errors = [process.communicate(timeout=120)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], errors


def test_threads_that_open_databases_at_once_all_can(tmp_path: Path) -> None:
    for number in range(5):
        urls = [f"sqlite:///{tmp_path}/{number}-{name}.sqlite3" for name in "aaaabbbb"]
        with ThreadPoolExecutor(8) as pool:
            stores = list(pool.map(Store.open, urls))
        assert all(s.load_run("none") is None for s in stores)


def test_connections_that_change_a_new_files_mode_at_once_all_succeed(tmp_path: Path) -> None:
    for number in range(60):  # without patience one in fifty is refused at once
        together = threading.Barrier(4)

        def change(path: Path = tmp_path / f"{number}.sqlite3", together: threading.Barrier = together) -> str:
            connection = sqlite3.connect(path)
            connection.execute("PRAGMA busy_timeout=10000")
            together.wait()
            use_write_ahead_log(connection)
            (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
            connection.close()
            return str(mode)

        with ThreadPoolExecutor(4) as pool:
            assert [done.result() for done in [pool.submit(change) for _ in range(4)]] == ["wal"] * 4
