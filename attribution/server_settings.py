"""The settings of a server: those that its operator makes in the environment, and its memory."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from typing import NamedTuple

from pydantic import SecretStr

from attribution.errors import BadInput


class ServerNumber(NamedTuple):
    """A number that the environment may set, from 1 on."""

    default: int
    most: int
    meaning: str


SERVER = {
    "ATTRIBUTION_RUNS": ServerNumber(
        os.cpu_count() or 1, 1000, "runs and requests of the API at once; the others wait"
    ),
    "ATTRIBUTION_ADDRESS_MB": ServerNumber(
        2000,
        10_000_000,
        "megabytes of the disk that what is saved from one network address may take",
    ),
    "ATTRIBUTION_SHARED_MB": ServerNumber(
        2000,
        10_000_000,
        "megabytes that all collections, all annotation projects and each cache may take",
    ),
    "ATTRIBUTION_FREE_MB": ServerNumber(
        500,
        10_000_000,
        "megabytes of the database's disk that are kept free: nothing new is saved below",
    ),
}


def server_number(variable: str) -> int:
    """Return a number of SERVER from the environment, or its default.

    Raises:
        BadInput: It is anything else.
    """
    number = SERVER[variable]
    text = os.environ.get(variable, "").strip()
    if not text:
        return number.default
    if not (text.isdecimal() and 0 < int(text) <= number.most):
        raise BadInput(f"{variable}={text!r}: expected a number from 1 to {number.most}")
    return int(text)


def hub_models() -> tuple[str, ...]:
    """Return the hub models that visitors may choose; empty: those of the tables."""
    return _listed("ATTRIBUTION_HUB_MODELS")


def api_keys() -> tuple[SecretStr, ...]:
    """Return the keys of the API's clients, of ATTRIBUTION_API_KEYS."""
    return tuple(SecretStr(key) for key in _listed("ATTRIBUTION_API_KEYS"))


def allowed_hosts() -> tuple[str, ...]:
    """Return further host names of a server, of ATTRIBUTION_HOSTS; * for any."""
    return _listed("ATTRIBUTION_HOSTS")


def _listed(variable: str) -> tuple[str, ...]:
    """Return the parts of a variable that are separated by commas."""
    parts = [part.strip() for part in os.environ.get(variable, "").split(",")]
    return tuple(part for part in parts if part)


def share_heaps() -> None:
    """Let the threads of this process share two heaps.

    By default glibc gives each thread its own, which keeps what the thread has freed.
    """
    with suppress(AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(-8, 2)  # M_ARENA_MAX
