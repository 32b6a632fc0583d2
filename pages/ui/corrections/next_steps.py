"""The most useful next step where a verdict settles nothing: one table, by what failed, then by the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from attribution.settings import COLLECTION
from attribution.types import Claim, Failure, FailureKind, Label, Report, Verdict
from attribution.types.edits import CheckAgain
from pages.ui.html.render import Node, el

Step = Literal["reword", "web", "source", "verifier", "correct"]
STEPS: tuple[Step, ...] = get_args(Step)
WORDS: dict[Step, str] = {
    "reword": "Reword this claim",
    "web": "Search the web for this claim",
    "source": "Add a source",
    "verifier": "Check with another verifier",
    "correct": "Propose a correction",
}
BY_FAILURE: Mapping[FailureKind, Step] = {
    "nothing_found": "reword",
    "search_failed": "source",
    "search_limited": "source",
    "budget_spent": "source",
    "verifier_failed": "verifier",
    "verifier_fell_back": "verifier",
    "llm_failed": "verifier",
    "unsupported_language": "verifier",
    **dict.fromkeys(
        ("robots", "excluded", "blocked_address", "bad_address", "unreachable", "timed_out", "too_large", "http_error")
        + ("server_error", "rate_limited", "redirect_loop", "bad_certificate", "paywall", "wrong_type", "no_text")
        + ("needs_javascript", "encrypted", "unreadable"),
        "source",
    ),
}
BY_LABEL: Mapping[Label, tuple[Step, ...]] = {  # the first that was not done already
    "missing": ("web", "reword"),
    "no_relation": ("web", "reword"),
    "unclear": ("verifier", "source"),
    "not_reached": ("verifier", "source"),
}
CORRECTABLE: tuple[Label, ...] = ("contradicted", "conflicting", "unclear")


def next_steps(claim: Claim, verdict: Verdict | None, report: Report) -> tuple[Step, ...]:
    """The steps to offer for a claim, the most useful first; none for a verdict that settles it."""
    if verdict is None or verdict.label not in (*BY_LABEL, *CORRECTABLE):
        return ()
    steps: list[Step] = []
    if verdict.label in BY_LABEL:
        failed = [BY_FAILURE[f.kind] for f in _concerning(claim, report.failures) if f.kind in BY_FAILURE]
        steps += failed[:1] if verdict.label in ("missing", "not_reached") else []
        done = done_already(claim, report)
        steps += [step for step in BY_LABEL[verdict.label] if step not in done][:1]
    if verdict.label in CORRECTABLE:
        steps.append("correct")
    return tuple(dict.fromkeys(steps))


def _concerning(claim: Claim, failures: Sequence[Failure]) -> list[Failure]:
    return [f for f in failures if f.subject in (claim.id, claim.text, claim.statement)]


def done_already(claim: Claim, report: Report) -> set[Step]:
    """The steps that the run has taken, or an edit of this claim."""
    edits = [e.change for e in report.edits if isinstance(e.change, CheckAgain) and claim.id in e.claims]
    done: set[Step] = {"web"} if searches_the_web(report) or any(change.sources for change in edits) else set()
    return done | ({"verifier"} if any(change.verifier for change in edits) else set())


def searches_the_web(report: Report) -> bool:
    """Whether the run asked an engine of the web."""
    sources = report.settings.get("sources", ())
    names = sources if isinstance(sources, list | tuple) else (sources,)
    local = ("library", "documents")
    return any(
        s not in local and not str(s).startswith(COLLECTION) and "://" not in str(s) and "/" not in str(s)
        for s in names
    )


def step_buttons(claim: Claim, verdict: Verdict | None, report: Report) -> Node | None:
    """A button for each step; what a click asks for is `STEP CLAIM`."""
    steps = next_steps(claim, verdict, report)
    if not steps:
        return None
    buttons = (el("button", WORDS[s], type="button", class_="next", data_step=f"{s} {claim.id}") for s in steps)
    return el("p", *buttons, class_="links next-steps")
