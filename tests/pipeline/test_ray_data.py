"""The engine `ray` on a cluster of two nodes: the same file as in one process. Slow: the workers
load their models.
"""

import importlib.util
import json
import os
import signal
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from attribution.errors import Unavailable
from attribution.pipeline.batch import Analyst
from attribution.pipeline.ray_data import ENVIRONMENT, OnRay, Worker
from attribution.settings import Settings
from tests.pipeline.rows import MANY, command, comparable, done, encoded, started, wait_for_lines

needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed"
)
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes with a processor each."""
    os.environ.update(ENVIRONMENT)
    from ray.cluster_utils import Cluster

    two = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    two.add_node(num_cpus=1)
    yield two
    two.shutdown()


@pytest.fixture
def own(settings: Settings) -> Settings:
    return settings.model_copy(update={"sources": ("documents",)})


def test_without_ray_the_error_says_how_to_get_it(
    own: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(Unavailable, match=r"pip install -r requirements-ray\.txt"):
        OnRay(own)


def test_a_model_that_a_worker_lacks_is_the_row_s_problem(own: Settings) -> None:
    worker = Worker(partial(Analyst, own.model_copy(update={"verifier": "llm"})))
    found = worker.run(3, json.dumps({"answer": "Bees dance."}))
    assert found["place"] == 3
    assert "OPENAI_MODEL" in str(found["problem"])


@needs_ray
@pytest.mark.slow
def test_two_workers_write_what_one_process_writes_also_after_a_kill(
    own: Settings, tmp_path: Path, cluster: Any
) -> None:
    rows = [*MANY, "{broken", {"answer": " "}, MANY[0]]
    (tmp_path / "in.jsonl").write_bytes(encoded(rows))
    done(rows, own, tmp_path / "whole.jsonl")
    spread = tmp_path / "spread.jsonl"
    ray = ["--engine", "ray"]
    own_data = {"ATTRIBUTION_DATA": str(tmp_path / "other"), "RAY_ADDRESS": cluster.address}
    process = started(command(tmp_path, spread, *ray), **own_data)
    wait_for_lines(process, spread, 5)
    process.send_signal(signal.SIGKILL)
    process.wait(20)
    assert spread.read_bytes().count(b"\n") < len(rows)
    assert started(command(tmp_path, spread, *ray), **own_data).wait(250) == 1
    assert comparable(spread) == comparable(tmp_path / "whole.jsonl")
