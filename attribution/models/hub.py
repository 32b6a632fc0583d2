"""Models of the Hugging Face hub: which are on this machine, and how the others get there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attribution.errors import AttributionError, ModelUnavailable, Unavailable, setup_error

WEIGHTS = ("model.safetensors", "pytorch_model.bin")  # the first that a model has
SMALL_FILES = ("config.json", "*token*", "vocab*", "merges.txt", "spm.model", "*.spm", "*.model")
LARGEST = 8_000_000_000  # bytes of one model that is downloaded
Progress = Callable[[float, str], None]  # share done, 0 to 1, and what is being done


@contextmanager
def loading(model: str, setting: str, alternative: str) -> Iterator[None]:
    """Raise what loading raises as ModelUnavailable: the hub's client, tokenizers, torch and a model's own
    configuration fail each in their way, and a damaged file in any of them."""
    hide_loading_bar()
    try:
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


def hide_loading_bar() -> None:
    """Call before `from_pretrained`. The bars of downloads, which take long, stay."""
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, enable_progress_bars
    from transformers.utils.logging import disable_progress_bar

    downloads = not are_progress_bars_disabled()
    disable_progress_bar()
    if downloads:
        enable_progress_bars()


def cache_folder() -> Path:
    """Where the hub's client keeps what it downloads."""
    from huggingface_hub.constants import HF_HUB_CACHE

    return Path(HF_HUB_CACHE)


def weights(model: str) -> Path | None:
    """The file of a model's weights on this machine; `model` is a name on the hub or a folder. None if not there."""
    if Path(model).is_dir():
        return next((path for name in WEIGHTS if (path := Path(model, name)).is_file()), None)
    from huggingface_hub import try_to_load_from_cache

    try:
        found = [try_to_load_from_cache(model, file) for file in WEIGHTS]
    except ValueError:  # no name of a model: loading it says so
        return None
    return next((Path(path) for path in found if isinstance(path, str)), None)


def check_size(model: str) -> None:
    """Unavailable for a model that is not on this machine and whose weights are too large to be downloaded."""
    from httpx2 import HTTPError
    from huggingface_hub import snapshot_download

    if Path(model).is_dir() or weights(model):
        return
    try:
        found = snapshot_download(model, allow_patterns=["*.safetensors", "*.bin"], dry_run=True)
    except (OSError, ValueError, HTTPError):
        return  # loading it says why
    wanted = [file for file in found if file.will_download]
    one = [file for file in wanted if file.filename.endswith(".safetensors")] or wanted  # rather than both forms
    if (size := sum(file.file_size or 0 for file in one)) > LARGEST:
        raise _too_large(model, size)


def _too_large(model: str, size: int) -> Unavailable:
    return Unavailable(
        f"the model {model} has {size / 1e9:,.1f} GB, and those of at most {LARGEST / 1e9:g} GB are downloaded: take "
        f"a smaller one, or get it with `hf download {model}`"
    )


def download(model: str, progress: Progress) -> Path:
    """Get a model's weights, configuration and tokenizer into the cache of the hub's client; returns that folder.

    What `progress` raises ends the download; the next one goes on where it stopped. Raises Unavailable where the hub
    or the model cannot be reached.
    """
    from httpx2 import HTTPError
    from huggingface_hub import hf_hub_download, snapshot_download
    from tqdm import tqdm

    done = 0

    class Bar(tqdm):  # type: ignore[type-arg]
        """What the hub's client tells of the bytes of one file."""

        def __init__(self, *args: Any, initial: float = 0, **kwargs: Any) -> None:
            super().__init__(*args, **(kwargs | {"disable": True}))
            self.update(initial)

        def update(self, n: float | None = 1) -> bool | None:
            nonlocal done
            done += int(n or 0)
            if done > LARGEST:  # more than was declared
                raise _too_large(model, done)
            progress(min(1.0, done / size), f"downloading, {done / 1e6:,.0f} of {size / 1e6:,.0f} MB")
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
