import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from attribution.errors import StoreError
from attribution.store.database import use_write_ahead_log
from attribution.store.schema import REVISION
from attribution.store.store import Store

ROOT = Path(__file__).parents[2]


def dump(path: Path) -> list[str]:
    """All that is in a database."""
    with sqlite3.connect(path) as database:
        return list(database.iterdump())


@pytest.mark.parametrize("revision", ["6", "99", "none"])
def test_a_database_of_another_version_is_refused_by_name_and_left_alone(
    tmp_path: Path, revision: str
) -> None:
    path = tmp_path / "other.sqlite3"
    with sqlite3.connect(path) as database:
        if revision != "none":
            database.execute("CREATE TABLE alembic_version (version_num TEXT)")
            database.execute("INSERT INTO alembic_version VALUES (?)", [revision])
        database.execute("CREATE TABLE runs (id TEXT, report TEXT)")
    before = dump(path)
    with pytest.raises(
        StoreError,
        match=f"has schema {revision}, this version reads {REVISION}: set ATTRIBUTION_DATA",
    ):
        Store.open(f"sqlite:///{path}")
    assert dump(path) == before


def test_processes_that_open_a_new_database_at_once_all_can(tmp_path: Path) -> None:
    script = (
        "import sys; from attribution.store.store import Store; "
        "Store.open(sys.argv[1]).runs.load('x')"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, f"sqlite:///{tmp_path}/new.sqlite3"],
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for _ in range(3)
    ]
    errors = [process.communicate(timeout=120)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], errors


def test_connections_that_change_a_new_files_mode_at_once_all_succeed(tmp_path: Path) -> None:
    for number in range(60):  # without patience one in fifty is refused at once
        together = threading.Barrier(4)

        def change(
            path: Path = tmp_path / f"{number}.sqlite3", together: threading.Barrier = together
        ) -> str:
            connection = sqlite3.connect(path)
            connection.execute("PRAGMA busy_timeout=10000")
            together.wait()
            use_write_ahead_log(connection)
            (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
            connection.close()
            return str(mode)

        with ThreadPoolExecutor(4) as pool:
            assert [done.result() for done in [pool.submit(change) for _ in range(4)]] == [
                "wal"
            ] * 4
