import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx2
import pytest

from tests.serve import API, KEY, OTHER, Served

CLAIM = "The bridge over the river opened in 1931."
LONG = " ".join(f"The bridge {n} over the river opened in {1800 + n % 200}." for n in range(70))
TURNS = (os.cpu_count() or 1) + 1  # more than the server has
WAIT = 15  # seconds on a busy machine: the pairs below take minutes there
JUDGED = {"claim": CLAIM, "passages": [f"{n}. {LONG}" for n in range(40)]}
ANALYZED = {
    "answer": "The bridge over the Elbe opened in 1931. The bridge over the Oder opened in 1931.",
    "documents": [{"name": "bridges.txt", "text": LONG * 60}],
    "settings": {"chunk_size": 3000, "top_k": 20},
}


def post(served: Served, path: str, body: dict[str, Any], key: str, seconds: float) -> int:
    """Send a request, and leave after so many seconds without a byte of a reply."""
    headers = {"Authorization": f"Bearer {key}"}
    reply = httpx2.post(served.url + path, json=body, headers=headers, timeout=seconds)
    return reply.status_code


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = Served(tmp_path_factory.mktemp("long"), *API)
    post(made, "/judge", {"claim": CLAIM, "passages": [CLAIM]}, KEY, 120)  # loads the model
    yield made
    made.end(9)


@pytest.mark.parametrize(("path", "body"), [("/judge", JUDGED), ("/analyze", ANALYZED)])
def test_work_ends_in_the_middle_of_a_pair_when_its_client_leaves(
    served: Served, path: str, body: dict[str, Any]
) -> None:
    def leave() -> None:
        with suppress(httpx2.TimeoutException):
            post(served, path, body, KEY, 1)

    leaving = [threading.Thread(target=leave) for _ in range(TURNS)]
    for thread in leaving:
        thread.start()
    for thread in leaving:
        thread.join()
    started = time.monotonic()
    assert post(served, "/judge", {"claim": CLAIM, "passages": [CLAIM]}, OTHER, 120) == 200
    assert time.monotonic() - started < WAIT
