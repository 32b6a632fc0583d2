import gzip
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from attribution.errors import FetchFailed
from attribution.evidence import GatherStep
from attribution.evidence.gathering import LiveSources
from attribution.evidence.sources import Sources
from attribution.fetching.fetcher import Fetcher
from attribution.settings import Settings
from attribution.store.store import Store
from tests.fetching.test_fetcher import HTML, PAGE, always, fetch, local, names
from tests.make import claim, reading
from tests.servers import Answer, Served, encrypted, http_server, pdf_bytes, raw_server

PDF = {"Content-Type": "application/pdf"}
GZIP = {**HTML, "Content-Encoding": "gzip"}
CASES: dict[str, tuple[Answer, str]] = {
    "/loop": ((302, {"Location": "/loop"}, b""), "redirect_loop"),
    "/inside": ((302, {"Location": "http://127.0.0.9/"}, b""), "blocked_address"),
    "/file": ((302, {"Location": "file:///etc/passwd"}, b""), "bad_address"),
    "/bomb": ((200, GZIP, gzip.compress(b" " * 100_000_000, 6)), "too_large"),
    "/lies": ((200, HTML, b"\x89PNG\r\n\x1a\n\0\0"), "wrong_type"),
    "/closed.pdf": ((200, PDF, encrypted(pdf_bytes("Secret."), "key")), "encrypted"),
    "/long.pdf": (
        (200, PDF, pdf_bytes(*(f"Page {n} of three hundred." for n in range(1, 301)))),
        "page",
    ),
    "/nested": ((200, HTML, b"<html><body>" + b"<div>" * 1_000_000 + b"deep"), "unreadable"),
    "/script": (
        (200, HTML, b"<body><div id=app></div><script src=a.js></script></body>"),
        "needs_javascript",
    ),
    "/good": ((200, HTML, PAGE), "page"),
}


def endless(connection: socket.socket, over: threading.Event) -> None:
    connection.recv(4096)
    connection.sendall(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    while not over.is_set():
        connection.sendall(b"10000\r\n" + b"x" * 65_536 + b"\r\n")


def drip(connection: socket.socket, over: threading.Event) -> None:
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
    while not over.wait(0.1):
        connection.sendall(b"x")


def silent(connection: socket.socket, over: threading.Event) -> None:
    over.wait(30)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("openssl"):
        pytest.skip("openssl makes the certificate of this test; install it")
    both = tmp_path_factory.mktemp("tls") / "both.pem"
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=wrong.example -addext "
        "subjectAltName=DNS:wrong.example -keyout - -out -"
    )
    both.write_bytes(subprocess.run(command.split(), capture_output=True, check=True).stdout)
    return both


def encrypting(certificate: Path) -> ssl.SSLContext:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    return tls


Web = tuple[dict[str, str], Served]


@pytest.fixture
def web(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    """Addresses with what each should end in; and a server on an address that nothing may be asked
    of.
    """
    tls = encrypting(certificate)
    forbids = always(200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /")
    with ExitStack() as stack:
        inside = stack.enter_context(http_server(always(200, HTML, PAGE), "127.0.0.2"))
        server = stack.enter_context(http_server(lambda request: CASES[request.path][0]))
        expected = {
            server.url(path, f"h{i}.example"): kind
            for i, (path, (_, kind)) in enumerate(CASES.items())
        }
        asked = {f"h{i}_example": ["127.0.0.1"] for i in range(len(CASES))}
        expected[stack.enter_context(raw_server(endless)).url()] = "too_large"
        expected[stack.enter_context(raw_server(drip)).url()] = "timed_out"
        expected[stack.enter_context(raw_server(silent, robots=True)).url()] = "robots"
        expected[
            stack.enter_context(http_server(always(200, HTML, PAGE), robots=forbids)).url()
        ] = "robots"
        secure = stack.enter_context(http_server(always(200, HTML, PAGE), tls=tls))
        expected[f"https://127.0.0.1:{secure.port}/"] = "bad_certificate"
        expected[inside.url("/", "rebind.example")] = "blocked_address"
        expected[inside.url()] = "blocked_address"
        names(monkeypatch, rebind_example=[["127.0.0.1", "127.0.0.2"], ["127.0.0.2"]], **asked)
        yield expected, inside


def test_every_case_ends_by_itself(web: Web, store: Store, settings: Settings) -> None:
    expected, inside = web
    chosen = settings.model_copy(update={"page_timeout": 8.0, "read_timeout": 5.0})
    reading().read(PAGE, "text/html", "warm")
    started = time.monotonic()
    gatherer = LiveSources(
        chosen, store, Sources(addresses=list(expected)), Fetcher(chosen, local).fetch
    )
    steps: list[GatherStep] = list(gatherer.gather([claim()], "", threading.Event()))
    seconds = time.monotonic() - started
    found = {p.url: "page" for s in steps for p in s.pages} | {
        f.subject: f.kind for s in steps for f in s.failures
    }
    assert found == expected
    assert inside.requests == []
    assert inside.rules_read == 0
    assert seconds < 60
    texts = {p.url: p for s in steps for p in s.pages}
    long = next(p for url, p in texts.items() if url.endswith("long.pdf"))
    assert long.page_number(long.text.index("Page 299 ")) == 299
    assert len(long.breaks) == 300


def test_https_pages_are_read_under_the_name_of_their_certificate_alone(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusting = ssl.create_default_context(cafile=str(certificate))
    monkeypatch.setattr("attribution.network.tls_context", lambda: trusting)
    names(monkeypatch, wrong_example=["127.0.0.1"], other_example=["127.0.0.1"])
    with http_server(always(200, HTML, PAGE), tls=encrypting(certificate)) as server:
        page = fetch(f"https://wrong.example:{server.port}/", Settings(), local)
        assert page.text == "The Nile flows north."
        with pytest.raises(FetchFailed) as failed:
            fetch(f"https://other.example:{server.port}/", Settings(), local)
        assert failed.value.kind == "bad_certificate"
