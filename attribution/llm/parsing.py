"""Parse a language model's reply into a validated value. Replies are untrusted: checked by a schema, never evaluated.

The time is linear in the length of the reply: patterns match in one way only, and text that did not parse is read
again a few times at most.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from attribution.files import has_half_pair

Schema = TypeVar("Schema", bound=BaseModel)

MAX_REPLY = 200_000  # characters of a reply, without the reasoning before it
STARTS = 50  # brackets that may be tried without starting a value
READINGS = 4  # times that the text may be read from such brackets in vain
_DECODER = json.JSONDecoder()
_START = re.compile(r"[\[{]")
_FENCE = re.compile(r"```[\w-]*+[ \t]*+\n?+")
_STRING = re.compile(r'"(?:[^"\\\n]++|\\.)*+')  # without its closing quote, which may be missing
_STRING_OR_TRAILING_COMMA = re.compile(rf"{_STRING.pattern}\"?+|,(?=\s*+[\]}}])")
_LIST = re.compile(r'\s*+(?:\{\s*+"(\w++)"\s*+:\s*+)?+\[(?=\s*+["{])')
_COLON = re.compile(r"\s*+:")
_ITEM = re.compile(r"[ \t]*+(?:[-*•–—]|\(?\d{1,3}[.):])[ \t]++(\S.*+)")
_REFUSAL = re.compile(
    r"\s*+(?:i['’]?m sorry|i am sorry|sorry,|i can(?:no|['’])t|i['’]m (?:un|not )able|i am unable|as an ai)", re.I
)


class ReplyError(ValueError):
    """A reply without the requested value; `unquoted` is the message without any words of the reply."""

    def __init__(self, message: str, unquoted: str) -> None:
        super().__init__(message)
        self.unquoted = unquoted


def parse(text: str, schema: type[Schema], truncated: bool = False) -> Schema:
    """Parse the value in a reply. Raises ReplyError, which says what was found instead.

    The value is JSON, fenced or between other words, with trailing commas, or cut off within a list; if the schema is
    one list of texts, also a numbered or bulleted list.
    """
    text = _without_thought(text)
    if len(text) > MAX_REPLY:
        problem = f"its reply has {len(text):,} characters, expected at most {MAX_REPLY:,}: lower llm_tokens"
        raise ReplyError(problem, problem)
    for value in _values(text, _list_field(schema), truncated):
        if has_half_pair(value):
            continue
        try:
            return schema.model_validate(value)
        except ValidationError:
            continue
    shown = " ".join(text[:1000].split())[:120]
    if _REFUSAL.match(text):
        raise ReplyError(f"it refused: {shown!r}", "it refused")
    expected = f"expected JSON with {', '.join(schema.model_fields)}"
    raise ReplyError(f"its reply does not parse: found {shown!r}, {expected}", f"its reply does not parse: {expected}")


def _without_thought(text: str) -> str:
    if text.lstrip().startswith("<think>"):
        _, ended, rest = text.partition("</think>")
        return rest if ended else text
    return text


def _list_field(schema: type[BaseModel]) -> str:
    """Return the schema's only field if it is a list of texts; else empty."""
    fields = list(schema.model_fields.items())
    if len(fields) == 1 and get_origin(fields[0][1].annotation) in (list, tuple):
        return fields[0][0] if get_args(fields[0][1].annotation)[0] is str else ""
    return ""


def _values(text: str, field: str, truncated: bool) -> Iterator[object]:
    """Yield possible readings of the reply, the likeliest first."""
    for part in (*_fenced(text), text):
        part = _without_trailing_commas(part)
        if field and (strings := _of_a_list_that_was_cut_off(part, field)):
            yield {field: strings}
        for value in _json(part):
            yield value
            if field and isinstance(value, list):
                yield {field: [_only_text(item) for item in value]}
            elif field and isinstance(value, dict) and isinstance(value.get(field), list):
                yield {field: [_only_text(item) for item in value[field]]}
    if field:
        items = [m.group(1).strip() for line in text.splitlines() if (m := _ITEM.fullmatch(line.rstrip()))]
        items = items[:-1] if truncated else items
        if items:
            yield {field: items}


def _fenced(text: str) -> Iterator[str]:
    """Yield the contents of code fences; the closing fence of the last may be missing."""
    end = 0
    while start := _FENCE.search(text, end):
        closing = text.find("```", start.end())
        end = closing + 3 if closing >= 0 else len(text)
        if part := text[start.end() : end - 3 if closing >= 0 else end]:
            yield part


def _without_trailing_commas(text: str) -> str:
    """Remove commas before a closing bracket, except within strings."""
    start = _START.search(text)
    first = start.start() if start else len(text)
    return text[:first] + _STRING_OR_TRAILING_COMMA.sub(lambda m: "" if m[0] == "," else m[0], text[first:])


def _json(text: str, tries: int = STARTS) -> Iterator[object]:
    """Yield the outermost JSON objects and lists in a text that parse."""
    position = failed = vain = 0
    while failed < tries and vain <= READINGS * len(text) and (start := _START.search(text, position)):
        try:
            value, position = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError) as error:
            position, failed = start.end(), failed + 1
            vain += error.pos - start.start() if isinstance(error, json.JSONDecodeError) else 0
        else:
            yield value


def _of_a_list_that_was_cut_off(text: str, field: str) -> list[str]:
    """Return the complete texts of a list that was cut off, without field names. Empty if the reply is not one."""
    start = _LIST.match(text)
    if not start or start[1] not in (None, field):
        return []
    if text.rstrip().removesuffix("}").rstrip().endswith("]") or next(_json(text, tries=1), None):
        return []
    found, position = [], start.end()
    while (position := text.find('"', position)) >= 0:
        string = _STRING.match(text, position)
        assert string
        position = string.end()
        if not text.startswith('"', position):
            continue  # every quote passed is escaped, so no text that begins at one of them ends either
        position += 1
        if not _COLON.match(text, position):
            try:
                found.append(json.loads(text[string.start() : position]))
            except ValueError:
                continue
    return found


def _only_text(item: object) -> object:
    """Return the text of an object such as `{"fact": "…"}`; other items unchanged."""
    texts = [v for v in item.values() if isinstance(v, str)] if isinstance(item, dict) else []
    return texts[0] if isinstance(item, dict) and len(texts) == len(item) == 1 else item
