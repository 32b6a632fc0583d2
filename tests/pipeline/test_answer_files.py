import io
import time
import zipfile

import pytest
from openpyxl import Workbook

from attribution.errors import BadInput
from attribution.fetching.sandbox import DOCUMENT_SECONDS
from attribution.pipeline.answer_files import NewAnswer, pasted_answers, read_answers
from attribution.store.history import MAX_TAGS
from attribution.types import Document
from tests.make import reading

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
        f"answer,question,tag\n,Why?,\nBecause.,,\nSo.,,{tag}\n".encode(), reading()
    )
    assert [answer.answer for answer in read.answers] == ["Because."]
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
    read = pasted_answers("Title\n=====\nOne.\n\n=====\n\nTwo.\n")
    assert [answer.answer for answer in read.answers] == ["Title\n=====\nOne.", "Two."]


def test_documents_for_all_answers_leave_those_with_own_sources_alone() -> None:
    note = Document("note.txt", b"Old.")
    first, second = (answer.beside([note]) for answer in EXPECTED)
    assert first.documents == ()
    assert second.documents == (note,)
