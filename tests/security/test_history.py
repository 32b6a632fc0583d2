"""A search of the history, over a socket, in a server of its own: it fills no memory and tells no path."""

from __future__ import annotations

import re
from pathlib import Path

from tests.pages.browser.conftest import free_port, serving
from tests.security.raw_session import session


def resident(pid: int) -> int:
    """The memory of a process, in MB."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1]) // 1024


def test_searches_of_many_words_fill_no_memory_and_tell_no_path(tmp_path: Path) -> None:
    port = free_port()
    with serving(tmp_path, port) as (_, process), session(port) as visit:
        visit.run("history")
        visit.run("history", Search=("string_value", "one two three"))
        assert "Nothing was searched" not in visit.said
        before = resident(process.pid)
        for count in (20, 1_200, 5_000, 10_000):
            visit.run("history", Search=("string_value", "word " * count))
            assert "can have 12 words" in visit.said and str(tmp_path) not in visit.said
        assert resident(process.pid) - before < 30
        assert process.poll() is None
