"""Local web servers with scripted responses, good and bad."""

import contextlib
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = tuple[int, dict[str, str], bytes]
Respond = Callable[[BaseHTTPRequestHandler], Answer]


class Served:
    """A running server: its address and the requests it received."""

    def __init__(self, address: str, port: int) -> None:
        self.address, self.port = address, port
        self.rules_read = 0  # how often robots.txt was asked for
        self.requests: list[
            tuple[str, str, dict[str, str], bytes]
        ] = []  # method, path, headers, body

    def url(self, path: str = "/", host: str = "") -> str:
        own = f"[{self.address}]" if ":" in self.address else self.address
        return f"http://{host or own}:{self.port}{path}"

    @property
    def paths(self) -> list[str]:
        return [path for _, path, _, _ in self.requests]


@contextlib.contextmanager
def http_server(
    respond: Respond,
    address: str = "127.0.0.1",
    robots: Respond | None = None,
    tls: ssl.SSLContext | None = None,
) -> Iterator[Served]:
    """A server that answers each request with `respond`; robots.txt is 404 unless `robots` is
    given.
    """

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.path == "/robots.txt":
                served.rules_read += 1
                status, headers, content = robots(self) if robots else (404, {}, b"")
            else:
                served.requests.append((self.command, self.path, dict(self.headers), body))
                status, headers, content = respond(self)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(content)

        do_GET = do_HEAD = do_POST = answer

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in address else socket.AF_INET

    server = Server((address, 0), Handler)
    server.daemon_threads = True
    if tls:
        server.socket = tls.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    served = Served(address, server.server_address[1])
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def raw_server(
    talk: Callable[[socket.socket, threading.Event], None], robots: bool = False
) -> Iterator[Served]:
    """A server that passes each connection to `talk`, which should return when the event is set.

    Requests for robots.txt are answered with 404 unless `robots` is true.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.02)
    over = threading.Event()
    served = Served("127.0.0.1", listener.getsockname()[1])

    def converse(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            if not robots and connection.recv(15, socket.MSG_PEEK) == b"GET /robots.txt":
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                return
            talk(connection, over)

    talks: list[threading.Thread] = []

    def accept() -> None:
        while not over.is_set():
            with contextlib.suppress(OSError):
                connection, _ = listener.accept()
                connection.settimeout(2)
                talks.append(threading.Thread(target=converse, args=(connection,), daemon=True))
                talks[-1].start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        over.set()
        thread.join()
        listener.close()
        for each in talks:
            each.join(timeout=2)


def closed_port() -> int:
    """A port of this machine at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def json_answer(body: object, status: int = 200, **headers: str) -> Answer:
    content = json.dumps(body).encode()
    return status, {"Content-Type": "application/json", **headers}, content


def hub(repo: str, files: dict[str, bytes], **sizes: int) -> Respond:
    """Speak the hub's protocol for one model; `sizes` by suffix are those it names in place of the
    true ones.
    """
    named = {
        name: sizes.get(name.rpartition(".")[2], len(content)) for name, content in files.items()
    }

    def respond(request: BaseHTTPRequestHandler) -> Answer:
        path = request.path.partition("?")[0]
        if path.startswith(f"/api/models/{repo}/tree/"):
            tree = [
                {"type": "file", "path": name, "size": size, "oid": "0"}
                for name, size in named.items()
            ]
            return json_answer(tree)
        if path.startswith(f"/api/models/{repo}"):
            return json_answer({"id": repo, "sha": "0" * 40})
        name = path.rpartition("/")[2]
        if not path.startswith(f"/{repo}/resolve/") or name not in files:
            return (
                404,
                {"X-Error-Code": "EntryNotFound" if f"/{repo}/" in path else "RepoNotFound"},
                b"",
            )
        headers = {"ETag": f'"{named[name]:040x}"', "X-Repo-Commit": "0" * 40}
        if request.command == "HEAD":
            return 200, headers | {"Content-Length": str(named[name])}, b""
        return 200, headers, files[name]

    return respond


def pdf_file(*objects: str | bytes, trailer: str = "") -> bytes:
    """A PDF of these objects, numbered from 1; the first is its catalog."""
    out, places = b"%PDF-1.4\n", b""
    for number, body in enumerate(objects, 1):
        places += f"{len(out):010} 00000 n \n".encode()
        out += (
            f"{number} 0 obj\n".encode()
            + (body.encode("latin-1") if isinstance(body, str) else body)
            + b"\nendobj\n"
        )
    size = len(objects) + 1
    end = f"trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\n"
    end += f"startxref\n{len(out)}\n%%EOF\n"
    return out + f"xref\n0 {size}\n0000000000 65535 f \n".encode() + places + end.encode()


FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"


def pdf_pages(*contents: str, title: str = "", font: str = FONT) -> bytes:
    """A PDF with the given page contents, written in the font F1."""
    kids = " ".join(f"{5 + 2 * i} 0 R" for i in range(len(contents)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(contents)} >>",
        font,
        f"<< /Title ({title}) >>",
    ]
    for i, content in enumerate(contents):
        objects += [
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {6 + 2 * i} 0 R >>",
            f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        ]
    return pdf_file(*objects, trailer="/Info 4 0 R")


def pdf_bytes(*pages: str, title: str = "") -> bytes:
    """A small PDF with one line of text a page."""
    contents = [f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else "" for text in pages]
    return pdf_pages(*contents, title=title)


def encrypted(pdf: bytes, password: str) -> bytes:
    """The same PDF behind a password."""
    import io

    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf)))
    writer.encrypt(password, algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()
