"""A PostgreSQL server as the store of a batch: the same file, and what one process has computed
another finds.
"""

import json
from pathlib import Path

from attribution.settings import Settings
from attribution.store import database
from tests.pipeline.rows import ROWS, comparable, done
from tests.postgresql import new_database, server


def test_over_postgresql_the_output_is_the_same(settings: Settings, tmp_path: Path) -> None:
    own = settings.model_copy(update={"sources": ("documents",)})
    done(ROWS, own, tmp_path / "sqlite.jsonl")
    with server() as address:
        url = new_database(address)
        shared = own.model_copy(update={"database_url": url})
        done(ROWS[:2], shared, tmp_path / "some.jsonl")
        done(ROWS, shared, tmp_path / "all.jsonl")
        database._engine(url).dispose()
    assert comparable(tmp_path / "all.jsonl") == comparable(tmp_path / "sqlite.jsonl")
    lines = (tmp_path / "all.jsonl").read_text().splitlines()
    first, *_, last = [json.loads(line)["report"]["usage"] for line in lines]
    assert first["cached_pairs"] == first["pairs"] > 0
    assert last["cached_pairs"] < last["pairs"]
