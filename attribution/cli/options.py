"""Options that several commands share, the output of commands, and `list`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from attribution.errors import BadInput
from attribution.files import replacing
from attribution.settings import Settings, with_endpoint
from attribution.settings import rows as setting_rows
from attribution.tables import Entry
from attribution.types import Failure, Turn

Command = Callable[[argparse.Namespace], int | None]  # returns an exit status; None is 0
Add = Callable[
    [str, str, Command], argparse.ArgumentParser
]  # a command by name, with its summary and its function


PRESETS = ("v24",)


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def report_failure(failure: Failure) -> None:
    progress(f"! {failure.stage}: {failure.subject[:80]}: {failure.message}")


def print_json(value: object) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=1))


def read_text(argument: str) -> str:
    """The argument itself, or standard input for `-`; BadInput if that is not UTF-8, and for the
    path of a file.
    """
    if argument != "-":
        if _is_file(argument):
            raise BadInput(
                f"{argument} is a file; expected the text itself: pass - and `< {argument}`"
            )
        return argument
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(
            f"standard input is not UTF-8 (byte {error.start}): save the text as UTF-8"
        ) from None


def read_file(path: Path) -> str:
    """The text of a file; BadInput if it is not UTF-8."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 (byte {error.start}): save the file as UTF-8") from None


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a path, or holding a null byte
        return False


def check_output(path: Path) -> None:
    """BadInput if the file cannot be created; called before any work."""
    if path.is_dir():
        raise BadInput(f"{path} is a folder; expected a file")
    if not path.parent.is_dir():
        raise BadInput(
            f"the folder {path.parent} does not exist: create it, or choose another output"
        )


def check_apart(args: argparse.Namespace) -> None:
    """BadInput if the file that a command writes is one that it reads."""
    given = vars(args)
    written = next((path for name in ("output", "out") if (path := given.get(name))), None)
    read = [
        value
        for name, value in given.items()
        if name not in ("output", "out") and isinstance(value, Path)
    ]
    read += [Path(source) for source in given.get("sources") or () if _is_file(source)]
    if (
        written
        and _is_file(str(written))
        and any(path.exists() and written.samefile(path) for path in read)
    ):
        raise BadInput(f"{written} is read and would be replaced: choose another output")


def write_file(path: Path, content: bytes) -> None:
    """Write all of it or nothing: a killed process leaves no incomplete file of that name."""
    with replacing(path) as out:
        out.write(content)


def add_answer(p: argparse.ArgumentParser) -> None:
    p.add_argument("--question", default="", help="the question that was asked")
    p.add_argument(
        "--context",
        type=Path,
        metavar="FILE",
        help="the conversation before it: User: … / Assistant: …, or JSON",
    )
    p.add_argument(
        "--answer", required=True, help="the text of the answer, or - for standard input"
    )
    p.add_argument("--segmenter", help="see: list segmenters")


def add_sources(p: argparse.ArgumentParser) -> None:
    help_text = "library, collection:NAME, web, an engine, paths or URLs (default: library)"
    p.add_argument("--sources", nargs="+", help=help_text)


def add_rows(p: argparse.ArgumentParser, fields: str) -> None:
    """A file of rows with these fields, and one for the results."""
    p.add_argument("--input", type=Path, required=True, help=f"JSON Lines of {{{fields}}}")
    p.add_argument("--output", type=Path, required=True)


def add_verifier(p: argparse.ArgumentParser, example: str) -> None:
    """The verifier and, as `add_settings`, any other setting."""
    p.add_argument("--verifier", help="see: list verifiers")
    add_settings(p, example)


def add_settings(p: argparse.ArgumentParser, example: str) -> None:
    p.add_argument(
        "--set",
        action="append",
        metavar="KEY=VALUE",
        help=f"any of `list settings`, such as {example}",
    )
    p.add_argument(
        "--preset",
        choices=PRESETS,
        help="the settings of Vladika et al.; other options override them",
    )


def positive(text: str) -> int:
    """A whole number from 1, as argparse reads it."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text}: expected a number from 1")
    return number


def turns(args: argparse.Namespace) -> tuple[Turn, ...]:
    """The turns of --context. BadInput for a file that is not UTF-8 text of that form."""
    from attribution.claims.enrichment import read_turns

    if args.context is None:
        return ()
    text = read_file(args.context)
    try:
        return read_turns(text)
    except BadInput as error:
        raise BadInput(f"{args.context}: {error}") from None


def choices(args: argparse.Namespace) -> dict[str, object]:
    """The settings named by --sources, --segmenter, --verifier and --set, over those of --preset."""
    given: dict[str, str] = {}
    for pair in getattr(args, "set", None) or ():
        key, equals, value = pair.partition("=")
        if not equals:
            raise BadInput(f"--set {pair!r}: expected key=value")
        given[key] = value
    values = with_endpoint(given)
    for name in ("sources", "segmenter", "verifier"):
        if value := getattr(args, name, None):
            values[name] = value
    if models := getattr(args, "models", ()):  # of `reproduce`
        values.setdefault("openai_model", models[0])
    if paper := getattr(args, "preset", None):
        from attribution.studies.papers.presets import preset

        found = preset(Settings.from_environment(**values))
        for name, sentence in found.stood_in.items():
            if name not in values:
                progress(f"{paper}: {sentence}")
        values = found.values | values
    return values


def settings(args: argparse.Namespace) -> Settings:
    return Settings.from_environment(**choices(args))


def settings_within(saved: Mapping[str, object], args: argparse.Namespace) -> Settings:
    """The settings of a file, as far as a file may choose them, under those of the command line."""
    from attribution.evidence.permissions import filter_asked

    own, chosen = Settings.from_environment(), choices(args)
    filtered = filter_asked(
        {name: value for name, value in saved.items() if name in Settings.model_fields}, own
    )
    for name in (
        filtered.refused.keys() - chosen.keys() - {"sources"}
    ):  # no command reads the sources of a file
        progress(f"{name} of the file is not used: name it with --set {name}=… where you trust it")
    return Settings.from_environment(**filtered.chosen | chosen)


NAMES = ("segmenters", "searchers", "chunkers", "embedders", "verifiers", "methods")


def tables() -> Mapping[str, Mapping[str, Entry]]:
    from attribution.embedders import EMBEDDERS
    from attribution.retrieval.chunkers import CHUNKERS
    from attribution.searchers import SEARCHERS
    from attribution.segmenters import SEGMENTERS
    from attribution.studies.groundedness import METHODS
    from attribution.verifiers import VERIFIERS

    return dict(
        zip(NAMES, (SEGMENTERS, SEARCHERS, CHUNKERS, EMBEDDERS, VERIFIERS, METHODS), strict=True)
    )


def list_tables(args: argparse.Namespace) -> None:
    if args.table == "settings":
        return print_json(setting_rows())
    settings = Settings.from_environment()
    rows = []
    for table in [args.table] if args.table else NAMES:
        for name, entry in tables()[table].items():
            needs = entry.missing(settings)
            row = {"table": table, "name": name, "label": entry.label, "note": entry.note}
            rows.append({**row, "ready": not needs, "needs": needs})
    print_json(rows)
