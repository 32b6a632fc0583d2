"""The language of a text, by py3langid (Lui and Baldwin 2012, langid.py)."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from attribution.models.loading import load_once

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

_CERTAIN = 0.9  # least probability; names and figures alone stay below it
_LINES = (Path(__file__).parent / "data" / "languages.txt").read_text("utf-8").splitlines()
LANGUAGES: dict[str, str] = {code: name for code, name in (line.split(maxsplit=1) for line in _LINES)}


@lru_cache(maxsize=64)
def detect(text: str) -> str | None:
    """The ISO 639-1 code of one of LANGUAGES; None where the text is too short or too mixed to tell."""
    code, probability = _identifier().classify(text)
    return str(code) if probability >= _CERTAIN else None


def is_english(text: str) -> bool:
    """Whether rules for English may be applied: the text is English, or its language cannot be told."""
    return detect(text) in (None, "en")


@load_once
def _identifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(list(LANGUAGES))
    return identifier
