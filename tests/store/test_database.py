import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from attribution.errors import StoreError
from attribution.store.database import REVISION
from attribution.store.store import Store

ROOT = Path(__file__).parents[2]


def dump(path: Path) -> list[str]:
    """All that is in a database."""
    with closing(sqlite3.connect(path)) as database:
        return list(database.iterdump())


@pytest.mark.parametrize("revision", ["6", "99", "none"])
def test_a_database_of_another_version_is_refused_by_name_and_left_alone(
    tmp_path: Path, revision: str
) -> None:
    path = tmp_path / "other.sqlite3"
    with closing(sqlite3.connect(path)) as database:
        if revision != "none":
            database.execute("CREATE TABLE alembic_version (version_num TEXT)")
            database.execute("INSERT INTO alembic_version VALUES (?)", [revision])
        database.execute("CREATE TABLE runs (id TEXT, report TEXT)")
        database.commit()
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
