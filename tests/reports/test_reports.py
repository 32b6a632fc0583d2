import csv
import io
import json
import re
from html import unescape
from pathlib import PurePosixPath, PureWindowsPath

import jsonschema
import pytest
import rispy
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from mdit_py_plugins.footnote import footnote_plugin
from pybtex.database import BibliographyData, parse_string
from pybtex.richtext import Text

from attribution.errors import BadInput, UnknownName
from attribution.reports import FORMATS, Exported, export, file_name, report_json
from attribution.reports.references import references
from attribution.types import Probabilities
from attribution.verifiers.calibration import graded_report
from tests.pages.hostile import ADDRESSES, TEXTS
from tests.reports.runs import QUOTE, hostile, judged, run

FORMULAS = (
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\u200b=1",
    "＝1",
    '"=1',
    '=HYPERLINK("http://x")\r\n=2',
)
LATEX = (
    "50% & {more} \\emph{x} $y$ #1 _a_ ~b^c",
    "}}, author={x",
    "unbalanced {",
    "@article{x,",
    'a "quoted" title',
)
HOSTILE = (
    *TEXTS,
    *FORMULAS,
    *LATEX,
    "]]> <![CDATA[",
    "a\n\n[^1]: a note\n\n# heading\n- item\n1. item",
    "\x00\x1b[31m\x7f",
)
ANY = st.text(max_size=60) | st.sampled_from(HOSTILE)


def written(name: str, exported: Exported) -> str:
    return export(name, exported).decode("utf-8")


def rendered(exported: Exported) -> str:
    """The Markdown as a renderer makes it that lets HTML through."""
    parser = (
        MarkdownIt("commonmark", {"html": True})
        .enable(["table", "strikethrough"])
        .use(footnote_plugin)
    )
    return str(parser.render(written("markdown", exported)))


def bibliography(exported: Exported) -> BibliographyData:
    return parse_string(written("bibtex", exported), "bibtex")


def test_an_unknown_format_is_named() -> None:
    with pytest.raises(UnknownName, match="format 'word': expected one of html, markdown"):
        export("word", Exported(run()))


def test_markdown_has_a_footnote_for_each_claim() -> None:
    page = rendered(Exported(run(), title="A title", corrected=frozenset({"c1"})))
    assert "<h1>A title</h1>" in page and "<h2>Tower</h2>" in page
    assert "<strong>finished</strong> in 1889 [1]<sup" in page  # the number follows the claim
    assert "<li>It stands in <em>Paris</em>.</li>" in page
    assert page.count('class="footnote-item"') == 2
    assert '<a href="https://example.org/tower">The tower</a>, read 2026-11-01' in page
    assert "✓ Supported" in page and "Corrected by hand." in page and f"“{QUOTE}”" in page


@pytest.mark.parametrize(("confidence", "word"), [(0.9, "Supported"), (0.6, "Likely supported")])
def test_a_weak_badge_says_so_in_every_text(confidence: float, word: str) -> None:
    report = run()
    first = report.verdicts[0].model_copy(update={"confidence": confidence})
    exported = Exported(report.model_copy(update={"verdicts": (first, report.verdicts[1])}))
    assert f"**✓ {word}.**" in written("markdown", exported)
    page = written("html", exported)
    assert (
        f"<strong>✓ {word}. </strong>" in page
        and f"Claim 1, {word.lower()}: to its evidence" in page
    )
    for drawn in ("number", "claim", "claim-text", "badge"):
        assert (f'class="{drawn} v-supported weak"' in page) == (word != "Supported")
    assert "this verifier is not calibrated" in page and '"label": "supported"' in written(
        "json", exported
    )


@given(ANY)
@settings(max_examples=60)
def test_markdown_runs_nothing_and_loses_no_claim(text: str) -> None:
    page = rendered(hostile(text))
    assert not re.search(
        r"<(?!/?(?:p|h[1-6]|a|sup|ol|ul|li|em|strong|s|code|pre|table|thead|tbody|tr|th|td|hr|br|"
        r"section|blockquote)\b)",
        page,
    )
    assert all(
        h.startswith(("http://", "https://", "#fn"))
        for h in re.findall(r'(?:href|src)="([^"]*)"', page)
    )
    assert page.count('class="footnote-item"') == 2


def test_the_answer_s_own_markdown_stays() -> None:
    answer = "1. **One** `code`\n2. two\n   > said\n\n| a | b |\n|---|---|\n| 1 \\| 2 | [x](https://x.org/(a)) |\n"
    answer += "\n```\n# no\n```\n"
    page = rendered(Exported(run(answer)))
    for part in (
        "<ol>",
        "<strong>One</strong> <code>code</code>",
        "<blockquote>",
        "<td>1 | 2</td>",
        "# no\n</code></pre>",
    ):
        assert part in page, page
    assert '<a href="https://x.org/(a)">x</a>' in page


def test_json_fits_its_schema_and_is_read_back() -> None:
    schema = json.loads(report_json.SCHEMA.read_text("utf-8"))
    assert schema == report_json.schema(), "run: python -m attribution.reports.report_json"
    jsonschema.Draft202012Validator.check_schema(schema)
    exported = Exported(run(), "A title", "A note", frozenset({"c1"}))
    document = json.loads(written("json", exported))
    jsonschema.validate(document, schema, jsonschema.Draft202012Validator)
    binding = "question answer settings versions claims pages evidence verdicts failures timings usage".split()
    assert (
        set(binding) < set(document)
        and document["schema_version"] == 1
        and "text" not in document["pages"][0]
    )
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(
            {**document, "verdicts": [{"label": "right"}]}, schema, jsonschema.Draft202012Validator
        )
    back = report_json.read(written("json", exported))
    assert (back.title, back.note, back.corrected) == ("A title", "A note", {"c1"})
    assert back.report.to_json() == graded_report(exported.report).to_json()
    earlier = report_json.read(exported.report.to_json())  # without a version
    assert earlier.report.to_json() == exported.report.to_json()


def test_the_analyst_s_verdicts_are_in_every_export_that_tells_verdicts() -> None:
    exported = Exported(judged(run(), "No: *1888*."))
    agreed = "The analyst agrees with 0 of 1 judged badge (0%; 95% interval 0% to 79%)."
    html, page = unescape(written("html", exported)), rendered(exported)
    assert html.count("The analyst's verdict: ") == 2 * 2  # beside each claim, and in its footnote
    assert agreed in html and "No: *1888*." in html and "“Unclear” then" in html
    assert (
        page.count("<strong>The analyst's verdict: ✗ Contradicted.</strong> No: *1888*.") == 2
        and agreed in page
    )
    for name, models in (
        ("claims", ["Supported", "Not checked"]),
        ("evidence", ["Supported", "Supported"]),
    ):
        rows = list(csv.DictReader(io.StringIO(written(name, exported))))
        assert {(r["analyst's verdict"], r["analyst's note"]) for r in rows} == {
            ("Contradicted", "No: *1888*.")
        }
        assert [r["verdict"] for r in rows] == models
        rows = list(csv.DictReader(io.StringIO(written(name, Exported(run())))))
        assert {(r["analyst's verdict"], r["analyst's note"]) for r in rows} == {("", "")}
    document = json.loads(written("json", exported))
    jsonschema.validate(document, report_json.schema(), jsonschema.Draft202012Validator)
    assert (
        report_json.read(written("json", exported)).report.judgements == exported.report.judgements
    )
    for name in ("bibtex", "ris", "csl"):  # they list sources, and tell no verdict
        assert written(name, exported) == written(name, Exported(run()))
    for name in ("html", "markdown", "claims", "json"):
        assert "The analyst" not in written(
            name, Exported(run())
        ) and '"judgements"' not in written(name, Exported(run()))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"label": "right"}, "judgements.0.label: input should be"),
        ({"note": "x" * 2001}, "at most 2000 characters"),
        ({"claim_id": "c9"}, "not one a claim"),
        ({"statement": "other words"}, "not one a claim"),
    ],
)
def test_judgements_that_do_not_fit_are_refused(changes: dict[str, str], message: str) -> None:
    document = json.loads(written("json", Exported(judged(run()))))
    document["judgements"][0] |= changes
    with pytest.raises(BadInput, match=message):
        report_json.read(json.dumps(document))
    document["judgements"] = document["judgements"][1:] * 2
    with pytest.raises(BadInput, match="not one a claim"):
        report_json.read(json.dumps(document))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not JSON"),
        ("[]", "expected a JSON object"),
        ('{"schema_version": 9}', "schema version 9"),
        ('{"id": "x"}', "not a report: created_at: field required"),
    ],
)
def test_what_is_no_report_is_refused(content: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        report_json.read(content)


def test_csv_has_a_row_a_claim_and_a_row_a_passage() -> None:
    exported = Exported(run(), corrected=frozenset({"c1"}))
    rows = list(csv.DictReader(io.StringIO(written("claims", exported))))
    assert [(r["number"], r["verdict"], r["corrected by hand"]) for r in rows] == [
        ("1", "Supported", "yes"),
        ("2", "Not checked", ""),
    ]
    assert rows[0]["passage"] == QUOTE and rows[0]["address"] == "https://example.org/tower"
    assert rows[0]["kind of page"] == "web page"  # as on its card: no genre is known
    assert exported.report.answer[int(rows[0]["start"]) : int(rows[0]["end"])].startswith("It was")
    rows = list(csv.DictReader(io.StringIO(written("evidence", exported))))
    assert [(r["claim number"], r["relation"], float(r["entailed"])) for r in rows] == [
        ("1", "Supports", 0.9)
    ] * 2


@pytest.mark.parametrize("name", ["claims", "evidence"])
def test_no_cell_of_a_csv_is_a_formula(name: str) -> None:
    hostile = '=HYPERLINK("https://example.org")'
    rows = csv.reader(io.StringIO(written(name, Exported(run(text=hostile, title=hostile)))))
    cells = [cell for row in rows for cell in row if "HYPERLINK" in cell]
    assert len(cells) >= 3 and not [cell for cell in cells if cell.startswith("=")]


def test_an_unclear_claim_has_the_passage_to_read_in_table_and_text() -> None:
    made = run()
    open_ = {
        "relation": "no_relation",
        "about": True,
        "probabilities": Probabilities(entailed=0.3, contradicted=0.2, no_relation=0.5),
    }
    unclear = made.verdicts[0].model_copy(update={"label": "unclear"})
    pieces = tuple(piece.model_copy(update=open_) for piece in made.evidence)
    made = made.model_copy(update={"evidence": pieces, "verdicts": (unclear, *made.verdicts[1:])})
    first, _ = csv.DictReader(io.StringIO(written("claims", Exported(made))))
    assert (first["verdict"], first["passage"]) == ("Unclear", QUOTE) and f"“{QUOTE}”" in rendered(
        Exported(made)
    )


def test_bibtex_says_where_and_when() -> None:
    entries = bibliography(Exported(run())).entries
    (entry, other) = entries.values()
    assert entry.type == "misc" and dict(entry.fields) == {
        "title": "{The tower}",
        "howpublished": "example.org",
        "year": "2020",
        "month": "May",
        "url": "https://example.org/tower",
        "urldate": "2026-11-01",
        "note": "Accessed 2026-11-01",
    }
    assert list(entries) == ["example-the-tower-2020", "example-the-tower-2020-2"] and other.fields[
        "url"
    ].endswith("pdf")


@given(
    ANY,
    st.sampled_from([a for a in ADDRESSES if a]) | st.just("https://example.org/a}b%20{c\\d&e_f"),
)
@settings(max_examples=60)
def test_bibtex_and_csl_keep_text_text(text: str, address: str) -> None:
    exported = hostile(text, address)
    entries, items = bibliography(exported).entries, json.loads(written("csl", exported))
    assert len(entries) == len(items) == 2
    for entry, item, source in zip(
        entries.values(), items, references(exported.report), strict=True
    ):
        title = entry.fields["title"]
        assert _depth(title) == 0 and not re.search(r"(?<!\\)[$&%#_^~]", title)
        assert item["title"] == source.title and "\n" not in source.title
        assert re.match(r"https?://[!#-\[\]-_a-z~]*$|$", source.url) and not set('{}\\<>" ') & set(
            source.url
        )
        assert entry.fields.get("url", "") == item.get("URL", "") == source.url


def _depth(text: str) -> int:
    depth = 0
    for c in text:
        depth += (c == "{") - (c == "}")
        assert depth >= 0
    return depth


def test_latex_shows_the_title_that_was_there() -> None:
    title = "50% & C:\\dir #1 _a_ ~b"  # what the library that reads it back knows
    shown = str(
        Text.from_latex(next(iter(bibliography(hostile(title)).entries.values())).fields["title"])
    )
    assert shown.replace(" ", "") == title.replace(" ", "")


def test_ris_says_where_and_when() -> None:
    first, other = rispy.loads(written("ris", Exported(run())))
    assert first == {
        "type_of_reference": "ELEC",
        "id": "example-the-tower-2020",
        "title": "The tower",
        "secondary_title": "example.org",
        "year": "2020",
        "date": "2020/05/07/",
        "access_date": "2026/11/01/",
        "urls": ["https://example.org/tower"],
    }
    assert other["urls"][0].endswith("pdf")


@given(ANY)
@settings(max_examples=60)
def test_ris_keeps_text_text(text: str) -> None:
    exported = hostile(text)
    found = rispy.loads(written("ris", exported))
    sources = references(exported.report)
    assert [(f["id"], f.get("title", "")) for f in found] == [(s.key, s.title) for s in sources]


def test_csl_has_the_dates_in_parts() -> None:
    items = json.loads(written("csl", Exported(run())))
    assert items[0] == {
        "id": "example-the-tower-2020",
        "type": "webpage",
        "title": "The tower",
        "container-title": "example.org",
        "URL": "https://example.org/tower",
        "issued": {"date-parts": [[2020, 5, 7]]},
        "accessed": {"date-parts": [[2026, 11, 1]]},
    }


@given(ANY, st.sampled_from(list(FORMATS)))
def test_file_names_are_safe(text: str, name: str) -> None:
    made = file_name(name, Exported(run(), title=text))
    assert (
        PurePosixPath(made).name == PureWindowsPath(made).name == made
        and not PureWindowsPath(made).is_reserved()
    )
    assert made.endswith(FORMATS[name].suffix) and re.fullmatch(r"[\w.-]+", made) and len(made) < 90


def test_file_names_are_of_the_heading() -> None:
    assert file_name("html", Exported(run())) == "when-was-the-tower-finished.html"
    assert file_name("markdown", Exported(run(), title="CON")) == "report-con.md"
    assert file_name("csl", Exported(run(), title="../../etc/passwd")) == "etc-passwd-sources.json"
    assert Exported(run(question="")).heading == "# Tower It was **finished** in 1889 [1]. It is"
