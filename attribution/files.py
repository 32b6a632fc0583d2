"""Files that are written whole or not at all; an error of writing one names it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes the place of `path` once all of it is written; where that fails, nothing is left of it."""
    if path.exists() and not path.is_file():  # /dev/stdout, or a pipe
        with named(path), path.open("wb") as out:
            yield out
        return
    partial = path.with_name(path.name + ".part")
    try:
        with named(path):
            with partial.open("wb") as out:
                yield out
            os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def replace_text(path: Path, text: str) -> None:
    """Write a file of UTF-8 text, all of it or nothing."""
    with replacing(path) as out:
        out.write(text.encode())


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Name the file in an OSError that does not, as those of a full disk do not."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise
