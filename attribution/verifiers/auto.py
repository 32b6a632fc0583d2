"""Choose the best available verifier: one that is downloaded, else the base model, else the small
one.
"""

from __future__ import annotations

from dataclasses import dataclass

from attribution.settings import Settings
from attribution.types import Failure
from attribution.verifiers import HUB, VERIFIERS, Verifier, is_downloaded


@dataclass(frozen=True)
class BestVerifier:
    """A verifier's name, and what a better one needs; empty if none is missing."""

    name: str
    missing: str = ""


def choose(settings: Settings) -> BestVerifier:
    """Choose the verifier that `auto` means on this machine, under these settings."""
    downloaded = (
        name
        for name in HUB
        if name == "deberta" or not settings.verifier_model or _is_its(name, settings)
    )
    if found := next((name for name in downloaded if is_downloaded(name, settings)), ""):
        return BestVerifier(found)
    return beside(settings)


def _is_its(name: str, settings: Settings) -> bool:
    return settings.verifier_model in VERIFIERS[name].models


def beside(settings: Settings) -> BestVerifier:
    """Choose the NLI model whose contradictions stand beside a fact checker's support."""
    missing = VERIFIERS["embedded-base"].missing(settings)
    return BestVerifier("embedded-small", missing) if missing else BestVerifier("embedded-base")


def smaller_verifier(settings: Settings) -> Failure | None:
    """Return a notice for a run with verifier `auto` if the base model is missing, else None."""
    choice = choose(settings) if settings.verifier == "auto" else None
    if choice is None or not choice.missing:
        return None
    used = VERIFIERS[choice.name].label
    message = (
        "The base model is missing, so the small one is used, which finds less. "
        f"To get it: {choice.missing}"
    )
    return Failure(
        stage="verify", subject="verifier", kind="verifier_fell_back", message=message, instead=used
    )


def automatic(settings: Settings) -> Verifier:
    """Verifier `auto`."""
    verifier = VERIFIERS.build(choose(settings).name, settings)
    return verifier
