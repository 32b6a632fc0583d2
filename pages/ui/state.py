"""What lasts between reruns: session keys, caches, the address bar, and the session's own background work.

Results live in `st.session_state` alone, so no visitor ever sees another's; only examples and the database are shared.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from attribution import searchers
from attribution.errors import AttributionError
from attribution.events import Event, Finished, StageStarted
from attribution.registry import Entry
from attribution.settings import ROOT, Settings
from attribution.types import Claim, Document, Report
from attribution.verdicts import recolour
from pages.ui.job import Background, Job, State

QUESTION, ANSWER, EXAMPLE = "question", "answer", "example"
PRESET, LIBRARY, WEB, OWN = "preset", "from_library", "from_web", "from_documents"
CORRECTED, WORDING, EXTRA_TEXT, EXTRA_ADDRESS, EXTRA_FILES = (
    "corrected", "wording", "extra_text", "extra_address", "extra_files",
)  # fmt: skip
PASTED, ADDRESSES, FILES = "pasted", "addresses", "files"
SEGMENTER, VERIFIER, MODEL, THRESHOLD = "segmenter", "verifier", "model", "threshold"
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
    SEGMENTER, VERIFIER, MODEL, THRESHOLD, COMPARED, ENGINE, INSTANCE, FALLBACK, QUERY,
    LLM_ADDRESS, LLM_MODEL, LLM_KEY, ASKED, *PRICES.values(),
)  # fmt: skip
_FILLED, _PAGE, _HELD, _JOB, _SHOWN, _SAVED, _ESTIMATE, _DRAWN = (
    "_filled",
    "_page",
    "_held",
    "_job",
    "_shown",
    "_saved",
    "_estimate",
    "_drawn",
)


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


def _run(
    question: str, answer: str, settings: Settings, documents: Sequence[Document], stop: threading.Event
) -> Iterator[Event]:
    from attribution.pipeline import run
    from attribution.store import Store

    yield from run(question, answer, settings, Store.open(settings.database_url), documents, stop)


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


def _fill(**values: Any) -> None:
    held = st.session_state[_FILLED]
    st.session_state[_FILLED] = held | {n: (held.get(n, (0, None))[0] + 1, v) for n, v in values.items()}


def begin(page: str) -> None:
    """Fill in what a new session starts with; a run named in the address is loaded once.

    Streamlit forgets a page's inputs when another page is opened: they are filled in anew there.
    """
    if PagesManager.uses_pages_directory:  # the first visit of all came to a page, past app.py and its navigation
        st.switch_page("app.py")
    session = st.session_state
    if _FILLED in session:
        if session[_PAGE] != page:
            session[_PAGE] = page
            _fill(**session.get(_HELD, {}))
        session[_HELD] = {name: files() if name == FILES else value(name) for name in _INPUTS}
        return
    session[_FILLED], session[_PAGE] = {}, page
    if first := next(iter(examples()), None):
        _fill(question=first["question"], answer=first["answer"])
    if run := st.query_params.get("run"):
        _load(run)


def _load(run: str) -> None:
    from attribution.store import Store

    missing = "it is not kept here. Runs stay in the database of the machine that made them."
    try:
        report = Store.open(Settings.from_environment().database_url).load_run(run[:64])
    except (AttributionError, ValueError) as error:  # pydantic's ValidationError is a ValueError
        report = None
        missing = str(error) if isinstance(error, AttributionError) else "another version of the explorer made it."
    if report is None:
        st.session_state[_SAVED] = f"The run named in the address cannot be shown: {missing}"
        return
    st.session_state[_SHOWN] = State(report, report.id, accepted=True)
    _fill(question=report.question, answer=report.answer)
    if isinstance(threshold := report.settings.get("threshold"), float):
        _fill(threshold=threshold)


def notice() -> str:
    """Why a saved run could not be shown, if so."""
    return str(st.session_state.get(_SAVED, ""))


def choose_example() -> None:
    """Fill in an example with the sources it is meant for; the result on the page stays."""
    example = examples()[int(st.session_state[EXAMPLE])]
    sources = example.get("sources", ["library"])
    instance = next((s.removeprefix(searchers.INSTANCE) for s in sources if s.startswith(searchers.INSTANCE)), "")
    addresses = [s for s in sources if "://" in s and not s.startswith(searchers.INSTANCE)]
    own = {"addresses": "\n".join(addresses), "instance": instance}
    _fill(question=example["question"], answer=example["answer"], **own)
    _tick("library" in sources, bool(instance), bool(addresses))


def _tick(library: bool, web: bool, own: bool) -> None:
    preset = next((name for name, ticked in PRESETS.items() if ticked == (library, web, own)), None)
    _fill(from_library=library, from_web=web, from_documents=own, preset=preset)


def preset_changed() -> None:
    """A preset ticks its sources."""
    if chosen := PRESETS.get(str(value(PRESET))):
        _tick(*chosen)


def sources_changed() -> None:
    """Sources ticked by hand show the preset they amount to, or none."""
    _tick(*(bool(value(name)) for name in (LIBRARY, WEB, OWN)))


def settings() -> Settings | str:
    """The choices of the sidebar, or why they cannot be used."""
    addresses = [line.strip() for line in str(value(ADDRESSES) or "").splitlines() if line.strip() and value(OWN)]
    if odd := next((a for a in addresses if "://" not in a), None):
        return f"“{odd[:80]}” is not a web address: each line of “Web addresses” starts with http:// or https://."
    instance = str(value(INSTANCE) or "").strip()
    engine = searchers.INSTANCE + instance if instance else str(value(ENGINE) or "web")
    boxes = (("library", LIBRARY), (engine, WEB), ("documents", OWN))
    sources = [name for name, box in boxes if value(box)] + addresses
    if not sources:
        return "No source is chosen: tick the library, the web or your own documents in the sidebar."
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


# --- the run ---


def analyse() -> None:
    """Start a run of what is filled in."""
    session = st.session_state
    chosen = settings()
    job: Job | None = session.get(_JOB)
    if isinstance(chosen, str) or (job and job.state().running):
        return
    session.pop(_SAVED, None)
    session[_JOB] = Job(value(QUESTION) or "", value(ANSWER) or "", chosen, documents(), _run)


def recheck(claim: Claim, documents: Sequence[Document] = (), addresses: Sequence[str] = ()) -> None:
    """Check one claim of the run on the page again, over its pages and those added."""
    session, now = st.session_state, current()
    if now is None or now.running:
        return
    known = {k: v for k, v in now.report.settings.items() if k in Settings.model_fields}
    chosen = Settings.from_environment(**known | {"threshold": value(THRESHOLD)})  # as the run was made

    def run(_q: str, _a: str, chosen: Settings, own: Sequence[Document], _stop: threading.Event) -> Iterator[Event]:
        from attribution.rechecking import recheck as check
        from attribution.store import Store

        yield StageStarted("verify")
        yield Finished(check(now.report, claim, chosen, Store.open(chosen.database_url), own, addresses))

    session[_JOB] = Job(now.report.question, now.report.answer, chosen, documents, run, before=now)


def analyse_with_library() -> None:
    """Start again with the built-in library, where the web could not be searched."""
    _tick(True, False, bool(value(OWN)))
    analyse()


def stop() -> None:
    """End the run with what it has."""
    if job := st.session_state.get(_JOB):
        job.stop()


def current() -> State | None:
    """The run to show: the one under way, else the last one that got as far as its first event."""
    session = st.session_state
    if job := session.get(_JOB):
        state: State = job.state()
        if state.accepted:
            session[_SHOWN] = state
        elif state.running:
            return state
        if not state.running and state.report.id and st.query_params.get("run") != state.report.id:
            st.query_params["run"] = state.report.id
    return session.get(_SHOWN)


def running() -> bool:
    job: Job | None = st.session_state.get(_JOB)
    return job is not None and job.state().running


def problem() -> tuple[str, str] | None:
    """What kept the last run from starting or finishing: a title and the reason."""
    job: Job | None = st.session_state.get(_JOB)
    state = job.state() if job else None
    if state and state.rejected:
        return "This text cannot be analysed", state.rejected
    if state and state.broken:
        return "The run could not be finished" if state.accepted else "The run could not start", state.broken
    return None


def recoloured(report: Report) -> Report:
    """The run with the threshold of the slider."""
    threshold = float(value(THRESHOLD))
    return report if report.settings.get("threshold") == threshold else recolour(report, threshold)


def drawn(now: State, make: Callable[[], Any]) -> Any:
    """What `make` draws of a run, made again only when claims, verdicts or the threshold have changed."""
    wanted = (now.key, now.version, now.running, value(THRESHOLD))
    held = st.session_state.get(_DRAWN)
    if held is None or held[0] != wanted:
        held = st.session_state[_DRAWN] = (wanted, make())
    return held[1]


def outdated(report: Report) -> bool:
    """Has the text been changed since?"""
    return (report.question, report.answer) != (value(QUESTION) or "", value(ANSWER) or "")


# --- the estimate ---


def estimate() -> tuple[Any, bool]:
    """What a run would take, and whether that is still being worked out."""
    session = st.session_state
    question, answer, chosen, own = value(QUESTION) or "", value(ANSWER) or "", settings(), documents()
    if isinstance(chosen, str) or not answer.strip():
        return None, False

    def compute() -> Any:
        from attribution.estimating import estimate as compute_estimate
        from attribution.store import Store

        return compute_estimate(question, answer, chosen, own, Store.open(chosen.database_url))

    wanted = (question, answer, chosen, own)
    held: Background | None = session.get(_ESTIMATE)
    if held is None or (held.done and held.key != wanted):
        session[_ESTIMATE] = held = Background(wanted, compute)
    return (held.value, False) if held.done and held.key == wanted else (None, True)
