import io
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from openpyxl import Workbook

from attribution.errors import BadInput
from attribution.fetching.sandbox import DOCUMENT_SECONDS
from attribution.pipeline.queued_runs import (
    NewAnswer,
    enqueue,
    pasted_answers,
    queue_worker,
    read_answers,
)
from attribution.settings import Settings
from attribution.store.history import MAX_TAGS, HistoryQuery, HistoryRow
from attribution.store.store import Store
from attribution.types import Document
from tests.make import reading
from tests.serve import serving, until

NOTE = Document("note.txt", b"The tower is 324 metres tall. It was finished in 1889.", "text/plain")
ANSWERS = (
    NewAnswer("The tower is 324 metres tall.", "How tall is it?", tags=("pilot",)),
    NewAnswer("The tower was finished in 1889."),
)


@pytest.fixture
def own(settings: Settings, store: Store) -> Iterator[Store]:
    yield Store(store.database, "mine")
    for thread in threading.enumerate():
        if thread.name == "queue":
            thread.join(60)


@pytest.fixture
def with_note(settings: Settings) -> Settings:
    return settings.model_copy(update={"sources": ()})


def rows(store: Store) -> list[HistoryRow]:
    return list(reversed(store.history.find(HistoryQuery()).rows))


def work_off(store: Store, settings: Settings) -> None:
    queue_worker(settings.database_url).wake()
    until(lambda: store.queue.next() is None)


def test_answers_are_checked_one_after_another_and_belong_to_who_added_them(
    own: Store, with_note: Settings
) -> None:
    ids = enqueue(own, [answer.beside([NOTE]) for answer in ANSWERS], with_note)
    waiting = rows(own)
    assert [row.id for row in waiting] == ids
    assert all(row.queued for row in waiting)
    assert own.history.tags() == ["pilot"]
    assert [row.id for row in own.history.find(HistoryQuery(words="tall")).rows] == ids[:1]
    work_off(own, with_note)
    finished = rows(own)
    assert all(row.finished for row in finished)
    assert not any(row.queued for row in finished)
    assert all(row.sources == ["document:note.txt"] for row in finished)
    assert not Store(own.database, "other's").history.find(HistoryQuery()).rows


def test_an_answer_that_cannot_be_checked_keeps_its_problem_and_the_next_one_is_checked(
    own: Store, with_note: Settings
) -> None:
    secret = NewAnswer("The tower is tall.", sources=("/etc/passwd",))
    ids = enqueue(own, [secret, ANSWERS[1].beside([NOTE])], with_note)
    work_off(own, with_note)
    listed = {row.id: row for row in rows(own)}
    assert "cannot be read here" in listed[ids[0]].problem
    assert not listed[ids[0]].finished
    assert listed[ids[1]].finished


def test_a_run_that_ends_the_server_again_and_again_is_given_up(
    own: Store, with_note: Settings
) -> None:
    (run_id,) = enqueue(own, ANSWERS[:1], with_note)
    for _ in range(3):
        own.queue.begin(run_id)
    work_off(own, with_note)
    (row,) = rows(own)
    assert "3 times" in row.problem


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_server_killed_in_the_middle_of_each_answer_finishes_all_and_loses_no_verdict(
    tmp_path: Path, with_note: Settings
) -> None:
    texts = [" ".join(f"The tower is {n + m} metres tall." for m in range(8)) for n in range(31)]
    folder = tmp_path / "data"
    folder.mkdir()
    store = Store(Store.open(f"sqlite:///{folder}/attribution.sqlite3").database, "mine")
    ids = enqueue(store, [NewAnswer(text).beside([NOTE]) for text in texts], with_note)

    def begun(run_id: str) -> set[str]:
        """The claims of an unfinished run that have a verdict in the database."""
        known = store.runs.load(run_id, unfinished=True)
        return {verdict.claim_id for verdict in known.verdicts} if known else set()

    at_kill = {}
    with serving(tmp_path) as server:
        for run_id in ids:
            until(lambda run=run_id: begun(run) or store.runs.load(run), 300)
            server.end(9)
            at_kill[run_id] = begun(run_id)
            server.start()
        until(lambda: store.queue.next() is None, 300)
    assert sum(map(bool, at_kill.values())) > 25  # the others were finished by then
    for run_id, claims in at_kill.items():
        finished = store.runs.load(run_id)
        assert finished
        assert claims <= {verdict.claim_id for verdict in finished.verdicts}
    assert [row.checked for row in rows(store)] == [8] * len(ids)


EXPECTED = (
    NewAnswer("It is tall, really.", "How tall?", sources=("library", "web"), tags=("a", "b")),
    NewAnswer("It is old."),
)


def workbook(*rows: tuple[object, ...]) -> bytes:
    made = Workbook()
    for row in rows:
        made.active.append(row)
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


FILES = {
    "comma": b'Question,Answer,Sources,Tag\nHow tall?,"It is tall, really.",library;web,a;b\n'
    b",,,\n,It is old.,,\n",
    "semicolon": b"\xef\xbb\xbfanswer;question;sources;tag\n"
    b'It is tall, really.;How tall?;"library;web";"a;b"\nIt is old.\n',
    "JSON Lines": b'{"answer": "It is tall, really.", "question": "How tall?", '
    b'"sources": ["library", "web"], "tag": ["b", "a"]}\n{"answer": "It is old."}\n',
    "XLSX": workbook(
        ("answer", "question", "sources", "tag"),
        ("It is tall, really.", "How tall?", "library; web", "a; b"),
        (None, None),
        ("It is old.",),
    ),
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_a_file_of_each_kind_is_read(content: bytes) -> None:
    assert read_answers(content, reading()).answers == EXPECTED


def test_a_bad_row_leaves_the_others_unaffected() -> None:
    tag = "x" * (MAX_TAGS + 1)
    read = read_answers(
        f"answer,question,tag\n,Why?,\nBecause.,,\nSo.,,{tag}\n{'x' * 140_000},,\n".encode(),
        reading(),
    )
    assert [len(answer.answer) for answer in read.answers] == [8, 140_000]
    assert [problem[:6] for problem in read.problems] == ["Row 2:", "Row 4:"]


BAD_FILES = {
    b"": "no column",
    b"question\nWhy?\n": "no column",
    b"answer\n": "no answer",
    b"answer\n\xff\n": "not UTF-8",
    b'answer\n"open': "no CSV",
    b"PK\x03\x04 and nothing else": "save it",
    b'{"question": "Why?"}': "missing",
    b"answer\n" + b"a\n" * 1_001: "1,000",
}


@pytest.mark.parametrize("content", BAD_FILES)
def test_a_file_that_cannot_be_used_is_refused(content: bytes) -> None:
    with pytest.raises(BadInput, match=BAD_FILES[content]):
        read_answers(content, reading())


def test_a_row_a_million_rows_below_costs_no_time() -> None:
    rows = workbook(("answer",), ("It is old.",))
    far = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(rows)) as parts, zipfile.ZipFile(far, "w") as changed:
        for name in parts.namelist():
            content = parts.read(name)
            changed.writestr(name, content.replace(b'<row r="2"', b'<row r="9000000000"'))
    started = time.monotonic()
    with pytest.raises(BadInput, match="no answer"):
        read_answers(far.getvalue(), reading())
    assert time.monotonic() - started < DOCUMENT_SECONDS


def test_pasted_answers_are_divided_by_a_line_of_equals_signs_but_not_below_a_heading() -> None:
    read = pasted_answers("Title\n=====\nOne.\n\n=====\n\nTwo.\n===\n===\nThree.")
    assert [answer.answer for answer in read.answers] == ["Title\n=====\nOne.", "Two.", "Three."]


def test_documents_for_all_answers_leave_those_with_own_sources_alone() -> None:
    note = Document("note.txt", b"Old.")
    first, second = (answer.beside([note]) for answer in EXPECTED)
    assert first.documents == ()
    assert second.documents == (note,)
