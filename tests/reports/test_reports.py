import csv
import io
import json
import re
from html import unescape
from pathlib import PurePosixPath, PureWindowsPath

import jsonschema
import openpyxl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from openpyxl.cell import Cell

from attribution.errors import BadInput, UnknownName
from attribution.reports import FORMATS, Exported, export, file_name, report_json
from attribution.reports.claim_rows import claim_rows
from attribution.reports.listings import SHEETS
from attribution.types import Probabilities
from attribution.verifiers.calibration import graded_report
from tests.pages.hostile import TEXTS
from tests.reports.runs import QUOTE, edited, hostile, judged, run

HOSTILE = (
    *TEXTS,
    "=1+1",
    "\t=1",
    "＝1",
    '=HYPERLINK("http://x")\r\n=2',
    "]]> <![CDATA[",
    "a\n\n[^1]: a note\n\n# heading\n- item\n1. item",
    "\x00\x1b[31m\x7f",
)
ANY = st.text(max_size=60) | st.sampled_from(HOSTILE)
ALLOWED_TAG = re.compile(
    r"</?(?:p|h[1-6]|a|sup|ol|ul|li|em|strong|s|code|pre|table|thead|tbody|tr|th|td|hr|br|"
    r"section|blockquote)\b"
)


def written(name: str, exported: Exported) -> str:
    return export(name, exported).decode("utf-8")


def rendered(exported: Exported) -> str:
    """The Markdown as a renderer makes it that lets HTML through."""
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return str(parser.render(written("markdown", exported)))


def rows(*runs: Exported) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(SHEETS["csv"](*runs).decode("utf-8-sig"))))


def sheet(exported: Exported) -> list[tuple[Cell, ...]]:
    workbook = openpyxl.load_workbook(io.BytesIO(export("xlsx", exported)))
    return list(workbook.active)


def test_an_unknown_format_is_named() -> None:
    with pytest.raises(UnknownName, match="format 'word': expected one of html, markdown"):
        export("word", Exported(run()))


def test_markdown_has_an_item_for_each_claim() -> None:
    page = rendered(Exported(edited(run()), title="A title"))
    assert "<h1>A title</h1>" in page
    assert page.count("<li>") == 2
    assert '<a href="https://example.org/tower">The tower</a>, read 2026-11-01' in page
    assert "<strong>Supported.</strong>" in page
    assert "Edited by hand." in page
    assert f"“{QUOTE}”" in page


@pytest.mark.parametrize(("confidence", "word"), [(0.9, "Supported"), (0.6, "Likely supported")])
def test_a_weak_badge_says_so_in_every_text(confidence: float, word: str) -> None:
    report = run()
    first = report.verdicts[0].model_copy(update={"confidence": confidence})
    exported = Exported(report.model_copy(update={"verdicts": (first, report.verdicts[1])}))
    assert f"**{word}.**" in written("markdown", exported)
    assert rows(exported)[0]["verdict"] == word
    page = written("html", exported)
    assert f"<span>{word}</span>" in page
    assert ('class="badge v-supported weak"' in page) == (word != "Supported")


@given(ANY)
@settings(max_examples=60)
def test_markdown_runs_nothing_and_loses_no_claim(text: str) -> None:
    page = rendered(hostile(text))
    for tag in re.findall(r"<[^>]*", page):
        assert ALLOWED_TAG.match(tag)
    for address in re.findall(r'(?:href|src)="([^"]*)"', page):
        assert address.startswith(("http://", "https://"))
    assert page.count("<li>") == 2


def test_json_fits_its_schema() -> None:
    schema = json.loads(report_json.SCHEMA.read_text("utf-8"))
    assert schema == report_json.schema(), "run: python -m attribution.reports.report_json"
    jsonschema.Draft202012Validator.check_schema(schema)
    document = json.loads(written("json", Exported(judged(run()), "A title", "A note")))
    jsonschema.validate(document, schema, jsonschema.Draft202012Validator)
    binding = (
        "question answer settings versions claims pages evidence verdicts failures timings usage"
    )
    assert set(binding.split()) < set(document)
    assert "text" not in document["pages"][0]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**document, "verdicts": [{"label": "right"}]}, schema)


def test_json_is_read_back() -> None:
    exported = Exported(edited(judged(run())), "A title", "A note")
    back = report_json.read(written("json", exported))
    assert (back.title, back.note) == ("A title", "A note")
    assert [row.claim.id for row in claim_rows(back.report) if row.is_edited] == ["c1"]
    assert back.report.to_json() == graded_report(exported.report).to_json()


def test_the_analyst_s_assessment_decides_in_every_format() -> None:
    exported = Exported(judged(run(), "No: *1888*."))
    page = unescape(written("html", exported))
    assert "2 contradicted" in page
    assert page.count("model: ✓ supported") == 1
    assert page.count("Note: No: *1888*.") == 2
    assert "assessment decides" in page
    assert rendered(exported).count("<strong>Contradicted.</strong>") == 2
    for row, model in zip(rows(exported), ("Supported", "Not checked"), strict=True):
        assert row["assessment"] == "Contradicted"
        assert row["verdict"] == model
        assert row["note"] == "No: *1888*."
    verdicts = json.loads(written("json", exported))["verdicts"]
    assert [verdict["label"] for verdict in verdicts] == ["supported", "not_checked"]
    assert {verdict["assessment"] for verdict in verdicts} == {"contradicted"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "invalid json"),
        ("[]", "the file: input should be an object"),
        ('{"schema_version": 9}', "not a report of schema version 1"),
        ('{"id": "x"}', "created_at: field required"),
    ],
)
def test_what_is_no_report_is_refused(content: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        report_json.read(content)


def test_a_report_of_an_earlier_version_is_read() -> None:
    written = json.loads(report_json.write(Exported(run())))
    expected = report_json.read(json.dumps(written)).report
    for evidence in written["evidence"]:
        evidence["publisher"] = "a field that is gone"
    written["failures"] = [
        {"stage": "segment", "subject": "", "kind": "llm_fell_back", "message": "Rules."}
    ]
    report = report_json.read(json.dumps(written)).report
    assert report.failures[0].kind == "stage_failed"
    assert report.evidence == expected.evidence


def test_the_table_has_a_row_for_each_claim() -> None:
    exported = Exported(edited(run()))
    first, second = rows(exported)
    assert (first["number"], first["verdict"]) == ("1", "Supported")
    assert (second["number"], second["verdict"]) == ("2", "Not checked")
    assert (first["corrected by hand"], second["corrected by hand"]) == ("yes", "")
    assert first["passage"] == QUOTE
    assert first["address"] == "https://example.org/tower"


def test_the_workbook_holds_the_same_table() -> None:
    exported = Exported(judged(run()))
    heads, *cells = sheet(exported)
    for row, wanted in zip(cells, rows(exported), strict=True):
        texts = ["" if cell.value is None else str(cell.value) for cell in row]
        assert texts == [wanted[str(name.value)] for name in heads]


@given(ANY)
@settings(max_examples=20)
@example("\ufffe=1")
def test_a_workbook_can_hold_every_text(text: str) -> None:
    made = sheet(hostile(text))
    assert len(made) == 3
    assert "f" not in {cell.data_type for row in made for cell in row}  # no formula


def test_the_table_and_page_of_several_answers_have_a_row_for_each_claim() -> None:
    several = (Exported(run(), "First"), Exported(judged(run()), "<b>Second"))
    shown = [(row["answer"], row["assessment"]) for row in rows(*several)]
    assert shown == [("First", "")] * 2 + [("<b>Second", "Contradicted")] * 2
    page = SHEETS["html"](*several).decode()
    assert page.count("&lt;b&gt;Second") == 2


def test_an_unclear_claim_has_the_passage_to_read() -> None:
    report = run()
    undecided = {
        "relation": "no_relation",
        "about": True,
        "probabilities": Probabilities(entailed=0.3, contradicted=0.2, no_relation=0.5),
    }
    unclear = report.verdicts[0].model_copy(update={"label": "unclear"})
    evidence = tuple(piece.model_copy(update=undecided) for piece in report.evidence)
    verdicts = (unclear, report.verdicts[1])
    exported = Exported(report.model_copy(update={"evidence": evidence, "verdicts": verdicts}))
    assert rows(exported)[0]["verdict"] == "Unclear"
    assert rows(exported)[0]["passage"] == QUOTE
    assert f"“{QUOTE}”" in rendered(exported)


@given(ANY, st.sampled_from(list(FORMATS)))
def test_file_names_are_safe(text: str, name: str) -> None:
    made = file_name(name, Exported(run(), title=text))
    assert PurePosixPath(made).name == PureWindowsPath(made).name == made
    assert not re.match(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\.|$)", made)
    assert made.endswith(FORMATS[name].suffix)
    assert re.fullmatch(r"[\w.-]+", made)
    assert len(made) < 90


@pytest.mark.parametrize(
    ("name", "exported", "wanted"),
    [
        ("html", Exported(run()), "when-was-the-tower-finished.html"),
        ("markdown", Exported(run(), title="CON"), "report-con.md"),
        ("csl", Exported(run(), title="../../etc/passwd"), "etc-passwd-sources.json"),
        ("json", Exported(run(question="")), "tower.json"),
    ],
)
def test_a_file_is_named_after_the_heading(name: str, exported: Exported, wanted: str) -> None:
    assert file_name(name, exported) == wanted


def test_csl_cites_each_source_with_its_dates() -> None:
    first, other = json.loads(written("csl", Exported(run())))
    assert first == {
        "id": "p0",
        "type": "webpage",
        "title": "The tower",
        "container-title": "example.org",
        "URL": "https://example.org/tower",
        "issued": {"raw": "2020-05-07"},
        "accessed": {"raw": "2026-11-01"},
    }
    assert other["id"] != first["id"]
