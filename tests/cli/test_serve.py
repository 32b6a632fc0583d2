import os
import signal
import socket
from pathlib import Path

import pytest

from attribution.cli.main import main
from attribution.cli.serve import free_port, is_free
from tests.serve import Served

CHROMIUM = "/usr/bin/chromium"


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
    assert is_free(port) and free_port(port) == port


def test_after_a_crash_the_server_comes_back_at_the_same_address(tmp_path: Path) -> None:
    served = Served(tmp_path)
    served.end(signal.SIGKILL)
    assert is_free(served.port)  # no child process is listening
    Served(tmp_path, port=served.port).end()


@pytest.mark.browser
@pytest.mark.timeout(600)
@pytest.mark.skipif(not os.path.exists(CHROMIUM), reason=f"{CHROMIUM} is missing: apt-get install chromium")
@pytest.mark.slow
def test_an_open_tab_finds_the_server_again_after_a_crash(tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    server = Served(tmp_path)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--headless", "--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(120_000)
        page.goto(server.url)
        page.get_by_role("button", name="Analyse", disabled=False).wait_for()
        server.end(signal.SIGKILL)
        connected = page.locator("[data-test-connection-state=CONNECTED]")
        connected.wait_for(state="detached")
        page.get_by_text("python -m attribution serve").wait_for()  # what to do, in the project's words
        assert not page.get_by_text("yourscript").is_visible()
        server = Served(tmp_path, port=server.port)
        try:
            connected.wait_for()
            page.wait_for_timeout(3000)  # the new session runs the page once by itself
            page.get_by_role("button", name="Analyse", disabled=False).click()
            page.locator("button:enabled", has_text="Stop").first.wait_for()  # the new server has started a run
        finally:
            server.end()
            browser.close()
