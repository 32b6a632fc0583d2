"""Tables in which every number is a button: a click leads to the rows behind it."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.ui.html import render
from pages.ui.html.render import Node, el

_HERE = Path(__file__).parent
_table = st.components.v2.component(
    "attribution.numbers",
    html='<div class="root"></div>',
    css=render.tokens_css(".root") + (_HERE / "numbers.css").read_text("utf-8"),
    js=render.NODES_JS + (_HERE / "numbers.js").read_text("utf-8"),
)


def number(value: str, text: str, of: str, small: str = "") -> Node:
    """A number as a button that reports `value`; `of` says whose it is, `small` stands under it."""
    label = f"{of}: {f'{text} {small}'.strip()}. Show the rows behind it."
    range_ = el("span", small, class_="range") if small else None
    return el("button", el("span", text), range_, type="button", value=value, aria_label=label)


def numbers(node: Node, selected: str, *, key: str) -> str:
    """Draw a table; the value of the number that was clicked, or an empty text."""

    def ignore() -> None:  # without a callback Streamlit reports no click
        pass

    result = _table(data={"tree": render.data(node), "selected": selected}, key=key, on_open_change=ignore)
    clicked = getattr(result, "open", None)
    return clicked[:300] if isinstance(clicked, str) else ""
