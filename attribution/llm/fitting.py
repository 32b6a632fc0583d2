"""Fit a value to a schema where only its form differs: capitals, synonyms of labels, percentages,
wrapped items.
"""

from __future__ import annotations

import re
from typing import Any

SYNONYMS = {  # label → what models write for it, in lower case with _ between words
    "entailed": (
        "entailment",
        "entails",
        "entail",
        "supported",
        "supports",
        "support",
        "true",
        "yes",
        "fully_supported",
    ),
    "contradicted": (
        "contradiction",
        "contradicts",
        "contradict",
        "refuted",
        "refutes",
        "refute",
        "false",
        "no",
    ),
    "no_relation": (
        "neutral",
        "none",
        "unrelated",
        "not_related",
        "irrelevant",
        "unknown",
        "unclear",
        "not_enough_info",
        "not_enough_information",
        "nei",
        "not_mentioned",
        "not_stated",
    ),
    "factual": ("fact", "factual_claim", "claim", "checkable", "check_worthy", "checkworthy"),
    "opinion": ("subjective", "advice", "recommendation", "personal_view"),
    "not_a_claim": ("no_claim", "non_claim", "question", "greeting", "heading", "not_claim"),
    "PASS": ("passed", "faithful"),
    "FAIL": ("failed", "fails", "unfaithful"),
}
LABELS = {word: label for label, words in SYNONYMS.items() for word in words}
_NUMBER = re.compile(r"[^\d.-]*+(-?\d+(?:\.\d+)?)[^\d]*+")
_WORDS = re.compile(r"[^\W_]+")


def fitted(value: Any, shape: dict[str, Any]) -> Any:
    """Return the value as far as it can be fitted to a JSON schema without references; what can't
    be stays as it is.
    """
    if "properties" in shape:
        return _object(value, shape["properties"])
    match shape.get("type"):
        case "array" if isinstance(value, list):
            return [fitted(item, shape["items"]) for item in value]
        case "array" if isinstance(value, dict):  # a triplet as an object
            return [fitted(item, shape["items"]) for item in value.values()]
        case "string" if "enum" in shape:
            return _label(value, shape["enum"])
        case "string" if value is None:
            return ""
        case "string" if isinstance(value, dict):  # {"fact": "…"}
            texts = [item for item in value.values() if isinstance(item, str)]
            return texts[0] if len(texts) == len(value) == 1 else value
        case "number":
            return _share(value)
        case "integer" if isinstance(value, str):
            return found[1] if len(value) < 50 and (found := _NUMBER.fullmatch(value)) else value
        case "boolean" if isinstance(value, str):
            return _folded(value)
    return value


def _object(value: Any, properties: dict[str, Any]) -> Any:
    """Fit the fields, whose names may have other capitals; an object with one list may be that
    list, or one item.
    """
    (name, only), *others = properties.items()
    is_list = not others and only.get("type") == "array"
    if is_list and isinstance(value, list):
        return {name: fitted(value, only)}
    if not isinstance(value, dict):
        return value
    names = {_folded(known): known for known in properties}
    found = {
        names.get(_folded(key), key) if key not in properties else key: item
        for key, item in value.items()
    }
    if is_list and name not in found and found.keys() == only["items"].get("properties", {}).keys():
        return {name: fitted([value], only)}
    return {
        key: fitted(item, properties[key]) if key in properties else item
        for key, item in found.items()
    }


def _label(value: Any, labels: list[str]) -> Any:
    if isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or len(value) > 100:
        return value
    word = _folded(value)
    by_word = {_folded(label): label for label in labels}
    return by_word.get(word) or by_word.get(_folded(LABELS.get(word, "")), value)


def _share(value: Any) -> Any:
    """Return a probability; 95 and "95 %" are percentages."""
    if isinstance(value, str) and len(value) < 50 and (found := _NUMBER.fullmatch(value)):
        value = float(found[1])
    if isinstance(value, int | float) and not isinstance(value, bool) and 1 < value <= 100:
        return value / 100
    return value


def _folded(text: str) -> str:
    """Return a name in lower case, with one _ between its words."""
    return "_".join(_WORDS.findall(text.lower()))
