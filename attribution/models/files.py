"""The files of models by their SHA-256: what is damaged is made again, or named with the step that restores it."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import json
from functools import cache
from pathlib import Path

from attribution.errors import Unavailable

SUMS = "SHA256SUMS"  # beside the files that are part of the project, as `sha256sum` writes it
MADE = "model.json"  # beside those that were made on this machine


def digest(path: Path) -> str:
    """SHA-256 of a file, which is read once a process unless it changes. OSError where it cannot be read."""
    state = path.stat()
    return _digest(path, state.st_size, state.st_mtime_ns)


@cache
def _digest(path: Path, _size: int, _changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is(path: Path, expected: str | None) -> bool:
    try:
        return digest(path) == expected
    except OSError:
        return False


def check_shipped(folder: Path, *names: str) -> None:
    """Unavailable where one of these files of the project (none: all of the folder) is missing or another one."""
    sums: dict[str, str] = {}
    if (folder / SUMS).is_file():
        lines = (folder / SUMS).read_text(encoding="utf-8", errors="replace").splitlines()
        sums = {name: expected for expected, _, name in (line.partition("  ") for line in lines)}
    for path in [folder / name for name in names or sums] or [folder / SUMS]:
        if not _is(path, sums.get(path.name)):
            raise Unavailable(
                f"the model file {path} is missing or damaged: restore it with `git checkout -- {folder}`, or install "
                "the explorer again"
            )


def check_package(package: str, *names: str) -> None:
    """Unavailable where one of these files of an installed package (none: all) is missing or another one."""
    again = "install it again with `pip install --force-reinstall --no-deps {}`"
    try:
        found = importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError as error:
        raise Unavailable(f"the package {package} is missing: {again.format(package)}", error) from None
    wanted = [file for file in found.files or () if file.hash and (not names or file.name in names)]
    if not wanted:
        raise Unavailable(f"the package {package} is damaged: {again.format(f'{package}=={found.version}')}")
    for file in wanted:
        path = Path(str(file.locate()))
        expected = base64.urlsafe_b64decode(f"{file.hash.value}=").hex() if file.hash else ""
        if not _is(path, expected):
            step = again.format(f"{package}=={found.version}")
            raise Unavailable(f"the file {path} of the package {package} is missing or damaged: {step}")


def write_manifest(folder: Path, source: str) -> None:
    """Say of all files of a folder that they were made whole; `source` is what they were made from."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MADE)
    files = {path.relative_to(folder).as_posix(): digest(path) for path in paths}
    (folder / MADE).write_text(json.dumps({"source": source, "files": files}, indent=1) + "\n", encoding="utf-8")


def is_whole(folder: Path, source: str) -> bool:
    """Are all files there that were made from this source, and as they were made?"""
    try:
        made = json.loads((folder / MADE).read_text(encoding="utf-8"))
        files: dict[str, str] = made["files"]
        return made["source"] == source and all(_is(folder / name, expected) for name, expected in files.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
