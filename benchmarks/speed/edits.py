"""The speed of editing one claim, and of repainting a finished run with other thresholds.

    python -m benchmarks.speed.edits [--repeat N] [--out FILE.json]

The edit: one claim of a 15-claim run over the library is reworded with the embedded small verifier, in a database that
has the vectors of the library; requests that leave the machine are counted. The repaint: 60 claims with five passages
each, from stored probabilities to the data that the page draws.
"""

from __future__ import annotations

import json
import socket
import statistics
import tempfile
import time
from typing import Any

from attribution import events
from attribution.evidence.what_if import what_if
from attribution.pipeline.editing import edit
from attribution.pipeline.run import run
from attribution.policy import Counted, DecisionPolicy
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Claim, Evidence, Page, Probabilities, Report, Reword, Verdict, content_id
from benchmarks import arguments, publish

ANSWER = (
    "The Eiffel Tower was finished in 1889. The Nile flows north into the Mediterranean. Halley's Comet returns "
    "every 76 years. The Berlin Wall fell in 1989. Penicillin was discovered by Alexander Fleming in 1928. The "
    "Channel Tunnel opened in 1994. Mount Everest is 8,849 metres high. The Suez Canal was opened in 1869. Magna "
    "Carta was sealed in 1215. The Hubble Space Telescope was launched in 1990. The Golden Gate Bridge opened in "
    "1937. Neptune was found in 1846. Insulin was first given to a patient in 1922. Aspirin was first sold in "
    "1899. The Panama Canal opened in 1914."
)
WAYS = (
    "Number {} is told of in chronicles from {}.",
    "As for {}, historians date it to the spring of {}.",
    "What happened under entry {} belongs to {} or thereabouts.",
    "Letters mention item {}; they were written in {}.",
    "An almanac lists {} beside the events of {}.",
)
TEXTS = ("It was finished in {}.", "The work was completed in {}.", "People first used it in {}.")


def report_of(events_: Any) -> Report:
    *_, last = events_
    assert isinstance(last, events.Finished)
    return last.report


def edit_seconds(repeat: int) -> dict[str, Any]:
    """Seconds from the change to the new verdict, saved; every text is new to the verifier."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.from_environment(
            database_url=f"sqlite:///{folder}/edits.sqlite3", verifier="embedded-small"
        )
        store = Store.open(settings.database_url)
        report = report_of(run("", ANSWER, settings, store))
        requests: list[Any] = []
        connect = socket.socket.connect
        socket.socket.connect = lambda *a: requests.append(a) or connect(*a)  # type: ignore[method-assign,func-returns-value]
        seconds, work = [], []
        checked = [c for c in report.claims if c.checked]
        for n in range(repeat):
            change = Reword(claim_id=checked[n % len(checked)].id, text=TEXTS[n % len(TEXTS)].format(1800 + n))
            started, worked = time.perf_counter(), time.process_time()
            report_of(edit(report, change, settings, store))
            seconds.append(time.perf_counter() - started)
            work.append(time.process_time() - worked)
        socket.socket.connect = connect  # type: ignore[method-assign]
        store.close()
    return {
        "claims": len(report.claims),
        "pages": len(report.pages),
        "median seconds": round(statistics.median(seconds), 3),
        "longest": round(max(seconds), 3),
        "median seconds of the processor": round(statistics.median(work), 3),
        "requests": len(requests),
    }


def made(claims: int, passages: int) -> Report:
    """A run of that size, with probabilities that thresholds move; its passages use words of their own."""
    parts = [f"Sentence number {n} says something about the year {1800 + n}." for n in range(claims)]
    found, pages, evidence = [], [], []
    for n, part in enumerate(parts):
        start = sum(len(p) + 1 for p in parts[:n])
        spans = ((start, start + len(part)),)
        found.append(Claim(id=content_id(part), text=part, spans=spans, worthiness="factual", independent=True))
    for k in range(passages):
        lines = [WAYS[k % len(WAYS)].format(n, 1800 + n) for n in range(claims)]
        page = Page(
            id=f"p{k}", url=f"https://site{k}.example/", title=f"Page {k}", site=f"site{k}.example", kind="web",
            fetched_at="2026-11-01T10:00:00+00:00", sha256="0" * 64, text=" ".join(lines),
        )  # fmt: skip
        pages.append(page)
        for n, line in enumerate(lines):
            p = 0.3 + 0.65 * ((7 * n + 11 * k) % 60) / 60
            other = (1 - p) / 2
            start = page.text.index(line)
            end = start + len(line)
            piece = Evidence(
                claim_id=found[n].id, page_id=page.id, start=start, end=end, text=line, similarity=0.9 - k / 100,
                relation="no_relation", probabilities=Probabilities(entailed=p, contradicted=other, no_relation=other),
                sentence=(start, end),
            )  # fmt: skip
            evidence.append(piece)
    verdicts = tuple(Verdict(claim_id=c.id, label="unclear", confidence=0.0, reason="") for c in found)
    settings: dict[str, object] = {"threshold": 0.5}
    return Report(
        id="r", created_at="2026-11-01T10:00:00+00:00", question="", answer=" ".join(parts), settings=settings,
        versions={}, claims=tuple(found), pages=tuple(pages), evidence=tuple(evidence), verdicts=verdicts,
    )  # fmt: skip


def repaint_seconds(repeat: int) -> dict[str, Any]:
    """Seconds from moved thresholds to what the page sends to the browser, its JSON included."""
    from pages.ui.answer_view import view

    report = made(60, 5)
    decided, drawn, work, size = [], [], [], 0
    for n in range(repeat):
        started, worked = time.perf_counter(), time.process_time()
        looked = what_if(report, DecisionPolicy(0.4 + n / 100, 0.6, "most_frequent", counted=Counted(top_k=4)))
        decided.append(time.perf_counter() - started)
        size = len(json.dumps(view(looked, run="r", running=False)))
        drawn.append(time.perf_counter() - started)
        work.append(time.process_time() - worked)
    return {
        "claims": len(report.claims),
        "passages": len(report.evidence),
        "median milliseconds to decide": round(1000 * statistics.median(decided), 1),
        "median milliseconds with drawing": round(1000 * statistics.median(drawn), 1),
        "longest": round(1000 * max(drawn), 1),
        "median milliseconds of the processor": round(1000 * statistics.median(work), 1),
        "kilobytes sent": round(size / 1000),
    }


def main(argv: list[str] | None = None) -> int:
    parser = arguments(__doc__)
    parser.add_argument("--repeat", type=int, default=15)
    args = parser.parse_args(argv)
    found = {"repaint": repaint_seconds(args.repeat), "edit": edit_seconds(args.repeat)}
    publish(found, args.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
