"""How a result was made, with its address to copy."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

_HERE = Path(__file__).parent
_link = st.components.v2.component(
    "attribution.link",
    html='<p class="line"><span class="text"></span> <button type="button">Copy link</button></p>',
    css=(_HERE / "link.css").read_text("utf-8"),
    js=(_HERE / "link.js").read_text("utf-8"),
)


def link(text: str, *, key: str, **parameters: str) -> None:
    """Draw it; the parameters of the address name the result."""
    _link(data={"text": text, "query": f"?{urlencode(parameters)}"}, key=key)
