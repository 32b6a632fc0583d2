"""The server of the workload's pages, in a process of its own: 100 ms before each reply, 20 Mbit/s
for each connection.

python -m benchmarks.pipeline.site --claims 10
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from benchmarks.pipeline.workload import make

LATENCY = 0.1  # seconds
RATE = 2_500_000  # bytes a second
_PIECE = 16_384


def serve(claims: int) -> None:
    """Serve until standard input is closed; the first line of output is the port."""
    contents = {(page.host, page.path): page.html() for page in make(claims).pages}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            time.sleep(LATENCY)
            content = contents.get((self.headers["Host"].split(":")[0], self.path))
            self.send_response(200 if content else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            started, sent = time.perf_counter(), 0
            while content and sent < len(content):
                self.wfile.write(content[sent : sent + _PIECE])
                sent += _PIECE
                time.sleep(max(0.0, sent / RATE - (time.perf_counter() - started)))

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    import threading

    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


@contextmanager
def running(claims: int) -> Iterator[int]:
    """The port of the server; while it runs, hosts that end in .example are this machine."""
    real = socket.getaddrinfo

    def getaddrinfo(host: Any, *more: Any, **named: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else str(host)
        return real("127.0.0.1" if name.endswith(".example") else host, *more, **named)

    command = [sys.executable, "-m", "benchmarks.pipeline.site", "--claims", str(claims)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        try:
            socket.getaddrinfo = getaddrinfo
            yield int(process.stdout.readline())
        finally:
            socket.getaddrinfo = real
            process.stdin.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claims", type=int, required=True)
    serve(parser.parse_args().claims)
