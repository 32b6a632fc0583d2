from __future__ import annotations

import sqlite3
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa

from attribution.errors import StoreError
from attribution.settings import Settings
from attribution.storage.store import SCHEMA, Store, _write_ahead, now
from attribution.types import Judgement, LlmUsage, Probabilities, Report, SearchHit, Usage
from tests.make import claim, page


def report(store: Store, run_id: str = "r1") -> Report:
    p = page("A page with a text.").model_copy(update={"fetched_at": now()})
    return Report(
        id=run_id, created_at=now(), question="q", answer="a", settings={}, versions={}, claims=(claim(),), pages=(p,)
    )


def test_a_run_comes_back_with_its_pages_texts(store: Store) -> None:
    saved = report(store)
    store.save_run(saved)
    assert store.load_run("r1") == saved
    assert store.load_run("other") is None
    assert "A page with a text." not in saved.to_json()


def test_a_page_is_used_again_until_it_is_too_old(store: Store) -> None:
    old = page("old text").model_copy(update={"fetched_at": "2020-01-01T00:00:00+00:00"})
    store.put_pages([old])
    assert store.page(old.url, days=7) is None
    new = page("new text").model_copy(update={"fetched_at": now()})
    store.put_pages([old, new])
    assert store.page(old.url, days=7) == new


def test_searches_are_kept_by_engine_query_and_number(store: Store) -> None:
    hit = SearchHit("https://example.org", "T", 1, "duckduckgo", "q", "snippet")
    store.put_search("duckduckgo", "q", 3, [hit])
    store.put_search("duckduckgo", "none", 3, [])
    assert store.search("duckduckgo", "q", 3, days=1) == [hit]
    assert store.search("duckduckgo", "none", 3, days=1) == []
    assert store.search("duckduckgo", "q", 4, days=1) is None
    assert store.search("other", "q", 3, days=1) is None


def test_vectors_and_judgements_come_back_as_they_went_in(store: Store) -> None:
    judgement = Judgement(Probabilities(entailed=0.5, contradicted=0.25, no_relation=0.25), (3, 9), {"words": 0.5})
    keys = [f"k{i}" for i in range(1200)]
    store.put_judgements(dict.fromkeys(keys, judgement))
    store.put_vectors({"v": b"\x00\x01"})
    assert store.judgements([*keys, "unknown"]) == dict.fromkeys(keys, judgement)
    assert store.vectors(["v", "w"]) == {"v": b"\x00\x01"}


def test_many_threads_write_the_same_keys(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: store.put_vectors({f"k{i % 5}": bytes([i % 5])}), range(80)))
    assert store.vectors([f"k{i}" for i in range(5)]) == {f"k{i}": bytes([i]) for i in range(5)}


def test_a_newer_schema_and_an_unwritable_folder_are_said(settings: Settings, store: Store, tmp_path: Path) -> None:
    with store._engine.begin() as db:
        db.execute(sa.text(f"UPDATE meta SET schema_version = {SCHEMA + 1}"))
    with pytest.raises(StoreError, match="update the explorer"):
        Store.open(settings.database_url)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="ATTRIBUTION_DATABASE_URL"):
        Store.open(f"sqlite:///{tmp_path}/file/x.sqlite3")


def test_a_killed_process_loses_no_finished_run(settings: Settings) -> None:
    script = f"""
        import os, signal
        from attribution.storage.store import Store, now
        from attribution.types import Report
        store = Store.open({settings.database_url!r})
        for i in range(5):
            run = Report(id=f"run{{i}}", created_at=now(), question="q", answer="a", settings={{}}, versions={{}})
            store.save_run(run)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True)
    assert done.returncode == -9
    store = Store.open(settings.database_url)
    assert all(store.load_run(f"run{i}") for i in range(5))
    store.close()


def test_the_pace_of_the_last_runs(store: Store) -> None:
    def run(number: int, pairs: int, cached: int, verify: float, pages: int, gather: float) -> Report:
        return Report(
            id=f"run{number}", created_at=f"2026-11-0{number}T00:00:00+00:00", question="", answer="A", settings={},
            versions={}, timings={"verify": verify, "gather": gather},
            usage=Usage(
                pairs=pairs, cached_pairs=cached, pages=pages, downloads=pages,
                llm={"queries": LlmUsage(calls=number + 1, seconds=2.0 * number)},
            ),
        )  # fmt: skip

    assert store.rates() == (None, None, None)
    for report in (run(1, 100, 0, 5.0, 10, 1.0), run(2, 120, 100, 1.0, 2, 9.0), run(3, 100, 95, 9.0, 20, 6.0)):
        store.save_run(report)
    pair, page, prompt = store.rates()
    assert pair == 0.05 and page == pytest.approx(0.2)  # too few judged or fetched do not count
    assert prompt == pytest.approx((4 / 3 + 6 / 4) / 2)  # nor one run with two prompts


def test_a_page_is_found_by_every_spelling_of_its_address(store: Store) -> None:
    found = page("text", "http://www.x.example/p/?utm_source=a").model_copy(update={"fetched_at": now()})
    store.put_pages([found])
    for spelling in ("http://www.x.example/p/?utm_source=a", "https://x.example/p", "https://m.x.example/p#part"):
        assert store.page(spelling, days=7) == found
    assert store.page("https://x.example/q", days=7) is None


def test_a_page_that_an_earlier_version_kept_is_found_as_it_was_asked_for(store: Store) -> None:
    found = page("text", "http://www.x.example/p/").model_copy(update={"fetched_at": now()})
    store.put_pages([found])
    with store._engine.begin() as db:
        db.exec_driver_sql("UPDATE pages SET url = 'http://www.x.example/p/'")
    assert store.page("http://www.x.example/p/", days=7) == found


def test_threads_that_open_an_empty_database_at_once_all_can(tmp_path: Path) -> None:
    for number in range(5):
        url = f"sqlite:///{tmp_path / str(number)}.sqlite3"
        with ThreadPoolExecutor(8) as pool:
            stores = list(pool.map(Store.open, [url] * 8))
        assert all(s.load_run("none") is None for s in stores)


def test_connections_that_change_a_new_files_mode_at_once_all_succeed(tmp_path: Path) -> None:
    for number in range(60):  # without patience one in fifty is refused at once
        together = threading.Barrier(4)

        def change(path: Path = tmp_path / f"{number}.sqlite3", together: threading.Barrier = together) -> str:
            connection = sqlite3.connect(path)
            connection.execute("PRAGMA busy_timeout=10000")
            together.wait()
            _write_ahead(connection)
            (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
            connection.close()
            return str(mode)

        with ThreadPoolExecutor(4) as pool:
            assert [done.result() for done in [pool.submit(change) for _ in range(4)]] == ["wal"] * 4
