"""A language model's reply → a checked value. Replies are foreign text: parsed against a schema, never evaluated."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from attribution.text.characters import has_half_pair

Schema = TypeVar("Schema", bound=BaseModel)

STARTS = 20
_THOUGHT = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[\]}])")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"(?!\s*:)')  # complete, and not the name of a field
_ITEM = re.compile(r"[ \t]*(?:[-*•–—]|\(?\d{1,3}[.):])[ \t]+(\S.*)")
_REFUSAL = re.compile(
    r"\s*(?:i['’]?m sorry|i am sorry|sorry,|i can(?:no|['’])t|i['’]m (?:un|not )able|i am unable|as an ai)", re.I
)


def parse(text: str, schema: type[Schema], truncated: bool = False) -> Schema:
    """The value in a reply: JSON, fenced or between other words, with trailing commas, or cut off within a list; where
    the schema is one list of texts, also a numbered or bulleted list. ValueError says what it found instead."""
    text = _THOUGHT.sub("", text)
    for value in _values(text, _list_field(schema), truncated):
        if has_half_pair(value):
            continue
        try:
            return schema.model_validate(value)
        except ValidationError:
            continue
    shown = " ".join(text.split())[:120]
    if _REFUSAL.match(text):
        raise ValueError(f"it refused: {shown!r}")
    raise ValueError(f"its reply does not parse: found {shown!r}, expected JSON with {', '.join(schema.model_fields)}")


def _list_field(schema: type[BaseModel]) -> str:
    """The schema's only field, if it is a list of texts; else empty."""
    fields = list(schema.model_fields.items())
    if len(fields) == 1 and get_origin(fields[0][1].annotation) in (list, tuple):
        return fields[0][0] if get_args(fields[0][1].annotation)[0] is str else ""
    return ""


def _values(text: str, field: str, truncated: bool) -> Iterator[Any]:
    """Possible readings of the reply, the likeliest first."""
    for part in (*_FENCE.findall(text), text):
        for value in _json(_TRAILING_COMMA.sub(r"\1", part)):
            yield value
            if field and isinstance(value, list):
                yield {field: [_only_text(item) for item in value]}
            elif field and isinstance(value, dict) and isinstance(value.get(field), list):
                yield {field: [_only_text(item) for item in value[field]]}
        if not field:
            continue
        start = re.search(rf'^\s*(?:\{{\s*"{field}"\s*:\s*)?\[(?!.*\]\s*\}}?\s*$)', part, re.DOTALL)
        strings = [json.loads(s) for s in _STRING.findall(part, start.end()) if _is_json(s)] if start else []
        if strings:  # of a list that was cut off
            yield {field: strings}
    if field:
        items = [m.group(1).strip() for line in text.splitlines() if (m := _ITEM.fullmatch(line.rstrip()))]
        items = items[:-1] if truncated else items
        if items:
            yield {field: items}


def _json(text: str) -> Iterator[Any]:
    """The JSON objects and lists in a text; the outermost that parse, at most STARTS tried."""
    end = tried = 0
    for match in re.finditer(r"[\[{]", text):
        if match.start() < end or (tried := tried + 1) > STARTS:
            continue
        try:
            value, end = json.JSONDecoder().raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        yield value


def _only_text(item: object) -> object:
    """`{"fact": "…"}` is its text."""
    texts = [v for v in item.values() if isinstance(v, str)] if isinstance(item, dict) else []
    return texts[0] if isinstance(item, dict) and len(texts) == len(item) == 1 else item


def _is_json(literal: str) -> bool:
    try:
        json.loads(literal)
    except ValueError:
        return False
    return True
