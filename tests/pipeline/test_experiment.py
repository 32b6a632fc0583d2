import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from attribution.errors import BadInput, LlmFailed, Stopped, StoreError, Unavailable
from attribution.pipeline.experiment import (
    ENVIRONMENT,
    Analyst,
    Engine,
    Fields,
    Prepare,
    Result,
    RowDone,
    Worker,
    batch,
    local,
    on_cores,
    on_ray,
    run_each,
)
from attribution.settings import ROOT, Settings
from attribution.store import database
from attribution.text_files import Row, parse_rows
from tests.make import json_lines
from tests.postgresql import new_database, server
from tests.serve import until

NOTE = (
    "The Eiffel Tower in Paris was completed in 1889. Honey bees dance to show where flowers are."
)
ANSWERS = [
    "The Eiffel Tower was completed in 1889.",
    "Honey bees dance.",
    "The Eiffel Tower is in Rome.",
    "Bees can fly.",
]


def made_rows(ending: str = "") -> list[dict[str, Any]]:
    """A row for each answer, which may end in more than it says."""
    rows = []
    for number, answer in enumerate(ANSWERS):
        row = {"id": f"{number}{ending}", "answer": f"{answer}{ending}", "documents": [NOTE]}
        rows.append(row)
    return rows


ROWS = made_rows()
MANY = [row for number in range(3) for row in made_rows(f" {number} towers.")]


def encoded(rows: Sequence[Any]) -> bytes:
    """Rows as JSON Lines; a text is a line as it is."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    return "".join(f"{line}\n" for line in lines).encode()


def done(
    rows: Sequence[Any], settings: Settings, path: Path, engine: Engine = local
) -> list[RowDone]:
    return list(batch(parse_rows(encoded(rows), ["answer"], ["question"]), settings, path, engine))


def comparable(path: Path) -> list[Any]:
    """The lines in the order of the rows, without what differs between equal runs."""
    lines = sorted(json_lines(path), key=lambda line: line["line"])
    for line in lines:
        report = line.get("report", {})
        for name in ("id", "created_at", "timings", "usage"):
            report.pop(name, None)
        for page in report.get("pages", ()):
            page["fetched_at"] = ""
    return lines


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (BadInput("too long"), "too long"),
        (LlmFailed("the model did not answer"), "the model did not answer"),
        (KeyError("missing"), "it ended with an error (KeyError: 'missing')"),
    ],
)
def test_a_bad_item_costs_itself(error: Exception, problem: str) -> None:
    expected = [Result("A"), Result(problem=problem), Result("B")]
    assert list(run_each(["a", error, "b"], upper)) == expected


@pytest.mark.parametrize("error", [StoreError("the disk is full"), Unavailable("no model")])
def test_what_concerns_all_items_ends_the_run(error: Exception) -> None:
    with pytest.raises(type(error)):
        list(run_each([error], upper))


def upper(item: str | Exception) -> str:
    if isinstance(item, Exception):
        raise item
    return item.upper()


@pytest.mark.parametrize("ending", [None, Stopped("cut off"), BadInput("cut off")])
def test_stop_ends_it_and_what_it_interrupts_has_no_result(ending: Exception | None) -> None:
    stop, ran = threading.Event(), list[int]()

    def work(item: int) -> int:
        ran.append(item)
        if item == 1:
            stop.set()
            if ending:
                raise ending
        return item

    results = [result.value for result in run_each(range(3), work, stop)]
    assert results == ([0] if ending else [0, 1])
    assert ran == [0, 1]


@pytest.fixture
def own(settings: Settings) -> Settings:
    return settings.model_copy(update={"sources": ("documents",)})


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the rows that are analysed."""
    ids: list[str] = []
    real = Analyst.__call__

    def note(analyst: Analyst, row: Row) -> Fields:
        ids.append(row.fields["id"])
        return real(analyst, row)

    monkeypatch.setattr(Analyst, "__call__", note)
    return ids


def test_every_row_has_its_line_and_a_bad_one_an_error(own: Settings, tmp_path: Path) -> None:
    rows = [ROWS[0], "{broken", {"answer": "x", "documents": [3]}, {"answer": " "}, ROWS[1]]
    *_, last = done(rows, own, tmp_path / "out.jsonl")
    by_row = {line["line"]: line for line in json_lines(tmp_path / "out.jsonl")}
    assert {number for number, line in by_row.items() if "error" in line} == {2, 3, 4}
    assert "documents" in by_row[3]["error"]
    assert by_row[1]["id"] == "0"
    assert "documents" not in by_row[1]
    assert by_row[1]["report"]["verdicts"][0]["label"] == "supported"
    assert last.done == 5
    assert last.failed == 3


def test_what_is_finished_is_not_analysed_again(
    own: Settings, tmp_path: Path, analysed: list[str]
) -> None:
    path = tmp_path / "out.jsonl"
    done(ROWS[:3], own, path)
    before = path.read_bytes()
    done(ROWS[:3], own, path)
    assert path.read_bytes() == before
    assert analysed == ["0", "1", "2"]
    path.write_bytes(before[:-40])  # killed while the last line was written
    done([ROWS[2], ROWS[0]], own, path)  # and the rows have changed
    assert analysed == ["0", "1", "2", "2"]
    assert [(line["id"], line["line"]) for line in json_lines(path)] == [("0", 2), ("2", 1)]
    done(ROWS[:1], own.model_copy(update={"top_k": 2}), path)
    assert analysed[-1] == "0"


def test_a_missing_model_ends_the_batch_before_any_row(
    own: Settings, tmp_path: Path, analysed: list[str]
) -> None:
    with pytest.raises(Unavailable):
        done(ROWS, own.model_copy(update={"verifier": "llm"}), tmp_path / "out.jsonl")
    with pytest.raises(BadInput, match="verifier 'none'"):
        done(ROWS, own.model_copy(update={"verifier": "none"}), tmp_path / "out.jsonl")
    assert not analysed


def backwards(rows: Sequence[Row], prepare: Prepare) -> Iterator[tuple[int, Result[Fields]]]:
    """An engine whose results come in another order, as those of several workers do."""
    yield from reversed(list(local(rows, prepare)))


def test_stopped_and_resumed_with_any_engine_it_ends_as_an_undisturbed_one(
    own: Settings, tmp_path: Path
) -> None:
    rows = [*MANY[:6], {"answer": " ", "id": "bad"}]
    whole, stopped = tmp_path / "whole.jsonl", tmp_path / "stopped.jsonl"
    done(rows, own, whole)
    elsewhere = own.model_copy(update={"database_url": f"sqlite:///{tmp_path}/other.sqlite3"})
    parsed = parse_rows(encoded(rows), ["answer"])
    for engine, wanted in ((on_cores, 3), (backwards, 6)):
        steps = batch(parsed, elsewhere, stopped, engine)
        assert any(step.done == wanted for step in steps)
        steps.close()
        with stopped.open("ab") as out:
            out.write(b'{"id": "cut off')
    done(rows, elsewhere, stopped, backwards)
    assert comparable(stopped) == comparable(whole)


def test_over_postgresql_the_output_is_the_same_and_the_cache_is_shared(
    own: Settings, tmp_path: Path
) -> None:
    done(ROWS, own, tmp_path / "sqlite.jsonl")
    with server() as address:
        url = new_database(address)
        shared = own.model_copy(update={"database_url": url})
        done(ROWS[:2], shared, tmp_path / "some.jsonl")
        done(ROWS, shared, tmp_path / "all.jsonl")
        database._engine(url).dispose()
    first, *_, last = [line["report"]["usage"] for line in json_lines(tmp_path / "all.jsonl")]
    assert first["cached_pairs"] == first["pairs"] > 0
    assert last["cached_pairs"] < last["pairs"]
    assert comparable(tmp_path / "all.jsonl") == comparable(tmp_path / "sqlite.jsonl")


needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed"
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes with a processor each."""
    os.environ.update(ENVIRONMENT)
    from ray.cluster_utils import Cluster

    two = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    two.add_node(num_cpus=1)
    yield two
    two.shutdown()


def test_without_ray_the_error_says_how_to_get_it(
    own: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(Unavailable, match=r"pip install -r requirements-ray\.txt"):
        next(on_ray(own, [], dict))


def test_a_model_that_a_worker_lacks_is_the_row_s_problem(own: Settings) -> None:
    worker = Worker(partial(Analyst, own.model_copy(update={"verifier": "llm"})))
    found = worker.run(3, json.dumps({"answer": "Bees dance."}))
    assert found["place"] == 3
    assert "OPENAI_MODEL" in str(found["problem"])


@needs_ray
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_two_workers_write_what_one_process_writes_also_after_a_kill(
    own: Settings, tmp_path: Path, cluster: Any
) -> None:
    rows = [*MANY, "{broken", {"answer": " "}, MANY[0]]
    (tmp_path / "in.jsonl").write_bytes(encoded(rows))
    done(rows, own, tmp_path / "whole.jsonl")
    spread = tmp_path / "spread.jsonl"
    command = [sys.executable, "-m", "attribution", "batch", "--engine", "ray"]
    command += ["--input", str(tmp_path / "in.jsonl"), "--output", str(spread)]
    command += ["--sources", "documents", "--verifier", "embedded-small"]
    data = {"ATTRIBUTION_DATA": str(tmp_path / "other"), "RAY_ADDRESS": cluster.address}
    start = partial(subprocess.Popen, command, cwd=ROOT, env=os.environ | data)
    process = start(start_new_session=True)
    until(lambda: spread.exists() and spread.read_bytes().count(b"\n") >= 5, 250)
    process.send_signal(signal.SIGKILL)
    process.wait(20)
    assert spread.read_bytes().count(b"\n") < len(rows)
    assert start().wait(250) == 1
    assert comparable(spread) == comparable(tmp_path / "whole.jsonl")
