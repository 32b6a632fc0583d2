"""Search engines on this machine, with scripted answers."""

import json
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from tests.servers import Answer


class Engine:
    """The answers still to be given; the last one stays."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)

    def reply(self, *objects: Any) -> None:
        self.answers = [
            (200, {"Content-Type": "application/json"}, json.dumps(o).encode()) for o in objects
        ]

    def __call__(self, request: BaseHTTPRequestHandler) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attribution.retry.FIRST_PAUSE", 0.01)
