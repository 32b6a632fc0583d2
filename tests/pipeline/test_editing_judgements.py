import json

import pytest

from attribution import edits
from attribution.errors import BadInput, NotYours
from attribution.events import Finished, Progress
from attribution.pipeline.editing import edit
from attribution.store.store import Store
from attribution.types import AnalystVerdict
from tests.pipeline.test_editing import Editor, finished, made

__all__ = ["finished", "made"]  # fixtures


def judged(editor: Editor, words: str = "opened") -> AnalystVerdict | None:
    claim = editor.claim(words)
    return next((j for j in editor.report.judgements if j.claim_id == claim.id), None)


def test_a_verdict_of_ones_own_stands_beside_the_model_s(made: Editor) -> None:
    before, claim = made.report, made.claim("opened")
    after = made(edits.Judge(claim_id=claim.id, label="contradicted", note="  It was 1932. \n"))
    own = judged(made)
    assert own is not None
    assert (own.label, own.badge, own.note) == ("contradicted", "supported", "It was 1932.")
    assert own.statement == claim.statement
    assert after.claims == before.claims
    assert [v.label for v in after.verdicts] == [v.label for v in before.verdicts]
    assert [v.assessment for v in after.verdicts] == ["contradicted", None, None]
    assert after.evidence == before.evidence
    assert after.edits[-1].summary.startswith("Judged contradicted: “The Zorb bridge")
    assert made.store.runs.load(after.id) == after
    assert "judgements" not in json.loads(before.to_json())


def test_a_verdict_is_replaced_cleared_and_undone(made: Editor) -> None:
    claim = made.claim("opened")
    made(edits.Judge(claim_id=claim.id, label="contradicted", note="It was 1932."))
    with pytest.raises(BadInput, match="is the same already"):
        made(edits.Judge(claim_id=claim.id, label="contradicted", note="It was 1932."))
    made(edits.Judge(claim_id=claim.id, label="supported"))
    cleared = made(edits.Judge(claim_id=claim.id, label=None))
    assert cleared.judgements == ()
    with pytest.raises(BadInput, match="no verdict of yours"):
        made(edits.Judge(claim_id=claim.id, label=None))
    labels = []
    undone = made.store.runs.undo(cleared.id)
    while undone is not None:
        labels.append([j.label for j in undone.judgements])
        undone = made.store.runs.undo(cleared.id)
    assert labels == [["supported"], ["contradicted"], []]


def test_a_note_needs_no_verdict(made: Editor) -> None:
    claim = made.claim("opened")
    noted = made(edits.Judge(claim_id=claim.id, label=None, note="Ask the archive."))
    own = judged(made)
    assert own is not None
    assert (own.label, own.note) == (None, "Ask the archive.")
    assert noted.edits[-1].summary.startswith("Note: “The Zorb bridge")
    assert made.store.runs.load(noted.id) == noted


def test_it_stays_while_the_words_stay(made: Editor) -> None:
    claim = made.claim("opened")
    made(edits.Judge(claim_id=claim.id, label="unclear", note="why"))
    made(edits.Recheck(claim_id=claim.id, verifier="embedded-base"))
    made(edits.AddEvidence(claim_id=claim.id))
    own = judged(made)
    assert own is not None
    assert own.note == "why"


CHANGES = {
    "reword": lambda claim, _: edits.Reword(claim_id=claim.id, text="It is painted green."),
    "split": lambda claim, _: edits.Split(claim_id=claim.id, texts=("It is green.", "It is high.")),
    "merge": lambda claim, other: edits.Merge(claim_ids=(claim.id, other.id), text="It is so."),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_it_goes_with_the_words(made: Editor, kind: str) -> None:
    claim, other = made.claim("painted"), made.claim("opened")
    made(edits.Judge(claim_id=claim.id, label="supported"))
    assert made(CHANGES[kind](claim, other)).judgements == ()


def test_a_verdict_given_while_another_edit_goes_on_is_kept(made: Editor) -> None:
    first, second = made.claim("opened"), made.claim("painted")
    change = edits.AddEvidence(claim_id=first.id)
    editing = edit(made.report, change, made.settings, made.store)
    for event in editing:
        if isinstance(event, Progress):  # the passages are about to be compared
            break
    judged = made(edits.Judge(claim_id=second.id, label="unclear", note="seen"))
    *_, last = editing
    assert isinstance(last, Finished)
    assert last.report.judgements == judged.judgements
    kinds = [type(one.change) for one in last.report.edits]
    assert kinds == [edits.Judge, edits.AddEvidence]
    assert made.store.runs.load(last.report.id) == last.report
    assert made.store.runs.undo(last.report.id) == judged


def test_nobody_else_judges_a_run(made: Editor) -> None:
    stranger = Store(made.store.database, "stranger")
    change = edits.Judge(claim_id=made.claim("opened").id, label="supported")
    with pytest.raises(NotYours):
        list(edit(made.report, change, made.settings, stranger))


def test_a_stranger_s_copy_has_none_of_the_owner_s_verdicts(made: Editor) -> None:
    made(edits.Judge(claim_id=made.claim("opened").id, label="contradicted", note="mine"))
    stranger = Store(made.store.database, "stranger")
    copy = stranger.runs.load(stranger.runs.copy(made.report.id))
    own = made.store.runs.load(made.store.runs.copy(made.report.id))
    assert copy is not None
    assert own is not None
    assert copy.judgements == ()
    assert copy.verdicts == made.report.verdicts
    assert own.judgements == made.report.judgements
