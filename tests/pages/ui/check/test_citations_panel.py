from attribution.reports.html import html
from attribution.review.citation_marks import find
from attribution.review.citations import Citation, CitationReport, CitedClaim, Figures
from attribution.text.references import AnswerSource
from attribution.types import Claim, Report
from pages.ui.check.citations_panel import result_view, summary
from tests.make import claim, evidence, page

ANSWER = "The Nile is long [1]. Tea is hot. See also https://a.org/x."
NILE, TEA = claim("The Nile is long."), claim("Tea is hot.")


def report(*claims: Claim) -> Report:
    return Report(
        id="r", created_at="", question="", answer=ANSWER, settings={}, versions={}, claims=claims
    )


def result(text: str = "A source", url: str = "https://a.org/nile") -> CitationReport:
    read = page(text, url, text)
    piece = evidence(NILE, 0.9, 0.05, "entailed", text=text, sentence=(0, len(text)))
    return CitationReport(
        claims_id="",
        created_at="",
        verifier="",
        marks=find(ANSWER).marks,
        sources=(
            AnswerSource(key="1", url=url, text=text),
            AnswerSource(key="https://a.org/x", url="https://a.org/x"),
        ),
        pages=(read,),
        citations=(
            Citation(
                claim_id=NILE.id,
                source="1",
                outcome="supported",
                reason=text,
                page_id=read.id,
                evidence=piece,
            ),
            Citation(
                claim_id=NILE.id, source="https://a.org/x", outcome="unreachable", reason=text
            ),
        ),
        claims=(
            CitedClaim(claim_id=NILE.id, standing="cited_supported", marks=(0,)),
            CitedClaim(claim_id=TEA.id, standing="uncited_supported"),
        ),
        figures=Figures(claims=2, supported=1, citations=1, useful=1, recall=0.5, precision=1.0),
        unattached=(1,),
    )


def test_the_table_has_a_row_for_each_citation_and_each_claim_without_one() -> None:
    drawn = html(result_view(result(), report(NILE, TEA)))
    assert "1 of 2 claims (recall 0.50)" in drawn
    assert "1 of 1 citation (precision 1.00)" in drawn
    assert drawn.count("<tr>") == 4
    for words in ("[1]", "“A source”", "Could not be read", "Not cited, supported elsewhere"):
        assert words in drawn
    assert 'href="https://a.org/nile#:~:text=A%20source"' in drawn


def test_a_dead_link_offers_its_archive() -> None:
    made = result("Nile")
    dead = made.citations[1].model_copy(update={"outcome": "dead"})
    made = made.model_copy(update={"citations": (made.citations[0], dead)})
    drawn = html(result_view(made, report(NILE, TEA)))
    assert 'href="https://web.archive.org/web/*/https://a.org/x"' in drawn
    assert drawn.count("web.archive.org") == 1
    assert "Dead link" in drawn


def test_nothing_decided_is_said() -> None:
    nothing = result().model_copy(
        update={
            "figures": Figures(claims=0, supported=0, citations=0, useful=0),
            "claims": (),
            "stopped": True,
        }
    )
    assert summary(nothing) == "The check was stopped early."
    assert summary(nothing.model_copy(update={"stopped": False})) == "No claim could be decided."
