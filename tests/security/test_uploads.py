"""Files that visitors upload are held within limits, whatever a client says of them."""

import http.client
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from attribution.server.limits import SOCKETS
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
    with connect(f"ws://localhost:{served.port}/_stcore/stream", max_size=None) as page:
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


def test_an_address_opens_no_more_pages_than_its_share(served: Served) -> None:
    address = f"ws://localhost:{served.port}/_stcore/stream"
    with ExitStack() as pages:
        for _ in range(SOCKETS):
            pages.enter_context(connect(address))
        elsewhere = {"X-Forwarded-For": "192.0.2.1"}
        pages.enter_context(connect(address, additional_headers=elsewhere))  # by a trusted proxy
        with pytest.raises(InvalidStatus, match="429"), connect(address):
            pass
    with connect(address) as page:
        page.ping()
