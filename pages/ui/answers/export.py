"""Two answers as Markdown and JSON. Foreign text in it stays text wherever it is opened."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from attribution.evaluation.agreement import Match
from attribution.evaluation.answers_data import json_data
from attribution.evaluation.two_answers import TwoAnswers
from attribution.text.markdown import escape_markdown
from attribution.types import Claim, Report
from pages.ui.answers.view import summary
from pages.ui.answers.words import NAMES, disagreement, extent
from pages.ui.compare.view import look_of


def as_markdown(result: TwoAnswers) -> str:
    """The whole comparison to paste into a document: disagreements, what both say, what only one says."""
    out = ["# Two answers", ""]
    if result.report.question.strip():
        out += [f"Question: {escape_markdown(result.report.question)}", ""]
    out += [escape_markdown(summary(result)), ""]
    if result.contradictions:
        out += ["## Where they disagree", ""]
        for match in result.contradictions:
            out += [escape_markdown(disagreement(match, result, False)), "", *_both(match, result), ""]
    if result.agreements:
        out += ["## Both say", ""]
        for match in result.agreements:
            out += [*([escape_markdown(words), ""] if (words := extent(match)) else []), *_both(match, result), ""]
    for name, report, alone in (
        (NAMES[0], result.first, result.alone("first")),
        (NAMES[1], result.second, result.alone("second")),
    ):
        if alone:
            out += [f"## Only {name} says", "", *_lines(alone, report), ""]
    return "\n".join(out)


def _both(match: Match, result: TwoAnswers) -> Iterator[str]:
    for name, report, ids in ((NAMES[0], result.first, match.first), (NAMES[1], result.second, match.second)):
        yield from _lines([c for c in report.claims if c.id in ids], report, f"{name}: ")


def _lines(claims: Sequence[Claim], report: Report, before: str = "") -> Iterator[str]:
    verdicts = {v.claim_id: v for v in report.verdicts}
    for claim in claims:
        look = look_of(verdicts.get(claim.id))
        yield f"- {before}{look.icon} {look.word}: {escape_markdown(claim.statement)}"


def as_json(result: TwoAnswers) -> str:
    """All of it, in the form of the command `answers`."""
    return json.dumps(json_data(result), ensure_ascii=False, indent=1)
