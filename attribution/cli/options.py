"""Options that several commands share, the output of commands, and `list`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from attribution.errors import BadInput
from attribution.settings import Settings, with_endpoint
from attribution.settings import rows as setting_rows
from attribution.tables import Entry, load
from attribution.text_files import decoded, replacing
from attribution.types import Failure

if TYPE_CHECKING:  # imported where it is used: --help stays fast
    from attribution.store.store import Store

Command = Callable[[argparse.Namespace], int | None]  # returns an exit status; None is 0
Add = Callable[[str, str, Command], argparse.ArgumentParser]  # name, summary and function
TABLES = {  # imported where they are used: --help stays fast
    "segmenters": "attribution.segmenters:SEGMENTERS",
    "searchers": "attribution.searchers:SEARCHERS",
    "chunkers": "attribution.retrieval.chunkers:CHUNKERS",
    "embedders": "attribution.embedders:EMBEDDERS",
    "verifiers": "attribution.verifiers:VERIFIERS",
    "methods": "attribution.studies.groundedness:METHODS",
}


def progress(text: str) -> None:
    """Print a line to standard error, without what could control a terminal."""
    printable = [c if c.isprintable() or c == "\n" else "\ufffd" for c in text]
    print("".join(printable), file=sys.stderr, flush=True)


def report_failure(failure: Failure) -> None:
    progress(f"! {failure.stage}: {failure.subject[:80]}: {failure.message}")


def print_json(value: object) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=1))


def read_text(argument: str) -> str:
    """Return the argument itself, or standard input for `-`.

    Raises:
        BadInput: Standard input is not UTF-8, or the argument is the path of a file.
    """
    if argument == "-":
        return decoded(sys.stdin.buffer.read())
    try:
        is_file = Path(argument).is_file()
    except (OSError, ValueError):  # too long for a path, or holding a null byte
        is_file = False
    if is_file:
        raise BadInput(f"{argument} is a file; expected the text itself: pass - and `< {argument}`")
    return argument


def new_file(argument: str) -> Path:
    """Return the path of a file to write. Raises BadInput, before any work, if it can't be made."""
    path = Path(argument)
    if path.is_dir():
        raise BadInput(f"{path} is a folder; expected a file")
    if not path.parent.is_dir():
        raise BadInput(
            f"the folder {path.parent} does not exist: create it, or choose another output"
        )
    return path


def check_apart(args: argparse.Namespace) -> None:
    """Raise BadInput if the file that a command writes is the one that it reads."""
    given = getattr(args, "input", None) or Path(getattr(args, "report", ""))
    output = getattr(args, "output", None) or getattr(args, "out", None)
    if output and given.is_file() and output.exists() and output.samefile(given):
        raise BadInput(f"{output} is read and would be replaced: choose another output")


def write_file(path: Path, content: bytes) -> None:
    """Write all of it or nothing: a killed process leaves no incomplete file of that name."""
    with replacing(path) as out:
        out.write(content)
    progress(f"{path}: {len(content):,} bytes")


def open_store(settings: Settings | None = None) -> Store:
    """Open the store of the settings, or of the environment."""
    from attribution.store.store import Store

    settings = settings or Settings.from_environment()
    return Store.open(settings.database_url)


def add_answer(p: argparse.ArgumentParser) -> None:
    p.add_argument("--question", default="", help="the question that was asked")
    p.add_argument("--answer", required=True, help="the text, or - for standard input")


def add_run(p: argparse.ArgumentParser) -> None:
    """Add the options that a run depends on, beside its answer."""
    p.add_argument("--segmenter", help="see: list segmenters")
    add_sources(p)
    add_verifier(p)


def add_sources(p: argparse.ArgumentParser) -> None:
    help_text = "library, collection:NAME, web, an engine, paths or URLs (default: library)"
    p.add_argument("--sources", nargs="+", help=help_text)


def add_rows(p: argparse.ArgumentParser, fields: str) -> None:
    """A file of rows with these fields, and one for the results."""
    p.add_argument("--input", type=Path, required=True, help=f"JSON Lines of {{{fields}}}")
    p.add_argument("--output", type=new_file, required=True)


def add_verifier(p: argparse.ArgumentParser) -> None:
    """The verifier and any other setting."""
    p.add_argument("--verifier", help="see: list verifiers")
    add_settings(p)


def add_settings(p: argparse.ArgumentParser) -> None:
    help_text = "any of `list settings`, such as top_k=8 or openai_model=local"
    p.add_argument("--set", action="append", metavar="KEY=VALUE", help=help_text)


def choices(args: argparse.Namespace) -> dict[str, object]:
    """Return the settings named by options."""
    pairs: dict[str, str] = {}
    for pair in getattr(args, "set", None) or ():
        key, equals, value = pair.partition("=")
        if not equals:
            raise BadInput(f"--set {pair!r}: expected key=value")
        pairs[key] = value
    values = with_endpoint(pairs)
    for name in ("sources", "segmenter", "verifier"):
        value = getattr(args, name, None)
        if value:
            values[name] = value
    return values


def settings(args: argparse.Namespace) -> Settings:
    """Return the settings of the command line and the environment."""
    return Settings.from_environment(**choices(args))


def table(name: str) -> Mapping[str, Entry]:
    """Return one of TABLES."""
    entries: Mapping[str, Entry] = load(TABLES[name])
    return entries


def list_tables(args: argparse.Namespace) -> None:
    """Print the implementations and what they need, or the settings."""
    if args.table == "settings":
        return print_json(setting_rows())
    settings = Settings.from_environment()
    rows = []
    for kind in [args.table] if args.table else TABLES:
        for name, entry in table(kind).items():
            needs = entry.missing(settings)
            row = {"table": kind, "name": name, "label": entry.label, "note": entry.note}
            rows.append({**row, "ready": not needs, "needs": needs})
    print_json(rows)
