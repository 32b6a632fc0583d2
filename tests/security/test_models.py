import gc
import os
import subprocess
import sys
import time
import weakref
from pathlib import Path

import pytest

from attribution.models.loading import Recent
from attribution.settings import ROOT
from tests.servers import http_server, hub

LOAD = """
import sys
from attribution.embedders import sentence_transformer
from attribution.errors import AttributionError
from attribution.models import files as hub, nli
from attribution.segmenters import propsegment
loaders = [(hub.download, print), (nli.load, False), (propsegment._load,), (sentence_transformer.load,)]
loaders = loaders[:int(sys.argv[1])]
for load, *more in loaders:
    try:
        load("owner/huge", *more)
    except AttributionError as error:
        print(error)
"""


class Model:
    """Something that can be seen to be released."""


def test_only_the_models_used_last_stay_in_memory_and_none_that_is_idle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recent = Recent(2, idle=60)
    models = [Model() for _ in range(3)]
    seen = [weakref.ref(model) for model in models]
    for number, model in enumerate(models):
        recent[number] = model
        recent.get(0, None)  # the first is used all the time
    del models, model
    gc.collect()
    assert [ref() is not None for ref in seen] == [True, False, True] and len(recent) == 2
    assert recent.get(1, "missing") == "missing"
    idle = Recent(2, idle=0.2)
    idle["a"] = Model()
    ref = weakref.ref(idle.get("a", None))
    deadline = time.monotonic() + 60
    while ref() is not None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert ref() is None and len(idle) == 0


FILES = {  # a few kilobytes of configuration, and shards of 140 GB
    "config.json": b'{"model_type": "bert"}',
    "tokenizer_config.json": b"{}",
    "model.safetensors": b"",
    **{f"model-0000{n}-of-00002.safetensors": b"" for n in (1, 2)},
}


@pytest.mark.parametrize("loaders", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_no_model_of_more_than_a_few_gigabytes_is_downloaded(tmp_path: Path, loaders: int) -> None:
    with http_server(hub("owner/huge", FILES, safetensors=70_000_000_000)) as server:
        home = {
            "HF_ENDPOINT": server.url("").rstrip("/"),
            "HF_HOME": str(tmp_path),
            "HF_HUB_OFFLINE": "0",
        }
        done = subprocess.run(
            [sys.executable, "-c", LOAD, str(loaders)],
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
    said = done.stdout.splitlines()
    assert len(said) == loaders
    assert all("GB, and those of at most 8 GB are downloaded" in line for line in said), done.stderr
    assert not wanted
