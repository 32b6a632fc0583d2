"""The command line; see README.md. JSON goes to files or standard output, progress to standard error."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from attribution.cli import collections, snapshot
from attribution.errors import AttributionError, BadInput
from attribution.registry import Table, build
from attribution.settings import Settings

BATCH = 256  # pairs judged between two lines of progress


def tables() -> Mapping[str, Table]:
    from attribution.chunkers import CHUNKERS
    from attribution.embedders import EMBEDDERS
    from attribution.searchers import SEARCHERS
    from attribution.segmenters import SEGMENTERS
    from attribution.verifiers import VERIFIERS

    return {
        "segmenters": SEGMENTERS,
        "searchers": SEARCHERS,
        "chunkers": CHUNKERS,
        "embedders": EMBEDDERS,
        "verifiers": VERIFIERS,
    }


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def read_text(value: str) -> str:
    """The argument itself, or standard input for `-`; BadInput where that is not UTF-8."""
    if value != "-":
        return value
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"standard input is not UTF-8 (byte {error.start}): save the text as UTF-8") from None


def read_rows(path: Path, fields: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Objects of a JSON Lines file, each with the given fields as strings; BadInput names the line."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read as UTF-8 text ({error})") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise BadInput(
                f"{path}, line {number}: not JSON ({error.msg}); expected an object with {', '.join(fields)}"
            ) from None
        if not isinstance(row, dict) or not all(isinstance(row.get(f), str) for f in fields):
            raise BadInput(f"{path}, line {number}: expected an object with text in {', '.join(fields)}")
        yield row


def settings_of(args: argparse.Namespace) -> Settings:
    return Settings.from_environment(**choices_of(args))


def choices_of(args: argparse.Namespace) -> dict[str, Any]:
    """What --sources, --segmenter, --verifier and --set key=value choose."""
    choices: dict[str, Any] = {}
    for pair in getattr(args, "set", None) or ():
        key, equals, value = pair.partition("=")
        if not equals:
            raise BadInput(f"--set {pair!r}: expected key=value")
        choices[key] = value
    for name in ("sources", "segmenter", "verifier"):
        if getattr(args, name, None):
            choices[name] = getattr(args, name)
    return choices


def analyze(args: argparse.Namespace) -> None:
    from attribution import events
    from attribution.pipeline.run import run

    stage = ""
    for event in run(read_text(args.question), read_text(args.answer), settings_of(args)):
        match event:
            case events.StageStarted(stage):
                say(f"{stage} …")
            case events.Progress(stage, done, total):
                say(f"{stage} {done}/{total}")
            case events.Failed(failure):
                say(f"! {failure.stage}: {failure.subject[:80]}: {failure.message}")
            case events.Finished(report):
                args.out.write_text(report.to_json() + "\n", encoding="utf-8")
                counts = {
                    label: sum(v.label == label for v in report.verdicts)
                    for label in dict.fromkeys(v.label for v in report.verdicts)
                }
                say(f"{args.out}: " + (", ".join(f"{n} {label}" for label, n in counts.items()) or "no claims"))


def segment(args: argparse.Namespace) -> None:
    from attribution.pipeline import claims
    from attribution.pipeline import run as pipeline

    settings = settings_of(args)
    question, answer = read_text(args.question), read_text(args.answer)
    pipeline.check_input(question, answer, settings)
    segmented = claims.segment(question, answer, settings)
    for failure in segmented.failures:
        say(f"! {failure.stage}: {failure.subject[:80]}: {failure.message}")
    rows = [{"id": c.id, "text": c.text, "spans": [list(s) for s in c.spans]} for c in segmented.claims]
    print(json.dumps(rows, ensure_ascii=False, indent=1))


def worth(args: argparse.Namespace) -> None:
    from attribution.claims.worthiness import judge
    from attribution.types import Claim, content_id

    rows = list(read_rows(args.input, ["claim"]))
    claims = judge([Claim(id=content_id(r["claim"]), text=r["claim"], spans=()) for r in rows])
    with args.output.open("w", encoding="utf-8") as out:
        for row, claim in zip(rows, claims, strict=True):
            write(out, {**row, "worthiness": claim.worthiness, "reason": claim.worthiness_reason})


def verify(args: argparse.Namespace) -> None:
    from attribution.verdicts import relation

    settings = settings_of(args)
    verifier = build(tables()["verifiers"], settings.verifier, settings, "verifier")
    rows = list(read_rows(args.input, ["claim", "evidence"]))
    partial = args.output.with_name(args.output.name + ".part")
    with partial.open("w", encoding="utf-8") as out:
        for start in range(0, len(rows), BATCH):
            part = rows[start : start + BATCH]
            try:
                judged = verifier.verify([(r["claim"], r["evidence"]) for r in part])
            except BadInput as error:
                partial.unlink()
                raise BadInput(f"{args.input}, rows {start + 1} to {start + len(part)}: {error}") from None
            for row, j in zip(part, judged, strict=True):
                probabilities = j.probabilities.model_dump()
                sentence = row["evidence"][slice(*j.sentence)]
                write(
                    out,
                    {
                        **row,
                        "relation": relation(j.probabilities, settings.threshold),
                        "probabilities": probabilities,
                        "sentence": sentence,
                        "signals": j.signals,
                    },
                )
            say(f"verify {start + len(part)}/{len(rows)}")
    partial.replace(args.output)


def write(out: TextIO, row: Mapping[str, Any]) -> None:
    out.write(json.dumps(row, ensure_ascii=False) + "\n")


def list_(args: argparse.Namespace) -> None:
    settings = Settings.from_environment()
    chosen = [args.table] if args.table else list(tables())
    rows = [
        {
            "table": t,
            "name": name,
            "label": entry.label,
            "note": entry.note,
            "ready": not entry.missing(settings),
            "needs": entry.missing(settings),
        }
        for t in chosen
        for name, entry in tables()[t].items()
    ]
    print(json.dumps(rows, ensure_ascii=False, indent=1))


def compare(args: argparse.Namespace) -> None:
    """One line of comparisons.jsonl an answer; those that are there already are not made again."""
    from attribution.evaluation.experiment import run

    rows = list(read_rows(args.input, ["answer"]))
    for done, total, problem in run(rows, settings_of(args), args.segmenters, args.out):
        say(f"compare {done}/{total}" + (f": {problem}" if problem else ""))
    say(f"{args.out}: tables.md, CSV tables, comparisons.jsonl")


def serve(args: argparse.Namespace) -> None:
    from attribution.cli.serve import serve as start

    raise SystemExit(start(args.port))


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="attribution", description="Which claims of an answer do the sources support?")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, does: str, work: Callable[[argparse.Namespace], None]) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=does, description=does)
        made.set_defaults(work=work)
        return made

    def answered(p: argparse.ArgumentParser) -> None:
        p.add_argument("--question", default="", help="the question that was asked")
        p.add_argument("--answer", required=True, help="the answer's text, or - for standard input")
        p.add_argument("--segmenter", help="see: list segmenters")

    def chosen(p: argparse.ArgumentParser) -> None:
        p.add_argument("--verifier", help="see: list verifiers")
        p.add_argument("--set", action="append", metavar="KEY=VALUE", help="any other setting, e.g. top_k=8")

    p = command("analyze", "check an answer's claims against sources", analyze)
    answered(p)
    p.add_argument("--sources", nargs="+", help="library, collection:NAME, web, paths or URLs (default: library)")
    chosen(p)
    p.add_argument("--out", type=Path, required=True, metavar="report.json")
    p = command("segment", "split an answer into claims", segment)
    answered(p)
    p.add_argument("--set", action="append", metavar="KEY=VALUE", help="any other setting, e.g. openai_model=local")
    p = command("verify", "judge pairs of claim and evidence", verify)
    p.add_argument("--input", type=Path, required=True, help='JSON Lines of {"claim", "evidence"}')
    p.add_argument("--output", type=Path, required=True)
    chosen(p)
    p = command("worth", "judge which claims are worth checking", worth)
    p.add_argument("--input", type=Path, required=True, help='JSON Lines of {"claim"}')
    p.add_argument("--output", type=Path, required=True)
    p = command("compare", "cut answers with several segmenters over the same evidence", compare)
    p.add_argument("--input", type=Path, required=True, help='JSON Lines of {"question", "answer"}')
    p.add_argument("--segmenters", nargs="+", required=True, help="two to four; see: list segmenters")
    p.add_argument("--sources", nargs="+", help="library, collection:NAME, web, paths or URLs (default: library)")
    p.add_argument("--out", type=Path, required=True, help="a folder")
    chosen(p)
    p = command("list", "the implementations there are, and what they need", list_)
    p.add_argument("table", nargs="?", choices=["segmenters", "searchers", "chunkers", "embedders", "verifiers"])
    snapshot.add(commands.add_parser("snapshot", help="freeze, move, replay and compare runs"), choices_of)
    collections.commands(commands.add_parser("library", help="keep named collections of documents"))
    p = command("serve", "open the web app", serve)
    p.add_argument("--port", type=int, default=8501, help="another free one is taken if it is in use")
    return top


def main(argv: Sequence[str] | None = None) -> int:
    args = parser().parse_args(argv)
    try:
        args.work(args)
    except AttributionError as error:
        say(f"attribution: {error}")
        return 2
    except OSError as error:
        say(f"attribution: {error.strerror or error}: {error.filename or ''}")
        return 2
    except KeyboardInterrupt:
        return 130
    return 0
