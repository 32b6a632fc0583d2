"""Research: annotation, groundedness methods and the papers' tables, as cards that open a study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import NamedTuple

import streamlit as st

from attribution.errors import AttributionError
from attribution.reports.html import Node, el, plural
from pages.ui import frame, state
from pages.ui.frame import note, show
from pages.ui.state import store

STUDY = "study"  # the parameter of the address that names the one that is open


class Study(NamedTuple):
    """A study: its page, the parameters of its results, and its card."""

    title: str
    about: str
    paper: str
    results: tuple[str, ...]  # parameters of the address
    facts: Callable[[], list[tuple[str, str]]]  # what is there, and how much


def annotation_facts() -> list[tuple[str, str]]:
    """Return the progress of the newest projects."""
    from attribution.studies.annotation.project import Annotations

    saved = Annotations(store().database)
    facts = []
    for project in saved.projects()[:3]:
        work = saved.work(project)
        people = plural(len(work.annotators), "annotator")
        facts.append((project.name, f"{plural(len(work.tasks), 'task')}, {people}"))
    return facts or [("No project yet", "")]


def method_facts() -> list[tuple[str, str]]:
    """Return the number of methods that can run here."""
    from attribution.studies.groundedness import METHODS
    from pages.ui import choices

    ready = len(choices.ready(METHODS))
    return [("Methods", str(len(METHODS))), ("Ready on this machine", str(ready))]


def table_facts() -> list[tuple[str, str]]:
    """Return the number of tables of each paper."""
    from attribution.studies.papers.reproduce import tables

    counts = Counter(table.id.partition(".")[0] for table in tables())
    return [(paper, plural(count, "table")) for paper, count in counts.items()]


STUDIES: dict[str, Study] = {
    "annotation": Study(
        "Annotation",
        "People judge whether an answer can be understood, then whether its source supports all of "
        "it.",
        "AIS, Rashkin et al. 2023",
        ("project",),
        annotation_facts,
    ),
    "groundedness": Study(
        "Groundedness",
        "Compare methods on labelled responses, and read the responses behind each figure.",
        "Trautmann et al. 2024",
        ("benchmark",),
        method_facts,
    ),
    "papers": Study(
        "Papers",
        "Compute a numbered table: the printed figures beside ours.",
        "Vladika, Wanner, Trautmann",
        ("paper",),
        table_facts,
    ),
}


def open_study(name: str) -> None:
    """Open a study, or none, with none of its results."""
    st.query_params.clear()
    if name:
        st.query_params[STUDY] = name


def chosen() -> str:
    """Return the study that the address names, or that its result belongs to."""
    for name, study in STUDIES.items():
        if any(parameter in st.query_params for parameter in study.results):
            return name
    name = st.query_params.get(STUDY, "")
    return name if name in STUDIES else ""


def card(name: str, study: Study) -> None:
    """Draw the card of a study."""
    lines: list[Node] = []
    for fact, value in study.facts():
        lines.append(el("p", el("span", fact), el("span", value, class_="value"), class_="fact"))
    body = (el("h2", study.title), el("p", study.about, class_="about"), *lines)
    with st.container(border=True, key=f"card_{name}"):
        show(el("div", *body, class_="ax-card"))
        with st.container(horizontal=True, vertical_alignment="center", key=f"card_foot_{name}"):
            show(el("p", study.paper, class_="ax-quiet"))
            st.button(
                f"Open {study.title.lower()}",
                on_click=open_study,
                args=(name,),
                key=f"open_{name}",
            )


def cards() -> None:
    """Draw all cards."""
    frame.head(
        "Research",
        "For measuring methods and working with annotators. Nothing here is needed to check an "
        "answer.",
    )
    for column, (name, study) in zip(st.columns(len(STUDIES)), STUDIES.items(), strict=True):
        with column:
            card(name, study)


def page() -> None:
    """Draw the cards, or the study that is open."""
    name = chosen()
    if not name:
        cards()
        return
    study = STUDIES[name]
    with st.container(key="study_head", horizontal=True, vertical_alignment="center"):
        help = "Back to all studies."
        st.button(
            "Research", on_click=open_study, args=("",), key="back", type="tertiary", help=help
        )
        show(el("h2", study.title))
    import_module(f"pages.ui.research.{name}_page").page()


if __name__ == "__main__":
    from pages.ui.research import acts, groundedness_page, papers_page

    loaders = {name: partial(state.put, key) for name, key in acts.NAMES.items()}
    state.begin(
        "research",
        benchmark=groundedness_page.JOB.open,
        paper=papers_page.JOB.open,
        **loaders,
    )
    frame.styles("research")
    try:
        page()
    except AttributionError as error:
        note("The page cannot be shown", error.public(), label="contradicted")
