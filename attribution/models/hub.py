"""Models of the Hugging Face hub: no progress bar for loading one that is already on this machine."""

from __future__ import annotations


def hide_loading_bar() -> None:
    """Call before `from_pretrained`. The bars of downloads, which take long, stay."""
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, enable_progress_bars
    from transformers.utils.logging import disable_progress_bar

    downloads = not are_progress_bars_disabled()
    disable_progress_bar()
    if downloads:
        enable_progress_bars()
