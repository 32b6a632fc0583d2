"""The command line; see README.md. Each command group has its own file."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from attribution.cli import analyze, collections, compare, download, options, serve, snapshot, tables, verify
from attribution.cli.console import progress
from attribution.errors import AttributionError

Command = Callable[[argparse.Namespace], int | None]  # an exit status; None is 0


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="attribution", description="Which claims of an answer do the sources support?")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, summary: str, run: Command) -> argparse.ArgumentParser:
        p = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        p.set_defaults(work=run)
        return p

    p = add("analyze", "check the claims of an answer against sources", analyze.analyze)
    options.add_answer(p)
    options.add_sources(p)
    options.add_verifier(p)
    options.add_settings(p, "top_k=8")
    p.add_argument("--out", type=Path, required=True, metavar="report.json")

    p = add("segment", "split an answer into claims", analyze.segment)
    options.add_answer(p)
    options.add_settings(p, "openai_model=local")

    p = add("verify", "classify pairs of claim and evidence", verify.verify)
    p.add_argument("--input", type=Path, required=True, help='JSON Lines of {"claim", "evidence"}')
    p.add_argument("--output", type=Path, required=True)
    options.add_verifier(p)
    options.add_settings(p, "threshold=0.7")

    p = add("judge", "judge claims by the passages given with them", verify.judge)
    p.add_argument("--input", type=Path, required=True, help='JSON Lines of {"claim", "passages"}')
    p.add_argument("--output", type=Path, required=True)
    options.add_verifier(p)
    options.add_settings(p, "threshold=0.7")

    p = add("worth", "classify claims by check-worthiness", verify.worth)
    p.add_argument("--input", type=Path, required=True, help='JSON Lines of {"claim"}')
    p.add_argument("--output", type=Path, required=True)

    p = add("compare", "compare segmenters over the same evidence", compare.compare)
    p.add_argument("--input", type=Path, required=True, help='JSON Lines of {"question", "answer"}')
    p.add_argument("--segmenters", nargs="+", required=True, help="two to four; see: list segmenters")
    options.add_sources(p)
    p.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    options.add_verifier(p)
    options.add_settings(p, "top_k=8")

    p = add("batch", "check many answers; a killed batch goes on where it stopped", analyze.batch)
    p.add_argument("--input", type=Path, required=True, help='JSON Lines of {"question", "answer", "documents"}')
    p.add_argument("--output", type=Path, required=True, metavar="reports.jsonl")
    p.add_argument("--segmenter", help="see: list segmenters")
    options.add_sources(p)
    options.add_verifier(p)
    options.add_settings(p, "top_k=8")

    p = add("list", "list the available implementations and what they need", tables.list_tables)
    p.add_argument("table", nargs="?", choices=tables.NAMES)
    p = add("download", "get the model of an implementation ahead of its first use", download.download)
    p.add_argument("name", help="see: list; those with a model to download or to make")
    snapshot.commands(commands.add_parser("snapshot", help="export, import and replay runs"))
    collections.commands(commands.add_parser("collections", help="manage named collections of documents"))
    renamed = commands.add_parser("library")  # the old name of `collections`, kept out of --help
    renamed.set_defaults(renamed="attribution: `library` is now called `collections`; the old name still works")
    collections.commands(renamed)

    p = add("serve", "start the web app", serve.serve)
    p.add_argument("--port", type=int, help=f"by default {serve.PORT}, or the next free port")
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status."""
    args = parser().parse_args(argv)
    if notice := getattr(args, "renamed", ""):
        progress(notice)
    try:
        status: int | None = args.work(args)
        return status or 0
    except AttributionError as error:
        progress(f"attribution: {error}")
        return 2
    except FileNotFoundError as error:
        progress(f"attribution: no such file: {error.filename}")
        return 2
    except OSError as error:
        progress(f"attribution: {error.strerror or error}: {error.filename or ''}")
        return 2
    except KeyboardInterrupt:
        return 130
