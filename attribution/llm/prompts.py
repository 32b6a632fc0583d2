"""Prompts as files: `prompts/<task>.v1.md`, front matter (purpose, inputs, output, source) that
readers need, and a Jinja body.

A new wording is a new `.vN`; a run records the one it used. `<task>.md` in the folder of a paper,
or in the operator's, takes the place of a task's own prompt. Without front matter, it is sent
without a system message.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from jinja2 import StrictUndefined, TemplateError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import BaseModel, ConfigDict, ValidationError

from attribution.errors import BadInput
from attribution.settings import ROOT, Settings
from attribution.types import content_id

FOLDER = ROOT / "prompts"
BANKS = FOLDER / "w24" / "examples"
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_MARK = re.compile(r"<(?=\s*+/?\s*data\b)", re.IGNORECASE)


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
        inputs: The names of the texts that it is given; a replacement may leave out some.
        body: The text with places for the inputs.
        plain: It has no front matter.
    """

    version: str
    inputs: frozenset[str]
    body: str
    plain: bool

    @property
    def as_json(self) -> bool:
        """True if it asks for JSON."""
        return "json" in self.body.casefold()

    def render(self, **inputs: object) -> str:
        """Return the text to send.

        Raises:
            BadInput: An input is missing or unknown.
        """
        if set(inputs) != self.inputs:
            raise BadInput(
                f"prompt {self.version}: found inputs {sorted(inputs)}, expected "
                f"{sorted(self.inputs)}"
            )
        try:
            return _environment().from_string(self.body).render(**inputs).strip()
        except TemplateError as error:
            raise BadInput(f"prompt {self.version} cannot be rendered: {error}") from None


def load(version: str, settings: Settings) -> Prompt:
    """Return a prompt, or what the settings put in its place.

    Args:
        version: The name of its file without .md.
        settings: Those that may name a folder of replacements.

    Raises:
        BadInput: It is broken.
    """
    prompt = _load(version, FOLDER / f"{version}.md")
    folders = [settings.prompt_folder] if settings.prompt_folder else []
    if settings.prompts:
        folders.append(FOLDER / settings.prompts)
    task = version.rpartition(".v")[0].removeprefix("w24/")
    for place in folders:
        path = place / f"{task}.md"
        if path.is_file():
            return _replacing(prompt, path)
    return prompt


def _replacing(prompt: Prompt, path: Path) -> Prompt:
    """Read a file in a prompt's place, named by its folder, its task and a hash of its text."""
    replacement = _load(f"{path.parent.name}/{path.name}@{content_id(_text(path))}", path)
    if not replacement.inputs or replacement.inputs - prompt.inputs:
        marks = ", ".join(f"{{{{ {name} }}}}" for name in sorted(prompt.inputs))
        raise BadInput(
            f"{path}: it uses {sorted(replacement.inputs)}; write {marks} where they belong"
        )
    return replace(replacement, inputs=prompt.inputs)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 (byte {error.start}): save the file as UTF-8") from None


@cache
def _load(version: str, path: Path) -> Prompt:
    text = _text(path)
    body = _FRONT_MATTER.sub("", text)
    try:
        used = meta.find_undeclared_variables(_environment().parse(body))
    except TemplateError as error:
        raise BadInput(f"prompt {version}: {' '.join(str(error).split())[:300]}") from None
    return Prompt(version, frozenset(used), body, plain=body == text)


def examples(name: str, settings: Settings) -> tuple[Example, ...]:
    """Return a bank of decompositions in the file's order.

    `examples/<name>.jsonl` in the operator's folder takes the place of our own.

    Raises:
        BadInput: A line of the operator's file is no example, or the file is empty.
    """
    path = BANKS / f"{name}.jsonl"
    if settings.prompt_folder:
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
