"""Choose the best available verifier: DeBERTa if it is downloaded, else the base model, else the small one."""

from __future__ import annotations

from dataclasses import dataclass

from attribution.settings import Settings
from attribution.types import Failure
from attribution.verifiers import VERIFIERS, Verifier
from attribution.verifiers.deberta import is_downloaded


@dataclass(frozen=True)
class Choice:
    """A verifier's name, and what a better one needs; empty if none is missing."""

    name: str
    missing: str = ""


def choose(settings: Settings) -> Choice:
    """Choose the verifier that `auto` means on this machine, under these settings."""
    if is_downloaded(settings):
        return Choice("deberta")
    missing = VERIFIERS["embedded-base"].missing(settings)
    return Choice("embedded-small", missing) if missing else Choice("embedded-base")


def smaller_verifier(settings: Settings) -> Failure | None:
    """Return a notice for a run with verifier `auto` if the base model is missing, else None."""
    choice = choose(settings) if settings.verifier == "auto" else None
    if choice is None or not choice.missing:
        return None
    used = VERIFIERS[choice.name].label
    message = f"The base model is missing, so the small one is used, which finds less. To get it: {choice.missing}"
    return Failure(stage="verify", subject="verifier", kind="verifier_fell_back", message=message, instead=used)


def automatic(settings: Settings) -> Verifier:
    """Verifier `auto`."""
    verifier = VERIFIERS.build(choose(settings).name, settings)
    return verifier
