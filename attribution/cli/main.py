"""The command line; see docs/command_line.md. Each command group has its own file."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from attribution import __version__
from attribution.cli import analyze, options, serve, studies, verify
from attribution.cli.options import Command, progress
from attribution.errors import AttributionError, setup_error

STATUSES = (
    "Exit status: 0 success; 1 some rows, methods or sources failed, which standard error names; "
    "2 nothing was done, because of the input, or of a model, disk or database that cannot be "
    "used; 130 or 143 it was ended by Ctrl-C or a signal. What an ended batch has finished is "
    "kept; run the command again to resume."
)


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    top = argparse.ArgumentParser(
        prog="attribution",
        description="Which claims of an answer do the sources support?",
        epilog=STATUSES,
    )
    top.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, summary: str, run: Command) -> argparse.ArgumentParser:
        description = summary[0].upper() + summary[1:] + "."
        p = commands.add_parser(name, help=summary, description=description)
        p.set_defaults(work=run)
        return p

    analyze.commands(add)
    verify.commands(add)
    studies.commands(add)
    p = add("list", "list the available implementations and what they need", options.list_tables)
    p.add_argument("table", nargs="?", choices=(*options.TABLES, "settings"))
    serve.commands(add)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    try:
        args = parser().parse_args(argv)
        options.check_apart(args)
        status: int | None = args.work(args)
        return status or 0
    except (AttributionError, ImportError, OSError) as error:
        progress(f"attribution: {_line(error)}")
        return 2
    except KeyboardInterrupt:
        return 130


def _line(error: AttributionError | ImportError | OSError) -> str:
    """Describe an error on one line, with what to do."""
    error = setup_error(error) or error
    if isinstance(error, OSError):
        return f"{error.strerror or error}: {error.filename or ''}"
    return str(error)
