"""The web app: page settings, secrets and navigation, nothing else."""

import os

import streamlit as st

from pages.ui import frame, state

os.environ.setdefault(
    "HF_HUB_DISABLE_PROGRESS_BARS", "1"
)  # also of transformers: no “Loading weights” in the log

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
    '<rect width="32" height="32" rx="7" fill="#2f5d8a"/>'
    '<path d="M8 11h16M8 17h10" stroke="#fff" stroke-width="2.6" stroke-linecap="round"/>'
    '<path d="M16 23l3 3 6-7" stroke="#7ee2a0" stroke-width="2.8" fill="none"'
    ' stroke-linecap="round"'
    ' stroke-linejoin="round"/>'
    "</svg>"
)

st.set_page_config(page_title="Attribution explorer", page_icon=ICON, layout="wide")
state.separate_secrets()
frame.navigation().run()
