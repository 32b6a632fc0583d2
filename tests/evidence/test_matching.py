from __future__ import annotations

from attribution.evidence.matching import Matcher, spread
from attribution.evidence.search import queries
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Chunk
from tests.make import claim, page

NEAR = "The Eiffel Tower in Paris was completed in 1889 for the world's fair."
ASIDE = (
    "The Garabit viaduct, an iron arch over a gorge in the Massif Central, carried its first "
    "trains in 1885."
)

LIST = (
    "Agenda: coffee; budget; parking; holidays; printers; the garden; chairs. Room 4, Tuesday, at "
    "noon."
)


COMPLETED = claim("The Eiffel Tower in Paris was completed in 1889.")
SAID = [f"{NEAR} It is said by {number} people." for number in range(100)]


def over(settings: Settings, store: Store, *texts: str, **chosen: object) -> Matcher:
    """A matcher with a page for each text."""
    matcher = Matcher(settings.model_copy(update=chosen), store, "")
    for number, text in enumerate(texts):
        matcher.add(page(text, f"document:p{number}"))
    return matcher


def embedded_by(matcher: Matcher) -> list[str]:
    """The texts that it embeds from now on."""
    embedded: list[str] = []
    embed = matcher.candidates.embedder.embed
    matcher.candidates.embedder.embed = lambda texts: embedded.extend(texts) or embed(texts)  # type: ignore
    return embedded


def test_a_passage_that_holds_the_claims_words_is_judged_however_its_cosine_misleads(
    settings: Settings, store: Store
) -> None:
    others = [
        f"Data of customers number {number} leaked from a firm, it was said in May."
        for number in range(12)
    ]
    matcher = over(
        settings, store, f"{LIST} No customer data were leaked. {LIST}", *others, chunk_size=256
    )
    [pieces] = matcher.match([claim("No customer data were leaked.")])
    own = next(e for e in pieces if "No customer data were leaked." in e.text)
    assert own.relation == "entailed"
    assert own.deciding_sentence == "No customer data were leaked."


def test_of_many_passages_as_near_the_one_with_the_claims_words_is_held_against_it(
    settings: Settings, store: Store
) -> None:
    work = "carried timber from the northern port to the mills in the year of the flood."
    asked = claim(
        "Timber was carried from the northern port to the mills by Qvx-21 in the year of the flood."
    )
    found = {}
    for ranking in ("vectors", "hybrid"):
        texts = [f"The ship of captain {chr(n + 54)} Qvx-{n} {work}" for n in range(11, 23)]
        [pieces] = over(settings, store, *texts, ranking=ranking, top_k=2).match([asked])
        assert len(pieces) == 2
        assert pieces[0].similarity >= pieces[1].similarity
        found[ranking] = any("Qvx-21" in e.text for e in pieces)
    assert found == {"vectors": False, "hybrid": True}


def test_of_many_chunks_only_the_best_by_words_and_static_vectors_are_embedded(
    settings: Settings, store: Store
) -> None:
    aside = [
        f"Of the town of Qvx-{n} it is told that its mills were built of oak." for n in range(100)
    ]
    texts = [*aside, NEAR, "In Paris the Eiffel Tower was finished."]
    found = {}
    for shortlist in (4, 0):
        matcher = over(settings, store, *texts, shortlist=shortlist)
        embedded = embedded_by(matcher)
        [pieces] = matcher.match([COMPLETED])
        found[shortlist] = [(e.text, e.similarity) for e in pieces[:2]]
        if shortlist:
            assert len(embedded) == 4 + 1
            assert {*texts[-2:], COMPLETED.text} <= set(embedded)
            kept = set(embedded)
        else:
            assert set(embedded) == set(texts) - kept  # what is embedded is kept
    assert found[4] == found[0] != []


def test_a_passage_in_other_words_is_on_the_shortlist(settings: Settings, store: Store) -> None:
    asked = claim("The physician was given a medal for her research.")
    near = (
        "Doctors honoured the scientist with an award for research that took her many years in the "
        "laboratory."
    )
    more = [
        f"The research of mill {number} was given up." for number in range(20)
    ]  # more of the claim's words
    matcher = over(settings, store, *more, near, shortlist=12)
    embedded = embedded_by(matcher)
    matcher.match([asked])
    assert near in embedded
    assert len(embedded) == 12 + 1


def test_the_order_in_which_pages_come_does_not_change_the_shortlist(
    settings: Settings, store: Store
) -> None:
    pages = [page(text, f"document:p{number}") for number, text in enumerate(SAID[:60])]
    found = []
    for some in (pages, pages[::-1]):
        matcher = Matcher(settings.model_copy(update={"shortlist": 6}), store, "")
        for number, one in enumerate(some):
            matcher.add(one)
            if number == 30:
                matcher.find([COMPLETED], early=True)
        [pieces] = matcher.match([COMPLETED])
        found.append([(e.page_id, e.start, e.similarity) for e in pieces])
    assert found[0] == found[1] != []


def test_a_line_that_states_nothing_decides_nothing(settings: Settings, store: Store) -> None:
    heading = "Facts and figures"
    address = "https://tower.example/eiffel-tower-is-330-metres-tall"
    text = (
        f"{heading}\n\nIt attracts seven million visitors a year, more than any other "
        f"tower.\n\n{address}"
    )
    links = f"References\n\n{address}\n\n[1] Eiffel, G. (1889). La tour. pp. 3–5."
    matcher = over(settings, store, text, links)
    [(piece,)] = matcher.match([claim("The Eiffel Tower in Paris is 330 metres tall.")])
    assert piece.text == text
    assert matcher.pages[piece.page_id].text[piece.start : piece.end] == text
    assert text[slice(*piece.sentence)].startswith("It attracts seven million")


def test_what_is_far_from_a_claim_and_lacks_its_words_is_not_read(
    settings: Settings, store: Store
) -> None:
    in_other_words = "In Paris the iron tower by Eiffel was finished."
    matcher = over(settings, store, ASIDE, LIST, in_other_words, NEAR)
    [pieces] = matcher.match([COMPLETED])
    assert {piece.text for piece in pieces} == {NEAR, in_other_words}


def test_a_plain_claim_alone_is_compared_and_meets_five_passages_always(
    settings: Settings, store: Store
) -> None:
    plain = {"decision": "plain", "ranking": "vectors", "shortlist": 0, "top_k": 5}
    texts = [ASIDE, LIST, NEAR, *(f"The office opens at {hour}." for hour in range(6, 12))]
    matcher = over(settings, store, *texts, **plain)
    matcher.question = "What is the oldest iron tower in Paris?"
    dependent = COMPLETED.model_copy(update={"independent": False, "context": ("Towers",)})
    embedded = embedded_by(matcher)
    [pieces] = matcher.match([dependent])
    assert len(pieces) == 5
    assert dependent.text in embedded
    assert not [text for text in embedded if "oldest" in text or "Towers" in text]
    assert queries(dependent, matcher.question, "claim") == [dependent.text]


def test_a_page_and_its_copies_take_two_of_five_places_unless_there_are_no_others() -> None:
    crowd, copy = [
        [Chunk(page_id=p, start=n, end=n + 1, text=f"{p} {n}") for n in range(9)]
        for p in ("a", "b")
    ]
    others = [Chunk(page_id=p, start=0, end=1, text=p) for p in "cde"]
    ranked = [*(c for both in zip(crowd, copy, strict=True) for c in both), *others]
    assert spread(ranked, 5, {"a": "a", "b": "a"}) == [crowd[0], copy[0], *others]
    assert spread(ranked, 5, {}) == [crowd[0], copy[0], crowd[1], copy[1], others[0]]
    assert spread([*crowd, others[0]], 5, {}) == [crowd[0], crowd[1], others[0], crowd[2], crowd[3]]
    assert spread(ranked, 5, None) == ranked[:5]


def test_a_claim_for_which_there_is_no_passage_has_no_evidence(
    settings: Settings, store: Store
) -> None:
    assert over(settings, store).match([COMPLETED]) == [()]
