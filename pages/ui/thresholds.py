"""The policy chosen in “What if” in this session, and the run as it changes it."""

from __future__ import annotations

from dataclasses import replace

from attribution.evidence.what_if import Courses, courses, page_languages, what_if
from attribution.policy import CHOSEN as FIELDS
from attribution.policy import Aggregation, Counted, DecisionPolicy
from attribution.types import Report
from pages.ui import choices, state

THRESHOLDS = state.THRESHOLD, state.CONTRADICTION_THRESHOLD
CHOSEN, SHOWN, MOVES, PAGE_LANGUAGES = "what_if", "what_if_shown", "what_if_moves", "page_languages"


def choose(aggregation: Aggregation, counted: Counted) -> None:
    """Set the choices of the panel “What if” for the shown run."""
    state.put(CHOSEN, {"aggregation": aggregation, "counted": counted})


def reset_what_if(report: Report) -> None:
    """Show the run as it was made."""
    state.renew("what_if_resets")
    choices.fill_policy(DecisionPolicy.of(report.settings))


def chosen(report: Report) -> DecisionPolicy:
    """Return the policy of the run, with the choices of the panel and the sliders."""
    return replace(choices.policy(report), **(state.get(CHOSEN) or {}))


def shown(report: Report) -> Report:
    """Return the run under the choices of the panel; computed once for each choice."""
    now = chosen(report)

    def make() -> tuple[Report, Report]:  # with the report, so that its id stays
        return report, what_if(report, now, languages(report, bool(now.counted.languages)))

    return state.cached(SHOWN, (id(report), now), make)[1]


def moves(report: Report) -> dict[str, Courses]:
    """Return the courses of the verdicts by the name of the slider that moves; computed once for
    each choice.
    """
    now = chosen(report)

    def make() -> tuple[Report, dict[str, Courses]]:  # with the report, so that its id stays
        known = languages(report, bool(now.counted.languages))
        return report, {name: courses(report, now, FIELDS[name], known) for name in THRESHOLDS}

    return state.cached(MOVES, (id(report), now), make)[1]


def languages(report: Report, detect: bool = True) -> dict[str, str]:
    """Return the languages of the shown run's pages, detected once; if `detect` is False, only
    those known already.
    """
    ids = tuple(page.id for page in report.pages)
    cached = state.get(PAGE_LANGUAGES)
    if cached is None or cached[0] != ids:
        if not detect:
            return {}
        cached = (ids, page_languages(report.pages))
        state.put(PAGE_LANGUAGES, cached)
    return dict(cached[1])
