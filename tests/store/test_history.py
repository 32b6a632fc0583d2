import pytest

from attribution.errors import BadInput
from attribution.store.history import HistoryQuery, HistoryRow, clean_tags
from attribution.store.store import Store
from attribution.types import Label, Report
from tests import make
from tests.make import assessment, claim, page, save_run, save_version


def report(
    run_id: str, question: str, day: int, label: Label = "supported", source: str = "library"
) -> Report:
    checked = claim(f"{question} is a claim of {run_id}.")
    return make.judged(
        (checked, label),
        answer="An answer.\nIt goes on.",
        id=run_id,
        created_at=f"2026-11-{day:02}T10:00:00+00:00",
        question=question,
        settings={"sources": [source]},
        pages=(page(f"Text of {run_id}"),),
    )


NILE = report("nile", "How long is the Nile?", 1)
STREET = report("straße", "", 2, "contradicted", "duckduckgo")
TOWER = report("tower", "How HIGH is the tower? 100% _sure_", 3, "unclear", "collection:rivers")


@pytest.fixture
def three(store: Store) -> Store:
    """Three runs of mine, one of somebody else."""
    mine = Store(store.database, "mine")
    for saved in (NILE, STREET, TOWER):
        save_run(mine, saved)
    save_run(Store(store.database, "other's"), report("secret", "How long is the Nile?", 4))
    return mine


def ids(store: Store, **query: object) -> list[str]:
    return [row.id for row in store.history.find(HistoryQuery(**query)).rows]


def row_of(store: Store, run_id: str) -> HistoryRow:
    return next(row for row in store.history.find(HistoryQuery()).rows if row.id == run_id)


def test_only_own_runs_are_listed_newest_first(three: Store) -> None:
    assert ids(three) == ["tower", "straße", "nile"]
    assert ids(three, oldest_first=True) == ["nile", "straße", "tower"]
    assert ids(Store(three.database, "other's")) == ["secret"]
    assert ids(Store(three.database)) == []
    nile = row_of(three, "nile")
    assert nile.name == "How long is the Nile?"
    assert nile.verdicts == {"supported": 1}
    assert nile.claims == 1
    assert nile.sources == ["library"]
    assert row_of(three, "straße").name == "An answer. It goes on."
    newest = three.history.find(HistoryQuery(limit=1))
    assert len(newest.rows) == 1
    assert newest.total == 3


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("HOW is", ["tower", "nile"]),
        ("claim nile", ["nile"]),  # of a claim and of the question
        ("title", ["nile"]),
        ("ünï", ["nile"]),
        ("strasse", ["straße", "nile"]),  # a claim there, the note here
        ("100% _sure_", ["tower"]),
        ("100_", []),
        ("how long is the nile a claim of an answer goes on", ["nile"]),
    ],
)
def test_every_word_must_occur_in_question_answer_claims_title_tags_or_note(
    three: Store, words: str, expected: list[str]
) -> None:
    three.history.describe("nile", " My\n title ", ["Ünï"], "A note: STRASSE")
    assert ids(three, words=words) == expected


def test_tags_are_normalised_and_found_whole(three: Store) -> None:
    three.history.describe("nile", " My\n title ", ["Rivers", "rivers ", "Ünï", ""], "A note")
    assert ids(three, tag="rivers") == ["nile"]
    assert ids(three, tag="river") == []
    assert three.history.tags() == ["rivers", "ünï"]
    assert Store(three.database, "other's").history.tags() == []
    described = row_of(three, "nile")
    assert described.name == "My title"
    assert described.tags == ("rivers", "ünï")
    assert described.note == "A note"


def test_the_shown_version_is_what_the_list_shows(three: Store) -> None:
    verdict = NILE.verdicts[0].model_copy(update={"label": "conflicting"})
    save_version(three, NILE.model_copy(update={"verdicts": (verdict,)}), verdict.claim_id)
    assert row_of(three, "nile").verdicts == {"conflicting": 1}
    three.runs.undo("nile")
    assert row_of(three, "nile").verdicts == {"supported": 1}


def test_assessments_replace_verdicts_and_count_as_reviewed(three: Store) -> None:
    assert ids(three, state="to_review") == ["tower", "straße", "nile"]
    (nile,) = NILE.claims
    own = assessment(nile, "contradicted")
    save_version(three, NILE.model_copy(update={"judgements": (own,)}), nile.id)
    assert row_of(three, "nile").verdicts == {"contradicted": 1}
    assert ids(three, state="reviewed") == ["nile"]
    assert ids(three, state="to_review") == ["tower", "straße"]
    assert three.history.next_to_review() == "tower"
    assert three.history.next_to_review("tower") == "straße"
    assert three.history.totals() == {
        "all": 3,
        "to_review": 2,
        "reviewed": 1,
        "finished": 3,
        "unfinished": 0,
        "checked_claims": 3,
        "reviewed_claims": 1,
    }
    note = assessment(nile, None, "Ask.")
    save_version(three, NILE.model_copy(update={"judgements": (note,)}), nile.id)
    assert ids(three, state="reviewed") == []


def test_a_run_is_listed_from_its_start_with_what_is_known(store: Store) -> None:
    mine = Store(store.database, "mine")
    read = page("Notes.", url="document:notes.txt")
    known = report("going", "How?", 5, source="documents").model_copy(update={"pages": (read,)})
    mine.runs.start(known.model_copy(update={"claims": (), "pages": (), "verdicts": ()}))
    assert ids(mine, state="unfinished", words="how") == ["going"]
    mine.runs.save_unfinished(known, known.pages)
    assert row_of(mine, "going").verdicts == {"supported": 1}
    assert row_of(mine, "going").sources == ["document:notes.txt"]
    assert mine.runs.load("going", unfinished=True) == known
    mine.runs.finish(known)
    assert ids(mine, state="finished") == ["going"]
    assert ids(mine, state="unfinished") == []


def test_tags_are_parted_at_commas() -> None:
    assert clean_tags(["Second, first", "first"]) == ["first", "second"]


def test_what_is_too_long_is_refused() -> None:
    with pytest.raises(BadInput, match="401 characters of tags"):
        clean_tags(["x" * 400, "y"])


def test_of_a_search_twelve_words_count(three: Store) -> None:
    assert ids(three, words="nile " * 12 + "nothing") == ["nile"]
