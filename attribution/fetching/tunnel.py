"""A proxy on this machine for a client that opens its connections itself: they go to checked
addresses, as those of `http` do.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from ipaddress import ip_address
from selectors import EVENT_READ, DefaultSelector
from socket import socket
from socketserver import StreamRequestHandler, ThreadingTCPServer

import httpcore2

from attribution.fetching.http import AddressNotAllowed, Allow, CheckedBackend, Clock

_BLOCK = 65_536
_SIZES = {1: 4, 4: 16}  # bytes of a numeric address, by its kind; the other kind is a name
_NO_PASSWORD = b"\x05\x00"
_OPENED = b"\x05\x00\x00\x01" + bytes(6)
_REFUSED = b"\x05\x02\x00\x01" + bytes(6)


class _Proxy(ThreadingTCPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that breaks off is no failure of this program."""


@contextmanager
def tunnel(allow: Allow, seconds: float, limit: int) -> Iterator[str]:
    """Serve SOCKS 5 (RFC 1928), by which a client names hosts and the proxy resolves them.

    Args:
        allow: Decides on each numeric address.
        seconds: The time after which all connections end.
        limit: Bytes that a connection may bring.

    Yields:
        The address of the proxy.
    """
    clock = Clock(seconds)

    class Connection(StreamRequestHandler):
        timeout = seconds

        def handle(self) -> None:
            methods = self.rfile.read(2)[1]
            self.rfile.read(methods)
            self.wfile.write(_NO_PASSWORD)
            kind = self.rfile.read(4)[3]
            if kind in _SIZES:
                host = str(ip_address(self.rfile.read(_SIZES[kind])))
            else:
                length = self.rfile.read(1)[0]
                host = self.rfile.read(length).decode("ascii")
            (port,) = struct.unpack("!H", self.rfile.read(2))
            try:
                stream = CheckedBackend(allow, clock).connect_tcp(host, port)
            except (AddressNotAllowed, httpcore2.NetworkError, httpcore2.TimeoutException):
                self.wfile.write(_REFUSED)
                return
            with closing(stream):
                opened = stream.get_extra_info("socket")
                assert isinstance(opened, socket)
                self.wfile.write(_OPENED)
                _relay(self.connection, opened, clock, limit)

    with _Proxy(("127.0.0.1", 0), Connection) as proxy:
        threading.Thread(target=proxy.serve_forever, args=[0.05], daemon=True).start()
        try:
            yield f"socks5h://127.0.0.1:{proxy.server_address[1]}"
        finally:
            proxy.shutdown()


def _relay(client: socket, server: socket, clock: Clock, limit: int) -> None:
    """Pass on what either side sends, until one ends, or the time or the limit is reached."""
    with DefaultSelector() as selector:
        selector.register(client, EVENT_READ, server)
        selector.register(server, EVENT_READ, client)
        while limit > 0:
            ready = selector.select(clock.left())
            if not ready:
                return
            for key, _ in ready:
                assert isinstance(key.fileobj, socket)
                part = key.fileobj.recv(_BLOCK)
                if not part:
                    return
                key.data.sendall(part)
                if key.fileobj is server:
                    limit -= len(part)
