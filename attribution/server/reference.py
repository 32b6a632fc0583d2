"""The page /docs: every request and its fields, made of the OpenAPI description. It loads nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, StrictUndefined

_PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{{ info.title }}: requests</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
  code { font-family: ui-monospace, monospace; }
  td, th { padding: .2rem 1rem .2rem 0; text-align: left; vertical-align: top; }
</style>
<h1>{{ info.title }}</h1>
<p>{{ info.description }} The same as data: <a href="openapi.json">openapi.json</a>.</p>
{% for path, methods in paths.items() %}{% for method, one in methods.items() %}
<h2><code>{{ method | upper }} {{ path }}</code></h2>
<p>{{ one.description }}</p>
{% if one.requestBody is defined %}
<p>Body: {{ type(one.requestBody.content["application/json"].schema) }}</p>
{% endif %}
{% for given in one.get("parameters", ()) if given["in"] == "query" %}
<p><code>{{ given.name }}</code>: {{ type(given.schema) }}, by default {{ given.schema.default }}</p>
{% endfor %}
{% endfor %}{% endfor %}
{% for name, schema in components.schemas.items() if schema.additionalProperties is false %}
<h2 id="{{ name }}">{{ name }}</h2>
<p>{{ schema.get("description", "") }}</p>
<table>
<tr><th>field<th>type<th>default
{% for field, what in schema.properties.items() %}
<tr><td><code>{{ field }}</code><td>{{ type(what) }}<td>{{ default(field, what, schema.get("required", ())) }}
{% endfor %}
</table>
{% endfor %}
</html>
"""
_TEMPLATE = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True).from_string(_PAGE)


def page(openapi: Mapping[str, Any]) -> str:
    """The description as HTML."""
    return _TEMPLATE.render(openapi, type=_type, default=_default)


def _type(schema: Mapping[str, Any]) -> str:
    """A schema in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "enum" in schema:
        return " or ".join(map(repr, schema["enum"]))
    if "anyOf" in schema:
        return " or ".join(map(_type, schema["anyOf"]))
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    return str(schema.get("type", "any"))


def _default(field: str, schema: Mapping[str, Any], required: list[str]) -> str:
    return "required" if field in required else repr(schema.get("default"))
