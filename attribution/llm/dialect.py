"""The dialect of an endpoint: what it accepts of a request, learnt from its refusals (docs/llm.md)."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from pydantic import BaseModel

Form = Literal[
    "strict", "schema", "object", "plain"
]  # JSON schema, strict or not; any JSON object; no form at all
FORMS = {
    "strict": "",
    "schema": "a JSON schema that is not strict",
    "object": "JSON without a schema",
    "plain": "without structured output",
}
REASONING_TOKENS = 8_192  # beside those of the reply, for a model that reasons first
AS_JSON = " Reply with one JSON object."
_PARAMETER = re.compile(r'"param"\s*+:\s*+"([^"]++)"|["\']loc["\']\s*+:\s*+[\[(]([^\])]*+)[\])]')
_NAMED = {  # the part of a dialect that a refusal is about → words of it
    "temperature": re.compile(r"temperature"),
    "length": re.compile(r"max_(?:completion_)?tokens"),
    "role": re.compile(
        r"\brole|system (?:message|prompt|instruction)|['\"`]system['\"`]|developer"
    ),
    "form": re.compile(
        r"response_?format|json_?(?:schema|object| mode)|structured.?output|schema|\bstrict|grammar|additional_?prop|"
        r"invalid format"
    ),
}
_OF_THE_SCHEMA = re.compile(
    r"\bstrict|additional_?prop|\$ref|\$defs|keyword|(?:invalid|in|of) (?:the )?schema"
)
_OF_THE_TYPE = re.compile(r"json[_ ]|schema|\.type|format type")
_FAILED = (
    "json_validate_failed",
    "tool_use_failed",
)  # what a model wrote is quoted, and may name anything
_TOO_LONG = re.compile(r"context|too (?:large|long)|at most|maximum allowed")
_LEFT_OUT = {
    "title",
    "default",
    "minimum",
    "maximum",
    "description",
}  # of a schema: not every server knows them


@dataclass(frozen=True)
class Dialect:
    """The way a request is written; the default is that of most endpoints."""

    form: Form = "strict"
    temperature: bool = True  # False: left out, the model has one of its own
    length: Literal["max_tokens", "max_completion_tokens", ""] = "max_tokens"
    role: Literal["system", "developer", "user"] = (
        "system"  # of the instructions; user: before the prompt
    )
    api_key: bool = False  # the key is sent as Azure's `api-key`
    reasons: bool = False  # the reply's tokens include those of its reasoning

    @property
    def learnt(self) -> str:
        """The differences from the usual, for a test of the connection."""
        found = [
            FORMS[self.form],
            "" if self.temperature else "its own temperature",
            "" if self.length else "no limit of length",
            self.length if self.length == "max_completion_tokens" else "",
            "" if self.role == "system" else f"instructions as {self.role}",
            "key as api-key" if self.api_key else "",
            "room for reasoning" if self.reasons else "",
        ]
        return ", ".join(filter(None, found))

    def parts_unlike(self, other: Dialect) -> set[str]:
        """Return the names of the parts that differ."""
        return {
            part.name
            for part in fields(self)
            if getattr(self, part.name) != getattr(other, part.name)
        }

    @property
    def plainest(self) -> Dialect:
        """Return the dialect without all that is refused anywhere and that it has not learnt
        another way for.
        """
        length = "" if self.length == "max_tokens" else self.length
        role = "user" if self.role == "system" else self.role
        return replace(self, form="plain", temperature=False, length=length, role=role)

    def body(
        self, system: str, user: str, schema: type[BaseModel], temperature: float, tokens: int
    ) -> dict[str, object]:
        """The request, without the name of the model."""
        system += AS_JSON if self.form == "object" else ""
        messages = [{"role": self.role, "content": system}, {"role": "user", "content": user}]
        if self.role == "user":
            messages = [{"role": "user", "content": f"{system}\n\n{user}"}]
        made: dict[str, object] = {"messages": messages}
        if self.temperature:
            made["temperature"] = temperature
        if self.length:
            made[self.length] = tokens + REASONING_TOKENS * self.reasons
        if self.form == "object":
            made["response_format"] = {"type": "json_object"}
        elif self.form != "plain":
            strict = self.form == "strict"
            shape = {
                "name": schema.__name__.strip("_").lower(),
                "schema": json_schema(schema, strict),
            }
            made["response_format"] = {
                "type": "json_schema",
                "json_schema": shape | ({"strict": True} if strict else {}),
            }
        return made

    def after_refusal(self, words: str, again: bool) -> Dialect | None:
        """The dialect to try after a refusal in these words; None where they name nothing that
        could be changed.

        A refusal that names no part, or a second one of the reply's form, is answered with the
        least that can be asked.
        """
        words = words.lower()
        if any(code in words for code in _FAILED):
            return replace(self, form="plain") if self.form != "plain" else None
        parameters = " ".join(a or b for a, b in _PARAMETER.findall(words))
        named = _named(parameters) or _named(words)
        if not named:
            least = replace(
                self, form="plain", temperature=False, length="" if again else self.length
            )
            return least if least != self else None
        if "length" in named and _TOO_LONG.search(words):
            return None
        changes: dict[str, Any] = {}
        if "form" in named:
            changes["form"] = self._next_form(words, again)
        if "temperature" in named or "length" in named and "max_completion_tokens" in words:
            changes["temperature"] = False
        if "length" in named:
            changes["length"] = self._next_length(words, again)
        if "role" in named:
            changes["role"] = (
                "developer" if self.role == "system" and "developer" in words else "user"
            )
            if self.reasons and changes["role"] == "user":  # o1: it has no structured output either
                changes["form"] = "plain"
        if self._is_of_a_reasoning_model(named, words):  # what it refuses comes together
            changes |= {"temperature": False, "length": "max_completion_tokens", "reasons": True}
        other_dialect = replace(self, **changes)
        return other_dialect if other_dialect != self else None

    def _is_of_a_reasoning_model(self, named: set[str], words: str) -> bool:
        return self.length == "max_tokens" and (
            ("temperature" in named and "default" in words)
            or ("length" in named and "max_completion_tokens" in words)
            or ("role" in named and "developer" in words)
        )

    def _next_form(self, words: str, again: bool) -> Form:
        if self.form == "strict" and not again and _OF_THE_SCHEMA.search(words):
            return "schema"
        if self.form in ("strict", "schema") and (
            "json_object" in words or not again and _OF_THE_TYPE.search(words)
        ):
            return "object"
        return "plain"

    def _next_length(self, words: str, again: bool) -> str:
        if again and not (self.length == "max_tokens" and "max_completion_tokens" in words):
            return "max_tokens" if self.length == "max_completion_tokens" else ""
        return "max_completion_tokens" if self.length == "max_tokens" else "max_tokens"


def _named(words: str) -> set[str]:
    return {part for part, pattern in _NAMED.items() if pattern.search(words)}


def json_schema(model: type[BaseModel], strict: bool) -> dict[str, Any]:
    """The model's schema without references and limits, which not every server reads.

    In a strict one all fields are required and no others are allowed, whatever the model itself is
    content with.
    """
    whole = model.model_json_schema()
    definitions = whole.pop("$defs", {})

    def plain(node: Any) -> Any:
        if isinstance(node, list):
            return [plain(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            return plain(copy.deepcopy(definitions[node["$ref"].rpartition("/")[2]]))
        made = {key: plain(value) for key, value in node.items() if key not in _LEFT_OUT}
        if "properties" in node:
            made["properties"] = {name: plain(value) for name, value in node["properties"].items()}
            made["required"] = list(node["properties"])
            made.pop("additionalProperties", None)
            if strict:
                made["additionalProperties"] = False
        return made

    return dict(plain(whole))
