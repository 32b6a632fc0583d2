"""Settings, and errors that name them, in the words of the form. Imports no streamlit."""

from __future__ import annotations

from attribution.embedders import EMBEDDERS
from attribution.errors import AttributionError, BadSetting, ModelUnavailable, setup_error
from attribution.segmenters import SEGMENTERS
from attribution.verifiers import VERIFIERS

LLM_TASKS = {
    "worthiness": "Which claims are worth checking",
    "independence": "Which claims need context",
    "enrichment": "What that context is",
}
FORM = {  # settings that make another run
    "sources": "Sources",
    "fallback": "Fallback search",
    "segmenter": "Split the answer into",
    "segmenter_model": "Model of the segmenter",
    "query": "Search query",
    "verifier": "Verifier",
    "verifier_model": "Model of the verifier",
    "openai_model": "Language model",
    **dict.fromkeys(LLM_TASKS, "Also use it for"),
}
_FIELDS = {**FORM, "openai_base_url": "Address", "openai_model": "Model", "openai_api_key": "Key"}
_NAMES = {"segmenter_model": SEGMENTERS, "verifier_model": VERIFIERS, "embedding_model": EMBEDDERS}


def explain(error: Exception) -> tuple[str, str]:
    """What happened and what to do, and the details: what another library said."""
    error = setup_error(error) or error
    match error:
        case ModelUnavailable():
            alternative = _NAMES[error.setting][error.alternative].label
            return error.message(f"“{_FIELDS.get(error.setting, error.setting)}”", f"“{alternative}”"), error.detail
        case BadSetting() if error.setting in _FIELDS:
            return f"“{_FIELDS[error.setting]}” cannot be used: {error.reason}.", ""
        case AttributionError():
            return str(error), error.detail
        case _:
            return "An unexpected error. Please report it with the details below.", f"{type(error).__name__}: {error}"
