"""A run that is opened by link is data: it has no file of the server read."""

from pathlib import Path

import pytest

from attribution.edits import AddEvidence
from attribution.pipeline.editing import edit
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Report, Verdict
from pages.ui import choices
from tests.make import claim, evidence, page, report, save_run

RUN, SECRET = "5" * 16, "swordfish"
PAGE, CLAIM = page("The Nile is long."), claim("The Nile is long.")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of the server with a text about the claim."""
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "vault.md").write_text(
        f"The Nile is long. The word of the vault is {SECRET}.\n" * 3
    )
    return tmp_path / "private"


def run_over(*sources: str) -> Report:
    piece = evidence(
        CLAIM, 0.9, 0.05, "entailed", page_id=PAGE.id, text=PAGE.text[0:4], sentence=(0, 17)
    )
    chosen = Settings(verifier="embedded-small").public() | {"sources": list(sources)}
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


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamlit.session_state", {"_initial": {}})


def test_searching_again_reads_no_file(folder: Path, store: Store, session: None) -> None:
    """Of a run that the operator made over a folder on the command line."""
    report, visitor = run_over(str(folder), str(folder / "vault.md")), Store(store.database, "mine")
    save_run(store, report)
    run_id = visitor.runs.copy(RUN)
    before = visitor.runs.load(run_id)
    assert before is not None
    settings = choices.settings_of(before.settings, "sources")
    assert settings.sources == ("documents",)
    change = AddEvidence(claim_id=CLAIM.id, search=True)
    list(edit(before, change, settings, visitor))
    after = visitor.runs.load(run_id)
    assert after is not None
    assert after != before
    assert SECRET not in after.to_json() + "".join(p.text for p in after.pages)
