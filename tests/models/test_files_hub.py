import os
import subprocess
import sys
from pathlib import Path

from attribution.settings import ROOT
from tests.servers import http_server, hub

FILES = {
    "config.json": b"{}",
    "tokenizer.json": b"[1]",
    "model.safetensors": b"w" * 3_000_000,
    "pytorch_model.bin": b"the same weights once more",
    "README.md": b"words",
}
SCRIPT = """
import sys
from attribution.errors import Unavailable
from attribution.models import files as hub
try:
    hub.download(sys.argv[1])
except Unavailable as error:
    print(error)
print(hub.weights(sys.argv[1]))
"""


def downloaded(home: Path, address: str, model: str) -> list[str]:
    """The lines that the script prints; the hub's client reads its address when it is imported."""
    environment = {
        **os.environ,
        "HF_ENDPOINT": address,
        "HF_HOME": str(home),
        "HF_HUB_OFFLINE": "0",
    }
    command = [sys.executable, "-c", SCRIPT, model]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100
    )
    return (done.stdout or done.stderr).splitlines()


def file_of(method: str, path: str) -> str:
    """The file whose content a request asks for; empty where it asks for something else."""
    return path.rpartition("/")[2] if method == "GET" and "/resolve/" in path else ""


def test_a_model_is_downloaded_once_and_found(tmp_path: Path) -> None:
    with http_server(hub("owner/model", FILES)) as server:
        *_, last = downloaded(tmp_path, server.url("").rstrip("/"), "owner/model")
        assert last.endswith("model.safetensors")
        fetched = {name for method, path, *_ in server.requests if (name := file_of(method, path))}
        assert fetched == {"config.json", "tokenizer.json", "model.safetensors"}  # the weights once
        before = len(server.requests)
        *_, last = downloaded(tmp_path, server.url("").rstrip("/"), "owner/model")
        assert last.endswith("model.safetensors")
        assert not any(file_of(method, path) for method, path, *_ in server.requests[before:])


def test_an_unknown_model_cannot_be_downloaded(tmp_path: Path) -> None:
    with http_server(hub("owner/model", FILES)) as server:
        unknown = downloaded(tmp_path, server.url("").rstrip("/"), "nobody/none")
    assert "nobody/none cannot be downloaded: check its name" in unknown[0]
    assert unknown[1] == "None"


def test_no_model_of_more_than_a_few_gigabytes_is_downloaded(tmp_path: Path) -> None:
    shards = {f"model-0000{n}-of-00002.safetensors": b"" for n in (1, 2)}
    with http_server(hub("owner/huge", FILES | shards, safetensors=70_000_000_000)) as server:
        first, *_ = downloaded(tmp_path, server.url("").rstrip("/"), "owner/huge")
        fetched = [file_of(method, path) for method, path, *_ in server.requests]
    assert "GB, and those of at most 8 GB are downloaded" in first
    assert not any(name.endswith("safetensors") for name in fetched)
