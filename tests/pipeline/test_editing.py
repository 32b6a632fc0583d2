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
from attribution.errors import BadInput
from attribution.pipeline import run as pipeline
from attribution.pipeline.editing import ADDED, depends_on_question, edit
from attribution.pipeline.snapshot import Snapshot
from attribution.reports import cards
from attribution.reports.html import html, look
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Claim, Document, Report
from tests.servers import http_server

ANSWER = (
    "The Zorb bridge was opened in 1931. It is painted green, and the Zorb tower is 40 metres high. "
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
        *_, last = edit(self.report, change, self.settings, self.store, documents)
        assert isinstance(last, events.Finished)
        self.report = last.report
        return last.report

    def claim(self, words: str) -> Claim:
        return next(c for c in self.report.claims if words in c.text)

    def label(self, words: str) -> str:
        claim = self.claim(words)
        return next(v.label for v in self.report.verdicts if v.claim_id == claim.id)


def analysed(settings: Settings, store: Store) -> Report:
    *_, last = pipeline.run("What is in Zorbtown?", ANSWER, settings, store, PAGES)
    assert isinstance(last, events.Finished)
    return last.report


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, Path]:
    """A run, and a database that holds nothing else."""
    path = tmp_path_factory.mktemp("run") / "attribution.sqlite3"
    store = Store.open(f"sqlite:///{path}")
    settings = Settings(
        database_url=f"sqlite:///{path}", verifier="embedded-small", sources=("documents",)
    )
    report = analysed(settings, store)
    store.close()
    return report, path


@pytest.fixture
def made(settings: Settings, finished: tuple[Report, Path]) -> Iterator[Editor]:
    with opened(settings, finished) as editor:
        yield editor


@contextmanager
def opened(settings: Settings, finished: tuple[Report, Path]) -> Iterator[Editor]:
    """A copy of the run, of its own."""
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


def evidence_of(report: Report, claim: Claim) -> list[str]:
    return [e.model_dump_json() for e in report.evidence if e.claim_id == claim.id]


def test_a_reworded_claim_is_another_claim_and_no_other_is_touched(made: Editor) -> None:
    before = made.report
    opened, painted, liked = before.claims
    after = made(edits.Reword(claim_id=opened.id, text="The Zorb bridge was opened\n by a mayor."))
    new = after.claims[0]
    assert (
        new.text == "The Zorb bridge was opened by a mayor."
        and new.id != opened.id
        and new.spans == opened.spans
    )
    assert after.claims[1:] == (painted, liked) and after.verdicts[1:] == before.verdicts[1:]
    assert evidence_of(after, painted) == evidence_of(before, painted)
    assert made.label("by a mayor") == "supported" and not evidence_of(after, opened)
    texts = {p.id: p.text for p in after.pages}
    assert all(texts[e.page_id][e.start : e.end] == e.text for e in after.evidence)
    (made_edit,) = after.edits
    assert made_edit.claims == (
        new.id,
    ) and "Reworded: “The Zorb bridge was opened in 1931.”" in made_edit.words(str)
    assert json.loads(after.to_json())["edits"][0]["change"]["kind"] == "reword"
    assert "edits" not in json.loads(before.to_json()) and "set_aside" not in json.loads(
        before.to_json()
    )
    assert made.store.runs.load(after.id) == after
    assert Report.model_validate_json(after.to_json()).edits == after.edits


def test_a_claim_is_split_and_merged(made: Editor) -> None:
    painted = made.claim("painted")
    texts = ("The Zorb bridge is painted green.", "", "The Zorb tower is 40 metres high.")
    made(edits.Split(claim_id=painted.id, texts=texts))
    green, tower = made.claim("green"), made.claim("40 metres")
    assert made.label("green.") == "supported"
    (start, end), *_ = tower.spans
    assert (
        "tower" in ANSWER[start:end] and painted.spans[0][0] <= start < end <= painted.spans[0][1]
    )
    merged = made(
        edits.Merge(claim_ids=(tower.id, green.id), text="The bridge is green and the tower high.")
    )
    assert [c.text for c in merged.claims][1] == "The bridge is green and the tower high."
    assert len(merged.claims) == 3 and merged.claims[1].spans == tuple(
        sorted({*green.spans, *tower.spans})
    )


def test_a_dropped_claim_is_kept_aside_and_comes_back_to_its_place(made: Editor) -> None:
    before, painted = made.report, made.claim("painted")
    dropped = made(edits.Drop(claim_id=painted.id))
    assert (
        painted not in dropped.claims
        and dropped.set_aside is not None
        and dropped.set_aside.claims == (painted,)
    )
    made(edits.Pin(claim_id=made.claim("opened").id))
    restored = made(edits.Restore(claim_id=painted.id))
    assert [c.id for c in restored.claims] == [
        c.id for c in before.claims
    ] and restored.set_aside is None
    assert restored.verdicts == before.verdicts and restored.evidence == before.evidence


def test_a_pinned_claim_comes_first_and_outlives_another_segmentation(made: Editor) -> None:
    first = made.claim("opened")
    texts = ("The bridge is painted green.", "The tower is 40 metres high.")
    made(edits.Split(claim_id=made.claim("painted").id, texts=texts))
    by_hand = made.claim("painted green.")
    pinned = made(edits.Pin(claim_id=by_hand.id))
    assert pinned.claims[0].text == by_hand.text and pinned.claims[0].pinned
    kept = evidence_of(pinned, by_hand)
    again = made(edits.Resegment(segmenter="clauses"))
    assert again.claims[0].text == by_hand.text and evidence_of(again, by_hand) == kept
    assert (
        "The tower is 40 metres high." not in {c.text for c in again.claims}
        and again.settings["segmenter"] == "clauses"
    )
    assert evidence_of(again, first) == evidence_of(pinned, first)  # both segmenters have this one
    assert {v.claim_id for v in again.verdicts} == {c.id for c in again.claims}
    loose = made(edits.Pin(claim_id=by_hand.id, pinned=False))
    assert loose.claims[0].id == first.id


def test_a_place_is_changed_without_a_model(made: Editor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attribution.pipeline.editing.Matcher", None)
    opened = made.claim("opened")
    start = ANSWER.index("opened in 1931")
    moved = made(edits.Place(claim_id=opened.id, spans=((start, start + 15),)))
    new = moved.claims[0]
    assert ANSWER[slice(*new.spans[0])] == "opened in 1931." and new.id != opened.id
    assert (
        len(evidence_of(moved, new)) == len([e for e in moved.evidence if e.claim_id == new.id]) > 0
    )
    assert made.label("opened") == "supported"
    for spans in (((5, 5),), ((0, 10_000),), new.spans, ()):
        with pytest.raises(BadInput):
            made(edits.Place(claim_id=new.id, spans=spans))


def test_an_excluded_passage_stays_out_when_its_claim_is_reworded(made: Editor) -> None:
    opened = made.claim("opened")
    verdict = made.label("opened")
    pieces = [e for e in made.report.evidence if e.claim_id == opened.id]
    for e in pieces:
        made(edits.Exclude(claim_id=opened.id, page_id=e.page_id, start=e.start, end=e.end))
    assert (
        made.label("opened") == "missing"
        and "You excluded every passage" in made.report.verdicts[0].reason
    )
    reworded = made(
        edits.Reword(claim_id=opened.id, text="Zorb bridge was opened in the year 1931.")
    )
    assert made.label("opened") == "missing" and reworded.set_aside is not None
    out = reworded.set_aside.evidence
    assert out and all(e.claim_id == reworded.claims[0].id for e in out)
    with pytest.raises(BadInput, match="not evidence for"):
        made(edits.Exclude(claim_id=reworded.claims[0].id, page_id="x", start=0, end=1))
    for e in out:
        made(
            edits.Exclude(
                claim_id=e.claim_id, page_id=e.page_id, start=e.start, end=e.end, excluded=False
            )
        )
    assert made.label("opened") == verdict and made.report.set_aside is None


def test_evidence_is_added_to_one_claim(made: Editor) -> None:
    before = made.report
    painted = made.claim("painted")
    split = made(
        edits.Split(
            claim_id=painted.id, texts=("It is green.", "The Zorb tower is 40 metres high.")
        )
    )
    (tower,) = (c for c in split.claims if "40" in c.text)
    assert made.label("40 metres") != "supported"
    after = made(edits.AddEvidence(claim_id=tower.id, names=("c.txt",)), TOWER)
    assert made.label("40 metres") == "supported" and len(after.pages) == len(before.pages) + 1
    assert ADDED in {e.searcher for e in after.evidence if e.claim_id == tower.id}
    assert "“c.txt”" in after.edits[-1].words(str)
    opinion = made.claim("like")
    assert made.label("like") == "not_checked"
    made(edits.AddEvidence(claim_id=opinion.id))  # checked, because a person asks for it
    assert made.label("like") != "not_checked"
    unread = made(
        edits.AddEvidence(claim_id=tower.id, names=("d.pdf",)), Document("d.pdf", b"no pdf")
    )
    assert unread.failures[-1].subject == "d.pdf" and made.label("40 metres") == "supported"


def test_a_claim_is_checked_again_by_another_verifier_which_is_named(made: Editor) -> None:
    before, opened = made.report, made.claim("opened")
    key = f"verifier:{opened.id}"
    after = made(edits.CheckAgain(claim_id=opened.id, verifier="embedded-base"))
    assert (
        after.claims == before.claims and after.versions["verifier"] == before.versions["verifier"]
    )
    assert after.versions[key].startswith("embedded-base/") and "by embedded-base" in after.edits[
        -1
    ].words(str)
    pages = {page.id: page for page in after.pages}
    verdict = next(v for v in after.verdicts if v.claim_id == opened.id)
    evidence = [e for e in after.evidence if e.claim_id == opened.id]
    drawn = html(cards.panel(opened, 1, verdict, evidence, after, pages))
    was = next(v for v in before.verdicts if v.claim_id == opened.id)
    assert verdict.other and (verdict.other.reader, verdict.other.label) == ("first", was.label)
    assert look(was.label).word in drawn.split("Second reading, by Embedded")[1]
    for claim in after.claims:
        assert (evidence_of(after, claim) == evidence_of(before, claim)) == (claim.id != opened.id)
    assert key not in made(edits.CheckAgain(claim_id=opened.id)).versions
    with pytest.raises(BadInput):
        made(edits.CheckAgain(claim_id="0" * 16))


def test_another_question_opens_only_what_leans_on_it(made: Editor) -> None:
    before = made.report
    leaning = {c.id for c in depends_on_question(before)}
    assert leaning and leaning != {c.id for c in before.claims if c.checked}
    after = made(edits.ChangeQuestion(question=" What does the Zorb tower  look like? "))
    assert (
        after.question == "What does the Zorb tower look like?"
        and after.edits[0].subject == before.question
    )
    for claim in before.claims:
        if claim.id not in leaning:
            assert claim in after.claims and evidence_of(after, claim) == evidence_of(before, claim)
    assert {v.claim_id for v in after.verdicts} == {c.id for c in after.claims}


def test_enrichment_is_taken_back(made: Editor) -> None:
    first = made.report.claims[0]
    enriched = first.model_copy(
        update={"enriched": "The Zorb bridge in Zorbtown was opened in 1931."}
    )
    made.report = made.report.model_copy(update={"claims": (enriched, *made.report.claims[1:])})
    assert made(edits.AsWritten(claim_id=first.id)).claims[0] == first
    with pytest.raises(BadInput, match="nothing was added"):
        made(edits.AsWritten(claim_id=first.id))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda c: edits.Reword(claim_id="gone", text="x"), "not in this run"),
        (lambda c: edits.Reword(claim_id=c.id, text=c.text), "same as before"),
        (lambda c: edits.Reword(claim_id=c.id, text=" ?! "), "is empty"),
        (lambda c: edits.Split(claim_id=c.id, texts=("one", " one ")), "two or more"),
        (lambda c: edits.Merge(claim_ids=(c.id, c.id), text="x"), "two or more"),
        (lambda c: edits.AddClaim(text=c.text, spans=c.spans), "already"),
        (lambda c: edits.AddClaim(text="x", spans=((-1, 4),)), "are not text of this answer"),
        (lambda c: edits.Restore(claim_id=c.id), "was not dropped"),
        (lambda c: edits.Pin(claim_id=c.id, pinned=False), "not pinned already"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_saved(
    made: Editor, change: Callable[[Claim], edits.Change], problem: str
) -> None:
    with pytest.raises(BadInput, match=problem):
        made(change(made.report.claims[0]))
    assert (
        len(made.store.runs.versions(made.report.id)) == 1
        and made.store.runs.load(made.report.id) == made.report
    )


def test_a_stopped_edit_changes_nothing(made: Editor) -> None:
    stop = threading.Event()
    stop.set()
    change = edits.Reword(claim_id=made.report.claims[0].id, text="Other words.")
    happened = list(edit(made.report, change, made.settings, made.store, stop=stop))
    assert not any(isinstance(event, events.Finished) for event in happened)
    assert made.store.runs.load(made.report.id) == made.report


def test_a_snapshot_of_an_edited_run_has_all_that_it_needs(made: Editor) -> None:
    edited = made(
        edits.Reword(claim_id=made.claim("opened").id, text="The bridge was opened by a mayor.")
    )
    snapshot = Snapshot.of(made.store, edited.id)
    own = snapshot.settings(
        verifier="embedded-small", sources=("documents",), database_url=made.settings.database_url
    )
    *_, last = pipeline.run(edited.question, edited.answer, own, made.store, source=snapshot)
    assert isinstance(last, events.Finished)
    assert last.report.verdicts == edited.verdicts and last.report.evidence == edited.evidence
    assert last.report.usage.cached_pairs == 0  # the judgements are those of the snapshot


# --- undo and redo ---

TEXTS = st.sampled_from(
    [
        "The Zorb bridge was opened by a mayor.",
        "The tower is high.",
        "It is green.",
        "Ünïcode 🙂 bridge",
    ]
)


def drawn(draw: Callable[..., object], report: Report) -> edits.Change | None:
    """Any change that may fit the report."""
    kind = draw(st.integers(0, 14))
    claim = draw(st.sampled_from(report.claims)) if report.claims else None
    text = draw(TEXTS)
    start = draw(st.integers(0, len(ANSWER) - 2))
    spans = ((start, draw(st.integers(start + 1, len(ANSWER)))),)
    aside = report.set_aside
    if kind == 0:
        return edits.AddClaim(text=text, spans=spans)
    if kind == 1 and aside and aside.claims:
        return edits.Restore(claim_id=draw(st.sampled_from(aside.claims)).id)
    if kind == 2:
        return edits.ChangeQuestion(question=text)
    if claim is None:
        return None
    pieces = [e for e in report.evidence if e.claim_id == claim.id]
    if (
        kind in (3, 4)
        and (out := kind == 4) is not None
        and (some := (aside.evidence if aside else ()) if out else pieces)
    ):
        e = draw(st.sampled_from(some))
        return edits.Exclude(
            claim_id=e.claim_id, page_id=e.page_id, start=e.start, end=e.end, excluded=not out
        )
    return {
        5: edits.Split(claim_id=claim.id, texts=(text, "The Zorb bridge is painted green.")),
        6: edits.Merge(claim_ids=(claim.id, draw(st.sampled_from(report.claims)).id), text=text),
        7: edits.Drop(claim_id=claim.id),
        8: edits.Pin(claim_id=claim.id, pinned=not claim.pinned),
        9: edits.Place(claim_id=claim.id, spans=spans),
        11: edits.AsWritten(claim_id=claim.id),
        12: edits.AddEvidence(claim_id=claim.id),
        13: edits.CheckAgain(claim_id=claim.id),
        14: edits.Judge(
            claim_id=claim.id,
            label=draw(st.sampled_from(["supported", "unclear", None])),
            note=text,
        ),
    }.get(kind, edits.Reword(claim_id=claim.id, text=text))


@given(data=st.data())
@examples(
    max_examples=12,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_as_many_undos_as_edits_restore_the_report_and_redo_brings_them_back(
    settings: Settings, finished: tuple[Report, Path], data: st.DataObject
) -> None:
    with opened(settings, finished) as made:
        _there_and_back(made, data)


def _there_and_back(made: Editor, data: st.DataObject) -> None:
    first = made.report
    reports = [first]
    for _ in range(data.draw(st.integers(1, 5))):
        change = drawn(data.draw, made.report)
        if change is None:
            continue
        try:
            made(change)
        except BadInput:
            assert made.store.runs.load(first.id) == reports[-1]
            continue
        reports.append(made.report)
        ids = [c.id for c in made.report.claims]
        assert len(set(ids)) == len(ids) and [v.claim_id for v in made.report.verdicts] == ids
        assert {e.claim_id for e in made.report.evidence} <= set(ids)
        statements = {c.id: c.statement for c in made.report.claims}
        assert all(j.statement == statements[j.claim_id] for j in made.report.judgements)
        assert (
            Report.model_validate_json(made.report.to_json()).judgements == made.report.judgements
        )
        assert all(ANSWER[a:b].strip() for c in made.report.claims for a, b in c.spans)
    for earlier in reversed(reports[:-1]):
        undone = made.store.runs.undo(first.id)
        assert undone is not None and undone == earlier and undone.to_json() == earlier.to_json()
    assert made.store.runs.undo(first.id) is None
    for later in reports[1:]:
        redone = made.store.runs.redo(first.id)
        assert redone is not None and redone == later and redone.to_json() == later.to_json()
    assert made.store.runs.redo(first.id) is None


def test_an_edit_after_an_undo_ends_what_could_be_redone(made: Editor) -> None:
    store, run_id = made.store, made.report.id
    first = made.report.claims[0]
    assert store.runs.steps(run_id).undo is None and store.runs.steps(run_id).redo is None
    pinned = made(edits.Pin(claim_id=first.id))
    steps = store.runs.steps(run_id)
    assert steps.undo == pinned.edits[-1] and steps.redo is None
    undone = store.runs.undo(run_id)
    assert undone is not None and store.runs.steps(run_id).redo == pinned.edits[-1]
    made.report = undone
    made(edits.Drop(claim_id=first.id))
    assert store.runs.redo(run_id) is None and store.runs.steps(run_id).redo is None


def test_only_the_edited_claim_is_searched_for_when_asked(
    made: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    hit = {"results": [{"url": "http://127.0.0.1:9/page", "title": "t", "content": ""}]}
    with http_server(
        lambda _: (200, {"Content-Type": "application/json"}, json.dumps(hit).encode())
    ) as served:
        monkeypatch.setenv("ATTRIBUTION_SEARXNG_URL", served.url())
        made.settings = made.settings.model_copy(update={"sources": ("documents", "searxng")})
        opened = made.claim("opened")
        made(edits.Reword(claim_id=opened.id, text="A mayor opened it."))
        made(edits.Drop(claim_id=made.claim("painted").id))
        assert served.requests == []
        after = made(
            edits.Reword(
                claim_id=made.claim("mayor").id,
                text="The Zorb bridge was opened by a mayor.",
                search=True,
            )
        )
        made.settings = made.settings.model_copy(update={"sources": ("documents",)})
        made(edits.CheckAgain(claim_id=made.claim("by a mayor").id, search=True))
        assert len(served.requests) == 1
        again = made(
            edits.CheckAgain(
                claim_id=made.claim("by a mayor").id, sources=("searxng",), search=True
            )
        )
    asked = served.paths[0]
    assert (again.usage.searches, again.usage.queries) == (2, 1)  # the second came from the cache
    assert (
        "bridge+was+opened+by+a+mayor" in asked or "bridge%20was%20opened%20by%20a%20mayor" in asked
    )
    assert after.usage.queries == 1 and after.usage.downloads == 1
    assert [f.kind for f in after.failures] == ["blocked_address"]
    assert made.label("by a mayor") == "supported" and "searched again" in after.edits[-1].words(
        str
    )
