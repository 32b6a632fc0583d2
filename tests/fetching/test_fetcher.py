import gzip
import random
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from attribution.errors import FetchFailed
from attribution.fetching.fetcher import Fetcher
from attribution.network import USER_AGENT, is_public
from attribution.settings import Settings
from attribution.types import Page
from tests.servers import Answer, closed_port, http_server

HTML = {"Content-Type": "text/html; charset=utf-8"}
TWICE = {"Content-Type": "text/html, text/html", "Content-Encoding": "none"}
PAGE = (
    b"<!doctype html><html><head><title>A page</title></head><body><p>The Nile flows north.</p>"
    b"</body></html>"
)
QUICK = Settings(page_timeout=0.5, read_timeout=0.4, page_bytes=200_000)
PATIENT = QUICK.model_copy(update={"page_timeout": 20.0, "read_timeout": 2.0})


def local(address: str) -> bool:
    return address == "127.0.0.1"


def fetch(url: str, settings: Settings, allow: Callable[[str], bool]) -> Page:
    return Fetcher(settings, allow).fetch(url)


def failure(
    url: str, settings: Settings = PATIENT, allow: Callable[[str], bool] = local
) -> FetchFailed:
    with pytest.raises(FetchFailed) as caught:
        fetch(url, settings, allow)
    assert caught.value.subject == url
    return caught.value


def always(
    status: int, headers: dict[str, str], content: bytes
) -> Callable[[BaseHTTPRequestHandler], Answer]:
    return lambda request: (status, headers, content)


def names(monkeypatch: pytest.MonkeyPatch, **answers: list[str] | list[list[str]]) -> list[str]:
    """Let host names (with _ for .) resolve as told; a list of lists gives each call the next.
    Returns the calls.
    """
    real = socket.getaddrinfo
    asked: list[str] = []

    def getaddrinfo(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        name = str(host).replace(".", "_")
        if name not in answers:
            return real(host, port, *args, **kwargs)
        asked.append(str(host))
        found = answers[name]
        now = found.pop(0) if isinstance(found[0], list) else found
        return [
            (socket.AF_INET6 if ":" in a else socket.AF_INET, socket.SOCK_STREAM, 6, "", (a, port))
            for a in now
        ]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return asked


def test_a_page_and_what_the_server_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # the environment's proxy is not used
    with http_server(always(200, {**TWICE, "Set-Cookie": "a=b"}, PAGE)) as server:
        page = fetch(server.url("/a?b=c#d"), PATIENT, local)
        fetch(server.url("/again"), PATIENT, local)
        assert (page.title, page.text, page.kind, page.reference) == (
            "A page",
            "The Nile flows north.",
            "web",
            "",
        )
        assert page.url == server.url("/a?b=c#d")
        assert server.paths == ["/a?b=c", "/again"]
        headers = server.requests[1][2]
        assert headers["User-Agent"] == USER_AGENT
        assert headers["Host"] == f"127.0.0.1:{server.port}"
        assert "Cookie" not in headers


@pytest.mark.parametrize(
    "packed",
    [
        gzip.compress(PAGE),
        gzip.compress(PAGE[:70]) + gzip.compress(PAGE[70:]),
        gzip.compress(PAGE) + b"\0" * 40,
    ],
    ids=["whole", "in parts", "padded"],
)
def test_gzip_is_unpacked_in_all_its_members(packed: bytes) -> None:
    with http_server(always(200, {**HTML, "Content-Encoding": "gzip"}, packed)) as server:
        assert fetch(server.url(), PATIENT, local).text == "The Nile flows north."


@pytest.mark.parametrize(
    ("encoding", "packed", "kind"),
    [
        ("gzip", gzip.compress(PAGE)[:-20], "unreadable"),
        ("gzip", gzip.compress(random.Random(1).randbytes(300_000)), "too_large"),
        ("br", b"whatever", "unreadable"),
    ],
    ids=["cut off", "dense", "brotli"],
)
def test_a_packed_page_that_is_not_read(encoding: str, packed: bytes, kind: str) -> None:
    with http_server(always(200, {**HTML, "Content-Encoding": encoding}, packed)) as server:
        assert failure(server.url()).kind == kind


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "ftp://example.org/",
        "example.org",
        "",
        "http://",
        "http://exa mple.org/",
        "http://[::1",
        "https://\x00/",
        "http://user:secret@example.org/",
        "http://example.org:99999/",
        "http://example.org:0/",
        "http://" + "a" * 70_000,
    ],
)
def test_addresses_that_are_not_fetched(url: str) -> None:
    error = failure(url)
    assert error.kind == "bad_address"
    assert "secret" not in str(error)
    assert len(str(error)) < 400


PRIVATE = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "localhost",
    "0.0.0.0",
    "10.0.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "192.0.0.192",
    "168.63.129.16",
    "224.0.0.1",
    "[fe80::1]",
    "[fd00::1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[::7f00:1]",
]


@pytest.mark.parametrize("host", PRIVATE)
def test_private_addresses_are_refused_however_they_are_written(host: str) -> None:
    with http_server(always(200, HTML, PAGE)) as server:
        error = failure(f"http://{host}:{server.port}/", PATIENT, is_public)
        # what is not even taken for an address is no way in either
        assert error.kind in ("blocked_address", "bad_address") or "cannot be resolved" in str(
            error
        )
        assert server.requests == []


@pytest.mark.parametrize(
    ("addresses", "public"),
    [
        ("8.8.8.8 2606:4700::1 ::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808::1", True),
        ("fec0::1 ff02::1 2001:db8::1 64:ff9b:1::1 240.0.0.1 x fe80::1%lo", False),
    ],
)
def test_addresses_of_the_public_internet_are_known(addresses: str, public: bool) -> None:
    assert {is_public(address) for address in addresses.split()} == {public}


def test_rebinding_within_one_page_sends_nothing_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        http_server(always(302, {"Location": "/next"}, b"")) as outside,
        socket.create_server(("127.0.0.2", outside.port)) as inside,
    ):
        inside.setblocking(False)
        asked = names(monkeypatch, rebind_example=[["127.0.0.1"], ["127.0.0.1"], ["127.0.0.2"]])
        assert failure(outside.url("/", "rebind.example")).kind == "blocked_address"
        assert len(asked) == 3
        assert outside.paths == ["/"]
        with pytest.raises(BlockingIOError):  # nobody has connected
            inside.accept()


def test_redirects_are_followed_and_the_last_address_kept() -> None:
    def respond(request: BaseHTTPRequestHandler) -> Answer:
        steps = {"/a": "b", "/b": "/c?x=1", "/c?x=1": "/final#here"}
        return (
            (302, {"Location": steps[request.path]}, b"")
            if request.path in steps
            else (200, HTML, PAGE)
        )

    with http_server(respond) as server:
        page = fetch(server.url("/a"), PATIENT, local)
        assert (page.url, page.reference) == (server.url("/a"), server.url("/final"))
        assert server.paths == ["/a", "/b", "/c?x=1", "/final"]


@pytest.mark.parametrize(
    ("status", "kind", "says"),
    [
        (404, "http_error", "does not exist"),
        (403, "http_error", "document"),
        (429, "rate_limited", "wait"),
        (500, "server_error", "later"),
        (402, "paywall", "payment"),
    ],
)
def test_http_errors_say_what_to_do(status: int, kind: str, says: str) -> None:
    with http_server(always(status, HTML, PAGE)) as server:
        error = failure(server.url())
        assert error.kind == kind
        assert str(status) in str(error)
        assert says in str(error)


def test_a_name_service_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()

    def slow(*args: object, **kwargs: object) -> list[object]:
        over.wait(3)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    monkeypatch.setattr("attribution.network.CONNECT_SECONDS", 0.4)
    started = time.monotonic()
    assert failure("http://slow.example/", QUICK).kind == "unreachable"
    assert time.monotonic() - started < 1.5
    over.set()


def test_unreachable() -> None:
    assert failure(f"http://127.0.0.1:{closed_port()}/").kind == "unreachable"
    error = failure("http://does-not-exist.invalid/")
    assert error.kind == "unreachable"
    assert "does-not-exist.invalid" in str(error)
    assert "check the address" in str(error)
    assert "Errno" not in str(error)
    assert "Errno" in error.detail
