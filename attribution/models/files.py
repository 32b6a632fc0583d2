"""Find model files, download them from the Hugging Face hub, and check their SHA-256."""

from __future__ import annotations

import base64
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
from typing import Any

from attribution.errors import AttributionError, ModelUnavailable, Unavailable, setup_error

SUMS = "SHA256SUMS"  # beside the files that are part of the project, as `sha256sum` writes it
MADE = "model.json"  # beside those that were made on this machine
_MAKING = threading.RLock()  # threads that need a model at the same time share one that is made


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, computed once per process unless it changes. Raises OSError if
    unreadable.
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


def check_shipped(folder: Path, *names: str) -> None:
    """Raise Unavailable if one of these files of the project (none: all of the folder) is missing
    or altered.
    """
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
    """Raise Unavailable if one of these files of an installed package (none: all) is missing or
    altered.
    """
    again = "install it again with `pip install --force-reinstall --no-deps {}`"
    try:
        found = importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError as error:
        raise Unavailable(
            f"the package {package} is missing: {again.format(package)}", error
        ) from None
    wanted = [file for file in found.files or () if file.hash and (not names or file.name in names)]
    if not wanted:
        raise Unavailable(
            f"the package {package} is damaged: {again.format(f'{package}=={found.version}')}"
        )
    for file in wanted:
        path = Path(str(file.locate()))
        expected = base64.urlsafe_b64decode(f"{file.hash.value}=").hex() if file.hash else ""
        if not _is(path, expected):
            step = again.format(f"{package}=={found.version}")
            raise Unavailable(
                f"the file {path} of the package {package} is missing or damaged: {step}"
            )


def write_manifest(folder: Path, source: str) -> None:
    """Record that all files of a folder are complete; `source` is what they were made from."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MADE)
    files = {path.relative_to(folder).as_posix(): digest(path) for path in paths}
    (folder / MADE).write_text(
        json.dumps({"source": source, "files": files}, indent=1) + "\n", encoding="utf-8"
    )


def source_of(folder: Path) -> str | None:
    """Return what a folder was made from, without a look at its files; None where nothing was made."""
    source = _manifest(folder).get("source")
    return source if isinstance(source, str) else None


def is_whole(folder: Path, source: str) -> bool:
    """Return True if all files that were made from this source are there and unaltered."""
    files = _manifest(folder).get("files")
    if source_of(folder) != source or not isinstance(files, dict):
        return False
    return all(_is(folder / name, expected) for name, expected in files.items())


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / MADE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def made(folder: Path, source: str, make: Callable[[Path], object]) -> Path:
    """Return the folder that `make` fills, made anew unless it is whole and of this source.

    `make` gets an empty folder in another one, which is deleted. Its exceptions leave everything as
    it was.
    """
    with _MAKING:
        if not is_whole(folder, source):
            folder.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder.parent) as beside:
                new = Path(beside, "new")
                new.mkdir()
                make(new)
                write_manifest(new, source)
                if not is_whole(folder, source):  # another process may have been faster
                    shutil.rmtree(folder, ignore_errors=True)
                    new.rename(folder)
    return folder


WEIGHTS = ("model.safetensors", "pytorch_model.bin")  # the first that a model has is used
SMALL_FILES = ("config.json", "*token*", "vocab*", "merges.txt", "spm.model", "*.spm", "*.model")
HUB_SECONDS = 10.0  # for an answer of the hub
LARGEST = 8_000_000_000  # bytes of a model; larger ones are not downloaded
Progress = Callable[[float, str], None]  # share done, 0 to 1, and what is being done


@contextmanager
def loading(model: str, setting: str, alternative: str) -> Iterator[None]:
    """Raise any error of loading as ModelUnavailable.

    The hub's client, tokenizers, torch and a model's own configuration each fail in their own way,
    and a damaged file
    may fail in any of them.
    """
    hide_loading_bar()
    try:
        _reach_hub(model)
        yield
    except AttributionError:
        raise
    except Exception as error:
        again = ""
        if Path(model).is_dir():
            again = "a file of that folder is missing or damaged: copy it again"
        elif weights(model) is not None:
            again = f"a file of it is missing or damaged: download it again with `hf download --force-download {model}`"
        raise ModelUnavailable(model, setting, alternative, error, again) from error


def _reach_hub(model: str) -> None:
    """Raise TransportError if the hub is needed and cannot be reached; its client would try again
    for 45 seconds.
    """
    from httpx2 import TransportError
    from huggingface_hub import get_hf_file_metadata, hf_hub_url, try_to_load_from_cache

    if Path(model).is_dir():
        return
    try:
        if not isinstance(try_to_load_from_cache(model, "config.json"), str):
            get_hf_file_metadata(hf_hub_url(model, "config.json"), timeout=HUB_SECONDS)
    except TransportError:
        raise
    except Exception:  # loading reports it
        return


def hide_loading_bar() -> None:
    """Hide the progress bars of loading; call before `from_pretrained`. Those of downloads, which
    take long, stay.
    """
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, enable_progress_bars
    from transformers.utils.logging import disable_progress_bar

    downloads = not are_progress_bars_disabled()
    disable_progress_bar()
    if downloads:
        enable_progress_bars()


def cache_folder() -> Path:
    """Return the folder where the hub's client keeps its downloads."""
    from huggingface_hub.constants import HF_HUB_CACHE

    return Path(HF_HUB_CACHE)


def weights(model: str) -> Path | None:
    """Return the file of a model's weights on this machine, or None. `model` is a name on the hub
    or a folder.
    """
    if Path(model).is_dir():
        return next((path for name in WEIGHTS if (path := Path(model, name)).is_file()), None)
    from huggingface_hub import try_to_load_from_cache

    try:
        found = [try_to_load_from_cache(model, file) for file in WEIGHTS]
    except ValueError:  # not a valid model name: loading reports it
        return None
    return next((Path(path) for path in found if isinstance(path, str)), None)


def check_size(model: str) -> None:
    """Raise Unavailable for a model that is not on this machine and whose weights are too large to
    download.
    """
    from httpx2 import HTTPError
    from huggingface_hub import snapshot_download

    if Path(model).is_dir() or weights(model):
        return
    try:
        found = snapshot_download(model, allow_patterns=["*.safetensors", "*.bin"], dry_run=True)
    except (OSError, ValueError, HTTPError):
        return  # loading reports why
    wanted = [file for file in found if file.will_download]
    one = [
        file for file in wanted if file.filename.endswith(".safetensors")
    ] or wanted  # rather than both forms
    if (size := sum(file.file_size or 0 for file in one)) > LARGEST:
        raise _too_large(model, size)


def _too_large(model: str, size: int) -> Unavailable:
    return Unavailable(
        f"the model {model} has {size / 1e9:,.1f} GB, and those of at most {LARGEST / 1e9:g} GB are downloaded: take "
        f"a smaller one, or get it with `hf download {model}`"
    )


def download(model: str, progress: Progress) -> Path:
    """Download a model's weights, configuration and tokenizer to the cache of the hub's client;
    returns that folder.

    An exception from `progress` ends the download; the next one resumes it. Raises Unavailable if
    the hub or the model
    cannot be reached, or the model is too large.
    """
    from httpx2 import HTTPError
    from huggingface_hub import hf_hub_download, snapshot_download
    from tqdm import tqdm

    done = 0

    class Bar(tqdm):  # type: ignore[type-arg]
        """A progress bar of the hub's client, which reports the bytes of one file."""

        def __init__(self, *args: Any, initial: float = 0, **kwargs: Any) -> None:
            super().__init__(*args, **(kwargs | {"disable": True}))
            self.update(initial)

        def update(self, n: float | None = 1) -> bool | None:
            nonlocal done
            done += int(n or 0)
            if done > LARGEST:  # more than was declared
                raise _too_large(model, done)
            progress(
                min(1.0, done / size), f"downloading, {done / 1e6:,.0f} of {size / 1e6:,.0f} MB"
            )
            return None

    try:
        found = snapshot_download(model, allow_patterns=[*SMALL_FILES, *WEIGHTS], dry_run=True)
        names = {file.filename for file in found}
        spare = [name for name in WEIGHTS if name in names][1:]
        wanted = [file for file in found if file.filename not in spare and file.will_download]
        if (size := max(1, sum(file.file_size or 0 for file in wanted))) > LARGEST:
            raise _too_large(model, size)
        for file in wanted:
            hf_hub_download(model, file.filename, tqdm_class=Bar)
    except (OSError, ValueError, HTTPError) as error:
        if (cause := setup_error(error)) is not None:
            raise cause from error
        message = f"the model {model} cannot be downloaded: check its name and the connection to the Hugging Face Hub"
        raise Unavailable(message, error) from error
    return cache_folder()
