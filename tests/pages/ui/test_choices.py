import pytest
from pydantic import SecretStr

from attribution.errors import BadInput, FetchFailed, ModelUnavailable
from attribution.evidence.sources import read_document
from attribution.settings import Endpoint, Settings
from attribution.types import Document, Report
from attribution.verdicts import DecisionPolicy
from pages.ui import choices, state
from pages.ui.choices import explain
from tests.make import page, reading, report
from tests.servers import pdf_bytes

CHOICES = {
    "sources": ("library", "wikipedia", "documents", "https://example.org/a", "collection:rivers"),
    "segmenter": "clauses",
    "query": "claim",
    "verifier_model": "owner/name",
    "threshold": 0.7,
    "enrichment": "llm",
    "openai_model": "tiny",
}


def saved() -> Report:
    documents = [("notes.pdf", "A text of notes."), (choices.PASTED, "A pasted text.")]
    pages = tuple(page(text, f"document:{name}", name, kind="document") for name, text in documents)
    settings = Settings(**CHOICES).public()
    return report("The Nile is long.", question="Why?", settings=settings, pages=pages)


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Session state without a page, on a server that allows two models."""
    monkeypatch.setenv("ATTRIBUTION_HUB_MODELS", "owner/name, other/name")
    values: dict[str, object] = {"_initial": {}}
    monkeypatch.setattr("streamlit.session_state", values)
    monkeypatch.setattr(choices, "collections", lambda: ["rivers"])
    return values


def test_a_pdf_of_a_saved_run_keeps_its_page_numbers(session: dict[str, object]) -> None:
    """A run keeps the text of a file, not the file."""
    first = read_document(
        Document(
            "report.pdf", pdf_bytes("The first page.", "", "The last page."), "application/pdf"
        ),
        reading(),
    )
    choices.restore(saved().model_copy(update={"pages": (first,)}))
    (document,) = choices.documents()
    again = read_document(document, reading())
    assert document.name == "report.pdf"
    assert (again.id, again.text, again.breaks, again.title) == (
        first.id,
        first.text,
        first.breaks,
        first.title,
    )
    assert again.page_number(again.text.index("last")) == 3


def test_the_settings_of_a_paper_replace_all_but_the_sources(
    session: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    state.fill(preset=True, query="question", sources=("collection:rivers",))
    problem = choices.settings()
    assert isinstance(problem, str)
    assert "needs segmenter “direct”" in problem
    monkeypatch.setattr(choices, "missing_of_preset", lambda own: "")
    settings = choices.settings()
    assert isinstance(settings, Settings)
    assert settings.sources == ("collection:rivers",)
    assert (settings.query, settings.chunk_size, settings.decision) == ("claim", 512, "plain")


def test_a_saved_run_fills_the_whole_form(session: dict[str, object]) -> None:
    choices.restore(saved())
    restored = choices.settings()
    assert isinstance(restored, Settings)
    for name, value in CHOICES.items():
        found = getattr(restored, name)
        assert (sorted(found), sorted(value)) if name == "sources" else (found == value), name
    assert state.text("question") == "Why?"
    assert {d.name: read_document(d, reading()).text for d in choices.documents()} == {
        choices.PASTED: "A pasted text.",
        "notes.pdf": "A text of notes.",
    }


def test_settings_of_another_version_leave_the_form_as_it_is(session: dict[str, object]) -> None:
    choices.restore(
        saved().model_copy(update={"settings": {"threshold": 7, "sources": ["library"]}})
    )
    assert state.value("threshold") == DecisionPolicy().threshold
    assert state.text("answer") == "The Nile is long."


def test_a_run_says_what_it_was_checked_with_and_against() -> None:
    method = choices.method(saved())
    assert method.startswith("Checked with owner/name against ")
    assert "the built-in library" in method
    assert "the collection “rivers”" in method
    versions = {"verifier": "embedded-base/1"}  # what `auto` stood for
    report = saved().model_copy(update={"settings": Settings().public(), "versions": versions})
    assert choices.method(report) == "Checked with Embedded base model against the built-in library"
    small = report.model_copy(
        update={"settings": {**report.settings, "verifier": "embedded-small"}}
    )
    assert choices.method(small) == "Checked with Embedded small model against the built-in library"


HUB = OSError("We couldn't connect to 'https://huggingface.co'")


@pytest.mark.parametrize(
    ("setting", "alternative", "field", "label"),
    [
        ("verifier_model", "embedded-small", "Model of the verifier", "Embedded small model"),
        ("segmenter_model", "sentences", "Model of the segmenter", "Sentences"),
        (
            "embedding_model",
            "minilm",
            "embedding_model",
            "all-MiniLM-L6-v2 (embedded)",
        ),  # not on the form
    ],
)
def test_a_model_that_cannot_be_loaded(
    setting: str, alternative: str, field: str, label: str
) -> None:
    error = ModelUnavailable("owner/name", setting, alternative, HUB)
    assert f"its folder as {setting}; `{alternative}` needs" in str(error)
    message, detail = explain(error)
    assert f"its folder as “{field}”; “{label}” needs" in message
    assert "hf download owner/name" in message
    assert detail == str(HUB)
    assert "connect to 'https" not in message


@pytest.mark.parametrize(
    ("address", "key", "field"),
    [("host", "", "“Address” cannot be used"), ("", "ä", "“Key” cannot be used")],
)
def test_a_field_that_cannot_be_used(address: str, key: str, field: str) -> None:
    with pytest.raises(BadInput, match="setting openai_") as caught:
        Endpoint(address, SecretStr(key))
    message, _ = explain(caught.value)
    assert message.startswith(field)
    assert "openai" not in message
    assert "value error" not in message


def test_other_errors_keep_their_words_and_unexpected_ones_get_some() -> None:
    failed = FetchFailed(
        "unreachable", "the site cannot be found", "https://a.example", detail="DNSError('no')"
    )
    assert explain(failed) == ("the site cannot be found", "DNSError('no')")
    message, detail = explain(KeyError("x"))
    assert "KeyError" not in message
    assert detail == "KeyError: 'x'"
    told = (
        "no /srv/app/run.py, 'C:\\Users\\a b', sqlite:////srv/x.sqlite3 at https://a.example/b/c "
        "and/or /health"
    )
    shown = "no …, '… b', … at https://a.example/b/c and/or /health"
    for error in (
        ValueError(told),
        BadInput("no", told),
        FetchFailed("unreachable", "no", detail=told),
    ):
        assert explain(error)[1].removeprefix("ValueError: ") == shown
