"""Texts that a regular expression may read slowly, made from the expression itself.

Each unbounded repeat of a pattern gives a prefix that leads to it, a pump that it repeats, and a
suffix that makes the match fail.
"""

from __future__ import annotations

import importlib
import inspect
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from re import _compiler as compiler  # type: ignore[attr-defined]
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any, NamedTuple

import attribution
from attribution.text.lines import bounded

TOPS = ("attribution", "pages/ui")
UNBOUNDED = 200  # repeats from which on a pattern may take long
SEARCHED = re.compile(
    r"\b([A-Za-z_]\w{1,60})(?:\[[^\[\]\n]{1,40}\])?\.(?:search|finditer|subn?|findall|split)\("
)
LIKELY = "aA1 .-:\n[(<\"'*_#|/@,;=&é中"


class Pump(NamedTuple):
    prefix: str
    body: str

    def text(self, length: int) -> str:
        repeats = length // max(1, len(self.body)) + 1
        return bounded(self.prefix + self.body * repeats + "\0\n")


class FoundPattern(NamedTuple):
    """A pattern of the package; `is_searched` if it is not only matched at one place."""

    where: str  # module, name and number in its container
    pattern: re.Pattern[str]
    is_searched: bool


def patterns(folder: str) -> list[FoundPattern]:
    """Return every pattern of a folder, see `folder_of`: module names and containers."""
    root = Path(attribution.__path__[0]).parent
    paths = [path for top in TOPS for path in sorted((root / top).rglob("*.py"))]
    sources = {path: path.read_text("utf-8") for path in paths}
    searched = {path: set(SEARCHED.findall(source)) for path, source in sources.items()}
    anywhere = set().union(*searched.values())
    found: dict[tuple[str, int], FoundPattern] = {}
    for path in sources:
        parts = path.relative_to(root).with_suffix("").parts
        if folder_of(parts) != folder or parts[-1].startswith("__"):
            continue
        module = importlib.import_module(".".join(parts))
        for name, value in list(vars(module).items()):
            if _is_cached_constant(value, module):
                value = value()
            for number, pattern in enumerate(_within(value, 4)):
                names = searched[path] if name.startswith("_") else anywhere
                is_searched = name in names or not isinstance(value, re.Pattern)
                where = f"{module.__name__}.{name}/{number}"
                row = FoundPattern(where, pattern, is_searched)
                found.setdefault((pattern.pattern, pattern.flags), row)
    return list(found.values())


def folder_of(parts: Sequence[str]) -> str:
    """Return the folder of a module; those of none are the core."""
    return parts[1] if len(parts) > 2 else "core"


def _is_cached_constant(value: Any, module: ModuleType) -> bool:
    """Return True for a function without parameters that is called once and draws no page."""
    is_own = hasattr(value, "cache_info") and value.__module__ == module.__name__
    is_own = is_own and not module.__name__.startswith("pages.")
    return is_own and not inspect.signature(value).parameters


def _within(value: Any, depth: int) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif depth and isinstance(value, dict):
        for item in (*value.keys(), *value.values()):
            yield from _within(item, depth - 1)
    elif depth and isinstance(value, (tuple, list, set, frozenset)):
        for item in value:
            yield from _within(item, depth - 1)
    elif depth and is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _within(getattr(value, field.name, None), depth - 1)


def pumps(pattern: re.Pattern[str]) -> list[Pump]:
    """Return the pumps of each unbounded repeat of a pattern."""
    found = list(_pumps(parser.parse(pattern.pattern, pattern.flags), ""))
    return list(dict.fromkeys(pump for pump in found if pump.body))


def _pumps(nodes: Iterable[Any], prefix: str) -> Iterator[Pump]:
    for code, argument in nodes:
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            _, most, body = argument
            if most >= UNBOUNDED:
                for example in dict.fromkeys(_examples(body)):
                    yield Pump(prefix, example)
                    yield Pump("", example)
            yield from _pumps(body, prefix)
        else:
            for part in _parts(code, argument):
                yield from _pumps(part, prefix)
        prefix += next(_examples([(code, argument)]), "")


def _parts(code: Any, argument: Any) -> list[Any]:
    """Return the patterns within a node."""
    if code is codes.SUBPATTERN:
        return [argument[3]]
    if code is codes.BRANCH:
        return list(argument[1])
    if code in (codes.ASSERT, codes.ASSERT_NOT):
        return [argument[1]]
    if code is codes.ATOMIC_GROUP:
        return [argument]
    if code is codes.GROUPREF_EXISTS:
        return [part for part in argument[1:] if part]
    return []


def _examples(nodes: Iterable[Any]) -> Iterator[str]:
    """Yield up to three texts that some nodes match, look-arounds aside."""
    texts = [""]
    for code, argument in nodes:
        options = list(_options(code, argument))[:3] or [""]
        texts = [
            text + options[min(n, len(options) - 1)]
            for n in range(3)
            for text in texts[n : n + 1] or texts[:1]
        ]
    yield from texts


def _options(code: Any, argument: Any) -> Iterator[str]:
    if code is codes.LITERAL:
        yield chr(argument)
    elif code in (codes.NOT_LITERAL, codes.ANY, codes.IN):
        yield from _characters(code, argument)
    elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        least, _, body = argument
        for example in _examples(body):
            yield example * max(1, least)
    else:
        for part in _parts(code, argument):
            if code not in (codes.ASSERT, codes.ASSERT_NOT):
                yield from _examples(part)


def _characters(code: Any, argument: Any) -> Iterator[str]:
    """Yield characters that a class matches: those it names first."""
    state = parser.State()
    one = compiler.compile(parser.SubPattern(state, [(code, argument)]))
    named = ""
    for item, value in argument if code is codes.IN else ():
        if item is codes.LITERAL:
            named += chr(value)
        if item is codes.RANGE:
            named += chr(value[0])
    yield from (character for character in named + LIKELY if one.match(character))


def seconds(found: FoundPattern, text: str) -> float:
    """Return the processor time of reading a text with a pattern as the package does."""
    start = time.process_time()
    if found.is_searched:
        for _ in found.pattern.finditer(text):
            pass
    else:
        found.pattern.fullmatch(text)
    return time.process_time() - start


def is_slow(found: FoundPattern, pump: Pump, length: int = 6_000) -> bool:
    """Return True if a text takes long, and over three times as long as half of it, three times.

    Twice the text takes twice the time of a linear pattern, and four times that of a quadratic one.
    """
    text, half = pump.text(length), pump.text(length // 2)
    for _ in range(3):
        taken = seconds(found, text)
        if taken <= 0.015 or taken <= 3 * seconds(found, half):
            return False
    return True
