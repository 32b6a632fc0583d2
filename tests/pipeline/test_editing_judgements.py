import json

import pytest
from pydantic import ValidationError

from attribution import edits
from attribution.errors import BadInput, NotYours
from attribution.events import Finished, Progress, StageStarted
from attribution.pipeline.editing import edit
from attribution.store.store import Store
from attribution.types import NOTE, AnalystVerdict, Report
from tests.pipeline.test_editing import ANSWER, Editor, finished, made

__all__ = ["finished", "made"]  # fixtures


def judged(editor: Editor, words: str = "opened") -> AnalystVerdict | None:
    claim = editor.claim(words)
    return next((j for j in editor.report.judgements if j.claim_id == claim.id), None)


def test_a_verdict_of_ones_own_stands_beside_the_model_s(
    made: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attribution.pipeline.editing.Matcher", None)
    before, claim = made.report, made.claim("opened")
    after = made(edits.Judge(claim_id=claim.id, label="contradicted", note="  It was 1932. \n"))
    own = judged(made)
    assert own is not None and (own.label, own.badge, own.note) == (
        "contradicted",
        "supported",
        "It was 1932.",
    )
    assert own.statement == claim.statement and own.at
    assert (after.claims, after.verdicts, after.evidence) == (
        before.claims,
        before.verdicts,
        before.evidence,
    )
    assert after.edits[-1].words(str).startswith("Judged contradicted: “The Zorb bridge")
    assert made.store.runs.load(after.id) == after and "judgements" not in json.loads(
        before.to_json()
    )
    assert not made.store.runs.versions(after.id)[0].claim_id  # not corrected by hand
    with pytest.raises(BadInput, match="is contradicted already"):
        made(edits.Judge(claim_id=claim.id, label="contradicted", note="It was 1932."))
    made(edits.Judge(claim_id=claim.id, label="supported"))
    cleared = made(edits.Judge(claim_id=claim.id, label=None, note="ignored"))
    assert cleared.judgements == () and cleared.edits[-1].words(str).startswith("Judgement cleared")
    with pytest.raises(BadInput, match="no verdict of yours"):
        made(edits.Judge(claim_id=claim.id, label=None))
    labels = []
    while (undone := made.store.runs.undo(before.id)) is not None:
        labels.append([j.label for j in undone.judgements])
    assert labels == [["supported"], ["contradicted"], []]
    redone = made.store.runs.redo(before.id)
    assert redone is not None and redone.judgements == after.judgements


def test_judgements_are_in_the_order_of_the_claims(made: Editor) -> None:
    opened, painted, liked = made.report.claims
    for claim in (liked, opened):
        made(edits.Judge(claim_id=claim.id, label="unclear"))
    assert [j.claim_id for j in made.report.judgements] == [opened.id, liked.id]
    assert made.report.judgements[1].badge == "not_checked"
    pinned = made(edits.Pin(claim_id=liked.id))
    assert [j.claim_id for j in pinned.judgements] == [liked.id, opened.id]


def test_it_stays_while_the_words_stay(made: Editor) -> None:
    claim = made.claim("opened")
    made(edits.Judge(claim_id=claim.id, label="unclear", note="why"))
    made(edits.CheckAgain(claim_id=claim.id))
    made(edits.AddEvidence(claim_id=claim.id))
    made(edits.Pin(claim_id=claim.id))
    made(edits.Resegment(segmenter="clauses"))
    start = ANSWER.index("opened in 1931")
    made(edits.Place(claim_id=claim.id, spans=((start, start + 15),)))
    own = judged(made)
    assert own is not None and own.note == "why" and made.claim("opened").id != claim.id


def test_it_goes_with_the_words(made: Editor) -> None:
    claim = made.claim("painted")

    def judge() -> None:
        made(edits.Judge(claim_id=made.claim("painted").id, label="supported"))
        assert judged(made, "painted")

    judge()
    made(edits.Drop(claim_id=claim.id))
    assert made.report.judgements == ()
    assert made(edits.Restore(claim_id=claim.id)).judgements == ()
    judge()
    assert made(edits.Reword(claim_id=claim.id, text="It is painted green.")).judgements == ()
    judge()
    texts = ("It is painted green all over.", "The Zorb tower is high.")
    assert made(edits.Split(claim_id=made.claim("painted").id, texts=texts)).judgements == ()
    judge()
    ids = (made.claim("painted").id, made.claim("tower").id)
    assert (
        made(edits.Merge(claim_ids=ids, text="It is painted, and the tower is high.")).judgements
        == ()
    )


def test_it_goes_with_words_that_were_added(made: Editor) -> None:
    claim = made.report.claims[0]
    enriched = claim.model_copy(
        update={"enriched": "The Zorb bridge in Zorbtown was opened in 1931."}
    )
    made.report = made.report.model_copy(update={"claims": (enriched, *made.report.claims[1:])})
    own = made(edits.Judge(claim_id=claim.id, label="supported")).judgements[0]
    assert own.statement == enriched.enriched
    assert (
        made(edits.Reword(claim_id=claim.id, text=claim.text)).judgements == ()
    )  # the same id, as the text is the same


def test_what_cannot_be_judged_is_refused(made: Editor) -> None:
    with pytest.raises(BadInput, match="not in this run"):
        made(edits.Judge(claim_id="gone", label="supported"))
    for values in (
        {"label": "right"},
        {"label": "missing"},
        {"note": "x" * (NOTE + 1)},
        {"note": "\ud800"},
    ):
        with pytest.raises(ValidationError):
            edits.Judge.model_validate({"claim_id": "c", "label": "supported", **values})
    assert made.store.runs.load(made.report.id) == made.report


def test_two_tabs_lose_no_verdict(made: Editor) -> None:
    stale, (first, second) = made.report, (made.claim("opened"), made.claim("painted"))
    made(edits.Judge(claim_id=first.id, label="supported"))
    *_, last = edit(
        stale, edits.Judge(claim_id=second.id, label="unclear"), made.settings, made.store
    )
    assert isinstance(last, Finished) and {j.claim_id for j in last.report.judgements} == {
        first.id,
        second.id,
    }
    assert made.store.runs.load(stale.id) == last.report
    *_, pinned = edit(
        stale, edits.Pin(claim_id=first.id), made.settings, made.store
    )  # nor does another edit lose them
    assert isinstance(pinned, Finished) and pinned.report.judgements == last.report.judgements


def test_a_verdict_given_while_another_edit_goes_on_is_kept(made: Editor) -> None:
    first, second = made.claim("opened"), made.claim("painted")
    again = edit(made.report, edits.CheckAgain(claim_id=first.id), made.settings, made.store)
    for event in again:
        if isinstance(event, Progress):  # the passages are about to be compared
            break
    judged = made(edits.Judge(claim_id=second.id, label="unclear", note="seen"))
    *_, last = again
    assert isinstance(last, Finished) and last.report.judgements == judged.judgements
    assert [type(one.change) for one in last.report.edits] == [edits.Judge, edits.CheckAgain]
    assert made.store.runs.load(last.report.id) == last.report
    assert made.store.runs.undo(last.report.id) == judged

    again = edit(judged, edits.CheckAgain(claim_id=first.id), made.settings, made.store)
    assert isinstance(next(again), StageStarted) and next(again)
    made.store.runs.undo(judged.id)  # in the other tab
    *_, last = again
    assert isinstance(last, Finished) and last.report.judgements == ()


def test_nobody_else_judges_a_run_and_a_copy_has_none_of_its_owner_s_verdicts(made: Editor) -> None:
    claim = made.claim("opened")
    made(edits.Judge(claim_id=claim.id, label="contradicted", note="mine"))
    stranger = Store(made.store.database, "stranger")
    with pytest.raises(NotYours):
        list(
            edit(
                made.report,
                edits.Judge(claim_id=claim.id, label="supported"),
                made.settings,
                stranger,
            )
        )
    copy = stranger.runs.load(stranger.runs.copy(made.report.id))
    assert copy is not None and copy.judgements == () and copy.verdicts == made.report.verdicts
    own = made.store.runs.load(made.store.runs.copy(made.report.id))
    assert (
        own is not None
        and own.judgements
        == made.report.judgements
        == Report.model_validate_json(made.report.to_json()).judgements
    )
