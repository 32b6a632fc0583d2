"""Prompts as files: `prompts/<task>.v1.md`, YAML front matter (purpose, inputs, output, source) and
a Jinja body.

A new wording is a new `.vN`; a run records the one it used. `<task>.md` or `<task>.txt` in the
folder of a paper, or in the operator's, takes the place of a task's own prompt: in the same form,
or as plain text with `{claim}` in it. Plain text is sent as it is, without a system message.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import yaml
from jinja2 import StrictUndefined, TemplateError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from attribution.errors import BadInput
from attribution.settings import ROOT, Settings
from attribution.types import content_id

FOLDER = ROOT / "prompts"
BANKS = FOLDER / "w24" / "examples"
_PARTS = re.compile(r"---\n(.*?)\n---\n(.*)", re.DOTALL)
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_MARK = re.compile(r"<(?=\s*+/?\s*data\b)", re.IGNORECASE)


class _Front(BaseModel):
    model_config = ConfigDict(extra="forbid")

    purpose: str = Field(min_length=1)
    inputs: list[str]
    output: str = Field(min_length=1)
    source: str = Field(min_length=1)


class Example(BaseModel):
    """A sentence and its claims, decomposed by hand."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sentence: str
    claims: tuple[str, ...]


def data(text: str) -> str:
    """Put foreign text between tags that it cannot close."""
    return "<data>\n" + _MARK.sub("‹", text) + "\n</data>"


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["data"] = data
    environment.filters["json"] = lambda value: json.dumps(value, ensure_ascii=False)
    return environment


@dataclass(frozen=True)
class Prompt:
    """A wording of a task.

    Attributes:
        version: The file's name without .md, such as "factscore.v1"; of a replacement, with a hash
            of its text.
        inputs: The names of the texts that it is given.
        body: The text with places for the inputs.
        offered: The inputs that a replacement is given, of which it may leave out some.
        plain: The body is not Jinja, but text with {placeholders}.
    """

    version: str
    inputs: tuple[str, ...]
    body: str
    offered: frozenset[str] = frozenset()
    plain: bool = False

    @property
    def as_json(self) -> bool:
        """True if it asks for JSON."""
        return "json" in self.body.casefold()

    def render(self, **inputs: object) -> str:
        """Return the text to send.

        Raises:
            BadInput: An input is missing or not declared.
        """
        if set(inputs) != (self.offered or set(self.inputs)):
            raise BadInput(
                f"prompt {self.version}: found inputs {sorted(inputs)}, expected "
                f"{sorted(self.inputs)}"
            )
        if self.plain:

            def filled(match: re.Match[str]) -> str:
                name = match[1]
                return _shown(inputs[name]) if name in inputs else match[0]

            return _PLACEHOLDER.sub(filled, self.body).strip()
        try:
            return _environment().from_string(self.body).render(**inputs).strip()
        except TemplateError as error:
            raise BadInput(f"prompt {self.version} cannot be rendered: {error}") from None


def _shown(value: object) -> str:
    """Return a value in a plain text: examples, passages and other lists with one item a line."""
    if isinstance(value, Example):
        claims = "".join(f"- {claim}\n" for claim in value.claims)
        return f"{value.sentence}\n{claims}"
    if isinstance(value, dict):
        value = list(value.items())
    if isinstance(value, list | tuple):
        return "\n".join(map(_shown, value))
    return str(value)


def load(version: str, settings: Settings | None = None, folder: Path = FOLDER) -> Prompt:
    """Return a prompt, or what the settings put in its place.

    Args:
        version: The name of its file without .md.
        settings: Those that may name a folder of replacements.
        folder: Where the prompts are.

    Raises:
        BadInput: There is none of that name, or it is broken.
    """
    prompt = _load(version, folder / f"{version}.md")
    if settings is None:
        return prompt
    folders = [settings.prompt_folder] if settings.prompt_folder else []
    if settings.prompts:
        folders.append(FOLDER / settings.prompts)
    task = version.rpartition(".v")[0].removeprefix("w24/")
    for place in folders:
        for suffix in (".md", ".txt"):
            path = place / f"{task}{suffix}"
            if path.is_file():
                return _replacing(prompt, path)
    return prompt


def _replacing(prompt: Prompt, path: Path) -> Prompt:
    """Read a file in a prompt's place, named by its folder, its task and a hash of its text."""
    text = _text(path)
    version = f"{path.parent.name}/{path.name}@{content_id(text)}"
    if text.startswith("---\n"):
        replacement = _load(version, path)
    else:
        used = {match[1] for match in _PLACEHOLDER.finditer(text)} & set(prompt.inputs)
        replacement = Prompt(version, tuple(sorted(used)), text, plain=True)
    unknown = set(replacement.inputs) - set(prompt.inputs)
    if unknown:
        raise BadInput(
            f"{path}: it uses {sorted(unknown)}, and this prompt is given {sorted(prompt.inputs)}"
        )
    if not replacement.inputs:
        marks = ", ".join(f"{{{name}}}" for name in prompt.inputs)
        raise BadInput(f"{path}: nothing of the answer is in it; write {marks} where that belongs")
    return replace(replacement, offered=frozenset(prompt.inputs))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        names = ", ".join(sorted(p.stem for p in path.parent.glob("*.md"))) or "none"
        raise BadInput(
            f"prompt {path.stem!r}: there is no {path.name}; expected one of: {names}"
        ) from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 (byte {error.start}): save the file as UTF-8") from None


@cache
def _load(version: str, path: Path) -> Prompt:
    parts = _PARTS.fullmatch(_text(path))
    if not parts:
        raise BadInput(
            f"prompt {version}: expected YAML front matter between two lines of ---, then the text"
        )
    try:
        front = _Front.model_validate(yaml.safe_load(parts[1]))
        used = meta.find_undeclared_variables(_environment().parse(parts[2]))
    except (yaml.YAMLError, ValidationError, TemplateError) as error:
        raise BadInput(f"prompt {version}: {' '.join(str(error).split())[:300]}") from None
    if used != set(front.inputs):
        raise BadInput(
            f"prompt {version}: declares {sorted(front.inputs)}, but its text uses {sorted(used)}"
        )
    return Prompt(version, tuple(front.inputs), parts[2])


def examples(name: str, settings: Settings | None = None) -> tuple[Example, ...]:
    """Return a bank of decompositions in the file's order.

    `examples/<name>.jsonl` in the operator's folder takes the place of our own.

    Raises:
        BadInput: A line of the operator's file is no example, or the file is empty.
    """
    path = BANKS / f"{name}.jsonl"
    if settings and settings.prompt_folder:
        own = settings.prompt_folder / "examples" / path.name
        path = own if own.is_file() else path
    lines = [line for line in _text(path).splitlines() if line.strip()]
    try:
        bank = tuple(Example.model_validate_json(line) for line in lines)
    except ValidationError as error:
        problem = error.errors()[0]["msg"]
        raise BadInput(f"{path}: a line is no sentence with its claims ({problem})") from None
    if not bank:
        raise BadInput(f"{path}: it has no example")
    return bank
