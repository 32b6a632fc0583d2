"""Draw the frame of every page: the bar with its entries, tabs and heading, the style sheet, and
notices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from attribution.errors import setup_error
from attribution.reports import html
from attribution.reports.html import Child, Node, as_sentence, el, folded, with_code
from attribution.studies.results import ResultTable
from attribution.text.markdown import escape_markdown
from attribution.text_files import format_cell
from pages.ui import state
from pages.ui.help import explained, sheet

_STATIC = Path(__file__).parent / "static"
_SCRIPTS = ("help.js", "demo.js", "page.js")
_script = st.components.v2.component(
    "attribution.page",
    js=html.NODES_JS + "".join((_STATIC / name).read_text("utf-8") for name in _SCRIPTS),
)


def styles(page: str) -> None:
    """Add the style sheet and the script of every page, and mark its entry in the bar."""
    scheme = "dark" if state.is_dark() else "light"
    names = ("styles.css", "pages.css", "help.css")
    css = "".join((_STATIC / name).read_text("utf-8") for name in names)
    here = f'[data-testid$="NavLink"][href$="/{page}"]'
    css += f"{here} {{ background: var(--here); font-weight: 600; }}"
    root = f":root{{color-scheme:{scheme}}}"
    st.html(f"<style>{root}{html.VERDICTS_CSS}{css}</style>")
    help_sheet = tuple(sheet().items())  # for a dict in it Streamlit would import pandas first
    _script(
        data={"help": help_sheet, "page": page},
        key="page",
    )


def show(node: Node) -> None:
    """Draw a node."""
    st.html(html.html(node))


def as_label(text: str) -> str:
    """Escape foreign text for a label, which Streamlit reads as Markdown with images and icons."""
    return escape_markdown(text).replace(":", "\\:")


def small(text: str) -> None:
    """Draw a line in small print; it is never read as Markdown."""
    show(el("p", text, class_="ax-quiet"))


def result_table(result: ResultTable) -> Node:
    """Return a table of results under its title."""
    rows = ([format_cell(cell) for cell in row] for row in result.rows)
    title = el("p", result.title, class_="ax-section")
    body = html.table(result.columns, rows, "ax-table wide")
    return el("section", title, html.scrolling(body, result.title))


def section(title: str) -> None:
    """Draw the title of a section."""
    show(el("p", title, class_="ax-section"))


def status_line(text: str) -> None:
    """Draw a line that says what is being done, or what came of it."""
    show(
        el(
            "p",
            text,
            class_="ax-status",
            role="status",
        )
    )


def progress_bar(share: float, label: str) -> None:
    """Draw a bar; `label` says of what."""
    show(
        el(
            "progress",
            class_="ax-bar",
            value=f"{min(share, 1):.3f}",
            max=1,
            aria_label=label,
        )
    )


def note(
    title: str, *lines: str, label: str = "pending", detail: str = "", brief: bool = False
) -> None:
    """A notice in its place on the page, with details folded; its text is never read as markup.

    A brief one is its title alone, and the lines are folded too.
    """
    text: list[Child] = [
        *(el("p", *with_code(as_sentence(line))) for line in lines),
        folded(detail),
    ]
    head = [el("details", el("summary", title), *text)] if brief else [el("h3", title), *text]
    show(el("div", *head, class_=f"ax-note v-{label}", role="status"))


class File(NamedTuple):
    """A file to download; its content may be made when it is asked for."""

    content: str | Callable[[], str]
    name: str
    media_type: str

    def encoded(self) -> bytes:
        text = self.content if isinstance(self.content, str) else self.content()
        return text.encode("utf-8-sig" if self.name.endswith(".csv") else "utf-8")


def downloads(files: Mapping[str, File]) -> None:
    """Draw a button for each file, by its label."""
    with st.container(horizontal=True):
        for label, file in files.items():
            st.download_button(
                f"Download {label}",
                file.encoded,
                file.name,
                file.media_type,
                on_click="ignore",
                key=f"download-{file.name}",
                help="The same result as a file.",
            )


def copy_line(what: str, purpose: str, on_click: Callable[[], None]) -> None:
    """In place of what changes a result, for those to whom it does not belong."""
    with st.container(
        key="copy_line",
        horizontal=True,
        vertical_alignment="center",
        gap="small",
    ):
        show(
            el(
                "p",
                f"You are reading somebody else's {what}. Make a copy to {purpose}.",
                class_="ax-status",
            )
        )
        st.button(
            "Make a copy",
            key="make_copy",
            on_click=on_click,
            help="The copy is yours and has its own link; the original does not change.",
        )


def show_setup_error(error: Exception) -> bool:
    """Show what is wrong with the disk, the database or the installation, whichever part of a page
    came upon it.

    False for any other error.
    """
    cause = setup_error(error)
    if cause is not None:
        note(
            "The server has a problem",
            cause.public(),
            "Then reload the page.",
            label="contradicted",
        )
    return cause is not None


PAGES = {"check": "Check", "answers": "Answers", "compare": "Compare", "research": "Research"}


def navigation() -> st.Page:
    """Draw the bar and return the page to run.

    On a phone Streamlit hides the entries behind an icon: there, a row of links takes their place.
    """
    pages = [
        st.Page(f"pages/{name}.py", title=title, default=name == "check")
        for name, title in PAGES.items()
    ]
    page = st.navigation(pages, position="top")
    with st.container(key="phone_bar", horizontal=True):
        for entry in pages:
            st.page_link(entry)
    return page


def head(heading: str, introduction: str) -> None:
    """Draw the heading of a page and the sentence below it; [terms] of the glossary in brackets
    explain themselves.
    """
    show(
        el(
            "div",
            el("h2", heading),
            el("p", *explained(introduction), class_="ax-lead"),
            class_="ax-head",
        )
    )
