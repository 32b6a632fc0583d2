"""What stands below a result."""

from __future__ import annotations

from attribution.reports.html import Node, html
from attribution.types import Failure
from pages import library
from pages.ui.run_results import failure_table


def test_what_a_library_said_is_folded_and_escaped() -> None:
    told = {"stage": "fetch", "kind": "unreachable", "message": "The site cannot be found."}
    plain = Failure(subject="https://a.example", **told)
    detailed = Failure(subject="https://b.example", detail="DNSError('<script>')", **told)

    def folds(drawn: Node) -> None:
        rows = html(drawn).split("<tr>")[2:]
        assert len(rows) == 2 and "<details" not in rows[0]
        folded = '<summary>Details</summary><p dir="auto">DNSError(&#x27;&lt;script&gt;&#x27;)</p></details>'
        assert f'The site cannot be found.<details class="ax-detail">{folded}' in rows[1]

    folds(failure_table([plain, detailed]))
    folds(library.failure_table([plain, detailed]))
