"""The API under load: analyses, bad requests, runs that begin at once, half-open connections for a
minute, with /health asked meanwhile.

python -m benchmarks.soak [--analyses 200] [--bad 500] [--half-open 2000] [--verifier NAME]
[--floors] [--out FILE.json]

Memory, threads and open files of the server's process, before, between and after; how much the
database grew a run; how long /health took at most. With --floors the command fails where a figure
is past its limit. Needs Linux.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from attribution.cli.serve import free_port
from attribution.settings import LIMITS as BOUNDS
from attribution.settings import ROOT
from benchmarks import arguments, publish
from benchmarks.half_open import half_open
from benchmarks.processes import megabytes, processes

LIMITS = {  # what the figures may be at most
    "memory that analyses added, MB": 120,
    "memory that bad requests added, MB": 60,
    "threads added": 8,
    "open files added": 16,
    "database growth a run, kB": 200,
    "longest wait for /health, s": 2.0,
    "longest wait for /health with half-open connections, s": 2.0,
    "analyses that failed": 0,
    "runs begun at once that were lost": 0,
    "replies that were not expected": 0,
}
EXAMPLES = (ROOT / "examples" / "answers.jsonl").read_text(encoding="utf-8").splitlines()
CLIENTS, FLOOD = 4, 16  # at once: clients with analyses, clients with bad requests
CROWD, KEYS = 210, 5  # runs that begin at once, more than may wait, and the keys they come with
EVERY = 0.1  # seconds between two questions to /health
PATIENCE = 600  # seconds
HELD = 60  # seconds that half-open connections are held


class Server:
    """`serve --api` over an empty data folder."""

    def __init__(self, folder: Path, verifier: str) -> None:
        self.port, self.folder = free_port(8800), folder
        self.keys = [secrets.token_urlsafe() for _ in range(KEYS)]
        self.key = self.keys[0]
        self.url = f"http://127.0.0.1:{self.port}"
        environment = os.environ | {
            "ATTRIBUTION_DATA": str(folder),
            "ATTRIBUTION_API_KEYS": ",".join(self.keys),
        }
        environment |= {"ATTRIBUTION_DATABASE_URL": "", "ATTRIBUTION_HOSTS": ""}
        command = [sys.executable, "-m", "attribution", "serve", "--api", "--port", str(self.port)]
        self.process = subprocess.Popen(
            [*command, "--verifier", verifier], env=environment, stdout=subprocess.DEVNULL
        )
        until(self._answers)

    def _answers(self) -> bool:
        if self.process.poll() is not None:
            raise RuntimeError("the server has ended")
        try:
            return httpx2.get(f"{self.url}/health").status_code == 200
        except httpx2.TransportError:
            return False

    def client(self, **headers: str) -> httpx2.Client:
        return httpx2.Client(
            base_url=self.url,
            headers={"authorization": f"Bearer {self.key}"} | headers,
            timeout=PATIENCE,
        )

    def rest(self) -> None:
        """Wait until nothing is under way any more."""
        with self.client() as client:
            until(
                lambda: (health := client.get("/health").json())["running"] + health["waiting"] == 0
            )
        time.sleep(2)  # idle connections and processes end

    def state(self) -> dict[str, float]:
        folder = Path(f"/proc/{self.process.pid}")
        return {
            "memory, MB": sum(megabytes(pid, "VmRSS") for pid in processes(self.process.pid)),
            "threads": len(list((folder / "task").iterdir())),
            "open files": len(list((folder / "fd").iterdir())),
            "database, kB": sum(path.stat().st_size for path in self.folder.glob("*.sqlite3*"))
            / 1000,
        }


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"the server is not done after {PATIENCE} seconds")
        time.sleep(0.1)


@contextmanager
def probed(url: str) -> Iterator[list[float]]:
    """Seconds that each question to /health takes meanwhile; a failed one takes for ever."""
    waits: list[float] = []
    done = threading.Event()

    def probe() -> None:
        with httpx2.Client(base_url=url, timeout=PATIENCE) as client:
            while not done.wait(EVERY):
                started = time.perf_counter()
                try:
                    ok = client.get("/health").status_code == 200
                except httpx2.TransportError:
                    ok = False
                waits.append(time.perf_counter() - started if ok else float("inf"))

    thread = threading.Thread(target=probe)
    thread.start()
    try:
        yield waits
    finally:
        done.set()
        thread.join()


def analyse(server: Server, number: int, key: str = "") -> str:
    """Check one of the example answers, with a claim that no other number has.

    Returns:
        The last event: "finished" if nothing failed; "refused" if too many wait.
    """
    example = json.loads(EXAMPLES[number % len(EXAMPLES)])
    claim = f"The Eiffel Tower was {number + 100} metres high in {1800 + number}."
    answer = f"{example['answer']}\n\n{claim}"
    last: dict[str, Any] = {}
    with server.client(authorization=f"Bearer {key or server.key}") as client:
        body = {"question": example["question"], "answer": answer}
        with client.stream("POST", "/analyze", json=body) as reply:
            if reply.status_code == 429:
                return "refused"
            for line in reply.iter_lines():
                last = json.loads(line)
    if last.get("error", {}).get("type") == "Busy":
        return "refused"
    if last["event"] == "finished" and last["report"]["failures"]:
        return "finished with failures"
    return str(last["event"])


def timed(server: Server, numbers: range) -> tuple[int, float]:
    """Return how many of some analyses succeed, and their seconds; the server rests afterwards."""
    started = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        outcomes = list(pool.map(lambda number: analyse(server, number), numbers))
    seconds = time.perf_counter() - started
    server.rest()
    return outcomes.count("finished"), seconds


def crowd(server: Server) -> Counter[str]:
    """Begin many runs at once, with answers that were checked before; return what became of them.

    The server rests afterwards.
    """

    def run(number: int) -> str:
        return analyse(server, -1 - number % len(EXAMPLES), server.keys[number % KEYS])

    with ThreadPoolExecutor(CROWD) as pool:
        outcomes = Counter(pool.map(run, range(CROWD)))
    server.rest()
    return outcomes


# --- bad requests: each returns the status of the reply, 0 for none ---


def posted(path: str, content: bytes | Iterator[bytes], **headers: str) -> Callable[[Server], int]:
    def send(server: Server) -> int:
        with server.client(**{"content-type": "application/json"} | headers) as client:
            return client.post(path, content=content).status_code

    return send


def as_json(path: str, **body: Any) -> Callable[[Server], int]:
    return posted(path, json.dumps(body).encode())


def in_chunks(server: Server) -> int:
    """Too much, without a length that says so."""
    return posted("/segment", (b" " * 50_000 for _ in range(BOUNDS.request // 50_000 + 2)))(server)


def raw(head: str, body: bytes = b"", read: bool = False) -> Callable[[Server], int]:
    """Send bytes as they are, then close the connection.

    With `read`, after the first bytes back.
    """

    def send(server: Server) -> int:
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as connection:
            connection.sendall(head.format(key=server.key).replace("\n", "\r\n").encode() + body)
            if not read:
                return 0
            parts = connection.recv(65536).split()
            return int(parts[1]) if len(parts) > 1 else 0

    return send


def leave(path: str, body: Mapping[str, Any]) -> Callable[[Server], int]:
    """Send a good request and close the connection, without waiting for the reply."""
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\nHost: localhost\nAuthorization: Bearer {{key}}\n"
    head += "Content-Type: application/json\n"
    return raw(f"{head}Content-Length: {len(content)}\n\n", content)


def leave_stream(server: Server) -> int:
    """Close the connection at the first event of a run."""
    with (
        server.client() as client,
        client.stream("POST", "/analyze", json={"answer": "The tower is tall."}) as reply,
    ):
        next(reply.iter_lines(), "")
        return 0 if reply.status_code == 200 else reply.status_code


PASSAGES = [f"The tower, number {n}, stands in Rome." for n in range(50)]
HALF = (
    "POST /judge HTTP/1.1\nHost: localhost\nAuthorization: Bearer {key}\nContent-Length: 5000\n\n"
)
BAD: dict[str, tuple[Callable[[Server], int], set[int]]] = {
    "too large": (posted("/analyze", b"x" * (BOUNDS.request + 1)), {413}),
    "too large, without a length": (in_chunks, {413}),
    "not JSON": (posted("/analyze", b"{not json"), {422}),
    "not UTF-8": (posted("/judge", b'{"claim": "\xff\xfe"}'), {400, 422}),
    "nested deeply": (posted("/judge", b"[" * 500_000), {413}),
    "nested deeply in a setting": (
        posted(
            "/analyze", b'{"answer": "x", "settings": {"top_k": ' + b"[" * 900 + b"]" * 900 + b"}}"
        ),
        {400, 422},
    ),
    "a number of a million digits": (
        posted("/analyze", b'{"answer": ' + b"9" * 1_000_000 + b"}"),
        {400, 422},
    ),
    "wrong key": (posted("/analyze", b"{}", authorization="Bearer wrong-key-of-the-soak"), {401}),
    "unknown field": (as_json("/analyze", answer="x", other=1), {422}),
    "wrong type": (as_json("/analyze", answer=["x"]), {422}),
    "unknown setting": (as_json("/analyze", answer="x", settings={"topk": 1}), {400}),
    "a setting of the operator": (
        as_json("/analyze", answer="x", settings={"database_url": "sqlite://"}),
        {400},
    ),
    "a path as source": (as_json("/analyze", answer="x", sources=["/etc/passwd"]), {400}),
    "control characters": (as_json("/segment", answer="\x01\x02" * 5000), {400}),
    "too long an answer": (as_json("/segment", answer="x " * 100_000), {400}),
    "hostile text": (as_json("/segment", answer="@" * 10_000, segmenter="clauses"), {200}),
    "unknown segmenter": (as_json("/segment", answer="x", segmenter="none"), {400}),
    "no passages": (as_json("/judge", claim="x", passages=[]), {422}),
    "a bad tool call": (
        posted("/mcp/", b'{"jsonrpc": "2.0"}', accept="application/json, text/event-stream"),
        {400},
    ),
    "another host": (posted("/judge", b"{}", host="evil.example"), {400}),
    "an unknown path": (posted("/nothing", b"{}"), {404}),
    "no HTTP": (raw("\x16\x03\x01 garbage\n\n", read=True), {0, 400}),
    "left within the head": (raw("POST /judge HTTP/1.1\nHost: local"), {0}),
    "left within the body": (raw(HALF, b'{"passages": ['), {0}),
    "left while passages are read": (
        leave("/judge", {"claim": "The tower is in Paris.", "passages": PASSAGES}),
        {0},
    ),
    "left while an answer is segmented": (
        leave("/segment", {"answer": "He came, saw and won. " * 500, "segmenter": "clauses"}),
        {0},
    ),
    "left within a run": (leave_stream, {0, 429}),
}


def flood(server: Server, requests: int) -> list[str]:
    """The kinds of bad requests, in turn, from many clients; the replies that were not expected.

    The server rests afterwards.
    """
    names = list(BAD)

    def send(number: int) -> str:
        name = names[number % len(names)]
        bad, expected = BAD[name]
        try:
            status = bad(server)
        except (
            httpx2.TransportError,
            ConnectionError,
        ) as error:  # a server may close before it has read all
            return "" if name.startswith("too large") else f"{name}: {type(error).__name__}"
        return "" if status in expected else f"{name}: {status}"

    with ThreadPoolExecutor(FLOOD) as pool:
        unexpected = [found for found in pool.map(send, range(requests)) if found]
    server.rest()
    return unexpected


def measured(analyses: int, bad: int, connections: int, verifier: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder), verifier)
        try:
            timed(server, range(-len(EXAMPLES), 0))  # models and caches are filled
            as_json("/segment", answer="He came, saw and won.", segmenter="clauses")(server)
            flood(server, len(BAD))
            start = server.state()
            with probed(server.url) as waits:
                finished, seconds = timed(server, range(analyses // 2))
                half = server.state()
                more_finished, more_seconds = timed(server, range(analyses // 2, analyses))
                between = server.state()
                unexpected = flood(server, bad)
            end = server.state()
            outcomes = crowd(server)
            with half_open(server.port, connections) as opened, probed(server.url) as waits_besides:
                time.sleep(HELD)
            server.rest()  # fails if the server has ended
        finally:
            server.process.terminate()
            server.process.wait(30)
    memory = "memory, MB"
    return {
        "analyses": analyses,
        "bad requests": bad,
        "half-open connections at once": connections,
        "half-open connections in all": opened[0],
        "analyses a minute": 60 * analyses / (seconds + more_seconds),
        "at the start": start,
        "after half of the analyses": half,
        "after the analyses": between,
        "after the bad requests": end,
        "memory that analyses added, MB": between[memory] - start[memory],
        "memory that their second half added, MB": between[memory] - half[memory],
        "memory that bad requests added, MB": end[memory] - between[memory],
        "threads added": end["threads"] - start["threads"],
        "open files added": end["open files"] - start["open files"],
        "database growth a run, kB": (between["database, kB"] - start["database, kB"]) / analyses,
        "questions to /health": len(waits),
        "median wait for /health, s": statistics.median(waits),
        "longest wait for /health, s": max(waits),
        "longest wait for /health with half-open connections, s": max(waits_besides),
        "analyses that failed": analyses - finished - more_finished,
        "runs begun at once": CROWD,
        "runs begun at once that were refused": outcomes["refused"],
        "runs begun at once that were lost": CROWD - outcomes["finished"] - outcomes["refused"],
        "replies that were not expected": len(unexpected),
        "which": dict(Counter(unexpected)),
    }


def past_limits(figures: Mapping[str, Any]) -> list[str]:
    return [
        f"{name} {figures[name]:.2f}, limit {most}"
        for name, most in LIMITS.items()
        if figures[name] > most
    ]


def main(argv: list[str] | None = None) -> int:
    parser = arguments(__doc__)
    parser.add_argument("--analyses", type=int, default=200)
    parser.add_argument("--bad", type=int, default=500)
    parser.add_argument("--half-open", type=int, default=2000)
    parser.add_argument("--verifier", default="auto")
    parser.add_argument(
        "--floors", action="store_true", help="fail where a figure is past its limit"
    )
    args = parser.parse_args(argv)
    figures = measured(args.analyses, args.bad, args.half_open, args.verifier)
    publish(figures, args.out)
    past = past_limits(figures)
    if args.floors and past:
        print("past the limit: " + "; ".join(past), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
