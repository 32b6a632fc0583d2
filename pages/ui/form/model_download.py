"""Whether the verifier of the hub is on this machine, a button that gets it, and how far the download is."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from attribution.models import hub
from attribution.registry import Entry, load
from attribution.settings import Settings
from attribution.verifiers import deberta
from pages.ui import background
from pages.ui.form import choices
from pages.ui.frame import note, progress_bar, small
from pages.ui.html.render import as_sentence

POLL = 0.5  # seconds between looks at a download
_jobs: dict[str, background.Job[Getting]] = {}  # by model: whoever asks for it first gets it for all


@dataclass(frozen=True)
class Getting(background.Progress):
    """A download in progress."""

    share: float = 0.0
    what: str = "connecting to the hub"


class _Stopped(Exception):
    """Stop was pressed."""


def model_download(entry: Entry) -> None:
    """Draw it for the model that the form names."""
    chosen = choices.settings()
    if isinstance(chosen, Settings):
        running = (job := _jobs.get(_model(chosen))) is not None and job.running
        st.fragment(_part, run_every=POLL if running else None)(entry, chosen, running)


def _part(entry: Entry, chosen: Settings, running: bool) -> None:
    model = _model(chosen)
    job = _jobs.get(model)
    now = job.progress() if job else None
    if job and now and now.running:
        progress_bar(now.share, f"Download of {model}")
        small(as_sentence("stopping" if now.stopping else now.what))
        st.button("Stop", key="stop_download", on_click=job.stop, help="What is there so far is kept.", width="stretch")
        return
    if running:
        st.rerun()  # it has ended: the whole form shows what has changed
    if now and now.error:
        note("The model could not be made ready", now.error, label="contradicted", detail=now.detail)
    if deberta.is_ready(chosen):
        small("It is on this machine and ready.")
    elif deberta.is_downloaded(chosen):
        small("It is on this machine. An int8 form, made once, is three to four times faster on CPUs.")
        _button("Make it faster", "Nothing is downloaded.", entry, chosen)
    else:
        small(f"It is not on this machine yet. It is kept in {hub.cache_folder()}, and a download can be stopped.")
        size = deberta.MODELS.get(model, "").partition(":")[0].rpartition(", ")[2]
        _button(f"Download ({size})" if size else "Download", "From the Hugging Face Hub.", entry, chosen)


def _button(label: str, help: str, entry: Entry, chosen: Settings) -> None:
    if st.button(label, key="start_download", help=help, width="stretch"):
        job = _jobs.get(_model(chosen))
        if job is None or not job.running:  # another visitor may have begun since this was drawn
            _jobs[_model(chosen)] = background.Job("download", Getting(), _work(entry, chosen))
        st.rerun()


def _work(entry: Entry, chosen: Settings) -> background.Work[Getting]:
    def work(stop: threading.Event, update: Callable[..., Any]) -> None:
        def show(share: float, what: str) -> None:
            if stop.is_set():
                raise _Stopped
            update(share=share, what=what)

        with contextlib.suppress(_Stopped):
            load(entry.download)(show, chosen)

    return work


def _model(chosen: Settings) -> str:
    return chosen.verifier_model or deberta.DEFAULT
