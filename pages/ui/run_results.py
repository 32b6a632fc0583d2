"""Show a run around its answer: its status, its notices, what it cost and what failed."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from attribution.events import STAGES
from attribution.reports import FORMATS, Exported, export, file_name
from attribution.reports.cards import headline
from attribution.reports.html import Node, el, plural, table, with_detail
from attribution.reports.trail import date
from attribution.types import Failure, LlmUsage, Report
from pages.ui import choices, run_control
from pages.ui.components import link
from pages.ui.frame import note, show, small
from pages.ui.run_control import RunProgress, preload
from pages.ui.state import store

if TYPE_CHECKING:
    from attribution.pipeline.estimate import Duration  # imports spaCy

POLL = 0.5  # seconds between looks at work in progress


# --- what a run costs ---


def budget(report: Report) -> str:
    """Return the queries, pages and seconds used of those allowed; empty without a web search."""
    used, allowed = report.usage, report.settings
    if not used.queries and not used.downloads:
        return ""
    parts = (
        f"{used.queries:,} of {_limit(allowed, 'max_queries')} queries",
        f"{used.downloads:,} of {_limit(allowed, 'max_pages')} web pages",
        f"{used.seconds:,.0f} of {_limit(allowed, 'max_seconds')} s",
    )
    return ", ".join(parts)


def _limit(allowed: Mapping[str, object], name: str) -> str:
    value = allowed.get(name)
    return f"{value:,.0f}" if isinstance(value, int | float) else "?"


def total(llm: Mapping[str, LlmUsage]) -> LlmUsage:
    """Sum the usage of all steps."""
    return sum(llm.values(), LlmUsage())


def expected_cost(llm: Mapping[str, LlmUsage]) -> str:
    """Describe the expected use of language models; empty if no new prompt is sent."""
    used = total(llm)
    if not used.calls:
        return ""
    tokens = used.prompt_tokens + used.completion_tokens
    return f"{plural(used.calls, 'prompt')}, ~{tokens:,} tokens"


def llm_cost(report: Report) -> str:
    """Describe what a run asked of language models; empty if it asked nothing."""
    used = total(report.usage.llm)
    failed = f", {used.failed:,} failed" if used.failed else ""
    asked = expected_cost(report.usage.llm).replace("~", "")
    return f"Language model: {asked}{failed}, {used.seconds:.1f} s." if asked else ""


def seconds_words(seconds: Duration) -> str:
    """Say how long a run takes: “12 s” or, while models still load, “4–28 s”."""
    least, most = (f"{max(bound, 1):.0f}" for bound in seconds)
    return f"{least} s" if least == most else f"{least}–{most} s"


def cost(running: bool) -> None:
    """Show the estimate, computed in the background so that the page never waits."""
    waiting = not running and (run_control.estimate().waiting or run_control.is_loading())
    st.fragment(_estimate, run_every=POLL if waiting else None)(waiting, running)


def _estimate(polling: bool, running: bool) -> None:
    estimated = run_control.estimate()
    if not estimated.waiting:
        preload()
        if polling and not run_control.is_loading():
            st.rerun()
    parts: list[str] = []
    if estimated.waiting and not running:
        parts = ["Estimating …"]
    elif estimated.value is not None:
        value = estimated.value
        parts = [f"~{plural(value.claims, 'claim')}", f"up to {plural(value.pages, 'page')}"]
        if value.seconds is not None:
            parts.append(seconds_words(value.seconds))
        parts.append(expected_cost(value.llm))
    show(el("p", " · ".join(filter(None, parts)), class_="ax-estimate"))


# --- notices ---


class LlmFailure(NamedTuple):
    """What a failed prompt was about, and what was done instead."""

    noun: str
    instead: str


LLM_FAILURES = {
    "segment": LlmFailure("sentence", "could not be split; checked whole instead."),
    "worthiness": LlmFailure("claim", "could not be classified; decided by rules instead."),
    "independence": LlmFailure("claim", "could not be examined; decided by rules instead."),
    "enrichment": LlmFailure("claim", "got no context; added by rules instead."),
}
CONNECTION = "Check Address, Model and Key under “Advanced”, then press Test connection."
SEARCH_FAILED = ("search_failed", "search_limited")


def is_unfinished(now: RunProgress) -> bool:
    """Return True if the run ended by an error, or because its server was stopped."""
    if now.running or not now.report.id or not (now.unfinished or now.error):
        return False
    return store().runs.load(now.report.id, unfinished=True) is not None


def continue_button(now: RunProgress) -> None:
    """Draw the state of an interrupted or stopped run, and the button. Nothing for other runs."""
    report = now.report
    verdicts = sum(v.label != "not_reached" for v in report.verdicts)
    is_open = report.stopped and (verdicts < len(report.claims) or not report.claims)
    is_stopped = not now.running and report.id and is_open and not report.edits
    if not is_unfinished(now) and not is_stopped:
        return
    known = "No claim was checked yet."
    if report.claims:
        known = f"{verdicts} of {plural(len(report.claims), 'claim')} have a verdict."
    own = store().rights.access(report.id).own
    title = "Stopped" if is_stopped else "Interrupted"
    remedy = "Nothing is lost." if own else "The browser that started it can continue it."
    with st.container(horizontal=True, vertical_alignment="center", key="continue_line"):
        note(f"{title}: {known}", remedy, label="missing")
        if own:
            st.button(
                "Continue",
                on_click=run_control.continue_run,
                key="continue",
                help="Check what is left; finished claims keep their verdicts.",
            )


def notices(now: RunProgress, report: Report) -> None:
    """Show what could not be used, then states of the result that need explaining."""
    not_used(report)
    if not now.running and not now.unfinished:
        _unread_documents(now, report)
        _outcome(report)


def not_used(report: Report) -> None:
    """Show what could not be used and what was used instead."""
    by_kind: dict[str, list[Failure]] = defaultdict(list)
    for failure in report.failures:
        by_kind[failure.kind].append(failure)
    for failure in by_kind["unsupported_language"]:
        note(f"Some steps can't read {failure.subject}", failure.message, label="missing")
    if by_kind["left_out"]:
        note("Not all of a source was read", *_messages(by_kind["left_out"]), label="missing")
    if by_kind["llm_failed"] and not report.stopped:
        _language_model(by_kind["llm_failed"])
    failed = by_kind["verifier_failed"]
    if failed:
        title = f"{plural(len(failed), 'claim')} could not be checked by the verifier"
        remedy = "Choose another verifier under “Advanced”, then check again."
        note(
            title,
            *_messages(failed)[:2],
            remedy,
            label="conflicting",
        )
    for failure in by_kind["verifier_fell_back"]:
        note(f"Checked with: {failure.instead}", failure.message, label="missing")
    engines = list(by_kind["fell_back"])
    if report.evidence:  # without any, the outcome says so
        engines += [failure for kind in SEARCH_FAILED for failure in by_kind[kind]]
    if engines:
        note("Not every search worked", *_messages(engines), label="conflicting")


def _messages(failures: Sequence[Failure]) -> list[str]:
    return list(dict.fromkeys(failure.message for failure in failures))


def _language_model(failures: Sequence[Failure]) -> None:
    """Show the prompts that failed, by step."""
    counts = Counter(f.stage for f in failures if f.stage in LLM_FAILURES)
    lines = []
    for stage, count in counts.items():
        failed = LLM_FAILURES[stage]
        lines.append(f"{plural(count, failed.noun)} {failed.instead}")
    lines += _messages(failures)[:2]
    note(
        "The language model could not be used",
        *lines,
        CONNECTION,
        label="conflicting",
    )


def _unread_documents(now: RunProgress, report: Report) -> None:
    names = {document.name for document in now.documents}
    lost = [f for f in report.failures if f.stage == "fetch" and f.subject in names]
    if lost and (report.pages or report.evidence):  # else the outcome names them
        unread = ", ".join(failure.subject for failure in lost)
        title = f"{len(lost)} of {plural(len(names), 'document')} could not be read: {unread}"
        note(title, *_messages(lost), label="missing", brief=True)


def _outcome(report: Report) -> None:
    """Explain a result without verdicts that an analyst can use."""
    searches = [f for f in report.failures if f.kind in SEARCH_FAILED]
    labels = {verdict.label for verdict in report.verdicts}
    if not report.claims:
        line = "The answer has no sentence to check. Paste running text, a list or a table."
        note("No claim was found", line)
    elif labels == {"not_checked"} and len(report.verdicts) == len(report.claims):
        line = "Each sentence is an opinion, a question, an offer or a fragment: see its card."
        note("No claim worth checking", line, label="not_checked")
    elif searches and not report.evidence:
        note("The web could not be searched", *_messages(searches), label="missing")
        st.button(
            "Check against the built-in library",
            on_click=run_control.analyse_with_library,
            key="with_library",
        )
    elif labels <= {"not_reached", "not_checked"} and not report.stopped and report.created_at:
        reasons = dict.fromkeys(v.reason for v in report.verdicts if v.label == "not_reached")
        note("No claim could be compared with the sources", *reasons, label="missing")
    elif labels and labels <= {"missing", "not_checked"}:
        _nothing_found(report)


def _nothing_found(report: Report) -> None:
    """Say which sources could not be read, or why no claim has a passage."""
    line = "Choose another source, or add documents."
    unread = _messages([failure for failure in report.failures if failure.stage == "fetch"])
    if unread and not report.pages:
        note("No source could be read", *unread, line, label="missing")
        return
    reasons = dict.fromkeys(v.reason for v in report.verdicts if v.label == "missing")
    lines = reasons if len(reasons) == 1 else ()
    note("Nothing was found for any claim", *lines, line, label="missing")


# --- how far a run is ---


class RunStep(NamedTuple):
    """A step of a run in words."""

    name: str
    doing: str


STEPS = (
    RunStep("segment", STAGES["segment"]),
    RunStep("search", STAGES["gather"]),
    RunStep("embed", "Comparing passages"),
    RunStep("verify", STAGES["verify"]),
)
STEP_OF_STAGE = {"search": 1, "fetch": 1, "embed": 2, "verify": 3}


class RunState(NamedTuple):
    """What is being done, and the share of the claims that have a verdict."""

    words: str
    share: float = 0


def run_state(now: RunProgress) -> RunState:
    """Say what a run is doing, how far it is and how long it will take: “Claim 5 of 12, about 6 s
    left”.
    """
    if now.stopping:
        return RunState("Stopping …")
    if now.stage == "queue":
        place, _ = now.units["queue"]
        return RunState(f"Waiting: place {place} in the queue of this server")
    place = STEP_OF_STAGE.get(now.stage, 0)
    done, units = _units(now, place)
    doing = STEPS[place].doing
    if not units:
        return RunState(f"{doing} …")
    number = f"{min(done + 1, units)} of {units}"
    if now.stage != "verify":
        return RunState(f"{doing} {number}")
    if not done:
        return RunState(f"Claim {number}")
    left = (time.monotonic() - now.began) / done * (units - done)
    return RunState(f"Claim {number}, about {max(1, round(left))} s left", done / units)


def _units(now: RunProgress, place: int) -> tuple[int, int]:
    """Return the units done and in total. A search that led to downloads continues with them."""
    stage = "fetch" if place == 1 and "fetch" in now.units else STEPS[place].name
    return now.units.get(stage, (0, 0))


# --- export, link and origin of a run ---


def export_and_share(report: Report) -> None:
    """Draw the files of a run, its link, and how it came about."""
    if report.verdicts:
        export_buttons(exported(report))
    _access(report)
    with st.expander("About this run"):
        small(f"{choices.method(report)}, {date(report.created_at)}.")
        _about(report)


def export_buttons(exported: Exported) -> None:
    """Draw a line for each format of a run."""
    with st.container(key="exports", gap=None):
        for name, form in FORMATS.items():
            st.download_button(
                f"**{form.label}** {form.note}",
                partial(export, name, exported),
                file_name(name, exported),
                form.media_type,
                on_click="ignore",
                key=f"export-{name}",
                type="tertiary",
            )


def _access(report: Report) -> None:
    """Draw the link, and who can open it, for the run's owner to choose."""
    access, runs = store().rights.access(report.id), store().runs
    who = "Only this browser" if access.private else "Anyone with the link"
    link(f"{who} can open this run.", key="link", run=report.id)
    if not access.own:
        return
    has_documents = any(page.kind == "document" for page in report.pages)
    if has_documents and not access.private:
        st.checkbox(
            "With the documents",
            access.shares_documents,
            key=f"share_documents-{report.id}",
            on_change=runs.share_documents,
            args=(report.id, not access.shares_documents),
            help="Whoever has the link can then read the whole text of your documents.",
        )
    st.button(
        "Share by link" if access.private else "Make private",
        on_click=runs.set_private,
        args=(report.id, not access.private),
        key="private",
        help="Who can open this run: anyone with the link, or this browser alone.",
    )


def exported(report: Report) -> Exported:
    """Return the run for an export; title and note, which every recipient can read, only if its
    owner exports it.
    """
    about = store().history.description(report.id)
    return Exported(report, about.title, about.note)


def _about(report: Report) -> None:
    """Draw how the result came about: figures, costs and failures."""
    facts = [f"{headline(report)}.", budget(report), llm_cost(report)]
    for fact in filter(None, facts):
        small(fact)
    if report.failures:
        show(failure_table(report.failures))


def what_failed(failures: Sequence[Failure]) -> None:
    """Show the failures, folded."""
    if failures:
        with st.expander(f"What did not work ({len(failures)})"):
            show(failure_table(failures))


def failure_table(failures: Iterable[Failure]) -> Node:
    """Return a table of the failures, with the messages of other libraries folded."""
    rows = (
        (STAGES.get(f.stage, f.stage), f.subject, with_detail(f.message, f.detail))
        for f in failures
    )
    return table(("Step", "Subject", "What happened"), rows)
