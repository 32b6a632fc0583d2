"""The tests of this folder run twice: over SQLite and, where Debian's package is installed, a PostgreSQL server."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from attribution.settings import Settings

PROGRAMS = max(Path("/usr/lib/postgresql").glob("*/bin"), default=None, key=lambda p: int(p.parent.name))


@pytest.fixture(scope="package")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with an empty cluster."""
    pytest.importorskip("psycopg")
    if PROGRAMS is None or not (PROGRAMS / "initdb").exists():
        pytest.skip("PostgreSQL is not installed")
    folder = Path("/tmp") / f"attribution-postgresql-{os.getpid()}"  # its user must reach it
    as_user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    folder.mkdir(mode=0o755)
    if as_user:
        shutil.chown(folder, "postgres")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    control = [*as_user, str(PROGRAMS / "pg_ctl"), "-D", str(folder / "data"), "-s", "-w", "-t", "60"]
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    started = False
    try:
        initdb = [*as_user, str(PROGRAMS / "initdb"), "-D", str(folder / "data"), "-U", "tests", "-A", "trust", "-N"]
        subprocess.run([*initdb, "-E", "UTF8", "--locale", "C"], check=True, capture_output=True, timeout=120, cwd="/")
        subprocess.run([*control, "-o", options, "-l", str(folder / "log"), "start"], check=True, timeout=90, cwd="/")
        started = True
        yield f"postgresql+psycopg://tests@127.0.0.1:{port}"
    finally:
        if started:
            subprocess.run([*control, "-m", "immediate", "stop"], timeout=60, cwd="/", check=False)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def settings(request: pytest.FixtureRequest, settings: Settings) -> Iterator[Settings]:
    """With a new database of either kind."""
    if request.param == "sqlite":
        yield settings
        return
    server = sa.create_engine(f"{request.getfixturevalue('postgresql')}/postgres", isolation_level="AUTOCOMMIT")
    name = "test"
    with server.connect() as db:
        db.exec_driver_sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        db.exec_driver_sql(f"CREATE DATABASE {name}")
    server.dispose()
    url = server.url.set(database=name).render_as_string(hide_password=False)
    yield settings.model_copy(update={"database_url": url})
    _forget(url)


def _forget(url: str) -> None:
    """Drop the connections to a database that the next test replaces."""
    from attribution.storage import database

    database._engine(url).dispose()
