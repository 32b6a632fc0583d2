"""What a session's inputs hold between reruns, and the settings they amount to; its run is in run_state.py.

All of it lives in `st.session_state`, so no visitor ever sees another's; only examples and the database are shared.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from attribution import searchers
from attribution.errors import AttributionError
from attribution.registry import Entry
from attribution.settings import COLLECTION, ROOT, Settings
from attribution.types import Document

QUESTION, ANSWER, EXAMPLE = "question", "answer", "example"
PRESET, LIBRARY, WEB, OWN = "preset", "from_library", "from_web", "from_documents"
CORRECTED, WORDING, EXTRA_TEXT, EXTRA_ADDRESS, EXTRA_FILES = (
    "corrected", "wording", "extra_text", "extra_address", "extra_files",
)  # fmt: skip
PASTED, ADDRESSES, FILES = "pasted", "addresses", "files"
COLLECTIONS = "collections"  # those ticked, by name
SEGMENTER, VERIFIER, MODEL, THRESHOLD = "segmenter", "verifier", "verifier_model", "threshold"
ENGINE = "engine"  # what searches the web
INSTANCE, FALLBACK = "instance", "fallback"  # a SearXNG instance instead of it; what is asked when it fails
QUERY = "query"  # what is searched for a claim
LLM_ADDRESS, LLM_MODEL, LLM_KEY = "llm_address", "llm_model", "llm_key"  # of this session alone, kept nowhere else
PRICES = {"input_price": "price_in", "output_price": "price_out"}  # settings and their inputs
ASKED = "asked"
ASKED_FOR = {
    "worthiness": "which claims are worth checking",
    "independence": "which cannot stand alone",
    "enrichment": "what those mean",
}
COMPARED = "compared"  # the segmenters of the Compare page
PRESETS = {"Offline": (True, False, False), "Web": (False, True, False), "My documents": (False, False, True)}
_DEFAULTS: dict[str, Any] = {
    PRESET: "Offline",
    LIBRARY: True,
    THRESHOLD: Settings.model_fields["threshold"].default,
    SEGMENTER: Settings.model_fields["segmenter"].default,
    VERIFIER: Settings.model_fields["verifier"].default,
    QUERY: Settings.model_fields["query"].default,
}
_INPUTS = (
    QUESTION, ANSWER, PRESET, LIBRARY, WEB, OWN, PASTED, ADDRESSES, FILES,
    SEGMENTER, VERIFIER, MODEL, THRESHOLD, COMPARED, ENGINE, INSTANCE, FALLBACK, QUERY, COLLECTIONS,
    LLM_ADDRESS, LLM_MODEL, LLM_KEY, ASKED, *PRICES.values(),
)  # fmt: skip
_FILLED, _PAGE, _HELD, _WANTED = "_filled", "_page", "_held", "_wanted"


# --- shared by all: nothing of any visitor's ---


@st.cache_data(show_spinner=False)
def examples() -> list[dict[str, Any]]:
    """The question-answer pairs of the examples folder."""
    lines = [
        line
        for path in sorted((ROOT / "examples").glob("answers*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    ]
    return [json.loads(line) for line in lines if line.strip()]


# --- inputs ---
# What we fill in goes to a widget as the initial value of a new key. Set through session_state it would be lost
# when a rerun cuts in before the browser has heard of it.


def key(name: str) -> str:
    """The key that an input has now."""
    return f"{name}-{st.session_state[_FILLED].get(name, (0, None))[0]}"


def filled(name: str) -> Any:
    """What was filled in, for a widget to start with."""
    return st.session_state[_FILLED].get(name, (0, _DEFAULTS.get(name)))[1]


def value(name: str) -> Any:
    """What an input holds."""
    return st.session_state.get(key(name), filled(name))


def fill(**values: Any) -> None:
    """Put values into inputs."""
    held = st.session_state[_FILLED]
    st.session_state[_FILLED] = held | {n: (held.get(n, (0, None))[0] + 1, v) for n, v in values.items()}


def begin(page: str, load: Callable[[str], None] | None = None) -> None:
    """Fill in what a new session starts with; a run named in the address goes to `load`, once.

    Streamlit forgets a page's inputs when another page is opened: they are filled in anew there.
    """
    if PagesManager.uses_pages_directory:  # the first visit of all came to a page, past app.py and its navigation
        st.session_state[_WANTED] = page
        st.switch_page("app.py")
    session = st.session_state
    if (wanted := session.pop(_WANTED, page)) != page:
        st.switch_page(f"pages/{wanted}.py")
    if _FILLED in session:
        if session[_PAGE] != page:
            session[_PAGE] = page
            fill(**session.get(_HELD, {}))
        session[_HELD] = {name: files() if name == FILES else value(name) for name in _INPUTS}
        return
    session[_FILLED], session[_PAGE] = {}, page
    if first := next(iter(examples()), None):
        fill(question=first["question"], answer=first["answer"])
    if load and (run := st.query_params.get("run")):
        load(run)


def choose_example() -> None:
    """Fill in an example with the sources it is meant for; the result on the page stays."""
    example = examples()[int(st.session_state[EXAMPLE])]
    sources = example.get("sources", ["library"])
    instance = next((s.removeprefix(searchers.INSTANCE) for s in sources if s.startswith(searchers.INSTANCE)), "")
    addresses = [s for s in sources if "://" in s and not s.startswith(searchers.INSTANCE)]
    own = {"addresses": "\n".join(addresses), "instance": instance}
    fill(question=example["question"], answer=example["answer"], **own)
    tick("library" in sources, bool(instance), bool(addresses))


def tick(library: bool, web: bool, own: bool) -> None:
    """Choose the sources, and the preset that they amount to."""
    preset = next((name for name, ticked in PRESETS.items() if ticked == (library, web, own)), None)
    fill(from_library=library, from_web=web, from_documents=own, preset=preset)


def preset_changed() -> None:
    """A preset ticks its sources."""
    if chosen := PRESETS.get(str(value(PRESET))):
        tick(*chosen)


def sources_changed() -> None:
    """Sources ticked by hand show the preset they amount to, or none."""
    tick(*(bool(value(name)) for name in (LIBRARY, WEB, OWN)))


def settings() -> Settings | str:
    """The choices of the sidebar, or why they cannot be used."""
    addresses = [line.strip() for line in str(value(ADDRESSES) or "").splitlines() if line.strip() and value(OWN)]
    if odd := next((a for a in addresses if "://" not in a), None):
        return f"“{odd[:80]}” is not a web address: each line of “Web addresses” starts with http:// or https://."
    instance = str(value(INSTANCE) or "").strip()
    engine = searchers.INSTANCE + instance if instance else str(value(ENGINE) or "web")
    boxes = (("library", LIBRARY), (engine, WEB), ("documents", OWN))
    sources = [name for name, box in boxes if value(box)] + addresses
    if ticked := value(COLLECTIONS):
        sources += [f"{COLLECTION}{name}" for name in collections() if name in ticked]
    if not sources:
        return "No source is chosen: tick the library, the web, a collection or your own documents in the sidebar."
    if sources == ["documents"] and not documents():
        return "No document is there yet: paste a text, give web addresses or upload files in the sidebar."
    choices = (
        {name: value(name) for name in (SEGMENTER, VERIFIER, MODEL, QUERY) if value(name)}
        | ({"fallback": tuple(value(FALLBACK))} if value(WEB) and value(FALLBACK) else {})
        | _endpoint()
        | dict.fromkeys(value(ASKED) or (), "llm")
        | {setting: price for setting, box in PRICES.items() if (price := value(box)) is not None}
    )
    try:
        return Settings.from_environment(sources=tuple(sources), threshold=value(THRESHOLD), **choices)
    except AttributionError as error:
        return str(error)


def _endpoint() -> dict[str, Any]:
    """The language model of this session: what was typed, else .streamlit/secrets.toml; the environment comes last."""
    names = {"openai_base_url": LLM_ADDRESS, "openai_model": LLM_MODEL, "openai_api_key": LLM_KEY}
    typed = {name: str(value(box) or "").strip() or _secret(name.upper()) for name, box in names.items()}
    return {name: text for name, text in typed.items() if text}


def _secret(name: str) -> str:
    if not (ROOT / ".streamlit" / "secrets.toml").is_file():  # asked without one, Streamlit puts an error on the page
        return ""
    return str(st.secrets.get(name, ""))


def missing(table: Mapping[str, Entry]) -> dict[str, str]:
    """What stands in the way of each entry, in this session; empty where it is ready."""
    try:
        known = Settings.from_environment(**_endpoint())
    except AttributionError:
        known = None  # what was typed cannot be used
    return {name: entry.missing(known) for name, entry in table.items()}


def collections() -> list[str]:
    """The names of the collections in the database, which all who use this server share."""
    from attribution.collections.store import DocumentStore
    from attribution.storage.store import Store

    try:
        kept = DocumentStore(Store.open(Settings.from_environment().database_url))
        return [collection.name for collection in kept.collections()]
    except AttributionError:
        return []  # the Library page says why


def documents() -> tuple[Document, ...]:
    """Pasted text and uploaded files."""
    if not value(OWN):
        return ()
    pasted = str(value(PASTED) or "")
    found = [Document("Pasted text.txt", pasted.encode("utf-8", "replace"), "text/plain")] if pasted.strip() else []
    return (*found, *(Document(f.name, f.getvalue(), f.type or "") for f in files()))


def files() -> list[Any]:
    """Uploaded files, those of a page left behind first: an uploader cannot be filled in."""
    return [*(filled(FILES) or ()), *(st.session_state.get(key(FILES)) or ())]


def kept(name: str) -> Any:
    """What a page kept in this session under that name."""
    return st.session_state.get(f"_page_{name}")


def keep(name: str, value: Any) -> None:
    """Keep a page's own value in this session."""
    st.session_state[f"_page_{name}"] = value


def dark() -> bool:
    """Is the visitor's theme the dark one?"""
    return bool(st.context.theme.type == "dark")
