"""Find the models that Ollama serves on this machine, so that they can be offered by name."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import httpcore2

from attribution.fetching.http import TooLarge, exchange, parsed
from attribution.fetching.network import Clock

ADDRESS = "http://127.0.0.1:11434/v1"
SECONDS = 0.5  # an Ollama that runs answers at once
BYTES = 200_000


def models(address: str = ADDRESS) -> list[str]:
    """Return the names of the models, the last used first; empty where no Ollama answers."""
    place = urlsplit(address)
    try:
        reply = exchange(
            parsed(f"{place.scheme}://{place.netloc}/api/tags"),
            lambda _: True,
            Clock(SECONDS),
            (SECONDS, SECONDS),
            headers={"Accept": "application/json"},
            limit=BYTES,
        )
        names = [str(one["name"]) for one in json.loads(reply.content)["models"]]
    except (
        OSError,
        ValueError,
        LookupError,
        TypeError,
        TooLarge,
        httpcore2.TimeoutException,
        httpcore2.NetworkError,
        httpcore2.ProtocolError,
    ):
        return []
    return [name for name in names if name.isprintable()]
