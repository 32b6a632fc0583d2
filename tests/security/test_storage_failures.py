"""A full, locked, damaged or read-only database ends what is done with one line, and is never taken
for an absence.
"""

import json
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient

from attribution.cli.main import main
from attribution.errors import StoreError
from attribution.fair_queue import Turns
from attribution.server.middleware import host_names
from attribution.server.rest import Keys, create
from attribution.server.work import Work
from attribution.settings import Settings
from attribution.store import database
from attribution.store.store import Store
from tests.make import report

ROOT = Path(__file__).parents[2]
ANSWER = (
    "The Eiffel Tower was completed in 1889. The Nile flows north. The Suez Canal opened in 1869."
)
FULL = "(database or disk is full): check its disk"


def last_line(errors: str) -> str:
    """The line that ended a command; nothing else on standard error may come from Python itself."""
    assert "Traceback" not in errors, errors
    assert "internal error" not in errors, errors
    return errors.strip().splitlines()[-1]


def path_of(settings: Settings) -> Path:
    return Path(settings.database_url.removeprefix("sqlite:///"))


@pytest.fixture
def empty(settings: Settings) -> Settings:
    """With a database that has its tables and nothing in them."""
    Store.open(settings.database_url).close()
    return settings


def test_a_full_disk_ends_analyze_with_one_line(
    empty: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def limit(connection: sqlite3.Connection, record: object) -> None:
        """The database may grow by two pages of 4 kB."""
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")

    out = tmp_path / "report.json"
    sa.event.listen(sa.pool.Pool, "connect", limit)
    try:
        assert (
            main(["analyze", "--answer", ANSWER, "--out", str(out), "--verifier", "embedded-small"])
            == 2
        )
    finally:
        sa.event.remove(sa.pool.Pool, "connect", limit)
    said = capsys.readouterr().err
    assert FULL in last_line(said)
    assert str(path_of(empty)) in last_line(said)
    assert "missing" not in said
    assert not out.exists()


def test_a_database_that_cannot_be_used_is_named_with_the_reason(
    settings: Settings, tmp_path: Path
) -> None:
    path = path_of(settings)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a database at all, whatever its name says" * 200)
    with pytest.raises(StoreError, match=f"{path} cannot be used .file is not a database"):
        Store.open(settings.database_url)
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "file").touch()
    for unusable in (folder, tmp_path / "file" / "new.sqlite3"):
        with pytest.raises(
            StoreError, match="unable to open database file.: check its disk, its rights"
        ):
            Store.open(f"sqlite:///{unusable}")
    with pytest.raises(
        StoreError, match="ATTRIBUTION_DATABASE_URL cannot be used: expected sqlite:///FILE or"
    ):
        Store.open("no address")


def test_a_database_damaged_in_the_middle_ends_the_command_that_reads_it(
    empty: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    path = path_of(empty)
    with sqlite3.connect(path) as plain:
        plain.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        plain.execute("PRAGMA journal_mode=DELETE")
    plain.close()
    content = path.read_bytes()
    path.write_bytes(
        (whole := content[: len(content) // 4]) + b"\xff" * (len(content) - len(whole))
    )
    assert main(["collections", "list"]) == 2
    assert f"{path} cannot be used (" in last_line(capsys.readouterr().err)


def test_a_lock_of_another_process_is_waited_for(
    empty: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "LOCK_TIMEOUT", 1)
    store = Store.open(empty.database_url)
    other = sqlite3.connect(path_of(empty), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for write in (
        lambda: store.cache.put("reply", {"key": "reply"}),
        lambda: store.runs.start(report(ANSWER)),
        lambda: store.cache.put("vector", {"key": b"1234"}),
    ):
        with pytest.raises(StoreError, match="database is locked"):
            write()
    other.execute("COMMIT")
    other.close()
    store.cache.put("reply", {"key": "reply"})
    assert store.cache.values("reply", ["key"]) == {"key": "reply"}
    store.close()


def test_the_api_answers_503_with_the_line(empty: Settings) -> None:
    key = "a-key-of-the-tests"
    app = create(empty, Keys([key]), host_names("testserver"), Work(Turns(2)))
    with TestClient(app, headers={"Authorization": f"Bearer {key}"}) as client:
        assert client.get("/health").status_code == 200
        path_of(empty).write_bytes(b"\0" * 50_000)
        health = client.get("/health")
        assert health.status_code == 503, health.text
        error = health.json()["error"]
        assert error["type"] == "StoreError"
        assert "the database cannot be used: check" in error["message"]
        assert "\n" not in error["message"]
        assert str(path_of(empty).parent) not in error["message"]
        *_, last = map(
            json.loads, client.post("/analyze", json={"answer": ANSWER}).text.splitlines()
        )
        assert last.get("error", {}).get("type") == "StoreError"
        assert str(path_of(empty).parent) not in json.dumps(last)


def test_a_signal_ends_a_command_quietly_and_nothing_half_written_stays(
    empty: Settings, tmp_path: Path
) -> None:
    given, output = tmp_path / "claims.jsonl", tmp_path / "out.jsonl"
    given.write_text(
        '{"claim": "Paris is the capital of France.", "evidence": "Paris is in France."}\n' * 5000
    )
    command = [
        sys.executable,
        "-m",
        "attribution",
        "verify",
        "--input",
        str(given),
        "--output",
        str(output),
    ]
    process = subprocess.Popen(
        [*command, "--verifier", "embedded-small"], stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stderr
    first = process.stderr.readline()
    assert first.startswith("verify 64/")
    assert list(tmp_path.glob("*.part"))
    process.send_signal(signal.SIGTERM)
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 143, rest
    assert "Traceback" not in rest
    assert list(tmp_path.glob("*.jsonl*")) == [given]
