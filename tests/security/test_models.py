import gc
import os
import subprocess
import sys
import weakref
from pathlib import Path

from attribution.models.engine import MODELS, load_while_used
from attribution.settings import ROOT
from tests.servers import http_server, hub

LOAD = """
from attribution.errors import AttributionError
from attribution.models import files
try:
    files.download("owner/huge", print)
except AttributionError as error:
    print(error)
"""


class Model:
    """Something that can be seen to be released."""


def test_only_the_models_used_last_stay_in_memory() -> None:
    load = load_while_used(lambda _: Model())
    models = {}
    for number in range(MODELS + 1):
        models[number] = weakref.ref(load(f"model-{number}"))
        load("model-0")  # the first is used all the time
    gc.collect()
    assert [ref() is not None for ref in models.values()] == [True, False, True]


FILES = {  # a few kilobytes of configuration, and shards of 140 GB
    "config.json": b'{"model_type": "bert"}',
    "tokenizer_config.json": b"{}",
    "model.safetensors": b"",
    **{f"model-0000{n}-of-00002.safetensors": b"" for n in (1, 2)},
}


def test_no_model_of_more_than_a_few_gigabytes_is_downloaded(tmp_path: Path) -> None:
    with http_server(hub("owner/huge", FILES, safetensors=70_000_000_000)) as server:
        home = {
            "HF_ENDPOINT": server.url("").rstrip("/"),
            "HF_HOME": str(tmp_path),
            "HF_HUB_OFFLINE": "0",
        }
        done = subprocess.run(
            [sys.executable, "-c", LOAD],
            cwd=ROOT,
            env=os.environ | home,
            capture_output=True,
            text=True,
            timeout=200,
        )
        wanted = [
            path
            for method, path, *_ in server.requests
            if method == "GET" and path.endswith("safetensors")
        ]
    assert "GB, and those of at most 8 GB are downloaded" in done.stdout, done.stderr
    assert not wanted
