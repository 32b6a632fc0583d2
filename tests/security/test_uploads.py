"""Files that visitors upload are held within limits, whatever a client says of them."""

import http.client
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosedError, InvalidStatus
from websockets.sync.client import connect

from attribution.server import limits
from attribution.server.limits import CONNECTIONS, SOCKETS, StreamlitLimits
from attribution.settings import LIMITS
from tests.serve import Served

FILE = b"x" * (LIMITS.file_mb * 1_000_000)
BOUNDARY = "a-boundary"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = Served(tmp_path_factory.mktemp("uploads"))
    yield made
    made.end()


@contextmanager
def opened(served: Served) -> Iterator[str]:
    """Open a page, and give the id of its session."""
    address = f"ws://localhost:{served.port}/_stcore/stream"
    with connect(address, max_size=None, ping_interval=None) as page:
        page.send(BackMsg(rerun_script=ClientState()).SerializeToString())
        message = ForwardMsg()
        while not message.HasField("new_session"):
            message.ParseFromString(page.recv(20))  # type: ignore[arg-type]
        yield message.new_session.initialize.session_id


def put(served: Served, session: str, name: str, content: bytes) -> int:
    """Upload a file, and return the status of the reply."""
    head = f"--{BOUNDARY}\r\nContent-Disposition: form-data; name=f; filename=a.txt\r\n\r\n"
    body = head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()
    connection = http.client.HTTPConnection("localhost", served.port, timeout=60)
    connection.request("GET", "/_stcore/health")
    reply = connection.getresponse()
    cookie = str(reply.getheader("set-cookie")).partition(";")[0]
    reply.read()
    headers = {
        "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
        "Cookie": cookie,
        "X-Xsrftoken": cookie.partition("=")[2],
    }
    try:
        connection.request("PUT", f"/_stcore/upload_file/{session}/{name}", body, headers)
        return connection.getresponse().status
    except (BrokenPipeError, ConnectionResetError):  # refused before it was read
        return 413
    finally:
        connection.close()


def test_a_page_and_an_address_hold_no_more_files_than_their_share(served: Served) -> None:
    with opened(served) as first, opened(served) as second, opened(served) as third:
        pages = (first, second, third)
        statuses = [[put(served, page, f"invented-{n}", FILE) for n in range(10)] for page in pages]
    accepted = [of_page.count(204) for of_page in statuses]  # forms add some bytes to each file
    assert accepted == [9, 9, 1]
    assert {status for of_page in statuses for status in of_page} == {204, 413}


@pytest.mark.parametrize("pretended", [(), ("1",)])
def test_a_file_of_unknown_length_is_refused_unread(
    served: Served, pretended: Sequence[str]
) -> None:
    connection = http.client.HTTPConnection("localhost", served.port, timeout=20)
    connection.putrequest("PUT", "/_stcore/upload_file/a/b")
    connection.putheader("Transfer-Encoding", "chunked")
    for length in pretended:
        connection.putheader("Content-Length", length)
    connection.endheaders()
    reply = connection.getresponse()
    assert reply.status == 411
    assert json.load(reply)["error"]["type"] == "NoLength"
    connection.close()


def test_what_is_expired_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hours pass at once, so the middleware stands alone."""
    held = {"first", "second"}
    files: Any = SimpleNamespace(
        get_files=lambda session, names: held.intersection(names),
        remove_file=lambda session, name: held.remove(name),
    )
    client = TestClient(StreamlitLimits(PlainTextResponse("stored"), lambda: files))
    length = {"Content-Length": str(LIMITS.session_mb * 1_000_000)}

    def status(name: str) -> int:
        return client.put(f"/_stcore/upload_file/a-page/{name}", headers=length).status_code

    assert [status("first"), status("second")] == [200, 413]
    monkeypatch.setattr(limits, "EXPIRY_SECONDS", -1)
    assert status("second") == 200
    assert held == {"second"}


def test_addresses_that_open_many_pages_leave_room_for_others(served: Served) -> None:
    address = f"ws://localhost:{served.port}/_stcore/stream"
    with ExitStack() as pages:

        def opened_by(number: int) -> int:
            """The pages that one address can open; the proxy that names it is trusted."""
            headers = {"X-Forwarded-For": f"192.0.2.{number}"}
            for page in range(CONNECTIONS):
                try:
                    pages.enter_context(connect(address, additional_headers=headers))
                except InvalidStatus as refused:
                    assert refused.response.status_code == 429
                    return page
            return CONNECTIONS

        shares = [opened_by(number) for number in range(6)]
        assert served.seconds() < 60  # others are answered
    assert shares[0] == SOCKETS
    assert min(shares) > 10
    with connect(address) as page:
        page.ping()


def test_a_page_sends_no_more_than_its_fields_may_hold(served: Served) -> None:
    sent = 0  # megabytes

    def endless_message() -> Iterator[bytes]:
        nonlocal sent
        while sent < 4 * LIMITS.message_mb:
            sent += 1
            yield b"x" * 1_000_000
            time.sleep(0.05)

    page = connect(f"ws://localhost:{served.port}/_stcore/stream")
    with page, pytest.raises(ConnectionClosedError):
        page.send(endless_message())
    assert sent > LIMITS.message_mb
