import pytest

from attribution.evidence.sources import read_document
from attribution.types import Document, Report
from pages.ui import downloads, state
from pages.ui.check.page_picture import pictured
from tests.make import reading
from tests.servers import pdf_bytes

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
    report = Report(
        id="r", created_at="", question="", answer="", settings={}, versions={}, pages=(page,)
    )
    source = {"page": page.id, "at": at, "marks": [{"at": [at, at + 19]}], "asked": [page.id, at]}
    assert "number" not in pictured({"source": source}, report, {})["source"]
    downloads.keep_pdf("r", page, [Document("other.pdf", FILE.content), FILE])
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
