"""The inputs of a session and each page's own values: the only place with `st.cache_*`, session
state and secrets.

All of it lives in `st.session_state`, so visitors never see each other's input; only the examples
are shared.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from attribution.errors import AttributionError
from attribution.server.middleware import HOST_ONLY, network
from attribution.settings import DEFAULTS, ROOT, SLIDERS, Settings
from attribution.store.store import Store
from attribution.types import Document, content_id

POLICY = tuple(SLIDERS)  # settings of the decision that have a slider
INPUTS: dict[str, object] = {  # with their first values
    "question": None,
    "turns": None,  # of the conversation before the question
    "answer": None,
    "sources": ("library",),  # of kinds and collections: see choices.source_options
    "pasted": None,
    "addresses": None,
    "files": None,
    "engine": None,
    **{name: DEFAULTS[name] for name in ("segmenter", "verifier", "query", *POLICY)},
    "segmenter_model": None,
    "verifier_model": None,
    "compared": None,  # segmenters
    "preset": None,  # True: the settings of V24
    "llm_address": None,
    "llm_model": None,
    "llm_key": None,
    "llm_tasks": None,
}
COOKIE = "attribution_browser"
T = TypeVar("T")
_INITIAL, _PAGE, _LAST_VALUES, _BROWSER = "_initial", "_page", "_last_values", "_browser"


@st.cache_data(show_spinner=False)
def examples() -> list[dict[str, Any]]:
    """Return the question-answer pairs of the examples folder; the first is that of the demo."""
    files = sorted((ROOT / "examples").glob("answers*.jsonl"))
    lines = [line for path in files for line in path.read_text("utf-8").splitlines()]
    return [json.loads(line) for line in lines if line.strip()]


# --- inputs ---
# A value is filled in as the initial value of a widget with a new key. Set through session state it
# would be lost when a rerun cuts in before the browser has heard of it.


def key(name: str) -> str:
    """Return the key of an input's widget."""
    return f"{name}-{st.session_state[_INITIAL].get(name, (0, None))[0]}"


def initial(name: str) -> Any:
    """Return the value that a widget starts with."""
    return st.session_state[_INITIAL].get(name, (0, INPUTS[name]))[1]


def value(name: str) -> Any:
    """Return the value of an input."""
    return st.session_state.get(key(name), initial(name))


def selected(key: str) -> Any:
    """Return the value of a page's own widget; None until it has been drawn."""
    return st.session_state.get(key)


def text(name: str) -> str:
    """Return the value of a text input, without spaces around it."""
    return str(value(name) or "").strip()


def fill(**values: object) -> None:
    """Put values into inputs."""
    before = st.session_state[_INITIAL]
    st.session_state[_INITIAL] = before | {
        n: (before.get(n, (0, None))[0] + 1, v) for n, v in values.items()
    }


def uploads(name: str) -> tuple[Document, ...]:
    """Return the files of an uploader."""
    return documents_of(st.session_state.get(key(name)))


def documents_of(uploaded: Iterable[UploadedFile] | None) -> tuple[Document, ...]:
    """Return uploaded files as documents. Browsers send a quotation mark in a file name as %22."""
    return tuple(
        Document(f.name.replace("%22", '"'), f.getvalue(), f.type or "") for f in uploaded or ()
    )


def files() -> tuple[Document, ...]:
    """Return the files to check against.

    Those of another page or of a saved run come first: an uploader cannot be filled in. A file that
    was added twice is one.
    """
    own = (*(initial("files") or ()), *uploads("files"))
    return tuple({(file.name, file.content): file for file in own}.values())


def forget_files() -> None:
    """Remove the files that were added before."""
    fill(files=None)


_SOURCES = ("sources", "pasted", "addresses", "files")
KEPT, KEPT_BYTES, KEPT_SECONDS = 20, 20_000_000, 2 * 3600  # browsers, of one's files, age
TABS = 3  # of a browser whose sources are kept


@st.cache_resource(show_spinner=False, ttl=KEPT_SECONDS, max_entries=KEPT)
def _kept(browser: str) -> dict[str, dict[str, object]]:
    """Return a browser's sources by name; a dictionary to fill in, forgotten after a while."""
    return {}


def keep_sources() -> str:
    """Keep this page's documents in memory, for a reload before they are part of a run.

    Returns:
        A name for them; empty if there are none.
    """
    own = files()
    given = [text("pasted"), text("addresses"), *(f"{f.name} {len(f.content)}" for f in own)]
    if not any(given):
        return ""
    name = content_id(*given)
    is_large = sum(len(file.content) for file in own) > KEPT_BYTES
    kept = {source: value(source) for source in _SOURCES}
    sets = _kept(browser())
    sets.pop(name, None)  # the latest are last
    sets[name] = {**kept, "files": () if is_large else own}
    for oldest in list(sets)[:-TABS]:
        del sets[oldest]
    return name


def kept_sources(name: str) -> dict[str, object]:
    """Return what was kept under a name of this browser's documents and the choice of sources."""
    return dict(_kept(browser()).get(name, {}))


def fill_sources_again() -> None:
    """Keep the sources chosen in a dialog, whose fields Streamlit forgets when it closes."""
    fill(**{name: files() if name == "files" else value(name) for name in _SOURCES})


def begin(page: str, **loaders: Callable[[str], object]) -> bool:
    """Fill in the values that a new session starts with; results named in the address go to their
    loaders, once.

    Streamlit forgets a page's inputs when another page is opened: they are filled in again there.

    Returns:
        True if the visitor comes from another page.
    """
    session = st.session_state
    first_visit = _INITIAL not in session
    if first_visit:
        session[_INITIAL] = {}
    has_moved = not first_visit and session[_PAGE] != page
    if has_moved:
        fill(**session.get(_LAST_VALUES, {}))
    session[_PAGE] = page
    for parameter, load in loaders.items():
        result = st.query_params.get(parameter)
        if first_visit and result:
            load(result[:64])
    remember()
    return has_moved


def remember() -> None:
    """Keep the inputs for the next page. `begin` does so; a page that fills some in and opens
    another must.
    """
    st.session_state[_LAST_VALUES] = {
        name: files() if name == "files" else value(name) for name in INPUTS
    }


# --- values of one page ---


def get(name: str) -> Any:
    """Return a page's own value in this session."""
    return st.session_state.get(f"_page_{name}")


def put(name: str, value: object) -> None:
    """Store a page's own value in this session."""
    st.session_state[f"_page_{name}"] = value


def cached(name: str, key: object, make: Callable[[], T]) -> T:
    """Return a page's own value, made anew when its key has changed."""
    found: tuple[object, T] | None = get(name)
    if found is None or found[0] != key:
        found = (key, make())
        put(name, found)
    return found[1]


def count(name: str) -> int:
    """Return a number for the keys of widgets.

    Widgets with another number are new, and start with their initial values.
    """
    return int(get(name) or 0)


def renew(name: str) -> None:
    """Give the widgets with this count new keys, which empties them."""
    put(name, count(name) + 1)


def browser() -> str:
    """Return the token in this browser's cookie, which marks the runs that were started here."""
    if _BROWSER not in st.session_state:
        cookies = st.context.cookies
        token = cookies.get(HOST_ONLY + COOKIE) or cookies.get(COOKIE) or secrets.token_urlsafe(24)
        st.session_state[_BROWSER] = token[:64]
    return str(st.session_state[_BROWSER])


def show_address(**parameters: str) -> None:
    """Put the result that is shown into the address."""
    for name, value in parameters.items():
        if st.query_params.get(name) != value:
            st.query_params[name] = value


def address(*names: str) -> dict[str, str]:
    """Return those parameters of the address that are set."""
    return {name: str(st.query_params[name]) for name in names if name in st.query_params}


def is_dark() -> bool:
    """Return True if the visitor sees the dark theme."""
    return bool(st.context.theme.type == "dark")


def separate_secrets() -> None:
    """Export address and key of secrets.toml together, or neither.

    Streamlit copies them to the environment one by one, where one of them would join the other half
    of another endpoint.
    """
    names = ("OPENAI_BASE_URL", "OPENAI_API_KEY")
    if st.secrets.load_if_toml_exists() and any(name in st.secrets for name in names):
        os.environ.update({name: str(st.secrets.get(name, "")) for name in names})


# --- the database ---


def store() -> Store:
    """Open the database for this browser. Call it in the session; the store can be used in any
    thread.
    """
    address = network(st.context.ip_address or "")
    return Store.open(Settings.from_environment().database_url, browser(), address)


def unowned_store() -> Store:
    """Open the database without an owner: for models, and for runs within a comparison, which no
    browser lists.
    """
    return Store.open(Settings.from_environment().database_url)


def saved(load: Callable[[Store], T | None]) -> tuple[T | None, str]:
    """Load a saved result; return None, and why it cannot be shown, if that fails."""
    try:
        result = load(store())
    except AttributionError as error:
        return None, error.public()
    except ValueError:  # pydantic's ValidationError is one
        return None, "It was saved by another version of the explorer."
    return result, "" if result else "It is not in this server's database."
