from __future__ import annotations

import json

import pytest

from attribution.errors import BadInput
from pages.ui.compare_state import ANSWERS, read_answers


def test_answers_of_a_file() -> None:
    lines = [json.dumps({"question": "Q", "answer": "A"}), "", json.dumps({"answer": "B", "more": 1})]
    assert read_answers("\ufeff".encode() + "\n".join(lines).encode()) == [("Q", "A"), ("", "B")]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no answer"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b'{"answer": "A"}\n{oops', "Line 2 is not JSON"),
        (b'["A"]', "Line 1 has no text"),
        (b'{"answer": 3}', "Line 1 has no text"),
        (b"[" * 100_000, "Line 1 is not JSON"),
        (b'{"answer": "A"}\n' * (ANSWERS + 1), f"at most {ANSWERS}"),
    ],
)
def test_a_file_of_something_else_says_what_was_expected(content: bytes, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read_answers(content)
