"""Files that visitors upload are held within limits, whatever a client says of them."""

import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from attribution.server.middleware import SOCKETS
from attribution.settings import LIMITS
from tests.serve import Served

FILE = b"x" * (LIMITS.file_mb * 1_000_000)
BOUNDARY = "a-boundary"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = Served(tmp_path)
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
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    try:
        connection.request("PUT", f"/_stcore/upload_file/{session}/{name}", body, headers)
        return connection.getresponse().status
    except (BrokenPipeError, ConnectionResetError):  # refused before it was read
        return 413
    finally:
        connection.close()


def memory_mb(served: Served) -> float:
    status = Path(f"/proc/{served.process.pid}/status").read_text()
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(resident.split()[1]) / 1000


def test_a_page_holds_no_more_files_than_its_share_under_invented_names(served: Served) -> None:
    with opened(served) as session:
        before = memory_mb(served)
        statuses = [put(served, session, f"invented-{n}", FILE) for n in range(15)]
        assert memory_mb(served) - before < LIMITS.session_mb + 4 * LIMITS.file_mb
    assert statuses.count(204) == LIMITS.session_mb // LIMITS.file_mb - 1  # forms add some bytes
    assert statuses[-1] == 413


def test_pages_of_one_address_share_a_limit(served: Served) -> None:
    with opened(served) as first, opened(served) as second, opened(served) as third:
        sessions = (first, second, third)
        statuses = [put(served, page, f"file-{n}", FILE) for page in sessions for n in range(9)]
    assert statuses.count(204) == LIMITS.address_mb // LIMITS.file_mb - 1


def test_a_file_of_unknown_length_is_refused_unread(served: Served) -> None:
    with socket.create_connection(("localhost", served.port), 20) as connection:
        connection.sendall(
            b"PUT /_stcore/upload_file/a/b HTTP/1.1\r\nHost: localhost\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        reply = connection.recv(65536)
    assert reply.split()[1] == b"411"
    assert json.loads(reply.partition(b"\r\n\r\n")[2])["error"]["type"] == "NoLength"


def test_an_address_opens_no_more_pages_than_its_share(served: Served) -> None:
    address = f"ws://localhost:{served.port}/_stcore/stream"
    with ExitStack() as pages:
        for _ in range(SOCKETS):
            pages.enter_context(connect(address))
        with pytest.raises(InvalidStatus, match="429"), connect(address):
            pass
    with connect(address) as page:
        page.ping()
