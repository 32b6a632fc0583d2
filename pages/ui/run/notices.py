"""What a reader must know before reading a result: what could not be used, what was used instead, what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from attribution.types import Failure, Report
from pages.ui.form import choices
from pages.ui.frame import note
from pages.ui.html.render import plural
from pages.ui.run import state as run_state
from pages.ui.run.job import RunProgress

LLM_STEPS = {  # a noun to count, what failed, and what was done instead
    "segment": ("sentence", "could not be split; checked whole instead."),
    "worthiness": ("claim", "could not be classified; rules decided what to check instead."),
    "independence": ("claim", "could not be examined; rules decided what needs context instead."),
    "enrichment": ("claim", "got no context; rules added it instead."),
    "queries": ("claim", "got no query; the claim itself was searched instead."),
}
CONNECTION = "Check Address, Model and Key under “Language model” in the sidebar, and press Test connection."
SEARCH_FAILED = ("search_failed", "search_limited")


def notices(now: RunProgress, report: Report) -> None:
    """What could not be used and what was used instead, then states of the result that need words of their own."""
    if not now.running and (changed := choices.differences(report, now.documents)):
        note("The form has changed", f"Changed since this result: {', '.join(changed)}. Analyse again to update it.")
    not_used(report)
    if not now.running and not now.unfinished:
        _outcome(now, report)


def not_used(report: Report, segmenters: Sequence[str] = ()) -> None:
    """What could not be used and what was used instead; `segmenters` are the labels of those that asked in vain."""
    for failure in (f for f in report.failures if f.kind == "unsupported_language"):
        note(f"Not every part reads {failure.subject}", failure.message, label="missing")
    if left_out := _sentences([f for f in report.failures if f.kind == "left_out"]):
        note("Not all of the answer was read", *left_out, label="missing")
    _language_model(report, segmenters)
    _verifier(report)
    _smaller_verifier(report)
    _engines(report)


def _sentences(failures: Sequence[Failure]) -> list[str]:
    """Their messages, each once, as sentences."""
    messages = dict.fromkeys(f.message for f in failures)
    return [f"{message[:1].upper()}{message[1:].rstrip('.')}." for message in messages]


def _language_model(report: Report, segmenters: Sequence[str]) -> None:
    """Prompts that failed, by step."""
    failed = [] if report.stopped else [f for f in report.failures if f.kind == "llm_failed"]
    counts = Counter(f.stage for f in failed if f.stage in LLM_STEPS)
    lines = [f"{plural(count, LLM_STEPS[stage][0])} {LLM_STEPS[stage][1]}" for stage, count in counts.items()]
    if failed:
        reasons = _sentences(failed)[:2]
        lines += [f"Segmenters concerned: {', '.join(segmenters)}."] if segmenters else []
        note("The language model could not be used", *lines, *reasons, CONNECTION, label="conflicting")


def _verifier(report: Report) -> None:
    """A verifier that could not judge some passages."""
    failed = [f for f in report.failures if f.kind == "verifier_failed"]
    if failed:
        reasons = _sentences(failed)[:2]
        title = f"{plural(len(failed), 'claim')} could not be checked by the verifier"
        note(title, *reasons, "Choose another verifier in the sidebar, and analyse again.", label="conflicting")


def _smaller_verifier(report: Report) -> None:
    """The small model in place of one that is missing."""
    for failure in (f for f in report.failures if f.kind == "verifier_fell_back"):
        note(f"Checked with: {failure.instead}", failure.message, label="missing")


def _engines(report: Report) -> None:
    """Search engines that failed although there is evidence, and which one was used instead."""
    kinds = ("fell_back", *(SEARCH_FAILED if report.evidence else ()))
    lines = _sentences([f for f in report.failures if f.kind in kinds])
    if lines:
        note("Not every search worked", *lines, label="conflicting")


def _outcome(now: RunProgress, report: Report) -> None:
    failed = [f.message for f in report.failures if f.kind in SEARCH_FAILED]
    labels = {v.label for v in report.verdicts}
    if not report.claims:
        note("No claim was found", "The answer has no sentence to check. Paste running text, a list or a table.")
    elif labels == {"not_checked"} and len(report.verdicts) == len(report.claims):
        note(
            "No claim worth checking",
            "Every sentence is an opinion, a question or an offer, which sources can neither support nor contradict.",
            label="not_checked",
        )
    elif failed and not report.evidence:
        note("The web could not be searched", *dict.fromkeys(failed), label="missing")
        st.button("Check against the built-in library", on_click=run_state.analyse_with_library, key="with_library")
    elif labels <= {"not_reached", "not_checked"} and not report.stopped and report.created_at:
        reasons = dict.fromkeys(v.reason for v in report.verdicts if v.label == "not_reached")
        note("No claim could be compared with the sources", *reasons, label="missing")
    elif labels and labels <= {"missing", "not_checked"}:
        note(
            "Nothing was found for any claim",
            "The sources have no passage about this answer. Select another source in the sidebar, or add documents.",
            label="missing",
        )
