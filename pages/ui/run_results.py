"""Show a run around its answer: bar, notices, cost, failures, changed pages."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

import streamlit as st

from attribution.events import STAGES
from attribution.reports import Exported
from attribution.reports.actions import edited_claims
from attribution.reports.cards import headline, quoted_words, totals
from attribution.reports.html import Child, Node, el, look, plural, table, with_detail
from attribution.reports.trail import date
from attribution.review.quotations import quotations
from attribution.types import BADGES, WEAK, Failure, LlmUsage, Report
from attribution.verifiers.calibration import badges
from pages.ui import choices, run, state
from pages.ui.components import link
from pages.ui.files import menu
from pages.ui.frame import note, progress_bar, show, small
from pages.ui.run import RunProgress, preload
from pages.ui.state import store

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

FONT = "system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, DejaVu Sans, sans-serif"
NARROWEST, NAME = (
    340,
    80,
)  # pixels: of the bar on a phone, where a label must fit too; of a bar's name
CLEAR = "rgba(0,0,0,0)"


def graph_objects() -> ModuleType:
    """Import plotly when a result needs it.

    numpy and pandas come first: while another thread (models load in the background) is still
    importing them, plotly
    would use them half imported; importing them here waits for that thread.
    """
    import numpy  # noqa: F401
    import pandas  # noqa: F401
    import plotly.graph_objects

    module: ModuleType = plotly.graph_objects
    return module


def bars(reports: Sequence[tuple[str, Report]], dark: bool) -> Figure:
    """Draw one bar per run, divided into the shares of the verdicts."""
    figure: Figure = graph_objects().Figure()
    several = len(reports) > 1
    room = NARROWEST - NAME * several
    names = [name for name, _ in reports]
    labelled = [badges(report) for _, report in reports]
    most = max(map(len, labelled), default=1) or 1
    for label in BADGES:
        counts = [labels.count(label) for labels in labelled]
        if not any(counts):
            continue
        style = look(label)
        ink, tint = (style.dark_ink, style.dark_tint) if dark else (style.ink, style.tint)
        figure.add_bar(
            x=counts,
            y=names,
            orientation="h",
            name=style.word,
            text=[_words(style.icon, style.noun, count, room * count / most) for count in counts],
            customdata=[len(labels) for labels in labelled],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            constraintext="none",
            textfont={"color": ink, "size": 13},
            hovertemplate=f"{style.word}: %{{x}} of %{{customdata}} claims<extra></extra>",
            marker={
                "color": CLEAR if tint == "transparent" else tint,
                "line": {"color": ink, "width": 1},
                "opacity": 0.5 if label.startswith(WEAK) else 1,
            },
        )
    blank = {"visible": False, "fixedrange": True}
    labels = {
        "fixedrange": True,
        "autorange": "reversed",
        "tickfont": {"size": 13, "color": "#a5a09a" if dark else "#5f5b57"},
    }
    figure.update_layout(
        barmode="stack",
        bargap=0.2 if several else 0.06,
        height=32 + 34 * (len(reports) - 1),
        showlegend=False,
        xaxis={**blank, "range": [-most * 0.002, most * 1.002]},
        yaxis={**labels, "automargin": True} if several else {**blank, "range": [-0.52, 0.52]},
        margin={"l": 0, "r": 0, "t": 0, "b": 0, "pad": 4 if several else 0},
        paper_bgcolor=CLEAR,
        plot_bgcolor=CLEAR,
        font={"family": FONT},
        hoverlabel={"font": {"size": 13}},
    )
    return figure


def _words(icon: str, noun: str, count: int, room: float) -> str:
    """Return as much of a label as fits into its part of the bar, on a phone too."""
    for words in (f"{icon} {count} {noun}", f"{icon} {count}", f"{icon}\u2009{count}"):
        if len(words.replace("\u2009", "")) * 7.6 + 8 <= room:  # a thin space hardly counts
            return words
    return ""


def figures(report: Report) -> Node:
    """Return the same figures as a table."""
    labels = badges(report)
    rows = ((look(k).word, f"{labels.count(k)} of {len(labels)}") for k in BADGES if k in labels)
    return table(("Verdict", "Claims"), rows)


def budget(report: Report) -> str:
    """Return the queries, pages and seconds used of those allowed; empty if the web was not
    searched.
    """
    used, allowed = report.usage, report.settings
    if not used.queries and not used.downloads:
        return ""
    parts = (
        (f"{used.queries:,}", "max_queries", "queries"),
        (f"{used.downloads:,}", "max_pages", "web pages"),
        (f"{used.seconds:,.0f}", "max_seconds", "s"),
    )
    return ", ".join(
        f"{count} of {_limit(allowed.get(name))} {noun}" for count, name, noun in parts
    )


def _limit(value: object) -> str:
    return f"{value:,.0f}" if isinstance(value, int | float) else "?"


def money(cost: float | None) -> str:
    """Format a cost in the currency of the prices; empty if there is none."""
    if cost is None:
        return ""
    return f"{cost:,.2f}" if cost >= 0.01 or not cost else "under 0.01"


def total(llm: Mapping[str, LlmUsage]) -> LlmUsage:
    """Sum the usage of all steps."""
    costs = [used.cost for used in llm.values() if used.cost is not None]
    sums = {
        name: sum(getattr(used, name) for used in llm.values())
        for name in LlmUsage.model_fields
        if name != "cost"
    }
    return LlmUsage(**sums, cost=sum(costs) if costs else None)


def expected_cost(llm: Mapping[str, LlmUsage]) -> str:
    """Describe the expected use of language models; empty if no new prompt is sent."""
    used = total(llm)
    if not used.calls:
        return ""
    tokens = used.prompt_tokens + used.completion_tokens
    price = f" · {money(used.cost)} at your prices" if used.cost is not None else ""
    return f"{plural(used.calls, 'prompt')}, ~{tokens:,} tokens{price}"


def llm_costs(report: Report) -> Node | None:
    """Return a table with a row per step and their sum; None if no language model was used."""
    llm = report.usage.llm
    if not llm:
        return None
    rows = [(STAGES.get(step, step.capitalize()), used) for step, used in llm.items()]
    rows += [("Total", total(llm))] if len(rows) > 1 else []
    price = ["Cost"] if any(used.cost is not None for used in llm.values()) else []
    heads = (
        "Step",
        "Prompts",
        "Cached replies",
        "Failed",
        "Input tokens",
        "Output tokens",
        "Time",
        *price,
    )
    return table(heads, (_row(name, used)[: len(heads)] for name, used in rows))


def _row(name: str, used: LlmUsage) -> list[str]:
    counts = (used.calls, used.cached, used.failed, used.prompt_tokens, used.completion_tokens)
    return [name, *(f"{n:,}" for n in counts), f"{used.seconds:.1f} s", money(used.cost)]


POLL = 0.5  # seconds between looks at work in progress


def cost(running: bool, segmenters: Sequence[str] = ()) -> None:
    """Show the estimate for a run or a comparison of segmenters, computed in the background so the
    page never waits.
    """
    waiting = run.estimate(segmenters)[1] and not running
    st.fragment(_line, run_every=POLL if waiting else None)(waiting, running, segmenters)


def _line(polling: bool, running: bool, segmenters: Sequence[str]) -> None:
    value, waiting = run.estimate(segmenters)
    if polling and not waiting:
        st.rerun()
    if not waiting:
        preload()
    parts: list[str] = []
    if waiting and not running:
        parts = ["Estimating …"]
    elif value is not None:
        pages = f"up to {plural(value.pages, 'page')}"
        parts = [
            f"~{plural(value.claims, 'claim')} ·",
            f"{pages} ·",
            f"{max(value.seconds, 1):.0f} s",
        ]
        parts += [f"· {prompts}"] if (prompts := expected_cost(value.llm)) else []
    spaced: list[Child] = [
        node for part in parts for node in (el("span", part), " ")
    ]  # each stays on one line
    show(el("p", *spaced, class_="ax-estimate"))


LLM_FAILURES = {  # a noun to count, what failed, and what was done instead
    "segment": ("sentence", "could not be split; checked whole instead."),
    "worthiness": ("claim", "could not be classified; rules decided what to check instead."),
    "independence": ("claim", "could not be examined; rules decided what needs context instead."),
    "enrichment": ("claim", "got no context; rules added it instead."),
    "queries": ("claim", "got no query; the claim itself was searched instead."),
}
CONNECTION = "Check Address, Model and Key under “Options”, and press Test connection."
SEARCH_FAILED = ("search_failed", "search_limited")


def is_unfinished(now: RunProgress) -> bool:
    """Return True if the run ended before it was finished, by an error or because its server was
    stopped.
    """
    if now.running or not now.report.id or not (now.unfinished or now.error):
        return False
    inputs = store().runs.inputs(now.report.id)
    return inputs is not None and not inputs.finished


def is_stopped(now: RunProgress) -> bool:
    """Return True if the run was ended by Stop and has not been edited since."""
    return bool(not now.running and now.report.id and now.report.stopped and not now.report.edits)


def continue_button(now: RunProgress) -> None:
    """Draw the state of an interrupted or stopped run, and the button. Nothing for other runs."""
    if not is_unfinished(now) and not is_stopped(now):
        return
    claims = len(now.report.claims)
    verdicts = sum(v.label != "not_reached" for v in now.report.verdicts)
    known = (
        f"{verdicts} of {plural(claims, 'claim')} have a verdict."
        if claims
        else "No claim was checked yet."
    )
    own = store().rights.access(now.report.id).own
    how = (
        "Continue checks the others with the same settings. What was found, read and judged is not done again."
        if own
        else "The browser that started it can continue it."
    )
    title = "This run was stopped" if is_stopped(now) else "This run was interrupted"
    note(title, known, how, label="missing")
    if own:
        st.button(
            "Continue",
            type="primary",
            on_click=run.continue_run,
            key="continue",
            help="Check what is left; finished claims keep their verdicts.",
        )


def notices(now: RunProgress, report: Report) -> None:
    """Show what could not be used and what was used instead, then states of the result that need
    explaining.
    """
    not_used(report)
    if not now.running and not now.unfinished:
        _outcome(now, report)


def not_used(report: Report, segmenters: Sequence[str] = ()) -> None:
    """Show what could not be used and what was used instead; `segmenters` are the labels of those
    that failed.
    """
    for failure in (f for f in report.failures if f.kind == "unsupported_language"):
        note(f"Not every part reads {failure.subject}", failure.message, label="missing")
    if left_out := _messages([f for f in report.failures if f.kind == "left_out"]):
        note("Not all of the answer was read", *left_out, label="missing")
    _language_model(report, segmenters)
    _verifier(report)
    _smaller_verifier(report)
    _engines(report)


def _messages(failures: Sequence[Failure]) -> list[str]:
    return list(dict.fromkeys(f.message for f in failures))


def _language_model(report: Report, segmenters: Sequence[str]) -> None:
    """Show the prompts that failed, by step."""
    failed = [] if report.stopped else [f for f in report.failures if f.kind == "llm_failed"]
    counts = Counter(f.stage for f in failed if f.stage in LLM_FAILURES)
    lines = [
        f"{plural(count, LLM_FAILURES[stage][0])} {LLM_FAILURES[stage][1]}"
        for stage, count in counts.items()
    ]
    if failed:
        reasons = _messages(failed)[:2]
        lines += [f"Segmenters concerned: {', '.join(segmenters)}."] if segmenters else []
        note(
            "The language model could not be used",
            *lines,
            *reasons,
            CONNECTION,
            label="conflicting",
        )


def _verifier(report: Report) -> None:
    """Show that the verifier could not judge some passages."""
    failed = [f for f in report.failures if f.kind == "verifier_failed"]
    if failed:
        reasons = _messages(failed)[:2]
        title = f"{plural(len(failed), 'claim')} could not be checked by the verifier"
        note(
            title,
            *reasons,
            "Choose another verifier under “Options”, and run again.",
            label="conflicting",
        )


def _smaller_verifier(report: Report) -> None:
    """Show that the small model replaced one that is missing."""
    for failure in (f for f in report.failures if f.kind == "verifier_fell_back"):
        note(f"Checked with: {failure.instead}", failure.message, label="missing")


def _engines(report: Report) -> None:
    """Show search engines that failed although there is evidence, and which one was used instead."""
    kinds = ("fell_back", *(SEARCH_FAILED if report.evidence else ()))
    lines = _messages([f for f in report.failures if f.kind in kinds])
    if lines:
        note("Not every search worked", *lines, label="conflicting")


def _outcome(now: RunProgress, report: Report) -> None:
    failed = [f.message for f in report.failures if f.kind in SEARCH_FAILED]
    labels = {v.label for v in report.verdicts}
    names = {document.name for document in now.documents}
    if lost := [f for f in report.failures if f.stage == "fetch" and f.subject in names]:
        unread = ", ".join(failure.subject for failure in lost)
        title = f"{len(lost)} of {plural(len(names), 'document')} could not be read: {unread}"
        note(title, *_messages(lost), label="missing", brief=True)
    if not report.claims:
        note(
            "No claim was found",
            "The answer has no sentence to check. Paste running text, a list or a table.",
        )
    elif labels == {"not_checked"} and len(report.verdicts) == len(report.claims):
        note(
            "No claim worth checking",
            "Every sentence is an opinion, a question or an offer, which sources can neither support nor contradict.",
            label="not_checked",
        )
    elif failed and not report.evidence:
        note("The web could not be searched", *dict.fromkeys(failed), label="missing")
        st.button(
            "Check against the built-in library",
            on_click=run.analyse_with_library,
            key="with_library",
        )
    elif labels <= {"not_reached", "not_checked"} and not report.stopped and report.created_at:
        reasons = dict.fromkeys(v.reason for v in report.verdicts if v.label == "not_reached")
        note("No claim could be compared with the sources", *reasons, label="missing")
    elif labels and labels <= {"missing", "not_checked"}:
        note(
            "Nothing was found for any claim",
            "The sources have no passage about this answer. Choose another source, or add documents.",
            label="missing",
        )


STEPS = {  # of a run, with their shares of the progress bar
    "segment": (STAGES["segment"], 0.03),
    "search": (STAGES["gather"], 0.27),
    "embed": ("Loading models and comparing passages", 0.2),
    "verify": (STAGES["verify"], 0.5),
}


def _step(now: RunProgress) -> str:
    step = {"worth": "segment", "fetch": "search"}.get(now.stage, now.stage)
    return step if step in STEPS else "segment"


def _units(now: RunProgress, step: str) -> tuple[int, int]:
    """Return the units done and in total. A search that led to downloads continues with them."""
    return max(
        (now.units.get(name, (0, 0)) for name in {step, "fetch" if step == "search" else step}),
        default=(0, 0),
    )


def status(now: RunProgress, report: Report) -> None:
    """Show what is being done and how far it is, or what was found: one line, in one place."""
    with st.container(key="status", gap=None):
        show(_done(now, report) if not now.running else _doing(now, report))
        if now.running:
            current = _step(now)
            (done, total), before = _units(now, current), list(STEPS)[: list(STEPS).index(current)]
            share = sum(STEPS[name][1] for name in before) + STEPS[current][1] * (
                done / total if total else 0
            )
            progress_bar(share, "Progress of the run")


def _done(now: RunProgress, report: Report) -> Node:
    facts = [
        plural(len(report.pages), "page"),
        f"{plural(report.usage.pairs, 'passage')} judged" if report.usage.pairs else "",
        f"{now.seconds:.1f} s"
        if now.seconds >= 0.05 and not report.edits
        else "",  # an edit's time is not the run's
        budget(report),
        relabelled(now.report, report),
    ]
    facts.insert(
        0, state.cached("quoted", (now.key, now.version), lambda: quoted_words(quotations(report)))
    )
    early = "Stopped early: " if report.stopped else ""
    quiet = el("span", " · ".join(filter(None, facts)), class_="quiet")
    return el(
        "p", el("strong", early + headline(report), title=totals(report)), quiet, class_="ax-status"
    )


def relabelled(made: Report, shown: Report) -> str:
    """Say how many verdicts the thresholds have changed; empty for none."""
    before = {verdict.claim_id: verdict.label for verdict in made.verdicts}
    changed = sum(before[verdict.claim_id] != verdict.label for verdict in shown.verdicts)
    return f"{plural(changed, 'verdict')} changed by your thresholds" if changed else ""


def _doing(now: RunProgress, report: Report) -> Node:
    if now.stage == "queue":
        waits = f"Waiting: place {now.units['queue'][0]} in the queue of this server. Stop takes it out."
        return el("p", waits, class_="ax-status", role="status")
    results = {
        "segment": plural(len(report.claims), "claim"),
        "search": plural(len(report.pages), "page"),
        "embed": "passages compared",
    }
    names, current = list(STEPS), _step(now)
    parts: list[Child] = []
    for name, (doing, _) in STEPS.items():
        done, total = _units(now, name)
        if names.index(name) < names.index(current):
            parts.append(el("span", f"✓ {results[name]}", class_="step"))
        elif name == current:
            parts.append(
                el(
                    "span",
                    f"{doing} {done} of {total}" if total else f"{doing} …",
                    class_="step now",
                )
            )
        else:
            parts.append(el("span", doing, class_="step"))
    clock = f"{'Stopping … ' if now.stopping else ''}{now.seconds:.0f} s"
    parts.append(el("span", " · ".join(filter(None, (clock, budget(report)))), class_="quiet"))
    return el("p", *parts, class_="ax-status", role="status")


def share_menu(report: Report) -> None:
    """Draw the link to a run; to its owner also who can open it."""
    with st.popover("Share", key="share", help="Copy the link, and choose who can open it."):
        link(f"{choices.method(report)}, {date(report.created_at)}", key="link", run=report.id)
        access = store().rights.access(report.id)
        if not access.own:
            return
        small(
            "Only this browser can open this run."
            if access.private
            else "Anyone with the link can open this run. Make it private to keep it to this browser."
        )
        if any(page.kind == "document" for page in report.pages) and not access.private:
            shared, database = store().runs.shares_documents(report.id), store()
            small(
                "The link shows verdicts and quotes"
                + (" and your documents." if shared else ", not your documents.")
            )
            st.checkbox(
                "With the documents",
                shared,
                key=f"share_documents-{report.id}",
                on_change=database.runs.share_documents,
                args=(report.id, not shared),
                help="Whoever has the link can then read the whole text of your documents.",
            )
        st.button(
            "Share by link" if access.private else "Make private",
            on_click=store().runs.set_private,
            args=(report.id, not access.private),
            key="private",
            help="Who can open this address: everybody, or this browser alone.",
        )


def export_menu(report: Report) -> None:
    """Draw the menu of files."""
    if report.verdicts:
        menu(exported(report))


def details(report: Report) -> None:
    """Show below the result how it came about: figures, costs and failures."""
    with st.container(key="below"):
        what_failed(report.failures)
        with st.expander("Details"):
            if report.context:
                turns = (
                    el("p", el("strong", f"{s.capitalize()}: "), text, dir="auto")
                    for s, text in report.context
                )
                show(
                    el(
                        "details",
                        el("summary", plural(len(report.context), "earlier turn")),
                        *turns,
                    )
                )
            show(el("p", totals(report), class_="ax-quiet-inline"))
            show(figures(report))
            show(table(("Step", "Time"), _times(report)))
        if costs := llm_costs(report):
            with st.expander("Cost of the language model"):
                show(costs)


def exported(report: Report) -> Exported:
    """Return the run for an export; title and note, which every recipient can read, only if its
    owner exports it.
    """
    about = store().history.description(report.id)
    return Exported(report, about.title, about.note, edited_claims(report))


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


def _times(report: Report) -> Iterable[tuple[str, str]]:
    """Return the seconds of each step."""
    times: dict[str, float] = defaultdict(float)
    for stage, seconds in report.timings.items():
        times[STAGES.get(stage, stage.capitalize())] += seconds
    return ((step, f"{seconds:.1f} s") for step, seconds in times.items())
