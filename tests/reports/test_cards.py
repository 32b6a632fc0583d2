from typing import Any

import pytest

from attribution.edits import Edit, Reword
from attribution.reports.cards import CardSettings, headline, panel
from attribution.reports.claim_rows import claim_rows
from attribution.reports.html import html
from attribution.reports.source_view import source_list
from attribution.review.quotations import quotations
from attribution.types import (
    Evidence,
    Failure,
    Label,
    OtherVerdict,
    Page,
    Provenance,
    Relation,
    Report,
    Reservation,
    SetAside,
    Trace,
)
from attribution.verdicts import beside
from tests import make
from tests.make import claim, evidence, page

RIVETS, FEWER = "It has 4.5 million rivets.", "It has 2.5 million rivets."
SIDES = {"entailed": (0.97, 0.01), "contradicted": (0.01, 0.97), "no_relation": (0.2, 0.2)}
CLAIM = claim("The Nile is 6,650 km long.")
TEXT = "About rivers.\n\nThe Nile is 6,650 km long."


def piece(
    of: Page,
    entailed: float = 0.9,
    contradicted: float = 0.0,
    relation: Relation = "entailed",
    **fields: Any,
) -> Evidence:
    place = {"page_id": of.id, "end": 41, "text": TEXT, "sentence": (15, 41)}
    return evidence(CLAIM, entailed, contradicted, relation, **place, **fields)


def report(*pages: Page, failures: tuple[Failure, ...] = ()) -> Report:
    return make.judged(
        (CLAIM, "supported"),
        answer=CLAIM.text,
        settings={"threshold": 0.5, "chunker": "fixed"},
        versions={"verifier": "embedded-small/1", f"verifier:{CLAIM.id}": "minicheck/1"},
        pages=pages,
        evidence=tuple(piece(p) for p in pages),
        failures=failures,
    )


def drawn(made: Report, provenance: Provenance | None = None) -> str:
    (row,) = claim_rows(made)
    settings = CardSettings(provenance=provenance, quotations=quotations(made))
    return html(panel(row, made, settings))


def test_a_pdf_is_opened_at_its_page() -> None:
    pdf = page(TEXT, "https://a.example/r.pdf#x", breaks=(0, 15), site="")
    shown = drawn(report(pdf))
    assert "a.example · web page · page 2 · read 1 Nov 2026" in shown
    assert 'href="https://a.example/r.pdf#page=2"' in shown


@pytest.mark.parametrize(
    ("changes", "facts"),
    [
        ({"published": "2024-05-03"}, "web page · published 3 May 2024 · read 1 Nov 2026"),
        ({"genre": "news"}, "news · read 1 Nov 2026"),
        ({"kind": "document", "url": "document:report.pdf"}, "<span>report.pdf</span>"),
    ],
)
def test_kind_and_dates_of_a_source_are_named(changes: dict[str, str], facts: str) -> None:
    source = page(TEXT).model_copy(update=changes)
    assert facts in drawn(report(source))


def test_the_headline_names_an_engine_that_could_not_be_used() -> None:
    down = Failure(stage="search", subject="duckduckgo", kind="source_unread", message="no")
    made = report(page(TEXT), failures=(down,))
    assert headline(made) == "1 supported; Web (DuckDuckGo) could not be used"


def test_the_other_verifier_is_named_where_it_sees_the_claim_otherwise() -> None:
    made = report(page(TEXT))
    other = OtherVerdict(reader="first", label="unclear", confidence=0.4, reason="r")
    verdict = beside(made.verdicts[0], other)
    shown = drawn(made.model_copy(update={"verdicts": (verdict,)}))
    assert "the first said: unclear." in shown


def judged(text: str, label: Label, *passages: tuple[str, Relation]) -> Report:
    """A claim with a verdict, and a page for each of its passages."""
    of = claim(text)
    pages: list[Page] = []
    pieces: list[Evidence] = []
    for number, (sentence, relation) in enumerate(passages):
        source = page(sentence, f"https://{number}.example/")
        size = len(sentence)
        place = {"page_id": source.id, "text": sentence, "end": size, "sentence": (0, size)}
        pieces.append(evidence(of, *SIDES[relation], relation, **place))
        pages.append(source)
    return make.judged((of, label), answer=text, pages=tuple(pages), evidence=tuple(pieces))


def test_the_difference_is_said_and_boxed_in_the_answer_and_in_its_source() -> None:
    shown = drawn(judged(RIVETS, "contradicted", (FEWER, "contradicted")))
    assert "The source says 2.5 million, not 4.5 million." in shown
    assert shown.count('class="differs"') == 2


def test_two_sides_stand_both_in_the_card_of_a_conflict() -> None:
    text, other = "The forecast is 468 million euros.", "The forecast is now 486 million euros."
    made = judged(text, "conflicting", (text, "entailed"), (other, "contradicted"))
    shown = drawn(made)
    assert "One source supports this, another contradicts it." in shown
    assert shown.count('<dd class="quote') == 2


def test_two_sides_of_one_page_are_passages_and_an_excluded_one_is_said() -> None:
    made = judged(RIVETS, "conflicting", (RIVETS, "entailed"), (RIVETS, "contradicted"))
    first, second = made.evidence
    other = second.model_copy(update={"page_id": first.page_id})
    both = made.model_copy(update={"evidence": (first, other)})
    assert "One passage supports this, another contradicts it." in drawn(both)
    none = make.judged((made.claims[0], "no_relation"), pages=made.pages, evidence=(second,))
    assert "None of the passages" in drawn(none)
    aside = SetAside(evidence=(first,))
    shown = drawn(none.model_copy(update={"set_aside": aside}))
    assert "The passage that said so is excluded." in shown


def test_a_reworded_claim_stands_below_the_words_of_the_answer() -> None:
    made = judged(RIVETS, "supported", (FEWER, "entailed"))
    of = made.claims[0].model_copy(update={"text": FEWER, "spans": ((0, len(RIVETS)),)})
    edit = Edit(at="", change=Reword(claim_id=of.id, text=FEWER), claims=(of.id,))
    shown = drawn(made.model_copy(update={"claims": (of,), "edits": (edit,)}))
    assert f'Answer</dt><dd class="claim-text" dir="auto">{RIVETS}</dd>' in shown
    assert "Checked as" in shown


def test_a_passage_that_does_not_count_says_why_everywhere() -> None:
    source, aside = page(TEXT), page("Of other rivers.", "https://b.example/")
    satire = Reservation(relations=("contradicted",), note="it is satire")
    held = piece(source, 0.0, 0.8, "no_relation", reservation=satire)
    made = report(source, aside).model_copy(update={"evidence": (held,)})
    assert "Leans towards contradiction" in drawn(made)
    assert "it is satire" in drawn(made)
    listed = html(source_list(made))
    assert ">≈</span>" in listed
    assert "Nothing about a claim: 1 page" in listed


def test_a_quotation_stands_in_the_card_with_what_was_altered() -> None:
    said = "Livingstone wrote: “The Nile is 6,650 km long and nobody knows its source.”"
    source = page("He wrote: “The Nile is 6,650 km long, and everybody knows its source.”")
    of_claim = CLAIM.model_copy(update={"spans": ((0, len(said)),)})
    made = report(source).model_copy(update={"answer": said, "claims": (of_claim,)})
    change = '<del class="removed">everybody</del><strong class="added">nobody</strong>'
    assert change in drawn(made)
    elsewhere = CLAIM.model_copy(update={"spans": ((0, 5),)})
    assert "quotation" not in drawn(made.model_copy(update={"claims": (elsewhere,)}))


def test_what_failed_for_a_claim_stands_in_its_fold() -> None:
    failure = Failure(
        stage="search", subject=CLAIM.text, kind="llm_failed", message="no <b>reply</b>; gave up"
    )
    other = failure.model_copy(update={"subject": "another"})
    shown = drawn(report(page(TEXT), failures=(failure, other)))
    assert shown.count("No &lt;b&gt;reply&lt;/b&gt;; gave up.") == 1


def test_the_provenance_of_a_claim_is_unbroken() -> None:
    source = page(TEXT)
    failed = Failure(
        stage="fetch", subject="https://e.org/<b>", kind="robots", message="robots.txt forbids it"
    )
    provenance = Provenance(
        traces=(
            Trace(CLAIM.id, source.id, "nile <u>", "wikipedia", 2),
            Trace("other", source.id, "another", "x", 1),
        ),
        concerns={CLAIM.id: (failed,)},
    )
    worded = CLAIM.model_copy(update={"enriched": "The <i>river</i> Nile is 6,650 km long."})
    shown = drawn(report(source).model_copy(update={"claims": (worded,)}), provenance)
    for step in (
        "Reworded to stand alone by",
        "nile &lt;u&gt;",
        "wikipedia",
        "robots.txt forbids it.",
        source.sha256,
        "supports 0.90 · contradicts 0.00 · neither 0.10",
        "at least 0.50",
        "minicheck/1",
        "chunks: fixed",
    ):
        assert step in shown
    for absent in ("another", "<u>", "<i>"):
        assert absent not in shown


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("web", "#:~:text=The%20Nile%20is%206%2C650%20km%20long."),
        ("library", "data-at="),
    ],
)
def test_a_web_passage_opens_at_its_sentence_and_another_here(kind: str, wanted: str) -> None:
    source = page(TEXT).model_copy(update={"kind": kind})
    assert wanted in drawn(report(source))


@pytest.mark.parametrize(
    ("without", "word"), [("pending", "Being checked"), ("not_reached", "Not reached")]
)
def test_a_claim_without_a_verdict_says_why(without: str, word: str) -> None:
    made = report(page(TEXT)).model_copy(update={"verdicts": ()})
    (row,) = claim_rows(made, without)
    assert word in html(panel(row, made))


def test_a_word_that_the_shown_passage_has_not_is_called_missing() -> None:
    source = "It was made in 1884. The lamp burns oil."
    lamp = "The lamp was made of brass in 1884."
    shown = drawn(judged(lamp, "unclear", (source, "no_relation")))
    assert "The closest passage doesn&#x27;t mention “brass”." in shown
