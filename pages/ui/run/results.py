"""What a run says above and below the answer: how far it is, its totals, its failures, and states that need words."""

from __future__ import annotations

import streamlit as st

from attribution.types import Report
from pages.ui import state
from pages.ui.html import render
from pages.ui.html.render import Child, Node, el, plural
from pages.ui.run import cards, chart, run_state
from pages.ui.run.changed import changed
from pages.ui.run.job import State
from pages.ui.run.spent import budget, costs

STEPS = ("segment", "search", "embed", "verify")
DOING = {
    "segment": "Finding claims",
    "search": "Searching and reading pages",
    "embed": "Loading models and comparing passages",
    "verify": "Checking claims",
}
SHARES = {"segment": 0.03, "search": 0.27, "embed": 0.2, "verify": 0.5}  # of the progress bar
STAGE_WORDS = {
    "segment": "Claims",
    "worth": "Claims",
    "worthiness": "Claims",
    "independence": "Claims",
    "enrichment": "Claims",
    "coherence": "Claims",
    "queries": "Queries",
    "search": "Search",
    "fetch": "Pages",
    "gather": "Search and pages",
    "embed": "Passages",
    "verify": "Check",
}
SEARCH_FAILED = ("search_failed", "search_limited")


def show(node: Node) -> None:
    st.html(render.html(node))


def note(title: str, *lines: str, label: str = "pending") -> None:
    """A message in its place on the page; its text is never read as markup."""
    show(el("div", el("h3", title), *(el("p", line) for line in lines), class_=f"ax-note v-{label}", role="status"))


def _step(now: State) -> int:
    stage = {"worth": "segment", "fetch": "search"}.get(now.stage, now.stage)
    return STEPS.index(stage) if stage in STEPS else 0


def _done(now: State, step: str) -> tuple[int, int]:
    """Units done and in all; a search that led to downloads counts on in them."""
    return max(
        (now.progress.get(name, (0, 0)) for name in ({step, "fetch"} if step == "search" else {step})), default=(0, 0)
    )


def status(now: State, report: Report) -> None:
    """One line that says what is being done and how far, or what was found."""
    if not now.running:
        took = f"{now.seconds:.1f} s" if now.seconds else ""
        facts = [
            plural(len(report.pages), "page"),
            plural(report.usage.pairs, "passage") + " judged" if report.usage.pairs else "",
            took,
            budget(report),
        ]
        early = "Stopped early: what was found until then is kept. " if report.stopped else ""
        show(
            el(
                "p",
                el("span", early + cards.totals(report)),
                el("span", " · ".join(f for f in facts if f), class_="quiet"),
                class_="ax-status",
            )
        )
        return
    at = _step(now)
    ended = {
        "segment": plural(len(report.claims), "claim"),
        "search": plural(len(report.pages), "page"),
        "embed": "passages compared",
    }
    parts: list[Child] = []
    for index, name in enumerate(STEPS):
        done, total = _done(now, name)
        if index < at:
            parts.append(el("span", f"✓ {ended[name]}", class_="step"))
        elif index == at:
            parts.append(
                el("span", f"{DOING[name]} {done} of {total}" if total else f"{DOING[name]} …", class_="step now")
            )
        else:
            parts.append(el("span", DOING[name], class_="step"))
    clock = f"{'Stopping … ' if now.stopping else ''}{now.seconds:.0f} s"
    parts.append(el("span", " · ".join(filter(None, (clock, budget(report)))), class_="quiet"))
    show(el("p", *parts, class_="ax-status", role="status"))


def slot(now: State, report: Report) -> None:
    """The progress bar while it runs; in the same place, the verdicts' shares when it has ended."""
    with st.container(key="slot"):
        if now.running:
            at, (done, total) = _step(now), _done(now, STEPS[_step(now)])
            share = sum(SHARES[name] for name in STEPS[:at]) + SHARES[STEPS[at]] * (done / total if total else 0)
            show(el("progress", class_="ax-bar", value=f"{min(share, 1):.3f}", max=1, aria_label="Progress of the run"))
        elif report.verdicts:
            st.plotly_chart(
                chart.bar(report, state.dark()),
                config={"displayModeBar": False},
                theme=None,
                key="chart",
                alt=cards.totals(report),
            )


def callouts(now: State, report: Report) -> None:
    """States that need words of their own."""
    if run_state.outdated(report):
        note(
            "This result is of an earlier text", "The question or answer was changed since. Analyse again to renew it."
        )
    _searching(report)
    if now.running or not report.claims:
        if not now.running and not report.claims:
            note(
                "No claim was found",
                "The answer holds no sentence that could be checked. Paste running text, a list or a table.",
            )
        return
    labels = {v.label for v in report.verdicts}
    failed = [f for f in report.failures if f.kind in SEARCH_FAILED]
    if labels <= {"not_checked"}:
        note(
            "No claim worth checking",
            "Every sentence is an opinion, a question or an offer: nothing that sources could confirm or deny.",
            label="not_checked",
        )
    elif failed and not report.evidence:
        note("The web could not be searched", *dict.fromkeys(f.message for f in failed), label="missing")
        st.button(
            "Check against the built-in library instead", on_click=run_state.analyse_with_library, key="with_library"
        )
    elif not report.evidence and not report.stopped:
        note(
            "Nothing was found for any claim",
            "The chosen sources hold no passage about this answer. "
            "Tick another source in the sidebar, or add your own documents.",
            label="missing",
        )


def _searching(report: Report) -> None:
    """Engines that could not be asked, though there is evidence: which, why, and what took their place."""
    failed = SEARCH_FAILED if report.evidence else ()
    lines = dict.fromkeys(f.message for f in report.failures if f.kind in ("fell_back", *failed))
    if lines:
        show(el("div", *(el("p", f"Search: {line}") for line in lines), class_="ax-searching", role="status"))


def below(report: Report) -> None:
    """Figures, failures and the report to take along."""
    with st.container(key="below"):
        if report.failures:
            with st.expander(f"What did not work ({len(report.failures)})"):
                rows = [
                    el("tr", el("td", STAGE_WORDS.get(f.stage, f.stage)), el("td", f.subject), el("td", f.message))
                    for f in report.failures
                ]
                show(
                    el(
                        "table",
                        el("thead", el("tr", el("th", "Step"), el("th", "Concerns"), el("th", "What happened"))),
                        el("tbody", *rows),
                        class_="ax-table",
                    )
                )
        with st.expander("Figures behind the bar"):
            show(el("p", cards.totals(report), class_="ax-quiet-inline"))
            show(chart.table(report))
            times = [
                el("tr", el("td", STAGE_WORDS.get(k, k.capitalize())), el("td", f"{v:.1f} s"))
                for k, v in report.timings.items()
            ]
            show(
                el(
                    "table",
                    el("thead", el("tr", el("th", "Step"), el("th", "Time"))),
                    el("tbody", *times),
                    class_="ax-table",
                )
            )
        if table := costs(report):
            with st.expander("What the language model cost"):
                show(table)
        changed(report)
        st.download_button(
            "Download report.json",
            report.to_json(),
            "report.json",
            "application/json",
            on_click="ignore",
            key="download",
        )
