import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.errors import BadInput, NotYours
from attribution.store.history import (
    HistoryQuery,
    HistoryRow,
    clean_tags,
    searchable,
)
from attribution.store.store import Store
from attribution.types import AnalystVerdict, Document, Label, Report, Verdict
from tests.make import claim, page, save_version


def report(
    run_id: str, question: str, day: int, label: Label = "supported", source: str = "library"
) -> Report:
    checked = claim(f"{question} is a claim of {run_id}.")
    return Report(
        id=run_id,
        created_at=f"2026-11-{day:02}T10:00:00+00:00",
        question=question,
        answer="An answer.\nIt goes on.",
        settings={"sources": [source]},
        versions={},
        claims=(checked,),
        pages=(page(f"Text of {run_id}"),),
        verdicts=(Verdict(claim_id=checked.id, label=label, confidence=0.9, reason="because"),),
    )


@pytest.fixture
def three(store: Store) -> Store:
    """Three runs of mine, one of somebody else."""
    made = (
        (report("nile", "How long is the Nile?", 1), "mine"),
        (report("straße", "", 2, "contradicted", "duckduckgo"), "mine"),
        (
            report(
                "tower", "How HIGH is the tower? 100% _sure_", 3, "unclear", "collection:rivers"
            ),
            "mine",
        ),
        (report("secret", "How long is the Nile?", 4), "other's"),
    )
    for saved, owner in made:
        Store(store.database, owner).runs.save(saved)
    return Store(store.database, "mine")


def ids(store: Store, **query: object) -> list[str]:
    return [row.id for row in store.history.find(HistoryQuery(**query)).rows]


def row_of(store: Store, run_id: str) -> HistoryRow:
    return next(row for row in store.history.find(HistoryQuery()).rows if row.id == run_id)


def test_only_own_runs_are_listed_newest_first(three: Store) -> None:
    assert ids(three) == ["tower", "straße", "nile"]
    assert ids(Store(three.database, "other's")) == ["secret"]
    assert (
        ids(Store(three.database))
        == ids(Store(three.database, "nobody"))
        == []
        == Store(three.database).history.tags()
    )
    row = three.history.find(HistoryQuery()).rows[-1]
    assert (row.name, row.verdicts, row.claims, row.sources) == (
        "How long is the Nile?",
        {"supported": 1},
        1,
        ("library",),
    )
    assert (
        three.history.find(HistoryQuery(limit=1, offset=1)).rows[0].name == "An answer. It goes on."
    )
    assert three.history.find(HistoryQuery(limit=1, offset=1)).total == 3


def test_search_and_filters(three: Store) -> None:
    three.history.describe(
        "nile", " My\n title ", ["Rivers", "rivers ", "Ünï", ""], "A note: STRASSE"
    )
    assert ids(three, words="HOW is") == ["tower", "nile"]
    assert ids(three, words="claim nile") == ["nile"]  # of a claim and of the question
    assert ids(three, words="title") == ids(three, words="ünï") == ["nile"]
    assert ids(three, words="strasse") == ["straße", "nile"]  # a claim there, the note here
    assert ids(three, words="100% _sure_") == ["tower"]
    assert ids(three, words="100_") == [] == ids(three, words="absent")
    assert ids(three, tag="rivers") == ["nile"]
    assert ids(three, tag="river") == []
    assert three.history.tags() == ["rivers", "ünï"]
    assert Store(three.database, "other's").history.tags() == []
    (row,) = three.history.find(HistoryQuery(tag="ünï")).rows
    assert (row.name, row.tags, row.note) == ("My title", ("rivers", "ünï"), "A note: STRASSE")


def test_the_shown_version_is_what_the_list_shows(three: Store) -> None:
    saved = three.runs.load("nile")
    assert saved is not None
    verdict = saved.verdicts[0].model_copy(update={"label": "conflicting"})
    save_version(three, saved.model_copy(update={"verdicts": (verdict,)}), verdict.claim_id)
    assert row_of(three, "nile").verdicts == {"conflicting": 1}
    three.runs.undo("nile")
    assert row_of(three, "nile").verdicts == {"supported": 1}


def test_assessments_replace_verdicts_and_count_as_reviewed(three: Store) -> None:
    assert ids(three, state="to_review") == ["tower", "straße", "nile"]
    saved = three.runs.load("nile")
    assert saved is not None
    (nile,) = saved.claims
    assessment = AnalystVerdict(
        claim_id=nile.id, statement=nile.statement, label="contradicted", badge="supported", at=""
    )
    save_version(three, saved.model_copy(update={"judgements": (assessment,)}), nile.id)
    assert row_of(three, "nile").verdicts == {"contradicted": 1}
    assert ids(three, state="reviewed") == ["nile"]
    assert ids(three, state="to_review") == ["tower", "straße"]
    assert three.history.next_to_review() == "tower"
    assert three.history.next_to_review("tower") == "straße"
    assert three.history.totals() == (3, 2, 1, 0, 3, 1)
    note = assessment.model_copy(update={"label": None, "note": "Ask."})
    save_version(three, saved.model_copy(update={"judgements": (note,)}), nile.id)
    assert ids(three, state="reviewed") == []


def test_documents_are_named_in_the_list(store: Store) -> None:
    read = page("Notes.", url="document:notes.txt")
    own = Store(store.database, "mine")
    mixed = report("mixed", "What?", 1).model_copy(
        update={"settings": {"sources": ["documents", "library"]}, "pages": (read,)}
    )
    own.runs.save(mixed)
    assert row_of(own, "mixed").sources == ("document:notes.txt", "library")


def test_a_run_that_goes_on_is_listed_with_what_is_known(store: Store) -> None:
    known, store = report("going", "How?", 5), Store(store.database, "mine")
    store.runs.start("going", known.question, known.answer, known.settings, known.created_at)
    assert ids(store, state="unfinished") == ["going"]
    note = Document("a.txt", b"\x00\xff", "text/plain")
    store.runs.save_documents("going", [note, note])
    store.runs.save_unfinished(known, known.pages)
    (row,) = store.history.find(HistoryQuery(words="claim")).rows
    assert not row.finished
    assert row.verdicts == {"supported": 1}
    assert store.runs.load_unfinished("going") == known
    assert store.runs.documents("going") == (
        note,
        note,
    )
    assert store.runs.load("going") is None
    store.runs.save(known)
    store.runs.save_unfinished(known)  # too late
    assert store.runs.load_unfinished("going") is None
    assert store.runs.documents("going") == ()
    assert ids(store, state="finished") == ["going"]
    assert ids(store, state="unfinished") == []
    with pytest.raises(NotYours, match="no longer in the database"):
        store.runs.save_unfinished(report("unknown", "", 1))


def test_what_is_too_long_or_not_ones_own_is_refused(three: Store) -> None:
    with pytest.raises(BadInput, match="201 characters of title; at most 200"):
        three.history.describe("nile", "x" * 201, [], "")
    with pytest.raises(BadInput, match="10,001 characters of note"):
        three.history.describe("nile", "", [], "x" * 10_001)
    with pytest.raises(BadInput, match="401 characters of tags"):
        clean_tags(["x" * 400, "y"])
    with pytest.raises(NotYours, match="belongs to another browser: make a copy"):
        three.history.describe("secret", "mine now", [], "")
    assert three.history.find(HistoryQuery(words="nile")).rows[0].title == ""


@given(st.text(max_size=60))
def test_every_word_of_a_text_finds_it(text: str) -> None:
    words = searchable(text).split()
    assert all(word in searchable("before", text) for word in words)
    assert searchable(searchable(text)) == searchable(text) == searchable(f" {text}\n")


def test_a_search_has_twelve_words_and_leaves_no_memory_behind(three: Store) -> None:
    cached = three.database.engine._compiled_cache
    twelve = "how long is the nile a claim of an answer goes on"
    assert ids(three, words=twelve) == ["nile"]
    before = len(cached or ())
    for words in (f"{twelve} x y", "word " * 10_000, "x" * 501, "\u3000".join("abcdefghijklm")):
        with pytest.raises(BadInput, match="12 words"):
            ids(three, words=words)
    assert len(cached or ()) == before
