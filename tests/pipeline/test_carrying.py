from attribution import events
from attribution.edits import AddClaim, Change, Drop, Exclude, Judge, Merge, Resegment, Reword
from attribution.errors import BadInput
from attribution.pipeline import run as pipeline
from attribution.pipeline.carrying import Carried, carry
from attribution.pipeline.editing import edit
from attribution.types import Report
from tests.pipeline.test_editing import ANSWER, PAGES, TOWER, Editor, finished, made

__all__ = ["finished", "made"]  # fixtures


def run_again(made: Editor, answer: str) -> tuple[Report, Carried | None]:
    """Analyse an answer against other documents, and carry the changes of the editor's run over."""
    settings, store = made.settings, made.store
    *_, last = pipeline.run("What is in Zorbtown?", answer, settings, store, (*PAGES, TOWER))
    assert isinstance(last, events.Finished)
    *_, carried = carry(
        made.report, last.report, lambda now, change: edit(now, change, settings, store)
    )
    return store.runs.load(last.report.id), carried if isinstance(carried, Carried) else None


def change_all(made: Editor) -> None:
    made(Reword(claim_id=made.claim("opened").id, text="The Zorb bridge was opened by a mayor."))
    made(Judge(claim_id=made.claim("a mayor").id, label="supported", note="Seen in the archive."))
    made(Drop(claim_id=made.claim("I like it").id))
    start = ANSWER.index("the Zorb tower")
    made(AddClaim(text="There is a Zorb tower.", spans=((start, start + len("the Zorb tower")),)))


def test_all_changes_are_made_again_in_a_run_of_the_same_answer(made: Editor) -> None:
    change_all(made)
    again, carried = run_again(made, ANSWER)
    assert again.id != made.report.id and carried == Carried(made.report.id, 4)
    assert [c.text for c in again.claims] == [c.text for c in made.report.claims]
    assert [(j.statement, j.label, j.note) for j in again.judgements] == [
        ("The Zorb bridge was opened by a mayor.", "supported", "Seen in the archive.")
    ]
    assert [e.change.kind for e in again.edits] == ["reword", "drop", "add_claim", "judge"]


def test_what_does_not_fit_another_answer_is_said(made: Editor) -> None:
    change_all(made)
    passage = next(e for e in made.report.evidence)
    made(
        Exclude(
            claim_id=passage.claim_id, page_id=passage.page_id, start=passage.start, end=passage.end
        )
    )
    again, carried = run_again(
        made, "We went there. The Zorb bridge was opened in 1931. Its tower is 40 metres high."
    )
    assert [c.text for c in again.claims][
        1
    ] == "The Zorb bridge was opened by a mayor."  # further on than before
    assert again.judgements[0].label == "supported" and carried and carried.made == 3
    assert [words.split(":")[0] for words in carried.left] == ["Dropped", "Claim added"]


def test_another_segmentation_stays_behind_and_of_another_answer_nothing_is_said(
    made: Editor,
) -> None:
    first, second, _ = made.report.claims
    made(Resegment(segmenter="sentences"))
    made(Merge(claim_ids=(first.id, second.id), text="The bridge is green and of 1931."))
    _, carried = run_again(made, ANSWER)
    assert (
        carried
        and carried.made == 1
        and [words.split(" by")[0] for words in carried.left] == ["Answer split"]
    )
    *_, carried = (
        None,
        *carry(made.report, made.report.model_copy(update={"claims": (), "answer": "x"}), refused),
    )
    assert carried is None


def refused(report: Report, change: Change):
    raise BadInput("it does not fit")


def test_a_stopped_edit_ends_quietly(made: Editor) -> None:
    def nothing(report: Report, change: Change):
        return iter(())

    made(Reword(claim_id=made.claim("opened").id, text="The bridge was opened."))
    (carried,) = carry(made.report, made.report, nothing)
    assert carried == Carried(made.report.id, 0)
