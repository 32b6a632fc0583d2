"""Ask for JSON by a schema, and read a language model's reply into a validated value.

Replies are untrusted: repaired by `json_repair`, checked by the schema, never evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeVar

import json_repair
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from attribution.text_files import has_half_pair

Schema = TypeVar("Schema", bound=BaseModel)

MAX_REPLY = 200_000  # characters, without the reasoning
MAX_REPAIRED = 20_000  # characters; repairing takes seconds beyond
_NOT_SUPPORTED = {"title", "default", "minimum", "maximum", "description"}  # by every server
_REASONING_ENDS = ("</think>", "</thinking>", "</thought>", "</reasoning>", "[/THINK]")
_FENCE = re.compile(r"```\w*\n?")
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*•–—]|\(?\d{1,3}[.):])[ \t]+(\S.*)")
_QUOTED = re.compile(r"[\"“'`]([^\"“”`]*)[\"”'`]")
_REFUSAL = re.compile(
    r"\s*(?:i['’]?m sorry|i am sorry|sorry,|i can(?:no|['’])t|i am unable|as an ai)", re.IGNORECASE
)


class ReplyError(ValueError):
    """A reply without the requested value. The message quotes nothing of the reply."""


def json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the strict schema of a model: no references, all fields required and no others."""
    schema = model.model_json_schema()
    definitions = schema.pop("$defs", {})

    def strict(node: Any) -> Any:
        if isinstance(node, list):
            return [strict(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            return strict(definitions[node["$ref"].rpartition("/")[2]])
        if "properties" not in node:
            return {key: strict(value) for key, value in node.items() if key not in _NOT_SUPPORTED}
        fields = {name: strict(field) for name, field in node["properties"].items()}
        return {
            "type": "object",
            "properties": fields,
            "required": list(fields),
            "additionalProperties": False,
        }

    return dict(strict(schema))


def parse(text: str, schema: type[Schema], words: bool = False) -> Schema:
    """Return the value in a reply.

    Args:
        text: The reply: JSON, perhaps fenced, malformed or between other words; a numbered or
            bulleted list where the schema is one list of texts.
        schema: What was asked for.
        words: The prompt asked for words; the schema's `from_words` reads them first.

    Raises:
        ReplyError: There is no such value; the message says what was expected.
    """
    text = _without_reasoning(text)
    if len(text) > MAX_REPLY:
        raise ReplyError(
            f"its reply has {len(text):,} characters, expected at most {MAX_REPLY:,}: "
            "lower llm_tokens"
        )
    is_refusal = _REFUSAL.match(text) is not None
    for value in _values(text, schema, words and not is_refusal):
        if has_half_pair(value):
            continue
        try:
            return schema.model_validate(value)
        except ValidationError:
            continue
    if is_refusal:
        raise ReplyError("it refused")
    form = "the words of the prompt" if words else f"JSON with {', '.join(schema.model_fields)}"
    raise ReplyError(f"its reply does not parse: expected {form}; try another model")


def unquoted(text: str) -> str:
    """Return a text without the quotation marks around it."""
    text = text.strip()
    match = _QUOTED.fullmatch(text)
    return match[1].strip() if match else text


def _without_reasoning(text: str) -> str:
    """Return the text after the reasoning."""
    for mark in _REASONING_ENDS:
        before, end, after = text.rpartition(mark)
        if end and after.strip():
            return after
    return text


def _values(text: str, schema: type[BaseModel], words: bool) -> Iterator[Any]:
    """Yield possible readings of a reply, the likeliest first."""
    from_words = getattr(schema, "from_words", None)
    if words and from_words:
        yield from_words(text.strip())
    names = list(schema.model_fields)
    only_list = names[0] if len(names) == 1 else ""
    matches = [_LIST_ITEM.fullmatch(line.rstrip()) for line in text.splitlines()]
    items = [unquoted(match[1]) for match in matches if match]
    if only_list and items and "{" not in text:
        yield {only_list: items}
    value = _json(text)
    is_bare = only_list and isinstance(value, list)
    yield {only_list: value} if is_bare else value


def _json(text: str) -> Any:
    """Return the JSON of a text, repaired if need be; None without any."""
    text = _FENCE.sub("", text)
    try:
        return from_json(text)
    except ValueError:
        if len(text) > MAX_REPAIRED:
            return None
    try:
        return json_repair.loads(text, skip_json_loads=True)
    except (ValueError, RecursionError):
        return None
