"""Draw the frame of every page: style sheet, notices, links to results, tables with clickable numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import streamlit as st

from attribution.errors import setup_error
from attribution.reports import html
from attribution.reports.html import Node, as_sentence, el, folded
from pages.ui import state
from pages.ui.help import explained, sheet

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


_STATIC = Path(__file__).parent / "static"
_SCRIPTS = ("help.js", "tour.js", "page.js")
_script = st.components.v2.component(
    "attribution.page", js=html.NODES_JS + "".join((_STATIC / name).read_text("utf-8") for name in _SCRIPTS)
)


def styles() -> None:
    """The colours of the theme, the style sheet and the script of every page."""
    scheme = "dark" if state.is_dark() else "light"
    css, help_css = ((_STATIC / name).read_text("utf-8") for name in ("styles.css", "help.css"))
    st.html(f"<style>:root{{color-scheme:{scheme}}}{html.tokens_css('.stApp')}{css}{help_css}</style>")
    help_sheet = tuple(sheet().items())  # for a dict among the values Streamlit would import pandas first
    _script(data={"help": help_sheet}, key="page")


def show(node: Node) -> None:
    st.html(html.html(node))


def small(text: str) -> None:
    """A line in small print; never read as Markdown."""
    show(el("p", text, class_="ax-quiet"))


def section(title: str) -> None:
    show(el("p", title, class_="ax-section"))


def lead(text: str) -> None:
    """The sentences that say what a page is for; [terms] of the glossary in brackets explain themselves."""
    show(el("p", *explained(text), class_="ax-lead"))


def status_line(text: str) -> None:
    """One line that says what is being done, or what came of it."""
    show(el("p", text, class_="ax-status", role="status"))


def progress_bar(share: float, label: str) -> None:
    show(el("progress", class_="ax-bar", value=f"{min(share, 1):.3f}", max=1, aria_label=label))


def note(title: str, *lines: str, label: str = "pending", detail: str = "") -> None:
    """A notice in its place on the page, with details folded; its text is never read as markup."""
    paragraphs = [el("p", as_sentence(line)) for line in lines]
    show(el("div", el("h3", title), *paragraphs, folded(detail), class_=f"ax-note v-{label}", role="status"))


def copy_line(what: str, purpose: str, on_click: Callable[[], None]) -> None:
    """In place of what changes a result, for those to whom it does not belong."""
    with st.container(key="copy_line", horizontal=True, vertical_alignment="center", gap="small"):
        show(el("p", f"You are reading somebody else's {what}. Make a copy to {purpose}.", class_="ax-status"))
        st.button(
            "Make a copy",
            key="make_copy",
            on_click=on_click,
            help="The copy is yours and has an address of its own; the original stays as it is.",
        )


def show_setup_error(error: Exception) -> bool:
    """Show what is wrong with the disk, the database or the installation, whichever part of a page came upon it.

    False for any other error.
    """
    cause = setup_error(error)
    if cause is not None:
        note("This server cannot go on", str(cause), "Then reload the page.", label="contradicted", detail=cause.detail)
    return cause is not None


def plot(figure: Figure, key: str, alt: str) -> None:
    """A chart; `alt` says what it shows."""
    st.plotly_chart(figure, config={"displayModeBar": False}, theme=None, key=key, alt=alt)


_link = st.components.v2.component(
    "attribution.link",
    html='<p class="line"><span class="text"></span> <button type="button">Copy link</button></p>',
    css=(_STATIC / "link.css").read_text("utf-8"),
    js=(_STATIC / "link.js").read_text("utf-8"),
)


def link(text: str, *, key: str, **parameters: str) -> None:
    """Draw it; the parameters of the address name the result."""
    _link(data={"text": text, "query": f"?{urlencode(parameters)}"}, key=key)


_table = st.components.v2.component(
    "attribution.numbers",
    html='<div class="root"></div>',
    css=html.tokens_css(".root") + (_STATIC / "numbers.css").read_text("utf-8"),
    js=html.NODES_JS + (_STATIC / "numbers.js").read_text("utf-8"),
)


def number_button(value: str, text: str, of: str, small: str = "") -> Node:
    """A number as a button that reports `value`; `of` says whose it is, `small` stands under it."""
    label = f"{of}: {f'{text} {small}'.strip()}. Show the rows behind it."
    range_ = el("span", small, class_="range") if small else None
    return el("button", el("span", text), range_, type="button", value=value, aria_label=label)


def numbers(node: Node, selected: str, *, key: str) -> str:
    """Draw a table; the value of the number that was clicked, or an empty text."""

    def ignore() -> None:  # without a callback Streamlit reports no click
        pass

    result = _table(data={"tree": html.data(node), "selected": selected}, key=key, on_open_change=ignore)
    clicked = getattr(result, "open", None)
    return clicked[:300] if isinstance(clicked, str) else ""
