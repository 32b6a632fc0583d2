"""Search engines on this machine, with scripted answers."""

from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.servers import Answer, json_answer


class Engine:
    """The answers still to be given; the last one stays."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)

    def reply(self, *objects: Any) -> None:
        self.answers = [json_answer(body) for body in objects]

    def __call__(self, request: BaseHTTPRequestHandler) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
