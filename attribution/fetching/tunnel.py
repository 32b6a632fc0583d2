"""A proxy on this machine for a client that opens its connections itself: they go to checked
addresses, as those of `http` do.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from socketserver import StreamRequestHandler, ThreadingTCPServer

import httpcore2

from attribution.fetching.http import Allow, CheckedBackend, Clock

_BLOCK = 65_536
_NAME = 3  # kind of address
_NO_PASSWORD = b"\x05\x00"
_OPENED = b"\x05\x00\x00\x01" + bytes(6)


class _Proxy(ThreadingTCPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """The client sees that its connection ends."""


@contextmanager
def tunnel(allow: Allow, seconds: float, limit: int) -> Iterator[str]:
    """Serve SOCKS 5 (RFC 1928) for clients that leave the resolving of names to the proxy.

    Args:
        allow: Decides on each numeric address.
        seconds: The time after which all connections end.
        limit: Bytes that either side of a connection may send.

    Yields:
        The address of the proxy.
    """
    clock = Clock(seconds)

    class _Tunnelled(StreamRequestHandler):
        timeout = seconds

        def handle(self) -> None:
            methods = self.rfile.read(2)[1]
            self.rfile.read(methods)
            self.wfile.write(_NO_PASSWORD)
            kind, length = self.rfile.read(5)[3:]
            if kind != _NAME:
                return
            host = self.rfile.read(length).decode("ascii")
            port = int.from_bytes(self.rfile.read(2), "big")
            with closing(CheckedBackend(allow, clock).connect_tcp(host, port)) as stream:
                self.wfile.write(_OPENED)
                sending = (self.connection.recv, stream.write, limit)
                threading.Thread(target=_copy, args=sending, daemon=True).start()
                _copy(stream.read, self.connection.sendall, limit)

    with _Proxy(("127.0.0.1", 0), _Tunnelled) as proxy:
        threading.Thread(target=proxy.serve_forever, args=[0.05], daemon=True).start()
        try:
            yield f"socks5h://127.0.0.1:{proxy.server_address[1]}"
        finally:
            proxy.shutdown()


def _copy(read: Callable[[int], bytes], write: Callable[[bytes], object], limit: int) -> None:
    """Pass on what one side sends, until one of them ends, or the time or the limit is reached."""
    with suppress(OSError, httpcore2.NetworkError, httpcore2.TimeoutException):
        while limit > 0:
            part = read(_BLOCK)
            if not part:
                return
            write(part)
            limit -= len(part)
