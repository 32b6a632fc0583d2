import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from attribution.settings import ROOT
from tests.servers import Answer, http_server

COMMIT = "0" * 40
FILES = {
    "config.json": b"{}", "tokenizer.json": b"[1]", "model.safetensors": b"w" * 3_000_000,
    "pytorch_model.bin": b"the same weights once more", "README.md": b"words",
}  # fmt: skip
SCRIPT = """
import sys
from attribution.errors import Unavailable
from attribution.models import files as hub
seen = []
def progress(share, what):
    seen.append(share)
    if len(sys.argv) > 2:
        raise KeyboardInterrupt
try:
    hub.download(sys.argv[1], progress)
except KeyboardInterrupt:
    print("stopped")
except Unavailable as error:
    print(error)
print(seen == sorted(seen), seen[-1:] == [1.0], hub.weights(sys.argv[1]))
"""


def hub_server(request: BaseHTTPRequestHandler) -> Answer:
    path = request.path.partition("?")[0]
    if path.startswith("/api/models/owner/model/tree/"):
        tree = [{"type": "file", "path": name, "size": len(FILES[name]), "oid": "0"} for name in FILES]
        return 200, {"Content-Type": "application/json"}, json.dumps(tree).encode()
    if path.startswith("/api/models/owner/model"):
        return 200, {"Content-Type": "application/json"}, json.dumps({"id": "owner/model", "sha": COMMIT}).encode()
    name = path.rpartition("/")[2]
    if not path.startswith("/owner/model/resolve/") or name not in FILES:
        return 404, {"X-Error-Code": "RepoNotFound"}, b""
    headers = {"ETag": f'"{len(FILES[name]):040x}"', "X-Repo-Commit": COMMIT}
    if request.command == "HEAD":
        return 200, {**headers, "Content-Length": str(len(FILES[name]))}, b""
    return 200, headers, FILES[name]


def downloaded(home: Path, address: str, *arguments: str) -> list[str]:
    """The lines that the script prints; the hub's client reads its address when it is imported."""
    environment = {**os.environ, "HF_ENDPOINT": address, "HF_HOME": str(home), "HF_HUB_OFFLINE": "0"}
    command = [sys.executable, "-c", SCRIPT, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100)
    return (done.stdout or done.stderr).splitlines()


def file_of(method: str, path: str) -> str:
    """The file whose content a request asks for; empty where it asks for something else."""
    return path.rpartition("/")[2] if method == "GET" and "/resolve/" in path else ""


def test_a_model_is_downloaded_with_its_progress_and_found(tmp_path: Path) -> None:
    with http_server(hub_server) as server:
        *_, last = downloaded(tmp_path, server.url("").rstrip("/"), "owner/model")
        assert last.startswith("True True ") and last.endswith("model.safetensors")
        fetched = {name for method, path, *_ in server.requests if (name := file_of(method, path))}
        assert fetched == {"config.json", "tokenizer.json", "model.safetensors"}  # the weights once
        before = len(server.requests)
        *_, last = downloaded(tmp_path, server.url("").rstrip("/"), "owner/model")
        assert last.startswith("True False ")  # nothing is left to do
        assert not any(file_of(method, path) for method, path, *_ in server.requests[before:])


def test_a_stopped_download_and_an_unknown_model(tmp_path: Path) -> None:
    with http_server(hub_server) as server:
        address = server.url("").rstrip("/")
        assert downloaded(tmp_path, address, "owner/model", "stop")[0] == "stopped"
        unknown = downloaded(tmp_path, address, "nobody/none")
        assert "nobody/none cannot be downloaded: check its name" in unknown[0] and unknown[1].endswith("None")
