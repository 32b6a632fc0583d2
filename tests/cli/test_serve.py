import json
import signal
import socket
from pathlib import Path
from typing import Any

import pytest

from attribution.cli.main import main
from attribution.cli.serve import free_port, is_free
from tests.cli.conftest import SMALL
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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "rivers"
    made.mkdir()
    (made / "nile.txt").write_text("The Nile flows north. It reaches the sea in Egypt.")
    (made / "rhine.md").write_text("# Rhine\n\nThe Rhine flows north to the Netherlands.")
    (made / "bad.pdf").write_bytes(b"%PDF-1.4 broken")
    (made / "x.zip").write_bytes(b"x")
    return made


def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_a_folder_becomes_a_collection_that_answers_are_checked_against(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["collections", "add", "rivers", str(folder)]) == 1
    counts = printed(capsys)
    assert [failure["kind"] for failure in counts.pop("failures")] == ["unreadable"]
    assert counts == {
        "collection": "rivers",
        "added": 2,
        "changed": 0,
        "unchanged": 0,
        "failed": 1,
        "left_out": 1,
    }
    assert main(["collections", "list"]) == 0
    (only,) = printed(capsys)
    assert (only["name"], only["documents"]) == ("rivers", 2)
    assert main(["collections", "list", "rivers"]) == 0
    assert [row["name"] for row in printed(capsys)] == ["rivers/nile.txt", "rivers/rhine.md"]

    out = tmp_path / "report.json"
    analyze = ["analyze", "--answer", "The Nile flows north.", "--out", str(out), *SMALL]
    analyze += ["--sources", "collection:rivers"]
    assert main(analyze) == 0
    report = json.loads(out.read_text("utf-8"))
    assert report["evidence"][0]["searcher"] == "collection:rivers"
    assert "collection:rivers/rivers/nile.txt" in [page["url"] for page in report["pages"]]

    capsys.readouterr()
    assert main(["collections", "remove", "rivers", "rivers/nile.txt"]) == 0
    assert printed(capsys) == {"collection": "rivers", "removed": 1}
    assert main(["collections", "remove", "rivers"]) == 0
    assert main(analyze) == 2
    assert "there is no collection 'rivers'" in capsys.readouterr().err


def test_when_nothing_can_be_read_the_status_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    assert main(["collections", "add", "c", str(empty), "http://127.0.0.1:1/a"]) == 1
    kinds = {failure["kind"] for failure in printed(capsys)["failures"]}
    assert kinds == {"no_text", "blocked_address"}


def test_a_file_name_controls_no_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "\x1b[2Jred.txt").write_text("")
    assert main(["collections", "add", "c", str(tmp_path)]) == 1
    errors = capsys.readouterr().err
    assert "red.txt" in errors
    assert "\x1b" not in errors
