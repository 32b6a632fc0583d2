"""Turn the choices of the form into settings and back, in the words of the form."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import streamlit as st
from pydantic import SecretStr, ValidationError

from attribution.conversation import as_text, turns_of
from attribution.embedders import EMBEDDERS
from attribution.errors import (
    AttributionError,
    BadSetting,
    ModelUnavailable,
    StoreError,
    setup_error,
    without_paths,
)
from attribution.evidence.sources import read_document
from attribution.fetching.formats import to_read_again
from attribution.fetching.sandbox import DOCUMENT_SECONDS, FileReader
from attribution.pipeline.permissions import demanded, of_saved_run
from attribution.searchers import SEARCHERS, source_label
from attribution.segmenters import SEGMENTERS
from attribution.settings import (
    COLLECTION,
    LABELS,
    LIMITS,
    WEB,
    Settings,
    Trust,
    visitor_endpoint,
)
from attribution.studies.preset import missing_of_preset, preset
from attribution.tables import Entry, Source
from attribution.types import Document, Report, Turn
from attribution.verdicts import DecisionPolicy, recolour
from attribution.verifiers import VERIFIERS
from attribution.verifiers.calibration import verifier_name
from pages.ui import state

LLM_TASKS = {
    "worthiness": "Choose the claims worth checking",
    "independence": "Find claims that lack context",
    "enrichment": "Add missing context",
}
_FIELDS = {**LABELS, "openai_base_url": "Address", "openai_model": "Model", "openai_api_key": "Key"}
_NAMES: Mapping[str, Mapping[str, Entry]] = {
    "segmenter_model": SEGMENTERS,
    "verifier_model": VERIFIERS,
    "embedding_model": EMBEDDERS,
}

_log = logging.getLogger(__name__)


def explain(error: Exception) -> tuple[str, str]:
    """Return what happened and what to do, and the details: the message of another library, without
    our paths.
    """
    error = setup_error(error) or error
    match error:
        case ModelUnavailable():
            alternative = _NAMES[error.setting][error.alternative].label
            label = _FIELDS.get(error.setting, error.setting)
            return error.message(f"“{label}”", f"“{alternative}”"), without_paths(error.detail)
        case BadSetting() if error.setting in _FIELDS:
            return f"“{_FIELDS[error.setting]}” cannot be used: {error.reason}.", ""
        case StoreError():
            return error.public(), ""  # its detail is for the operator
        case AttributionError():
            return error.public(), without_paths(error.detail)
        case _:
            _log.error("an unexpected error", exc_info=error)
            detail = without_paths(f"{type(error).__name__}: {error}")
            return "An unexpected error. Please report it with the details below.", detail


ENGINES = {name: entry for name, entry in SEARCHERS.items() if not Source.of(name).is_local}
PASTED = "Pasted text"
_MARKDOWN = re.compile(
    r"""^[#]{1,6}[ ]\S           # heading
      | \*\w[^*\n]*\*           # emphasis
      | \]\(https?:             # link
      | ^[|][ :|-]*--[ :|-]*$   # below the head of a table""",
    re.VERBOSE | re.MULTILINE,
)
_METHODS = (
    "segmenter",
    "segmenter_model",
    "verifier",
    "verifier_model",
    "query",
)


def settings() -> Settings | str:
    """Return the settings chosen in the form, or why they cannot be used."""
    sources = _sources()
    if isinstance(sources, str):
        return sources
    chosen: dict[str, object] = {name: state.value(name) for name in (*_METHODS, *state.POLICY)}
    chosen |= dict.fromkeys(state.value("llm_tasks") or (), "llm")
    chosen = {name: value for name, value in chosen.items() if value not in (None, "", ())}
    base = endpoint()
    if isinstance(base, str):
        return base
    if state.value("preset"):
        missing = missing_of_preset(base)
        if missing:
            return f"“As in V24” needs {missing}"
        chosen |= preset()
    try:
        return demanded({**chosen, "sources": sources}, base)
    except AttributionError as error:
        return explain(error)[0]


def source_options() -> dict[str, str]:
    """Return what an answer can be checked against, with the words of the form."""
    options = {"library": "Built-in library"}
    if not SEARCHERS[WEB].missing():
        options["web"] = "The web"
    for name in collections():
        options[f"{COLLECTION}{name}"] = name
    added = len(documents()) + len(_addresses())
    if added:
        options["documents"] = f"Your documents: {added}"
    return options


def _addresses() -> list[str]:
    return list(filter(None, map(str.strip, state.text("addresses").splitlines())))


def _sources() -> tuple[str, ...] | str:
    """Return the sources chosen in the form, or why they cannot be used."""
    chosen = [name for name in source_options() if name in (state.value("sources") or ())]
    if not chosen:
        return "No source is selected. Choose one, or add documents of your own."
    addresses = _addresses() if "documents" in chosen else []
    if len(addresses) > LIMITS.sources:
        count = f"There are {len(addresses):,} web addresses"
        return f"{count}, and a run takes {LIMITS.sources} sources: remove some."
    for address in addresses:
        if "://" not in address:
            start = "Start each line of “Links” with http:// or https://."
            return f"“{address[:80]}” is not a web address. {start}"
    added = documents()
    if len(added) > LIMITS.documents:
        count = f"There are {len(added)} documents, and a run takes {LIMITS.documents}"
        return f"{count}: remove some, or make a collection."
    engine = str(state.value("engine") or WEB)
    sources = [engine if name == "web" else name for name in chosen]
    if "documents" in sources and not added:
        sources.remove("documents")
    return (*sources, *addresses)


def is_ready() -> bool:
    """Return True if the sources, the settings and the earlier turns can be used."""
    return not isinstance(settings(), str) and not turns_problem()


def settings_of(saved: Mapping[str, object], *ignored: Trust) -> Settings:
    """Return the settings of a saved run, with the language model of this session.

    Raises BadSetting for a setting that a visitor may not choose, unless its kind is among the
    ignored.
    """
    own = Settings.from_environment(**_language_model())
    return of_saved_run(
        {name: value for name, value in saved.items() if value is not None}, own, *ignored
    )


def policy(report: Report) -> DecisionPolicy:
    """Return the policy of a run, with what the sliders say."""
    chosen = {name: state.value(name) for name in state.POLICY}
    return DecisionPolicy.of({**report.settings, **chosen})


def relabelled(report: Report) -> Report:
    """Return a run with the verdicts that the sliders make of its evidence."""
    chosen = policy(report)
    if chosen == DecisionPolicy.of(report.settings):
        return report

    def relabel() -> tuple[Report, Report]:  # with the report, so that its id stays
        return report, recolour(report, chosen)

    return state.cached("relabelled", (id(report), chosen), relabel)[1]


def _language_model() -> dict[str, object]:
    """Return the language model of this session: the endpoint and the model that were typed, else
    the environment's.

    A typed address uses the key typed beside it or none; a typed key alone is for OpenAI.
    """
    address, key, model = (state.text(box) for box in ("llm_address", "llm_key", "llm_model"))
    typed: dict[str, object] = (
        {"endpoint": visitor_endpoint(address, SecretStr(key), state.browser())}
        if address or key
        else {}
    )
    return typed | ({"openai_model": model} if model else {})


def endpoint() -> Settings | str:
    """Return the settings of the language model alone, or why they cannot be used."""
    try:
        return Settings.from_environment(**_language_model())
    except AttributionError as error:
        return explain(error)[0]


def missing(table: Mapping[str, Entry]) -> dict[str, str]:
    """Return what each entry still needs in this session; empty if it is ready."""
    current = endpoint()
    # ignore what was typed if it cannot be used
    usable = None if isinstance(current, str) else current
    return {name: entry.missing(usable) for name, entry in table.items()}


def ready(table: Mapping[str, Entry]) -> list[str]:
    """Return the entries that can be chosen in this session."""
    return [name for name, step in missing(table).items() if not step]


def collections() -> list[str]:
    """Return the names of the collections in the database, which all users of this server share."""
    from attribution.library.collection_store import DocumentStore
    from attribution.store.store import Store

    try:
        store = DocumentStore(Store.open(Settings.from_environment().database_url).database)
        return [collection.name for collection in store.collections()]
    except AttributionError:
        return []  # the Collections page says why


def documents() -> tuple[Document, ...]:
    """Return the pasted text and the uploaded files."""
    return (*pasted(state.value("pasted")), *state.files())


def pasted(text: str | None) -> tuple[Document, ...]:
    """Return a pasted text as a document, which is read as Markdown if it has its marks; empty if
    there is none.
    """
    if not text or not text.strip():
        return ()
    media_type = "text/markdown" if _MARKDOWN.search(text) else "text/plain"
    return (Document(PASTED, text.encode("utf-8", "replace"), media_type),)


# --- back into the form ---


def fill_example(example: Mapping[str, Any]) -> None:
    """Fill in an example with the sources it is meant for."""
    state.fill(question=example["question"], turns="", answer=example["answer"])
    fill_sources(example.get("sources", ["library"]))


def fill_sources(sources: Sequence[str]) -> None:
    """Select these sources in the form, as far as it offers them."""
    selected: list[str] = []
    addresses: list[str] = []
    for source in map(Source.of, sources):
        match source.kind:
            case "engine":
                selected.append("web")
                state.fill(engine=source.name)
            case "address":
                addresses.append(source.name)
            case "collection":
                selected.append(f"{COLLECTION}{source.name}")
            case _:
                selected.append(source.kind)
    if addresses:
        selected.append("documents")
    state.fill(sources=tuple(dict.fromkeys(selected)), addresses="\n".join(addresses))


def use_documents() -> None:
    """Select the documents in place of the built-in library as soon as there are some."""
    selected = state.value("sources") or ()
    added = state.text("pasted") or state.text("addresses") or state.files()
    if added and "documents" not in selected:
        others = [source for source in selected if source != "library"]
        state.fill(sources=(*others, "documents"))


# --- saved runs ---


def restore(report: Report) -> None:
    """Fill the form with everything that a saved run was made with; keys and addresses are never
    saved.
    """
    state.fill(question=report.question, turns=as_text(report.context), answer=report.answer)
    try:
        saved = Settings(
            **{
                name: value
                for name, value in report.settings.items()
                if name in Settings.model_fields
            }
        )
    except ValidationError:  # the settings of another version
        return
    fill_sources(saved.sources)
    policy = DecisionPolicy.of(report.settings).as_settings()
    state.fill(**{name: policy[name] for name in state.POLICY})
    is_preset = all(getattr(saved, name) == value for name, value in preset().items())
    own = {
        p.url.removeprefix("document:"): p for p in report.pages if p.kind == "document" and p.text
    }
    state.fill(
        pasted=own[PASTED].text if PASTED in own else "",
        files=tuple(to_read_again(name, page) for name, page in own.items() if name != PASTED),
        preset=is_preset,
        llm_model=saved.openai_model,
        llm_tasks=[task for task in LLM_TASKS if getattr(saved, task) == "llm"],
        **{name: getattr(saved, name) for name in _METHODS},
    )


def unreadable(document: Document) -> str:
    """Return why an uploaded file cannot be read, and what to do; empty if it can. A session asks
    once.
    """
    key = f"unreadable-{hashlib.sha256(document.content).hexdigest()}-{document.name}"
    if key not in st.session_state:
        try:
            reading = FileReader(state.browser(), DOCUMENT_SECONDS)
            read_document(document, reading)
            st.session_state[key] = ""
        except AttributionError as error:
            st.session_state[key] = error.public()
    return str(st.session_state[key])


def method(report: Report) -> str:
    """Describe the verifier and the sources of a run: “Checked with … against …”."""
    saved = report.settings
    used = str(saved.get("verifier_model") or saved.get("verifier", "auto"))
    if used == "auto":
        used = verifier_name(report.versions.get("verifier", ""))
    label = VERIFIERS[used].label if used in VERIFIERS else used
    sources = cast(Iterable[str], saved.get("sources", ()))
    return f"Checked with {label} against {', '.join(map(source_label, sources))}"


def turns() -> tuple[Turn, ...]:
    """Return the turns before the question; none if what was typed cannot be read."""
    try:
        return turns_of(state.text("turns"))
    except AttributionError:
        return ()


def turns_problem() -> str:
    """Return why the turns cannot be read; empty if they can."""
    try:
        turns_of(state.text("turns"))
    except AttributionError as error:
        return error.public()
    return ""
