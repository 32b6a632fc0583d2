"""Commands on one answer: `analyze`, `segment`, and `revise`, `export` and `citations` of its
report.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from attribution.cli import options
from attribution.cli.options import (
    Add,
    check_output,
    print_json,
    progress,
    read_file,
    read_text,
    report_failure,
    write_file,
)
from attribution.errors import BadInput
from attribution.reports import FORMATS, Exported, export, file_name
from attribution.settings import Settings
from attribution.verdicts import recolour
from attribution.verifiers import policy_of


def commands(add: Add) -> None:
    """Add the commands."""
    p = add("analyze", "check the claims of an answer against sources", analyze)
    options.add_answer(p)
    options.add_sources(p)
    options.add_verifier(p, "top_k=8")
    p.add_argument("--out", type=Path, required=True, metavar="report.json")

    p = add("revise", "write the answer of a report with corrections, marks and footnotes", revise)
    p.add_argument("--input", type=Path, required=True, metavar="report.json")
    p.add_argument("--out", type=Path, required=True, metavar="revised.md")
    p.add_argument("--no-corrections", action="store_true", help="correct no contradicted claim")
    help_text = "sentences that no source supports are kept (default), marked or left out"
    p.add_argument(
        "--unsupported", choices=("keep", "mark", "drop"), default="keep", help=help_text
    )
    p.add_argument("--no-footnotes", action="store_true", help="no footnotes to the evidence")
    options.add_verifier(p, "threshold=0.7")

    p = add("segment", "split an answer into claims", segment)
    options.add_answer(p)
    options.add_settings(p, "openai_model=local")

    p = add("export", "write a finished run in another format", export_run)
    p.add_argument("report", metavar="REPORT", help="a report.json, or the id of a saved run")
    p.add_argument("--format", required=True, choices=FORMATS, help="one of the formats")
    p.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="by default named after the question, in this folder",
    )

    p = add(
        "citations", "check the answer's own citations against the sources they name", citations
    )
    p.add_argument("report", metavar="REPORT", help="a report.json, or the id of a saved run")
    p.add_argument(
        "--listed",
        type=Path,
        metavar="FILE",
        help="sources that the answer does not list, one a line",
    )
    p.add_argument("--out", type=Path, required=True, metavar="citations.json")
    options.add_verifier(p, "page_days=0")


def analyze(args: argparse.Namespace) -> int:
    """Writes the report; the exit status is 1 if a source could not be read at all."""
    from attribution import events
    from attribution.evidence.sources import unread
    from attribution.pipeline.run import run
    from attribution.reports.cards import headline

    settings = options.settings(args)
    check_output(args.out)
    context = options.turns(args)
    lost: list[str] = []
    for event in run(read_text(args.question), read_text(args.answer), settings, context=context):
        match event:
            case events.StageStarted(stage):
                progress(f"{stage} …")
            case events.Progress(stage, done, total):
                progress(f"{stage} {done}/{total}")
            case events.Failed(failure):
                report_failure(failure)
            case events.Finished(report):
                write_file(args.out, export("json", Exported(report)))
                progress(f"{args.out}: {headline(report)}")
                lost = unread(settings, report.failures)
    for source in lost:
        progress(f"attribution: the source {source} could not be read; the lines above say why")
    return int(bool(lost))


def segment(args: argparse.Namespace) -> None:
    from attribution.claims.enrichment import transcript
    from attribution.pipeline import claims
    from attribution.pipeline.estimate import check_input

    settings = options.settings(args)
    question, answer = read_text(args.question), read_text(args.answer)
    check_input(question, answer, settings)
    segmented = claims.segment(transcript(question, options.turns(args)), answer, settings)
    for failure in segmented.failures:
        report_failure(failure)
    print_json(
        [
            {"id": c.id, "text": c.text, "spans": [list(s) for s in c.spans]}
            for c in segmented.claims
        ]
    )


def revise(args: argparse.Namespace) -> None:
    """Writes the revised answer of a report; its corrections are all accepted."""
    from attribution.review.correction import Correction
    from attribution.review.corrections import correctable, propose
    from attribution.review.revision import revise
    from attribution.store.store import Store

    check_output(args.out)
    report = finished_run(str(args.input)).report
    settings = options.settings_within(report.settings, args)
    store = Store.open(settings.database_url)
    report = recolour(store.cache.with_texts(report), policy_of(settings))
    claims = () if args.no_corrections else correctable(report)
    accepted: list[Correction] = []
    for number, proposal in enumerate(propose(report, claims, settings, store), 1):
        progress(f"correct {number}/{len(claims)}")
        if proposal.failure:
            report_failure(proposal.failure)
        if proposal.correction:
            progress(f"- {proposal.correction.before}\n+ {proposal.correction.after}")
            accepted.append(proposal.correction)
    revision = revise(report, accepted, args.unsupported, not args.no_footnotes)
    write_file(args.out, revision.text.encode("utf-8", "surrogatepass"))
    progress(
        f"{args.out}: {len(revision.applied)} corrected, {len(revision.overlapping)} overlapping, "
        f"{revision.marked} marked, {revision.dropped} left out, {revision.notes} footnotes"
    )


def finished_run(subject: str) -> Exported:
    """The run of a report file, or the saved one with that id. BadInput where there is neither."""
    from attribution.reports import report_json
    from attribution.store.store import Store

    path = Path(subject)
    if path.is_file():
        try:
            return report_json.read(path.read_bytes())
        except BadInput as error:
            raise BadInput(f"{path}: {error}") from None
    store = Store.open(Settings.from_environment().database_url)
    if (report := store.runs.load(subject)) is None:
        raise BadInput(
            f"{subject}: neither a report file nor the id of a saved run; expected one of the two"
        )
    about = store.history.description(subject)
    corrected = frozenset(v.claim_id for v in store.runs.versions(subject) if v.claim_id)
    return Exported(report, about.title, about.note, corrected)


def citations(args: argparse.Namespace) -> None:
    from attribution.review.citations import CitationReport, check
    from attribution.store.store import Store

    check_output(args.out)
    store = Store.open(Settings.from_environment().database_url)
    report = store.cache.with_texts(finished_run(args.report).report)
    settings = options.settings_within(report.settings, args)
    for event in check(
        report, settings, store, listed=read_file(args.listed) if args.listed else "", save=False
    ):
        if isinstance(event, CitationReport):
            write_file(args.out, (event.to_json() + "\n").encode())
            figures = event.figures
            progress(
                f"{args.out}: {len(event.marks)} marks; {figures.supported} of {figures.claims} claims are supported "
                f"by their citations, {figures.useful} of {figures.citations} citations support a claim"
            )
        else:
            progress(f"{event.stage} {event.done}/{event.total}")


def export_run(args: argparse.Namespace) -> None:
    exported = finished_run(args.report)
    path = args.out or Path(file_name(args.format, exported))
    check_output(path)
    content = export(args.format, exported)
    write_file(path, content)
    progress(f"{path}: {len(content):,} bytes")
