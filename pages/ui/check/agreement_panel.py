"""Show how often the analyst agrees with the badges of a run."""

from __future__ import annotations

import streamlit as st

from attribution.reports.html import badge, table
from attribution.review.judgements import agreement
from attribution.types import Report
from pages.ui.frame import show, small


def agreement_panel(report: Report) -> None:
    """Draw it, folded, once a claim of the run was judged."""
    if not report.judgements:
        return
    measured = agreement([report])
    rows = []
    for label, share in measured.badges.items():
        low, high = share.interval
        rows.append((badge(label), f"{share.agreed} of {share.judged}", f"{low:.0%} to {high:.0%}"))
    with st.expander(f"Your verdicts ({len(report.judgements)})", key="agreement"):
        small(measured.words or "None of the judged claims was compared with the sources.")
        if rows:
            show(table(("Badge", "You agree", "95% interval"), rows))
