import contextlib
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.serve import API, Served
from tests.server.conftest import KEY, OTHER

CLAIM = "The bridge over the river opened in 1931."
LONG = " ".join(f"The bridge {n} over the river opened in {1800 + n % 200}." for n in range(70))
TURNS = (os.cpu_count() or 1) + 1  # more than the server has
WAIT = 15  # seconds on a busy machine: the pairs below take minutes there


class Api:
    def __init__(self, folder: Path) -> None:
        self.served = Served(folder, *API)

    def client(self, key: str, seconds: float = 120) -> httpx.Client:
        return httpx.Client(
            base_url=self.served.url, headers={"Authorization": f"Bearer {key}"}, timeout=seconds
        )

    def judge(self, key: str, passage: str) -> None:
        body = {"claim": CLAIM, "passages": [passage]}
        with self.client(key) as client:
            assert client.post("/judge", json=body).status_code == 200

    def leave(self, path: str, body: dict[str, Any]) -> None:
        """Take every turn of the server for a request, and leave after a second."""

        def one() -> None:
            end = time.monotonic() + 1
            with (
                self.client(KEY, 1) as client,
                contextlib.suppress(httpx.TimeoutException),
                client.stream("POST", path, json=body) as reply,
            ):
                next((None for _ in reply.iter_lines() if time.monotonic() > end), None)

        leaving = [threading.Thread(target=one) for _ in range(TURNS)]
        for thread in leaving:
            thread.start()
        for thread in leaving:
            thread.join()


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    made = Api(tmp_path_factory.mktemp("long"))
    made.judge(KEY, LONG[:200])  # loads the model
    yield made
    made.served.end(9)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/judge", {"claim": CLAIM, "passages": [f"{n}. {LONG}" for n in range(40)]}),
        (
            "/analyze",
            {
                "answer": " ".join(
                    f"The bridge over the river {name} opened in 1931." for name in ("Elbe", "Oder")
                ),
                "documents": [{"name": "bridges.txt", "text": LONG * 60}],
                "settings": {"chunk_size": 8000, "top_k": 7},
            },
        ),
    ],
)
def test_work_ends_in_the_middle_of_a_pair_when_its_client_leaves(
    api: Api, path: str, body: dict[str, Any]
) -> None:
    api.leave(path, body)
    started = time.monotonic()
    api.judge(OTHER, "The bridge over the river opened in 1931, after four years.")
    assert time.monotonic() - started < WAIT
