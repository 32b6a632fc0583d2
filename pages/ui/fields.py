"""Fields of the forms: texts, choices among the entries of a table, and the download of a model."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from attribution.fetching.content_type import KINDS, SUFFIXES
from attribution.models import files
from attribution.reports.html import as_sentence, el
from attribution.settings import LIMITS, Settings
from attribution.tables import LLM, Entry, load
from attribution.verifiers import VERIFIERS, is_downloaded, model_of
from pages.ui import background, choices, state
from pages.ui.choices import turns_problem
from pages.ui.frame import note, show, small

DOCUMENT_TYPES = [suffix.removeprefix(".") for suffix in SUFFIXES]
FORMATS = f"{', '.join(KINDS)}, at most {LIMITS.file_mb} MB each."


def text_input(
    label: str, name: str, placeholder: str, help: str | None = None, secret: bool = False
) -> None:
    """Draw a line of text that survives a change of page."""
    st.text_input(
        label,
        state.initial(name) or "",
        key=state.key(name),
        placeholder=placeholder,
        help=help,
        type="password" if secret else "default",
        max_chars=LIMITS.address,
    )


def multiselect(
    label: str, name: str, options: Mapping[str, str], placeholder: str, help: str
) -> None:
    """Draw a choice of some options; one that is no longer offered is dropped."""
    st.multiselect(
        label,
        list(options),
        [option for option in state.initial(name) or () if option in options],
        key=state.key(name),
        format_func=options.__getitem__,
        placeholder=placeholder,
        help=help,
    )


def pick(label: str, name: str, table: Mapping[str, Entry], help: str) -> str:
    """Draw a choice among the entries that are ready."""
    ready = choices.ready(table)
    selected = ""
    if ready:
        initial = state.initial(name)
        selected = st.selectbox(
            label,
            ready,
            ready.index(initial) if initial in ready else 0,
            format_func=lambda entry: table[entry].label,
            key=state.key(name),
            help=help,
        )
        small(as_sentence(table[selected].note))
    _unready(table)
    return selected


def pick_many(
    label: str, table: Mapping[str, Entry], default: Sequence[str], key: str, help: str
) -> list[str]:
    """Draw a choice of several of the entries that are ready; the others stand below it."""
    chosen = st.pills(
        label,
        choices.ready(table),
        selection_mode="multi",
        default=list(default),
        key=key,
        wrap=True,
        help=help,
        format_func=lambda name: table[name].label,
    )
    _unready(table)
    return chosen


def _unready(table: Mapping[str, Entry]) -> None:
    """Draw the entries that cannot be chosen yet, by what they need; folded."""
    waiting: dict[str, list[str]] = defaultdict(list)
    for name, step in choices.missing(table).items():
        if step:
            waiting[step].append(table[name].label)
    if not waiting:
        return
    items = []
    for step, labels in waiting.items():
        step = f"name a model under “Advanced”, or {step}" if step == LLM.step else step
        items.append(el("li", el("strong", ", ".join(labels)), f": {step}"))
    count = sum(map(len, waiting.values()))
    lack = "need an LLM" if set(waiting) == {LLM.step} else "are not ready"
    title = el("summary", f"Show {count} that {lack}")
    show(
        el(
            "details",
            title,
            el("ul", *items),
            class_="ax-unready",
        )
    )


def earlier_turns() -> None:
    """Draw the conversation before the question, folded where there is none."""
    with st.expander("Earlier turns", expanded=bool(state.text("turns"))):
        st.text_area(
            "The conversation before the question",
            state.initial("turns") or "",
            key=state.key("turns"),
            height=120,
            placeholder="User: What is the Eiffel Tower?\nAssistant: An iron tower in Paris.",
            help="Start each turn on a new line with “User:” or “Assistant:”. These turns show "
            "what “it” refers to.",
            max_chars=LIMITS.text,
        )
        problem = turns_problem()
        if problem:
            note("The earlier turns cannot be read", problem)


# --- the download of a model ---

POLL = 0.5  # seconds between looks at a download


# By model: whoever asks first gets it for all.
_jobs: dict[str, background.Job[background.JobProgress]] = {}


def model_download(entry: Entry) -> None:
    """Draw the download of the model that the form names."""
    chosen = choices.settings()
    if isinstance(chosen, Settings):
        name = next(name for name, one in VERIFIERS.items() if one is entry)
        job = _jobs.get(model_of(name, chosen))
        running = job is not None and job.running
        st.fragment(_download, run_every=POLL if running else None)(name, chosen, running)


def _download(name: str, chosen: Settings, running: bool) -> None:
    model = model_of(name, chosen)
    job = _jobs.get(model)
    now = job.progress() if job else None
    if job and now and now.running:
        small(f"Downloading {model}. This can take some minutes.")
        return
    if running:
        st.rerun()  # it has ended: the whole form shows what has changed
    if now and now.error:
        title = "The model could not be made ready"
        note(
            title,
            now.error,
            label="contradicted",
            detail=now.detail,
        )
    if is_downloaded(name, chosen):
        small("It is on this machine and ready.")
        return
    size = VERIFIERS[name].models.get(model, "").partition(":")[0].partition(", ")[2]
    label = f"Download ({size})" if size else "Download"
    small(f"It is not on this machine yet. It is kept in {files.cache_folder()}.")
    if st.button(
        label,
        key="start_download",
        help="Fetch the model from the Hugging Face Hub; it is kept for later checks.",
        width="stretch",
    ):
        job = _jobs.get(model)
        if job is None or not job.running:  # another visitor may have begun since this was drawn
            _jobs[model] = background.Job("download", background.JobProgress(), _work(name, chosen))
        st.rerun()


def _work(name: str, chosen: Settings) -> background.Work[background.JobProgress]:
    def work(_stop: threading.Event, _update: Callable[..., background.JobProgress]) -> None:
        load(VERIFIERS[name].download)(chosen)

    return work
