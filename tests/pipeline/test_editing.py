import json
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from attribution import edits, events
from attribution.errors import BadInput, LlmFailed
from attribution.pipeline.changes import unclear_claims, with_verdict
from attribution.pipeline.editing import edit
from attribution.pipeline.run import run
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import AnalystLabel, Claim, Document, Evidence, Report, Verdict
from tests import make
from tests.llm_server import error, llm_server, llm_settings
from tests.servers import Served, http_server

ANSWER = (
    "The Zorb bridge was opened in 1931. It is painted green, and the Zorb tower is 40 metres "
    "high. "
    "I like it very much."
)
PAGES = (
    Document(
        "a.txt",
        b"The Zorb bridge was opened in 1931 by the mayor of Zorbtown, who walked over it first.",
    ),
    Document(
        "b.txt",
        b"The Zorb bridge is painted green. Its colour has been the same ever since it was built.",
    ),
)
TOWER = Document(
    "c.txt",
    b"The Zorb tower is 40 metres high. It stands beside the bridge and was built of bricks.",
)


class Editor:
    """A run, and what is done to it."""

    def __init__(self, report: Report, settings: Settings, store: Store) -> None:
        self.report, self.settings, self.store = report, settings, store

    def __call__(self, change: edits.Change, *documents: Document) -> Report:
        happened = edit(self.report, change, self.settings, self.store, documents)
        self.report = make.finished(happened)
        return self.report

    def claim(self, words: str) -> Claim:
        return next(c for c in self.report.claims if words in c.text)

    def verdict(self, words: str) -> Verdict:
        claim = self.claim(words)
        return next(v for v in self.report.verdicts if v.claim_id == claim.id)

    def label(self, words: str) -> str:
        return self.verdict(words).label

    def evidence(self, words: str) -> list[Evidence]:
        claim = self.claim(words)
        return [e for e in self.report.evidence if e.claim_id == claim.id]

    def saved(self) -> Report | None:
        return self.store.runs.load(self.report.id)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, Path]:
    """A run, and a database that holds nothing else."""
    path = tmp_path_factory.mktemp("run") / "attribution.sqlite3"
    url = f"sqlite:///{path}"
    settings = Settings(database_url=url, verifier="embedded-small", sources=("documents",))
    store = Store.open(url)
    report = make.finished(run("What is in Zorbtown?", ANSWER, settings, store, PAGES))
    store.close()
    return report, path


@pytest.fixture
def made(settings: Settings, finished: tuple[Report, Path]) -> Iterator[Editor]:
    with opened(settings, finished) as editor:
        yield editor


@contextmanager
def opened(settings: Settings, finished: tuple[Report, Path]) -> Iterator[Editor]:
    """A copy of the run in a database of its own."""
    report, path = finished
    copy = Path(settings.database_url.removeprefix("sqlite:///"))
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, copy)
    store = Store.open(settings.database_url)
    try:
        yield Editor(report, settings.model_copy(update={"sources": ("documents",)}), store)
    # hypothesis ends some examples by an error, and the next one is copied over this one's file
    finally:
        store.close()


def exclusion(piece: Evidence, excluded: bool = True) -> edits.Exclude:
    place = {"page_id": piece.page_id, "start": piece.start, "end": piece.end}
    return edits.Exclude(claim_id=piece.claim_id, excluded=excluded, **place)


def test_a_reworded_claim_is_another_claim_and_no_other_is_touched(made: Editor) -> None:
    before, painted = made.report, made.evidence("painted")
    change = edits.Reword(
        claim_id=before.claims[0].id, text="The Zorb bridge was opened\n by a mayor."
    )
    after = made(change)
    new = after.claims[0]
    assert new.text == "The Zorb bridge was opened by a mayor."
    assert new.id != before.claims[0].id
    assert new.spans == before.claims[0].spans
    assert made.label("by a mayor") == "supported"
    assert after.claims[1:] == before.claims[1:]
    assert after.verdicts[1:] == before.verdicts[1:]
    assert made.evidence("painted") == painted
    assert after.edits[0].claims == (new.id,)


def test_a_claim_is_split_at_the_place_of_its_words_and_merged(made: Editor) -> None:
    painted = made.claim("painted")
    texts = ("The Zorb bridge is painted green.", "", "The Zorb tower is 40 metres high.")
    made(edits.Split(claim_id=painted.id, texts=texts))
    (start, end), *_ = made.claim("40 metres").spans
    assert made.label("green.") == "supported"
    assert "tower" in ANSWER[start:end]
    assert painted.spans[0][0] <= start < end <= painted.spans[0][1]
    ids = (made.claim("40 metres").id, made.claim("green.").id)
    merged = made(edits.Merge(claim_ids=ids, text="The bridge is green and the tower high."))
    assert merged.claims[1].text == "The bridge is green and the tower high."
    assert len(merged.claims) == 3


def test_an_excluded_passage_stays_out_when_its_claim_is_reworded(made: Editor) -> None:
    verdict = made.label("opened")
    for piece in made.evidence("opened"):
        made(exclusion(piece))
    assert made.label("opened") == "missing"
    text = "Zorb bridge was opened in the year 1931."
    reworded = made(edits.Reword(claim_id=made.claim("opened").id, text=text))
    assert made.label("opened") == "missing"
    assert reworded.set_aside is not None
    for piece in reworded.set_aside.evidence:
        assert piece.claim_id == reworded.claims[0].id
        made(exclusion(piece, excluded=False))
    assert made.label("opened") == verdict
    assert made.report.set_aside is None


def test_evidence_is_added_to_one_claim(made: Editor) -> None:
    pages = len(made.report.pages)
    texts = ("It is green.", "The Zorb tower is 40 metres high.")
    made(edits.Split(claim_id=made.claim("painted").id, texts=texts))
    tower = made.claim("40")
    assert made.label("40 metres") != "supported"
    after = made(edits.AddEvidence(claim_id=tower.id, names=("c.txt",)), TOWER)
    assert made.label("40 metres") == "supported"
    assert len(after.pages) == pages + 1
    added = next(page.id for page in after.pages if page.url == "document:c.txt")
    assert added in {piece.page_id for piece in made.evidence("40 metres")}
    unread = Document("d.pdf", b"%PDF-1.4 no pdf")
    with pytest.raises(BadInput, match="damaged"):
        made(edits.AddEvidence(claim_id=tower.id, names=("d.pdf",)), unread)
    assert made.saved() == after


def test_an_opinion_is_checked_when_a_person_asks_for_it(made: Editor) -> None:
    assert made.label("like") == "not_checked"
    made(edits.AddEvidence(claim_id=made.claim("like").id))
    assert made.label("like") != "not_checked"


def test_a_second_verifier_is_named_and_both_verdicts_are_kept(made: Editor) -> None:
    first = made.verdict("opened").model_copy(update={"label": "unclear"})
    before = made.report = with_verdict(made.report, first, made.evidence("opened"))
    bridge = made.claim("opened")
    after = made(edits.Recheck(verifier="embedded-base"))
    second = made.verdict("opened")
    assert after.claims == before.claims
    assert after.versions["verifier"] == before.versions["verifier"]
    assert after.versions[f"verifier:{bridge.id}"].startswith("embedded-base/")
    assert second.other is not None
    assert (second.other.reader, second.other.label) == ("first", first.label)
    made(edits.AddEvidence(claim_id=bridge.id))
    assert f"verifier:{bridge.id}" not in made.report.versions


def test_all_unclear_claims_are_rechecked_and_no_other(made: Editor) -> None:
    unclear = unclear_claims(made.report)
    after = made(edits.Recheck(verifier="embedded-base"))
    assert [c.id for c in unclear] == [made.report.claims[1].id]
    assert after.edits[-1].claims == (unclear[0].id,)
    assert [v.other is not None for v in after.verdicts] == [False, True, False]


def with_llm(made: Editor, served: Served) -> Editor:
    database = made.settings.database_url
    made.settings = llm_settings(served, database_url=database, sources=("documents",))
    return made


def test_a_claim_that_the_second_verifier_cannot_read_keeps_its_first_verdict(
    made: Editor,
) -> None:
    before = made.verdict("painted")
    with llm_server(lambda _: "I cannot say.") as served:
        after = with_llm(made, served)(edits.Recheck(verifier="llm"))
    assert made.verdict("painted") == before
    assert [failure.kind for failure in after.failures] == ["verifier_failed"]
    assert after.failures[0].message.endswith("the first verdict stays")


def test_a_second_verifier_that_does_not_answer_changes_nothing(made: Editor) -> None:
    before = made.report
    with llm_server(lambda _: error(401, "bad key")) as served, pytest.raises(LlmFailed):
        with_llm(made, served)(edits.Recheck(verifier="llm"))
    assert made.saved() == before


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda c: edits.Reword(claim_id="gone", text="x"), "not in this run"),
        (lambda c: edits.Reword(claim_id=c.id, text=c.text), "same as before"),
        (lambda c: edits.Reword(claim_id=c.id, text=" ?! "), "is empty"),
        (lambda c: edits.Split(claim_id=c.id, texts=("one", " one ")), "two or more"),
        (lambda c: edits.Merge(claim_ids=(c.id, c.id), text="x"), "two or more"),
        (lambda c: edits.Exclude(claim_id=c.id, page_id="x", start=0, end=1), "not evidence for"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_saved(
    made: Editor, change: Callable[[Claim], edits.Change], problem: str
) -> None:
    with pytest.raises(BadInput, match=problem):
        made(change(made.report.claims[0]))
    assert made.store.runs.shown_version(made.report.id) == 1
    assert made.saved() == made.report


def test_a_stopped_edit_changes_nothing(made: Editor) -> None:
    stop = threading.Event()
    stop.set()
    change = edits.Reword(claim_id=made.report.claims[0].id, text="Other words.")
    happened = list(edit(made.report, change, made.settings, made.store, stop=stop))
    assert not any(isinstance(event, events.Finished) for event in happened)
    assert made.saved() == made.report


def test_only_the_edited_claim_is_searched_for_when_asked(
    made: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    hit = {"results": [{"url": "http://127.0.0.1:9/page", "title": "t", "content": ""}]}
    reply = (200, {"Content-Type": "application/json"}, json.dumps(hit).encode())
    with http_server(lambda _: reply) as served:
        monkeypatch.setenv("ATTRIBUTION_SEARXNG_URL", served.url())
        made.settings = made.settings.model_copy(update={"sources": ("documents", "searxng")})
        made(edits.Reword(claim_id=made.claim("opened").id, text="A mayor opened it."))
        assert served.requests == []
        after = made(edits.AddEvidence(claim_id=made.claim("mayor").id, search=True))
    assert len(served.requests) == 1
    assert "mayor" in served.paths[0]
    assert "painted" not in served.paths[0]
    assert [failure.kind for failure in after.failures] == ["blocked_address"]
    assert after.edits[-1].summary.startswith("Searched again")


# --- undo ---

TEXTS = st.sampled_from(
    [
        "The Zorb bridge was opened by a mayor.",
        "The tower is high.",
        "It is green.",
        "Ünïcode 🙂 bridge",
    ]
)


def possible_changes(report: Report, claim: Claim, other: Claim, text: str) -> list[edits.Change]:
    """Changes of each kind, which may fit the report."""
    excluded = report.set_aside.evidence if report.set_aside else ()
    return [
        edits.Split(claim_id=claim.id, texts=(text, "The bridge is painted green.")),
        edits.Merge(claim_ids=(claim.id, other.id), text=text),
        edits.AddEvidence(claim_id=claim.id),
        edits.Recheck(verifier="embedded-small"),
        edits.Judge(claim_id=claim.id, label="supported", note=text),
        edits.Judge(claim_id=claim.id, label=None),
        edits.Reword(claim_id=claim.id, text=text),
        *(exclusion(piece) for piece in report.evidence[:3]),
        *(exclusion(piece, excluded=False) for piece in excluded),
    ]


@given(data=st.data())
@examples(
    max_examples=12,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_as_many_undos_as_edits_restore_the_report(
    settings: Settings, finished: tuple[Report, Path], data: st.DataObject
) -> None:
    with opened(settings, finished) as made:
        _edit_and_undo(made, data)


def _edit_and_undo(made: Editor, data: st.DataObject) -> None:
    first = made.report
    reports = [first]
    for _ in range(data.draw(st.integers(1, 5))):
        one, other = (data.draw(st.sampled_from(made.report.claims)) for _ in range(2))
        changes = possible_changes(made.report, one, other, data.draw(TEXTS))
        change = data.draw(st.sampled_from(changes))
        try:
            made(change)
        except BadInput:
            assert made.saved() == reports[-1]
            continue
        reports.append(made.report)
        ids = [c.id for c in made.report.claims]
        assert len(set(ids)) == len(ids)
        assert [v.claim_id for v in made.report.verdicts] == ids
        assert {e.claim_id for e in made.report.evidence} <= set(ids)
        statements = {c.id: c.statement for c in made.report.claims}
        assert all(j.statement == statements[j.claim_id] for j in made.report.judgements)
        assert all(ANSWER[a:b].strip() for c in made.report.claims for a, b in c.spans)
    for earlier in reversed(reports[:-1]):
        undone = made.store.runs.undo(first.id)
        assert undone is not None
        assert undone.to_json() == earlier.to_json()
    assert made.store.runs.undo(first.id) is None


# --- assessments ---


def judge(made: Editor, label: AnalystLabel | None, note: str = "", words: str = "opened") -> None:
    made(edits.Judge(claim_id=made.claim(words).id, label=label, note=note))


def judged(made: Editor) -> list[tuple[AnalystLabel | None, str]]:
    return [(judgement.label, judgement.note) for judgement in made.report.judgements]


def test_a_verdict_of_ones_own_stands_beside_the_model_s(made: Editor) -> None:
    before = made.report
    assert json.loads(before.to_json())["judgements"] == []
    judge(made, "contradicted", "  It was 1932. \n")
    after = made.report
    assert judged(made) == [("contradicted", "It was 1932.")]
    assert after.judgements[0].badge == "supported"
    assert after.claims == before.claims
    assert after.evidence == before.evidence
    assert [v.label for v in after.verdicts] == [v.label for v in before.verdicts]
    assert [v.assessment for v in after.verdicts] == ["contradicted", None, None]
    assert made.saved() == after


def test_a_verdict_is_replaced_and_cleared(made: Editor) -> None:
    judge(made, "contradicted")
    with pytest.raises(BadInput, match="is the same already"):
        judge(made, "contradicted")
    judge(made, "supported")
    judge(made, None, "Ask the archive.")
    assert judged(made) == [(None, "Ask the archive.")]
    judge(made, None)
    with pytest.raises(BadInput, match="no verdict of yours"):
        judge(made, None)


def test_it_stays_while_the_words_stay_and_goes_with_them(made: Editor) -> None:
    judge(made, "unclear", "why", "painted")
    claim = made.claim("painted")
    made(edits.Recheck(verifier="embedded-base"))
    made(edits.AddEvidence(claim_id=claim.id))
    assert judged(made) == [("unclear", "why")]
    made(edits.Reword(claim_id=claim.id, text="It was opened by a mayor."))
    assert judged(made) == []


def test_a_verdict_given_while_another_edit_goes_on_is_kept(made: Editor) -> None:
    change = edits.AddEvidence(claim_id=made.claim("opened").id)
    editing = edit(made.report, change, made.settings, made.store)
    for event in editing:
        if isinstance(event, events.Progress):  # the passages are about to be compared
            break
    judge(made, "unclear", "seen", "painted")
    report = make.finished(editing)
    assert report.judgements == made.report.judgements
    kinds = [type(one.change) for one in report.edits]
    assert kinds == [edits.Judge, edits.AddEvidence]
    assert made.saved() == report
    assert made.store.runs.undo(report.id) == made.report


def test_a_stranger_s_copy_has_none_of_the_owner_s_verdicts(made: Editor) -> None:
    judge(made, "contradicted", "mine")
    stranger = Store(made.store.database, "stranger")
    copy = stranger.runs.load(stranger.runs.copy(made.report.id))
    own = made.store.runs.load(made.store.runs.copy(made.report.id))
    assert copy is not None
    assert own is not None
    assert copy.judgements == ()
    assert copy.verdicts == made.report.verdicts
    assert own.judgements == made.report.judgements
