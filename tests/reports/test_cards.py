import pytest

from attribution.reports.cards import footnotes, headline, panel, quoted_words, tip
from attribution.reports.html import html
from attribution.reports.source_view import source_list
from attribution.review.quotations import quotations
from attribution.types import (
    Evidence,
    Failure,
    OtherVerdict,
    Page,
    Probabilities,
    Report,
    Usage,
    Verdict,
)
from attribution.verifiers import VERIFIERS
from tests.make import claim, page

CLAIM = claim("The Nile is 6,650 km long.")
TEXT = "About rivers.\n\nThe Nile is 6,650 km long."
SPAN = (15, 41)
READERS = [VERIFIERS[name].label for name in ("embedded-small", "minicheck")]


def piece(of: Page, entailed: float = 0.9) -> Evidence:
    return Evidence(
        claim_id=CLAIM.id,
        page_id=of.id,
        start=0,
        end=41,
        text=TEXT,
        similarity=0.7,
        relation="entailed",
        probabilities={"entailed": entailed, "contradicted": 0.0, "no_relation": 1 - entailed},
        sentence=SPAN,
    )


def report(*pages: Page, failures: tuple[Failure, ...] = (), **usage: object) -> Report:
    evidence = tuple(piece(p) for p in pages)
    return Report(
        id="0" * 16,
        created_at="2026-11-01T10:00:00+00:00",
        question="",
        answer=CLAIM.text,
        settings={"threshold": 0.5, "max_queries": 300, "max_pages": 300, "max_seconds": 600.0},
        versions={},
        claims=(CLAIM,),
        pages=pages,
        evidence=evidence,
        failures=failures,
        usage=Usage(**usage),
        verdicts=(Verdict(claim_id=CLAIM.id, label="supported", confidence=0.9, reason="1 of 1."),),
    )


def drawn(made: Report) -> str:
    pages = {p.id: p for p in made.pages}
    return html(panel(CLAIM, 1, made.verdicts[0], made.evidence, made, pages))


def test_a_pdf_is_opened_at_its_page() -> None:
    pdf = page(TEXT, "https://a.example/r.pdf#x", breaks=(0, 15), site="")
    made = report(pdf)
    assert " · ".join(("a.example", "web page", "page 2", "read 1 Nov 2026")) in drawn(made)
    assert 'href="https://a.example/r.pdf#page=2"' in drawn(made) and "Open at page 2" in drawn(
        made
    )
    assert ", page 2, read" in html(footnotes(made, {pdf.id: pdf}))


def test_site_and_dates_are_named() -> None:
    dated = page(TEXT, published="2024-05-03")
    assert "example.org · web page · published 3 May 2024 · read 1 Nov 2026" in drawn(report(dated))


def test_each_card_names_the_kind_of_its_source_and_how_many_say_it() -> None:
    for update, kind in (
        ({"genre": "news"}, "news"),
        ({"kind": "document", "site": ""}, "own document"),
    ):
        assert f"{kind} · read 1 Nov 2026" in (
            shown := drawn(report(page(TEXT).model_copy(update=update)))
        )
        assert "said by one source" in shown


def test_words_that_stand_in_the_source_are_marked_and_a_whole_sentence_is_word_for_word() -> None:
    assert "word for word" not in drawn(report(page(TEXT)))
    made = report(page(TEXT))
    made = made.model_copy(
        update={"evidence": (made.evidence[0].model_copy(update={"signals": {"verbatim": 1.0}}),)}
    )
    assert "Supports, word for word" in drawn(
        made
    ) and '<span class="same-words">The Nile is 6,650 km long</span>' in drawn(made)
    assert (
        tip(CLAIM, made.verdicts[0], made, {p.id: p for p in made.pages})
        == "“The Nile is 6,650 km long.” A title"
    )


@pytest.mark.parametrize(
    ("sources", "label", "said"),
    [
        (["duckduckgo"], "missing", "1 not searched: Web (DuckDuckGo) could not be used"),
        (["library", "duckduckgo"], "supported", "1 supported; Web (DuckDuckGo) could not be used"),
    ],
)
def test_the_headline_names_an_engine_that_could_not_be_used(
    sources: list[str], label: str, said: str
) -> None:
    down = Failure(
        stage="search",
        subject="duckduckgo",
        kind="source_unread",
        message="it could not be reached",
    )
    made = report(page(TEXT), failures=(down,))
    verdict = made.verdicts[0].model_copy(update={"label": label})
    settings = made.settings | {"sources": sources}
    assert headline(made.model_copy(update={"settings": settings, "verdicts": (verdict,)})) == said


@pytest.mark.parametrize(
    ("reader", "said"),
    [
        ("first", f"Second reading, by {READERS[1]}. The first, by {READERS[0]}, was: "),
        ("second", f"Read again by {READERS[1]}: "),
    ],
)
def test_a_second_reading_names_both_verifiers_and_the_other_verdict(
    reader: str, said: str
) -> None:
    made = report(page("The Nile is 6,650 km long."))
    other = {"reader": reader, "label": "unclear", "confidence": 0.4, "reason": "r"}
    verdict = made.verdicts[0].model_copy(update={"other": OtherVerdict(**other)})
    versions = {"verifier": "embedded-small/1", f"verifier:{CLAIM.id}": "minicheck/1"}
    shown = drawn(made.model_copy(update={"verdicts": (verdict,), "versions": versions}))
    assert f"{said}<span" in shown and "Unclear" in shown


def test_copies_count_once_and_are_said() -> None:
    pages = [
        page(TEXT, f"https://{host}/", site=host, origin=origin)
        for host, origin in (
            ("a.example", "o"),
            ("b.example", "o"),
            ("c.example", "o"),
            ("d.example", ""),
        )
    ]
    shown = drawn(report(*pages))
    assert "3 pages, 1 origin · said by 2 independent sources" in shown
    assert 'title="a.example, b.example, c.example"' in shown
    assert "origin" not in drawn(report(pages[3]))


def test_one_page_that_denies_a_claim_in_no_value_leaves_it_open_everywhere() -> None:
    denying = {"entailed": 0.2, "contradicted": 0.8, "no_relation": 0.0}
    against = piece(source := page(TEXT)).model_copy(
        update={"relation": "contradicted", "probabilities": Probabilities(**denying)}
    )
    aside = page("Of other rivers.", "https://b.example/")
    lone = report(source, aside).model_copy(update={"evidence": (against,)})
    shown, listed = drawn(lone), html(source_list(lone))
    assert (
        "Leans to contradiction" in shown
        and "one page without a value that differs counts from 0.90 on" in shown
    )
    assert (
        "leaves open 1" in listed
        and "contradicts" not in listed
        and "1 page without such a passage" in listed
    )
    differing = lone.model_copy(
        update={"evidence": (against.model_copy(update={"difference": "6,650 against 7"}),)}
    )
    assert "Leans" not in drawn(differing) and "contradicts 1" in html(source_list(differing))


def test_a_quotation_stands_in_the_card_with_what_was_altered() -> None:
    said = "Livingstone wrote: “The Nile is 6,650 km long and nobody knows its source.”"
    source = page("He wrote: “The Nile is 6,650 km long, and everybody knows its source.”")
    made = report(source).model_copy(update={"answer": said})
    spoken = quotations(made)
    of_claim = CLAIM.model_copy(update={"spans": ((0, len(said)),)})
    shown = html(panel(of_claim, 1, made.verdicts[0], (), made, {}, spoken=spoken))
    assert "✗</span> altered" in shown or "altered</span>" in shown
    assert '<del class="removed">everybody</del><strong class="added">nobody</strong>' in shown
    assert quoted_words(spoken) == "1 quotation: 1 altered"
    assert "quotation" not in html(panel(CLAIM, 1, made.verdicts[0], (), made, {}, spoken=()))


@pytest.mark.parametrize(
    ("text", "enriched", "said"),
    [
        ("It is long.", "The Nile is long.", "depends on the added words. Without them"),
        ("The famous Nile is long.", "The Nile is long.", "depends on the rewording. As written"),
    ],
)
def test_a_verdict_that_the_claim_as_written_does_not_have(
    text: str, enriched: str, said: str
) -> None:
    reworded = claim(text, enriched=enriched)
    made = report()
    verdict = made.verdicts[0].model_copy(update={"without_added": "no_relation"})
    assert said in html(panel(reworded, 1, verdict, (), made, {}))


def test_what_failed_for_a_claim_stands_beside_it() -> None:
    failure = Failure(
        stage="queries",
        subject=CLAIM.text,
        kind="llm_failed",
        message="no <b>reply</b>; searched itself",
    )
    shown = drawn(
        report(page(TEXT), failures=(failure, failure.model_copy(update={"subject": "another"})))
    )
    beside, _, in_the_chain = shown.partition("Why this verdict")
    for part in (beside, in_the_chain):
        assert part.count("No &lt;b&gt;reply&lt;/b&gt;; searched itself.") == 1
