import pytest

from attribution.edits import Edit, Recheck, Reword
from attribution.evidence.sources import read_document
from attribution.reports.cards import CardSettings, panel
from attribution.reports.claim_rows import claim_rows
from attribution.reports.html import html
from attribution.types import AnalystLabel, Claim, Document, Report, SetAside
from pages.ui import state
from pages.ui.answer_view import keep_pdf, opened, pictured, view
from tests import make
from tests.make import assessment, claim, evidence, page, reading, verdict
from tests.servers import pdf_bytes

CLAIM = claim()
ANSWER = "The Nile is long. The Nile  is\nlong & old."
REPORT = make.report(ANSWER, claims=(CLAIM,))


def test_a_claim_has_its_buttons_and_excluded_passages_their_way_back() -> None:
    source = page("text", title="<b>Title</b>")
    piece = evidence(CLAIM, 0.9, 0.0, "entailed", page_id=source.id)
    changes = {
        "evidence": (piece,),
        "pages": (source,),
        "set_aside": SetAside(evidence=(piece,)),
    }
    report = REPORT.model_copy(update=changes)
    row = next(row for row in claim_rows(report) if row.claim == CLAIM)
    drawn = html(panel(row, report, CardSettings(is_editable=True)))
    for request in (
        f"edit:{CLAIM.id}",
        f"exclude:{CLAIM.id}:{source.id}:0:4",
        f"include:{CLAIM.id}",
    ):
        assert f'data-edit="{request}' in drawn
    assert "1 passage excluded by hand" in drawn
    assert "&lt;b&gt;Title&lt;/b&gt;" in drawn
    assert "<b>" not in drawn
    for running in (True, False):
        drawn = html(panel(row, report, CardSettings(is_running=running)))
        assert "data-edit" not in drawn


def test_edited_claims_are_marked_rechecked_ones_are_not_and_the_last_one_is_shown() -> None:
    other = Claim(id="other", text="Old.", spans=((18, 22),))
    edits = (
        Edit(at="", change=Recheck(verifier="llm"), claims=(CLAIM.id,)),
        Edit(at="", change=Reword(claim_id="x", text="Old."), claims=("other",)),
    )
    report = REPORT.model_copy(update={"claims": (CLAIM, other), "edits": edits})
    assert [row.claim.id for row in claim_rows(report) if row.is_edited] == ["other"]
    assert view(report, run="r", running=False)["first"] == "other"


VERDICT = verdict(CLAIM, confidence=0.99)


def assessed(label: AnalystLabel | None) -> Report:
    own = assessment(CLAIM, label, "why")
    return REPORT.model_copy(update={"verdicts": (VERDICT,), "judgements": (own,)})


def test_an_assessment_changes_group_count_and_mark() -> None:
    data = view(assessed("contradicted"), run="r", running=False)
    shown = data["claims"][CLAIM.id]
    assert shown["group"] == "wrong"
    assert shown["own"] == "contradicted"
    assert shown["agreed"] == "supported"
    counts = {group["name"]: group["count"] for group in data["head"]["groups"]}
    assert counts == {"wrong": 1, "check": 0, "none": 0, "ok": 0}
    assert (data["head"]["done"], data["head"]["total"]) == (1, 1)


def test_a_note_alone_changes_no_verdict() -> None:
    data = view(assessed(None), run="r", running=False)
    assert data["claims"][CLAIM.id]["group"] == "ok"
    assert data["claims"][CLAIM.id]["note"] == "why"
    assert data["head"]["done"] == 0


def test_claims_that_are_less_sure_are_counted() -> None:
    weak = VERDICT.model_copy(update={"strength": "weak"})
    for shown, words in ((VERDICT, ""), (weak, "1 of 1 is less sure")):
        report = REPORT.model_copy(update={"verdicts": (shown,)})
        *_, group = view(report, run="r", running=False)["head"]["groups"]
        assert group["less"] == words


@pytest.mark.parametrize(("at", "marked"), [([4, 9], [[4, 9]]), ([4, 99], [[4, 9]])])
def test_the_sentence_that_is_opened_is_marked_also_if_it_decides_no_claim(
    at: list[int], marked: list[list[int]]
) -> None:
    source = page("One. Two.")
    shown = opened(
        {}, REPORT.model_copy(update={"pages": (source,)}), {"page": source.id, "at": at}
    )
    assert [mark["at"] for mark in shown["source"]["marks"]] == marked


FILE = Document(
    "two.pdf", pdf_bytes("The Nile flows north.", "It reaches the sea. Boats sail on it.")
)


def test_a_picture_is_offered_for_a_file_at_hand_and_drawn_on_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(state, "cached", lambda name, key, make: make())
    monkeypatch.setattr(state, "browser", lambda: "")
    page = read_document(FILE, reading())
    at = page.text.index("It reaches")
    report = make.report(pages=(page,))
    source = {"page": page.id, "at": at, "marks": [{"at": [at, at + 19]}], "asked": [page.id, at]}
    assert "number" not in pictured({"source": source}, report, {})["source"]
    keep_pdf(report.id, page, [Document("other.pdf", FILE.content), FILE])
    copied = report.model_copy(
        update={"id": "copy"}
    )  # by somebody who has the link, but not the file
    assert "number" not in pictured({"source": source}, copied, {})["source"]
    offered = pictured({"source": source}, report, {})["source"]
    assert offered["number"] == 2
    assert "picture" not in offered
    drawn = pictured({"source": source}, report, {"picture": True})["source"]
    assert len(drawn["picture"]["boxes"]) == 1
    assert drawn["asked"] != offered["asked"]
    assert pictured({"source": None}, report, {"picture": True}) == {"source": None}
