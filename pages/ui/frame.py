"""What every page begins with."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.ui import state
from pages.ui.html import render


def styles() -> None:
    """The colours of the theme and the style sheet."""
    scheme = "dark" if state.dark() else "light"
    css = (
        f":root{{color-scheme:{scheme}}}"
        + render.tokens_css(".stApp")
        + (Path(__file__).parent / "styles.css").read_text("utf-8")
    )
    st.html(f"<style>{css}</style>")
