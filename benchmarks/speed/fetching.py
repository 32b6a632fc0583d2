"""30 pages from 30 hosts that take 300 ms each: fetched and extracted, then again from the store.

python -m benchmarks.speed.fetching [--hosts 30] [--delay 0.3] [--out FILE.json]

One local server stands for all hosts. Each robots.txt takes as long as a page. The extraction process is started
beforehand, as in an application that is already in use.
"""

from __future__ import annotations

import socket
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler
from typing import Any

from attribution.evidence.gathering import LiveSources
from attribution.evidence.sources import Sources
from attribution.fetching.fetcher import Fetcher
from attribution.fetching.sandbox import read
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Claim
from benchmarks import arguments, publish
from tests.servers import Answer, http_server

GOALS = {"fetched and extracted, s": 3.0, "again from the store, s": 0.2}


def article(name: str) -> bytes:
    says = f"of {name} says that the river is so many kilometres long"
    text = "".join(f"<p>Paragraph {n} {says}: {n * 17}.</p>" for n in range(40))
    return f"<!doctype html><html><head><title>{name}</title></head><body>{text}</body></html>".encode()


def gather(settings: Settings, store: Store, addresses: list[str]) -> tuple[float, int, list[str]]:
    """Seconds, pages and the failures' messages."""
    claim = Claim(id="c", text="The river is long.", spans=(), independent=True)
    fetcher = Fetcher(settings, allow=lambda address: address == "127.0.0.1")
    started = time.perf_counter()
    gatherer = LiveSources(settings, store, Sources(addresses=addresses), fetcher.fetch)
    steps = list(gatherer.gather([claim], "", threading.Event()))
    seconds = time.perf_counter() - started
    return seconds, sum(len(s.pages) for s in steps), [f.message for s in steps for f in s.failures]


def main(argv: list[str] | None = None) -> int:
    parser = arguments(__doc__)
    parser.add_argument("--hosts", type=int, default=30)
    parser.add_argument("--delay", type=float, default=0.3)
    args = parser.parse_args(argv)
    real = socket.getaddrinfo

    def getaddrinfo(host: Any, *more: Any, **named: Any) -> Any:
        return real("127.0.0.1" if str(host).endswith(".example") else host, *more, **named)

    def respond(request: BaseHTTPRequestHandler) -> Answer:
        time.sleep(args.delay)
        return 200, {"Content-Type": "text/html; charset=utf-8"}, article(request.headers["Host"])

    def rules(request: BaseHTTPRequestHandler) -> Answer:
        time.sleep(args.delay)
        return 200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /private\n"

    socket.getaddrinfo = getaddrinfo
    try:
        with tempfile.TemporaryDirectory() as folder, http_server(respond, robots=rules) as server:
            settings = Settings(database_url=f"sqlite:///{folder}/pages.sqlite3")
            store = Store.open(settings.database_url)
            read(article("warm"), "text/html", "https://warm.example/", 60.0)
            addresses = [server.url("/page", f"host{n}.example") for n in range(args.hosts)]
            first, pages, failures = gather(settings, store, addresses)
            again, same, more = gather(settings, store, addresses)
            store.close()
    finally:
        socket.getaddrinfo = real
    figures = {"pages": pages, "fetched and extracted, s": first, "again from the store, s": again}
    publish({**figures, "failures": sorted({*failures, *more})}, args.out)
    good = pages == same == args.hosts and all(figures[name] < goal for name, goal in GOALS.items())
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
