"""All regular expressions of the program, with the ways in which they read a text."""

import ast
import importlib
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
_CALLS = frozenset(
    ("compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn")
)
_ANCHORED = frozenset(("match", "fullmatch"))
_ANY_WAY = frozenset(("fullmatch", "finditer"))
AnyPattern = re.Pattern[str] | re.Pattern[bytes]


@dataclass(frozen=True)
class Use:
    """A pattern and a way in which it reads a text: match, fullmatch, or finditer for all that
    search.
    """

    name: str
    pattern: AnyPattern
    method: str

    def __call__(self, text: str) -> None:
        found = getattr(self.pattern, self.method)(
            text if isinstance(self.pattern.pattern, str) else text.encode()
        )
        for _ in found if self.method == "finditer" else ():
            pass


def sources() -> Iterator[tuple[str, ast.Module]]:
    """The program's modules that name regular expressions."""
    for folder in ("attribution", "pages"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text("utf-8")
            if re.search(r"\bre\b", text):
                yield (
                    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(
                        ".__init__"
                    ),
                    ast.parse(text),
                )


def made_within_functions() -> list[str]:
    """The functions that call `re` themselves: their patterns are in no module, and `uses` cannot
    find them.
    """
    return [
        f"{module}.{function.name}"
        for module, tree in sources()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        and any(
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "re"
            and node.attr in _CALLS
            for node in ast.walk(function)
        )
    ]


@cache
def uses() -> list[Use]:
    """Each pattern of a module with each way in which it is used; in every way where it is handed
    on by its name.
    """
    methods: dict[tuple[str, str], set[str]] = defaultdict(set)
    for module, tree in sources():
        origin = {
            alias.asname or alias.name: (node.module, alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
        }
        called = {
            id(node.value): node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                way = called.get(id(node))
                if way not in ("pattern", "flags"):
                    ways = (
                        _ANY_WAY
                        if way not in _CALLS
                        else {way}
                        if way in _ANCHORED
                        else {"finditer"}
                    )
                    methods[origin.get(node.id, (module, node.id))] |= ways
    found = [
        Use(f"{module}.{name}.{method}", pattern, method)
        for module, _ in sources()
        for name, value in sorted(vars(importlib.import_module(module)).items())
        for pattern in _patterns(value, module)
        for method in sorted({"finditer"} if callable(value) else methods[module, name])
    ]
    return list({(use.pattern, use.method): use for use in found}.values())


def _patterns(value: Any, module: str) -> Iterator[AnyPattern]:
    """Those in a value, and those that a function of the module makes of its own data."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from _patterns(tuple(value.values()), module)
    elif isinstance(value, tuple | list | frozenset):
        for item in value:
            yield from _patterns(item, module)
    elif is_dataclass(value) and not isinstance(value, type):
        yield from _patterns(tuple(getattr(value, field.name) for field in fields(value)), module)
    elif (
        hasattr(value, "cache_info")
        and value.__module__ == module
        and "return" in value.__annotations__
    ):
        made = value.__annotations__["return"]
        if value.__wrapped__.__code__.co_argcount == 0 and ("Pattern" in made or "Rule" in made):
            yield from _patterns(value(), module)
