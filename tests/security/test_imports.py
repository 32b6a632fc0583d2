"""What is imported or opened by link is data: it has no file of the server read, and raises none of
its limits.
"""

from pathlib import Path

import pytest

from attribution.cli.snapshot import import_run
from attribution.edits import Reword
from attribution.pipeline.editing import edit
from attribution.pipeline.snapshot import Snapshot, dump, load
from attribution.provenance import Provenance
from attribution.settings import Settings, trusted
from attribution.store.store import Store
from attribution.types import Report, Verdict
from pages.ui import choices
from tests.make import claim, evidence, page, report

RUN, SECRET = "5" * 16, "swordfish"
PAGE, CLAIM = page("The Nile is long."), claim("The Nile is long.")
GREEDY = {
    "page_bytes": 10**13,
    "page_timeout": 1e9,
    "max_pages": 10**6,
    "workers": 64,
    "llm_deadline": 1e9,
}
FOLDERS = {
    "verifier_model": "/etc",
    "segmenter_model": "/etc",
    "embedding_model": "/etc",
    "gc_model": "/etc",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of the server with a text about the claim."""
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "vault.md").write_text(
        f"The Nile is long. The word of the vault is {SECRET}.\n" * 3
    )
    return tmp_path / "private"


def run_over(*sources: str, **settings: object) -> Report:
    piece = evidence(
        CLAIM, 0.9, 0.05, "entailed", page_id=PAGE.id, text=PAGE.text[0:4], sentence=(0, 17)
    )
    chosen = Settings(verifier="embedded-small").public() | {"sources": list(sources), **settings}
    return report(
        CLAIM.text,
        id=RUN,
        question="How long?",
        settings=chosen,
        claims=(CLAIM.model_copy(update={"independent": True}),),
        pages=(PAGE,),
        evidence=(piece,),
        verdicts=(Verdict(claim_id=CLAIM.id, label="supported", confidence=0.9, reason="because"),),
    )


def imported(report: Report, store: Store) -> str:
    """Import the snapshot that a stranger made on a machine of their own."""
    return import_run(load(dump(Snapshot(report, Provenance(), {}, {}))), store)


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamlit.session_state", {"_initial": {}})


def test_an_imported_run_holds_no_paths_no_places_and_no_limit_above_the_operators(
    folder: Path, store: Store
) -> None:
    places = {
        "library": str(folder),
        "database_url": "sqlite:////etc/x",
        "openai_base_url": "https://evil.example",
    }
    report = run_over(
        str(folder), "library", "https://example.org/a", **GREEDY, **FOLDERS, **places
    )
    loaded = store.runs.load(imported(report, store))
    assert loaded is not None
    assert loaded.settings["sources"] == ["library", "https://example.org/a"]
    assert not {*FOLDERS, *places} & loaded.settings.keys()
    for name in trusted("limit"):
        assert loaded.settings[name] <= getattr(Settings(), name)
    again = imported(report, store)
    assert store.runs.load(again) == loaded.model_copy(
        update={"id": again}
    )  # nobody's run is replaced


@pytest.mark.parametrize("foreign", [True, False])
def test_searching_again_reads_no_file(
    folder: Path, store: Store, session: None, foreign: bool
) -> None:
    """Neither of an imported run, nor of one that the operator made over a folder on the command
    line.
    """
    report, visitor = run_over(str(folder), str(folder / "vault.md")), Store(store.database, "mine")
    if not foreign:
        store.runs.save(report, Provenance())
    run_id = imported(report, visitor) if foreign else visitor.runs.copy(RUN)
    before = visitor.runs.load(run_id)
    assert before is not None
    settings = choices.settings_of(before.settings, "sources")
    assert settings.sources == ("documents",)
    list(
        edit(
            before,
            Reword(claim_id=CLAIM.id, text="The Nile is very long.", search=True),
            settings,
            visitor,
        )
    )
    after = visitor.runs.load(run_id)
    assert after is not None
    assert after != before
    assert SECRET not in after.to_json() + "".join(p.text for p in after.pages)
