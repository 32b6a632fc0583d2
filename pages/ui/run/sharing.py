"""Who can open a run: everybody with its address, or only the browser that started it."""

from __future__ import annotations

import streamlit as st

from pages.ui.frame import small
from pages.ui.run import state as run_state
from pages.ui.slot import store


def sharing(run_id: str) -> None:
    """Make a run private or public again, or delete it; for the browser that started it alone."""
    access = store().access(run_id)
    if not access.own:
        return
    with st.expander("Sharing"):
        small(
            "Only this browser can open this run."
            if access.private
            else "Anyone with the link can open this run. Make it private to keep it to this browser."
        )
        change, delete = st.columns(2)
        change.button(
            "Share by link" if access.private else "Make private",
            on_click=store().set_private,
            args=(run_id, not access.private),
            key="private",
            width="stretch",
            help="Who can open this address: everybody, or this browser alone.",
        )
        with delete.popover(
            "Delete this run", width="stretch", help="It can be restored on the History page for a day."
        ):
            small("Nobody can open it then. For a day, you can restore it on the History page.")
            st.button(
                "Delete",
                type="primary",
                on_click=run_state.delete,
                args=(run_id,),
                key="delete_run",
                help="The History page can restore it for a day.",
            )
