"""The command line; see README.md. Each command group has its own file."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from attribution.cli import analyze, library, options, reports, serve, snapshot, studies, verify
from attribution.cli.options import progress
from attribution.errors import AttributionError, setup_error

Command = Callable[[argparse.Namespace], int | None]  # an exit status; None is 0


STATUSES = (
    "Exit status: 0 all was done; 1 it was done but for a row, method or source that standard error names; 2 nothing "
    "was done, because of the input, or of a model, disk or database that cannot be used; 130 or 143 it was ended by "
    "Ctrl-C or a signal. What an ended batch has finished is kept, and the same command goes on with it."
)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="attribution", description="Which claims of an answer do the sources support?", epilog=STATUSES
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, summary: str, run: Command) -> argparse.ArgumentParser:
        p = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        p.set_defaults(work=run)
        return p

    p = add("analyze", "check the claims of an answer against sources", analyze.analyze)
    options.add_answer(p)
    options.add_sources(p)
    options.add_verifier(p, "top_k=8")
    p.add_argument("--out", type=Path, required=True, metavar="report.json")

    p = add("revise", "write the answer of a report with corrections, marks and footnotes", analyze.revise)
    p.add_argument("--input", type=Path, required=True, metavar="report.json")
    p.add_argument("--out", type=Path, required=True, metavar="revised.md")
    p.add_argument("--corrector", choices=("rule", "llm", "none"), default="rule", help="who proposes corrections")
    help_text = "sentences that no source supports are kept (default), marked or left out"
    p.add_argument("--unsupported", choices=("keep", "mark", "drop"), default="keep", help=help_text)
    p.add_argument("--no-footnotes", action="store_true", help="no footnotes to the evidence")
    options.add_verifier(p, "threshold=0.7")

    p = add("segment", "split an answer into claims", analyze.segment)
    options.add_answer(p)
    options.add_settings(p, "openai_model=local")

    p = add("verify", "classify pairs of claim and evidence", verify.verify)
    options.add_rows(p, '"claim", "evidence"')
    options.add_verifier(p, "threshold=0.7")

    p = add("judge", "judge claims by the passages given with them", verify.judge)
    options.add_rows(p, '"claim", "passages"')
    options.add_verifier(p, "threshold=0.7")

    p = add("calibrate", "find how sure a verifier's badges are, from judged ones", verify.calibrate)
    p.add_argument("--input", type=Path, required=True, help='output of judge, each line with "right": true or false')
    p.add_argument("--output", type=Path, help="by default where it is found from then on")

    p = add("worth", "classify claims by check-worthiness", verify.worth)
    options.add_rows(p, '"claim"')

    p = add("compare", "compare segmenters over the same evidence", studies.compare)
    p.add_argument("--input", type=Path, required=True, help='JSON Lines of {"question", "answer"}')
    p.add_argument("--segmenters", nargs="+", required=True, help="two to four; see: list segmenters")
    options.add_sources(p)
    p.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    options.add_verifier(p, "top_k=8")

    p = add("answers", "compare two answers to one question over the same evidence", studies.answers)
    options.add_rows(p, '"question", "first", "second"')
    p.add_argument("--segmenter", help="see: list segmenters")
    options.add_sources(p)
    options.add_verifier(p, "top_k=8")
    p = add("factscore", "score answers by FActScore with several decomposers and verifiers", studies.factscore)
    studies.add_factscore(p)

    p = add("evoke", "make a test set: grounded answers and twins with one error each", studies.evoke)
    studies.add_evoke(p)
    p = add("benchmark", "measure groundedness methods on labelled responses", studies.benchmark)
    p.add_argument("--input", type=Path, required=True, help="JSON Lines; see docs/groundedness.md")
    p.add_argument("--methods", nargs="+", required=True, metavar="NAME", help="or all; see: list methods")
    p.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    p.add_argument("--seed", type=int, default=0, help="of the division into development and test (default: 0)")
    options.add_verifier(p, "embedder=mpnet")

    p = add("batch", "check many answers; a killed batch goes on where it stopped", studies.batch)
    p.add_argument("--input", type=Path, required=True, help="JSON Lines; see docs/batch.md")
    p.add_argument("--output", type=Path, required=True, metavar="reports.jsonl")
    p.add_argument("--engine", choices=("local", "ray"), default="local", help="this process, or a Ray cluster")
    p.add_argument("--workers", type=options.positive, metavar="N", help="of --engine ray (default: all processors)")
    p.add_argument("--address", metavar="HOST:PORT", help="of a Ray cluster (default: RAY_ADDRESS, or this machine)")
    p.add_argument("--segmenter", help="see: list segmenters")
    options.add_sources(p)
    options.add_verifier(p, "top_k=8")

    p = commands.add_parser("export", help="write a finished run in another format")
    reports.add_export(p)
    p = commands.add_parser("citations", help="check the answer's own citations against the sources they name")
    reports.add_citations(p)

    p = add("list", "list the available implementations and what they need", options.list_tables)
    p.add_argument("table", nargs="?", choices=options.NAMES)
    p = add("download", "get the model of an implementation ahead of its first use", serve.download)
    p.add_argument("name", help="see: list; those with a model to download or to make")
    p.add_argument("--model", help="another model than the default, where the implementation takes one: owner/name")
    snapshot.commands(commands.add_parser("snapshot", help="export, import and replay runs"))
    library.commands(commands.add_parser("collections", help="manage named collections of documents"))

    p = add("serve", "start the web app, or the API", serve.serve)
    p.add_argument("--port", type=int, help=f"by default {serve.PORT} (API: {serve.API_PORT}), or the next free port")
    p.add_argument("--host", default="localhost", help="the address to listen at; 0.0.0.0 for all")
    p.add_argument("--api", action="store_true", help="serve the REST API and MCP in its place (docs/api.md)")
    options.add_verifier(p, "max_pages=50")
    p = add("mcp", "serve the MCP tools over standard input and output", serve.mcp)
    options.add_verifier(p, "max_pages=50")
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    args = parser().parse_args(argv)
    try:
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
    match error:
        case FileNotFoundError():
            return f"no such file: {error.filename}"
        case OSError():
            return f"{error.strerror or error}: {error.filename or ''}"
    return str(error)
