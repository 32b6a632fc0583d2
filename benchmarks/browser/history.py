"""Seconds until the History page shows its list, with 1,000 saved runs of 15 claims and 5 passages each.

python -m benchmarks.browser.history [--runs 1000] [--visits 5] [--out FILE.json]

Also the seconds of a query of the list, and of saving the state of a run with 60 claims while it goes on. The runs are
made up: random words, saved as the explorer saves them.
"""

from __future__ import annotations

import hashlib
import random
import statistics
import tempfile
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from attribution.policy import DecisionPolicy
from attribution.settings import Settings
from attribution.store.history import HistoryQuery
from attribution.store.store import Store
from attribution.types import Claim, Evidence, Page, Probabilities, Report, content_id
from attribution.verdicts import decide, relation
from benchmarks import arguments, publish
from benchmarks.browser import browser, seconds, serving

TOKEN, COOKIE = "benchmark-of-the-list", "attribution_browser"
THRESHOLDS = DecisionPolicy(0.54, 0.5)
WORDS = [
    first + last
    for first in ("nil", "tow", "riv", "mont", "stad", "kin", "vol", "gran")
    for last in ("er", "a", "ora", "ing", "ium", "eth")
]


def made_up(number: int, draw: random.Random, claims: int = 15, passages: int = 5) -> Report:
    """A run of random words with plausible sizes: sentences of 12 words, 20 pages of 500."""

    def text(words: int) -> str:
        return " ".join(draw.choice(WORDS) for _ in range(words)).capitalize() + "."

    pages = []
    for place in range(20):
        body = " ".join(text(12) for _ in range(42))
        sha, url = hashlib.sha256(body.encode()).hexdigest(), f"https://site{place}.example/{draw.getrandbits(40)}"
        pages.append(
            Page(id=content_id(url, sha), url=url, title=text(5), site=f"site{place}.example", kind="web",
                 fetched_at="2026-11-01T10:00:00+00:00", sha256=sha, text=body)
        )  # fmt: skip
    sentences = [text(12) for _ in range(claims)]
    answer, made, evidence = " ".join(sentences), [], []
    for sentence in sentences:
        start = answer.index(sentence)
        span = (start, start + len(sentence))
        claim = Claim(id=content_id(sentence), text=sentence, spans=(span,), sentence=span, worthiness="factual")
        made.append(claim)
        for page in draw.sample(pages, passages):
            a, b = sorted((draw.random(), draw.random()))
            p = Probabilities(entailed=a, contradicted=b - a, no_relation=1 - b)
            evidence.append(
                Evidence(claim_id=claim.id, page_id=page.id, start=0, end=500, text=page.text[:500], similarity=0.6,
                         relation=relation(p, THRESHOLDS), probabilities=p, sentence=(0, 80), query=sentence,
                         searcher="duckduckgo", rank=1)
            )  # fmt: skip
    verdicts = [decide(c, [e for e in evidence if e.claim_id == c.id], THRESHOLDS) for c in made]
    at = datetime(2026, 11, 1, tzinfo=UTC) - timedelta(hours=7 * number)
    return Report(
        id=f"{number:016x}", created_at=at.isoformat(timespec="seconds"), question=text(8), answer=answer,
        settings=Settings(sources=("web",)).public(), versions={"verifier": "benchmark"}, claims=tuple(made),
        pages=tuple(pages), evidence=tuple(evidence), verdicts=tuple(verdicts),
    )  # fmt: skip


def fill(store: Store, runs: int) -> None:
    """Save that many runs of one owner, a third of them with tags and a note."""
    draw = random.Random(1)
    for number in range(runs):
        report = made_up(number, draw)
        Store(store.database, store.rights.by).runs.save(report)
        if number % 3 == 0:
            store.history.describe(report.id, f"Run {number}", draw.sample(WORDS, 2), "A note of a few words.")


def visits(address: str, count: int) -> list[float]:
    """Seconds from a click on “History” in a session that is open until 50 runs are listed; the first is left out."""
    with browser() as chromium:
        context = chromium.new_context(viewport={"width": 1440, "height": 900})
        context.add_cookies([{"name": COOKIE, "value": TOKEN, "url": address}])
        page = context.new_page()
        page.goto(address)
        times = []
        for _ in range(count + 1):
            page.get_by_role("button", name="Analyse").wait_for(timeout=120_000)
            page.locator("[data-test-script-state=notRunning]").wait_for(timeout=120_000)
            page.wait_for_timeout(2000)
            started = time.perf_counter()
            page.get_by_role("link", name="History").click()
            page.locator("li.run").nth(49).wait_for(timeout=60_000)
            times.append(time.perf_counter() - started)
            page.get_by_role("link", name="Explore").click()
    return times[1:]


def main(argv: list[str] | None = None) -> int:
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--visits", type=int, default=5)
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as data:
        store = Store.open(f"sqlite:///{data}/attribution.sqlite3", by=TOKEN)
        fill(store, args.runs)
        long = made_up(args.runs, random.Random(2), claims=60)
        store.runs.start(long.id, long.question, long.answer, long.settings)
        store.cache.put_pages(long.pages)
        search = HistoryQuery(words="tower nila", verdict="contradicted")
        figures: dict[str, Any] = {
            "runs": args.runs,
            "query of the list, s": seconds(lambda: store.history.find(HistoryQuery()), 9),
            "query with two words and a verdict, s": seconds(lambda: store.history.find(search), 9),
            "saving the state of a run with 60 claims, s": seconds(lambda: store.runs.save_unfinished(long), 9),
        }
        with serving(data) as (address, _):
            times = visits(address, args.visits)
        figures["click to 50 listed runs, median, s"] = statistics.median(times)
        figures["click to 50 listed runs, slowest, s"] = max(times)
        store.close()
    publish(figures, args.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
