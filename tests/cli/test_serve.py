import signal
import socket
from pathlib import Path

import pytest

from attribution.cli.main import main
from attribution.cli.serve import free_port, is_free
from tests.serve import Served


def test_a_port_in_use_is_passed_over_or_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert free_port(port) > port
        assert main(["serve", "--port", str(port)]) == 2
    assert f"port {port} is in use" in capsys.readouterr().err
    assert main(["serve", "--port", "70000"]) == 2


def test_connections_that_are_still_closing_do_not_occupy_the_port() -> None:
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]
    client = socket.create_connection(("127.0.0.1", port))
    connection, _ = server.accept()
    connection.close()  # the side that closes first keeps the address in TIME_WAIT
    client.close()
    server.close()
    with socket.socket() as plain, pytest.raises(OSError):
        plain.bind(("127.0.0.1", port))
    assert is_free(port)
    assert free_port(port) == port


def test_after_a_crash_the_server_comes_back_at_the_same_address(tmp_path: Path) -> None:
    served = Served(tmp_path)
    served.end(signal.SIGKILL)
    assert is_free(served.port)  # no child process is listening
    served.start()
    served.end()
