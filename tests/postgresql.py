"""A real PostgreSQL server for tests, from Debian's package."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

PROGRAMS = max(
    Path("/usr/lib/postgresql").glob("*/bin"), default=None, key=lambda p: int(p.parent.name)
)


@contextmanager
def server() -> Iterator[str]:
    """The address of a server with an empty cluster; the test is skipped where PostgreSQL is not
    installed.
    """
    pytest.importorskip("psycopg")
    if PROGRAMS is None or not (PROGRAMS / "initdb").exists():
        pytest.skip("PostgreSQL is not installed")
    folder = Path(
        tempfile.mkdtemp(prefix="attribution-postgresql-", dir="/tmp")
    )  # its user must reach it
    as_user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    folder.chmod(0o755)
    if as_user:
        shutil.chown(folder, "postgres")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def call(program: str, *options: str, is_quiet: bool = False) -> None:
        command = [*as_user, str(PROGRAMS / program), "-D", str(folder / "data"), *options]
        subprocess.run(command, check=True, timeout=120, cwd="/", capture_output=is_quiet)

    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    try:
        login = ("-U", "tests", "-A", "trust")
        call("initdb", *login, "-N", "-E", "UTF8", "--locale", "C", is_quiet=True)
        call("pg_ctl", "-s", "-w", "-t", "60", "-o", options, "-l", str(folder / "log"), "start")
        try:
            yield f"postgresql+psycopg://tests@127.0.0.1:{port}"
        finally:
            call("pg_ctl", "-s", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def new_database(address: str) -> str:
    """The URL of an empty database of that server, in place of an earlier one."""
    engine = sa.create_engine(f"{address}/postgres", isolation_level="AUTOCOMMIT")
    with engine.connect() as db:
        db.exec_driver_sql("DROP DATABASE IF EXISTS test WITH (FORCE)")
        db.exec_driver_sql("CREATE DATABASE test")
    engine.dispose()
    return engine.url.set(database="test").render_as_string(hide_password=False)
