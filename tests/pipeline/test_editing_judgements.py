import json

import pytest

from attribution import edits
from attribution.errors import BadInput
from attribution.events import Finished, Progress
from attribution.pipeline.editing import edit
from attribution.store.store import Store
from attribution.types import AnalystLabel, Claim
from tests.pipeline.test_editing import Editor, finished, made

__all__ = ["finished", "made"]  # fixtures


def judge(made: Editor, label: AnalystLabel | None, note: str = "", words: str = "opened") -> None:
    made(edits.Judge(claim_id=made.claim(words).id, label=label, note=note))


def judged(made: Editor) -> list[tuple[AnalystLabel | None, str]]:
    return [(judgement.label, judgement.note) for judgement in made.report.judgements]


def test_a_verdict_of_ones_own_stands_beside_the_model_s(made: Editor) -> None:
    before = made.report
    assert "judgements" not in json.loads(before.to_json())
    judge(made, "contradicted", "  It was 1932. \n")
    after = made.report
    assert judged(made) == [("contradicted", "It was 1932.")]
    assert after.judgements[0].badge == "supported"
    assert after.claims == before.claims
    assert after.evidence == before.evidence
    assert [v.label for v in after.verdicts] == [v.label for v in before.verdicts]
    assert [v.assessment for v in after.verdicts] == ["contradicted", None, None]
    assert made.saved() == after


def test_a_verdict_is_replaced_cleared_and_undone(made: Editor) -> None:
    judge(made, "contradicted")
    with pytest.raises(BadInput, match="is the same already"):
        judge(made, "contradicted")
    judge(made, "supported")
    judge(made, None, "Ask the archive.")
    assert judged(made) == [(None, "Ask the archive.")]
    judge(made, None)
    with pytest.raises(BadInput, match="no verdict of yours"):
        judge(made, None)
    labels = []
    undone = made.store.runs.undo(made.report.id)
    while undone is not None:
        labels.append([judgement.label for judgement in undone.judgements])
        undone = made.store.runs.undo(made.report.id)
    assert labels == [[None], ["supported"], ["contradicted"], []]


def test_it_stays_while_the_words_stay(made: Editor) -> None:
    judge(made, "unclear", "why")
    claim = made.claim("opened")
    made(edits.Recheck(claim_id=claim.id, verifier="embedded-base"))
    made(edits.AddEvidence(claim_id=claim.id))
    assert judged(made) == [("unclear", "why")]


@pytest.mark.parametrize("kind", ["reword", "split", "merge"])
def test_it_goes_with_the_words(made: Editor, kind: str) -> None:
    judge(made, "supported", words="painted")
    assert made(changed(kind, made.claim("painted"), made.claim("opened"))).judgements == ()


def changed(kind: str, claim: Claim, other: Claim) -> edits.Change:
    changes = {
        "reword": edits.Reword(claim_id=claim.id, text="It is painted green."),
        "split": edits.Split(claim_id=claim.id, texts=("It is green.", "It is high.")),
        "merge": edits.Merge(claim_ids=(claim.id, other.id), text="It is so."),
    }
    return changes[kind]


def test_a_verdict_given_while_another_edit_goes_on_is_kept(made: Editor) -> None:
    change = edits.AddEvidence(claim_id=made.claim("opened").id)
    editing = edit(made.report, change, made.settings, made.store)
    for event in editing:
        if isinstance(event, Progress):  # the passages are about to be compared
            break
    judge(made, "unclear", "seen", "painted")
    *_, last = editing
    assert isinstance(last, Finished)
    assert last.report.judgements == made.report.judgements
    kinds = [type(one.change) for one in last.report.edits]
    assert kinds == [edits.Judge, edits.AddEvidence]
    assert made.saved() == last.report
    assert made.store.runs.undo(last.report.id) == made.report


def test_a_stranger_s_copy_has_none_of_the_owner_s_verdicts(made: Editor) -> None:
    judge(made, "contradicted", "mine")
    stranger = Store(made.store.database, "stranger")
    copy = stranger.runs.load(stranger.runs.copy(made.report.id))
    own = made.store.runs.load(made.store.runs.copy(made.report.id))
    assert copy is not None
    assert own is not None
    assert copy.judgements == ()
    assert copy.verdicts == made.report.verdicts
    assert own.judgements == made.report.judgements
