"""The thresholds and the aggregation chosen in “What if” in this session, and the run as they change it."""

from __future__ import annotations

from dataclasses import replace

from attribution.evidence.what_if import Courses, WhatIf, courses, page_languages, what_if
from attribution.types import Report
from attribution.verdicts import Thresholds, thresholds_of
from pages.ui import choices, state

CHOSEN, SHOWN, MOVES, PAGE_LANGUAGES = "what_if", "what_if_shown", "what_if_moves", "page_languages"


def choose(chosen: WhatIf) -> None:
    """Set the choices of the panel “What if” for the shown run."""
    state.put(CHOSEN, chosen)


def reset_what_if(report: Report) -> None:
    """Show the run as it was made."""
    state.renew("what_if_resets")
    state.fill(**dict(zip(state.THRESHOLDS, thresholds_of(report), strict=True)))


def chosen() -> WhatIf:
    """Return the choices of the panel, with the thresholds of the sliders."""
    return replace(state.get(CHOSEN) or WhatIf(), thresholds=choices.thresholds())


def shown(report: Report) -> Report:
    """Return the run under the choices of the panel; computed once for each choice."""
    now = chosen()

    def make() -> tuple[Report, Report]:  # with the report, so that its id stays
        return report, what_if(report, now, languages(report, bool(now.languages)))

    return state.cached(SHOWN, (id(report), now), make)[1]


def moves(report: Report) -> dict[str, Courses]:
    """Return the courses of the verdicts by the name of the slider that moves; computed once for each choice."""
    now = chosen()

    def make() -> tuple[Report, dict[str, Courses]]:  # with the report, so that its id stays
        known = languages(report, bool(now.languages))
        sides = zip(state.THRESHOLDS, Thresholds._fields, strict=True)
        return report, {name: courses(report, now, side, known) for name, side in sides}

    return state.cached(MOVES, (id(report), now), make)[1]


def languages(report: Report, detect: bool = True) -> dict[str, str]:
    """Return the languages of the shown run's pages, detected once; if `detect` is False, only those known already."""
    ids = tuple(page.id for page in report.pages)
    cached = state.get(PAGE_LANGUAGES)
    if cached is None or cached[0] != ids:
        if not detect:
            return {}
        cached = (ids, page_languages(report.pages))
        state.put(PAGE_LANGUAGES, cached)
    return dict(cached[1])
