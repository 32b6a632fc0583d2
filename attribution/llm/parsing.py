"""Parse a language model's reply into a validated value. Replies are untrusted: checked by a
schema, never evaluated.

The time is linear in the length of the reply: patterns match in one way only, and text that did not
parse is read
again a few times at most. Nothing is completed: a text that was cut off is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from attribution.files import has_half_pair
from attribution.llm.dialect import json_schema
from attribution.llm.fitting import fitted

Schema = TypeVar("Schema", bound=BaseModel)

MAX_REPLY = 200_000  # characters of a reply, without the reasoning before it
STARTS = 50  # brackets that may be tried without starting a value
READINGS = 4  # times that the text may be read from such brackets in vain
_DECODER = json.JSONDecoder(strict=False)  # line breaks within strings are read as they are
_START = re.compile(r"[\[{]")
_FENCE = re.compile(r"```[\w-]*+[ \t]*+\n?+")
_STRING = re.compile(r'"(?:[^"\\\n]++|\\.)*+')  # without its closing quote, which may be missing
_STRING_OR_TRAILING_COMMA = re.compile(rf"{_STRING.pattern}\"?+|,(?=\s*+[\]}}])")
_PYTHON = re.compile(
    r"""("(?:[^"\\]++|\\.)*+"?+)|'((?:[^'\\]++|\\.)*+)'?+|\b(?:True|False|None)\b""", re.DOTALL
)
_ESCAPED = re.compile(r'\\.|"', re.DOTALL)
_CONSTANTS = {"True": "true", "False": "false", "None": "null"}
_THOUGHT = re.compile(
    r"\s*+(?:<(?:think|thinking|thought|reasoning)>|\[THINK\]|<\|channel\|>analysis)"
)
_THOUGHT_OVER = ("</think>", "</thinking>", "</thought>", "</reasoning>", "[/THINK]", "<|message|>")
_LIST = re.compile(r'\s*+(?:\{\s*+"(\w++)"\s*+:\s*+)?+\[(?=\s*+["{])')
_START_OR_ITEM = re.compile(r"[\[{]|(?m:^)[ \t]*+(?:[-*•–—]|\(?\d{1,3}[.):])[ \t]")
_COLON = re.compile(r"\s*+:")
_ITEM = re.compile(r"[ \t]*+(?:[-*•–—]|\(?\d{1,3}[.):])[ \t]++(\S.*+)")
_REFUSAL = re.compile(
    r"\s*+(?:i['’]?m sorry|i am sorry|sorry,|i can(?:no|['’])t|i['’]m (?:un|not )able|i am unable|as an ai)",
    re.I,
)


class ReplyError(ValueError):
    """A reply without the requested value; `unquoted` is the message without any words of the
    reply.
    """

    def __init__(self, message: str, unquoted: str) -> None:
        super().__init__(message)
        self.unquoted = unquoted


def parse(text: str, schema: type[Schema], truncated: bool = False, words: bool = False) -> Schema:
    """Parse the value in a reply. Raises ReplyError, which says what was found instead.

    The value is JSON, fenced or between other words, with trailing commas, or cut off within a
    list; if the schema is
    one list of texts, also a numbered or bulleted list, each item perhaps in quotation marks. If
    `words` were asked
    for, the schema's `from_words` reads them.
    """
    text = _without_thought(text, truncated, words)
    if len(text) > MAX_REPLY:
        problem = f"its reply has {len(text):,} characters, expected at most {MAX_REPLY:,}: lower llm_tokens"
        raise ReplyError(problem, problem)
    shape = json_schema(schema, strict=False)
    read = getattr(schema, "from_words", None) if words and not _REFUSAL.match(text) else None
    own = [value] if read and (value := read(text.strip())) is not None else []
    for value in (*own, *_values(text, _list_field(shape), truncated)):
        if has_half_pair(value):
            continue
        try:
            return schema.model_validate(fitted(value, shape))
        except ValidationError:
            continue
    shown = " ".join(text[:1000].split())[:120]
    if _REFUSAL.match(text):
        raise ReplyError(f"it refused: {shown!r}", "it refused")
    expected = (
        "expected the words of the prompt"
        if words
        else f"expected JSON with {', '.join(schema.model_fields)}"
    )
    raise ReplyError(
        f"its reply does not parse: found {shown!r}, {expected}",
        f"its reply does not parse: {expected}",
    )


def _without_thought(text: str, truncated: bool, words: bool) -> str:
    """Return what follows the reasoning, whose start may be missing; nothing if it was cut off
    before its end.
    """
    ends = [text.rfind(mark) + len(mark) for mark in _THOUGHT_OVER if mark in text]
    if ends and (rest := text[max(ends) :]).strip() and (words or _START_OR_ITEM.search(rest)):
        return rest
    return "" if truncated and not ends and _THOUGHT.match(text) else text


def unquoted(text: str) -> str:
    """Return a text without the quotation marks around it."""
    text = text.strip()
    inner = text[1:-1]
    quoted = text[:1] in {*"\"“'`"} and text[-1:] in {*"\"”'`"} and not {*'"“”`'} & {*inner}
    return inner.strip() if quoted else text


def _list_field(shape: dict[str, Any]) -> str:
    """Return the only field of a schema if it is a list of texts; else empty."""
    (name, only), *others = shape["properties"].items()
    return name if not others and only.get("items", {}).get("type") == "string" else ""


def _values(text: str, field: str, truncated: bool) -> Iterator[object]:
    """Yield possible readings of the reply, the likeliest first."""
    for part in (*_fenced(text), text):
        part = _without_trailing_commas(part)
        if field and (strings := _of_a_list_that_was_cut_off(part, field)):
            yield {field: strings}
        yield from _json(part)
        if (other := _PYTHON.sub(_as_json, part)) != part:
            yield from _json(other)
    if field:
        items = [
            unquoted(m.group(1))
            for line in text.splitlines()
            if (m := _ITEM.fullmatch(line.rstrip()))
        ]
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
    return text[:first] + _STRING_OR_TRAILING_COMMA.sub(
        lambda m: "" if m[0] == "," else m[0], text[first:]
    )


def _as_json(found: re.Match[str]) -> str:
    """Return a string in Python's quotes, or a constant of Python, as JSON; anything else as it is."""
    whole, double, single = found[0], found[1], found[2]
    if double is not None or single is not None and (len(whole) == 1 or not whole.endswith("'")):
        return str(whole)
    if single is None:
        return _CONSTANTS[whole]
    return (
        '"'
        + _ESCAPED.sub(lambda m: m[0].replace("\\'", "'") if len(m[0]) > 1 else '\\"', single)
        + '"'
    )


def _json(text: str, tries: int = STARTS) -> Iterator[object]:
    """Yield the outermost JSON objects and lists in a text that parse."""
    position = failed = vain = 0
    while (
        failed < tries and vain <= READINGS * len(text) and (start := _START.search(text, position))
    ):
        try:
            value, position = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError) as error:
            position, failed = start.end(), failed + 1
            vain += error.pos - start.start() if isinstance(error, json.JSONDecodeError) else 0
        else:
            yield value


def _of_a_list_that_was_cut_off(text: str, field: str) -> list[str]:
    """Return the complete texts of a list that was cut off, without field names. Empty if the reply
    is not one.
    """
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
            # every quote passed is escaped, so no text that begins at one of them ends either
            continue
        position += 1
        if not _COLON.match(text, position):
            try:
                found.append(json.loads(text[string.start() : position]))
            except ValueError:
                continue
    return found
