import os
import re
import subprocess
import sys
from pathlib import Path

from attribution.types import LABELS
from tests.serve import KEY
from tests.server.conftest import Server

TEXT = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")


def block(kind: str) -> str:
    found = re.search(rf"```{kind}\n(.*?)```", TEXT, re.DOTALL)
    assert found
    return found[1]


def output(*command: str) -> str:
    environment = {**os.environ, "ATTRIBUTION_API_KEYS": KEY}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_client_of_ten_lines(server: Server) -> None:
    code = block("python client").replace("http://localhost:8502", server.url)
    assert output(sys.executable, "-c", code).split()[0] in LABELS


def test_the_curl_line_sends_what_the_server_takes(server: Server) -> None:
    command = next(part for part in TEXT.split("```sh\n") if part.startswith("curl")).split("```")
    done = output("bash", "-c", command[0].replace("localhost:8502", server.url))
    assert '"event": "finished"' in done


def test_the_mcp_client() -> None:
    code = block("python mcp").replace('"mcp"])', '"mcp", "--verifier", "embedded-small"])')
    assert output(sys.executable, "-c", code).strip() in LABELS
