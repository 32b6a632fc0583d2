"""Prompts as files: `prompts/<task>.v1.md`, YAML front matter (purpose, inputs, output, source) and a Jinja body.

A new wording is a new `.vN`; a run records the one it used.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml
from jinja2 import StrictUndefined, TemplateError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from attribution.errors import BadInput
from attribution.settings import ROOT

FOLDER = ROOT / "prompts"
_PARTS = re.compile(r"---\n(.*?)\n---\n(.*)", re.DOTALL)
_MARK = re.compile(r"<(?=\s*/?\s*data\b)", re.IGNORECASE)


class _Front(BaseModel):
    model_config = ConfigDict(extra="forbid")

    purpose: str
    inputs: list[str]
    output: str
    source: str


class Example(BaseModel):
    """A sentence and its claims, decomposed by hand."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sentence: str
    claims: tuple[str, ...]


def data(text: str) -> str:
    """Foreign text between tags that it cannot close."""
    return "<data>\n" + _MARK.sub("‹", text) + "\n</data>"


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["data"] = data
    environment.filters["json"] = lambda value: json.dumps(value, ensure_ascii=False)
    return environment


@dataclass(frozen=True)
class Prompt:
    version: str  # the file's name without .md, such as "factscore.v1"
    purpose: str
    inputs: tuple[str, ...]
    output: str
    source: str
    body: str

    def render(self, **inputs: object) -> str:
        """The text to send. BadInput for missing and undeclared inputs."""
        if set(inputs) != set(self.inputs):
            raise BadInput(f"prompt {self.version}: found inputs {sorted(inputs)}, expected {sorted(self.inputs)}")
        try:
            return _environment().from_string(self.body).render(**inputs).strip()
        except TemplateError as error:
            raise BadInput(f"prompt {self.version} cannot be rendered: {error}") from None


def load(version: str, folder: Path = FOLDER) -> Prompt:
    """The prompt of that name. BadInput where there is none, or it declares other inputs than its body uses."""
    return _load(version, folder)


@cache
def _load(version: str, folder: Path) -> Prompt:
    path = folder / f"{version}.md"
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        names = ", ".join(sorted(p.stem for p in folder.glob("*.md"))) or "none"
        raise BadInput(f"prompt {version!r}: there is no {path.name}; expected one of: {names}") from None
    parts = _PARTS.fullmatch(text)
    if not parts:
        raise BadInput(f"prompt {version}: expected YAML front matter between two lines of ---, then the text")
    try:
        front = _Front.model_validate(yaml.safe_load(parts[1]))
        used = meta.find_undeclared_variables(_environment().parse(parts[2]))
    except (yaml.YAMLError, ValidationError, TemplateError) as error:
        raise BadInput(f"prompt {version}: {' '.join(str(error).split())[:300]}") from None
    if used != set(front.inputs):
        raise BadInput(f"prompt {version}: declares {sorted(front.inputs)}, but its text uses {sorted(used)}")
    return Prompt(version, front.purpose, tuple(front.inputs), front.output, front.source, parts[2])


@cache
def examples(name: str, folder: Path = FOLDER) -> tuple[Example, ...]:
    """The decompositions of `prompts/examples/<name>.jsonl`, in the file's order."""
    lines = (folder / "examples" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(TypeAdapter(list[Example]).validate_python([json.loads(line) for line in lines if line.strip()]))
