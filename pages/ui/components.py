"""Components with scripts of their own, which report what was clicked in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from attribution.reports import html

_STATIC = Path(__file__).parent / "static"
Data = Mapping[str, object]  # plain data for a script


def ignore() -> None:
    """Do nothing: without a callback Streamlit reports no click on a component."""


# Data is given in a list: for a dict Streamlit would import pandas first.
_ROOT = '<div class="root"></div>'


def _component(name: str, *scripts: str, body: str = _ROOT) -> ComponentRenderer:
    """Register a component that builds its nodes within its root."""
    return st.components.v2.component(
        f"attribution.{name}",
        html=body,
        css=html.VERDICTS_CSS + (_STATIC / f"{name}.css").read_text("utf-8"),
        js=html.NODES_JS
        + "".join((_STATIC / f"{script}.js").read_text("utf-8") for script in scripts or (name,)),
    )


_link = st.components.v2.component(
    "attribution.link",
    html='<p class="line"><span class="text"></span> <button type="button">Copy link</button></p>',
    css=(_STATIC / "link.css").read_text("utf-8"),
    js=(_STATIC / "link.js").read_text("utf-8"),
)
_columns = _component("compare")
_answers = _component("answers")
_task = _component("task", "task", "task_view", body=f'<div class="wrap">{_ROOT}</div>')


def link(text: str, *, key: str = "link", **parameters: str) -> None:
    """Draw a line with a button that copies the link to a result; the parameters of the address
    name it.
    """
    _link(data={"text": text, "query": f"?{urlencode(parameters)}"}, key=key)


def compare_columns(data: Data, *, key: str) -> object:
    """Draw rows of sentences or points with columns of claims; return the button that was pressed
    above a column.
    """
    return _columns(data=[data], key=key, on_act_change=ignore).act


def answer_list(data: Data, *, key: str) -> object:
    """Draw the list of answers; return what is to be done, and with which of them."""
    return _answers(data=[data], key=key, on_act_change=ignore).act


def task(data: Data, *, key: str) -> object:
    """Draw a task of annotation; return what the annotator did."""
    return _task(data=data, key=key, on_act_change=ignore).act
