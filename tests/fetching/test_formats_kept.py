"""Everything that a reader of a file sees is in its text, once and unchanged; the rest is not."""

import io
import re
import zipfile
from collections.abc import Sequence
from datetime import date, datetime, time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fetching.test_formats import CONTAINER, W, docx, epub, paragraph, read, zipped

MILL = "The mill was rebuilt in 1893 by the engineer Ada Crossley."
GONE = "The orchard was sold to a cider company in 2016."
AROUND = (
    "<p>The orchard at Lindal has grown perry pears since the seventeenth century, and its trees "
    "stand by the mill.</p>"
    "<p>About forty varieties are kept, most of them from the Severn valley, and grafts are given "
    "to schools.</p>"
    "<p>The harvest begins in late September and lasts until the first frost; the fruit is pressed "
    "on the farm.</p>"
)


def text(content: bytes | str, name: str = "a.html") -> str:
    return read(content, name).text


def page(middle: str, head: str = "") -> str:
    article = f"<article><h1>Lindal</h1>{AROUND}{middle}{AROUND.replace('About', 'Some')}</article>"
    return (
        f"<!DOCTYPE html><html><head><title>Lindal</title>{head}</head><body>{article}</body>"
        "</html>"
    )


def book(*chapters: str) -> bytes:
    names = [f"c{n}.xhtml" for n in range(len(chapters))]
    wrap = (
        '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head>'
        "<body>{}</body></html>"
    )
    return epub(*names, **{f"O__{n}": wrap.format(c) for n, c in zip(names, chapters, strict=True)})


CONTROLS = ["\x00", "\x01", "\x07", "\x08", "\x0b", "\x0c", "\x1b", "\x7f", "\ufffe", "\uffff"]
REFERENCES = ["&#0;", "&#2;", "&#12;", "&#x1F;", "&#xFFFE;", "&#65535;", "&#xD800;"]


@pytest.mark.parametrize("character", CONTROLS + REFERENCES)
def test_a_control_character_costs_itself_alone(character: str) -> None:
    assert MILL in text(page(f"<p>{MILL}{character}</p>", "<script>var a = 1;</script>"))
    assert MILL in text(book(f"<p>{MILL}{character}</p>{AROUND}"), "a.epub")


@pytest.mark.parametrize(
    "middle",
    [
        f"<figure><img src=a.png><figcaption>{MILL}</figcaption></figure>",
        f"<div>{MILL}</div>",
        f"<aside><p>{MILL}</p></aside>",
        f"<table><tr><td><ul><li>{MILL}</li></ul></td></tr></table>",
        f"<figure><pre># {MILL} ]</pre></figure>",
        f"<blockquote>{MILL}</blockquote>",
        f"<dl><dt>Mill</dt><dd>{MILL}</dd></dl>",
        f"<p><button>{MILL}</button></p>",
        f"<table><caption>{MILL}</caption><tr><td>Mill</td><td>1893</td></tr></table>",
        f"<p>{MILL.replace('1893', '<time>1893</time>')}</p>",
        f"<p>{MILL.replace('mill', '<b>m</b>ill')}</p>",
        *(
            f'<p><span style="{style}">{MILL}</span></p>'
            for style in (
                "background-color: transparent",
                "border-top:-1px; padding-left:-100px",
            )
        ),
    ],
)
def test_what_the_article_says_is_kept(middle: str) -> None:
    assert MILL in text(page(middle))


@pytest.mark.parametrize(
    "middle",
    [
        f"<p hidden>{GONE}</p>",
        f"<template><p>{GONE}</p></template>",
        f"<p><s>{GONE}</s></p>",
        f"<p><del>{GONE}</del></p>",
        f"<noscript><p>{GONE}</p></noscript>",
        *(
            f'<p style="{style}">{GONE}</p>'
            for style in (
                "display: none",
                "visibility:hidden",
                "font-size:0",
                "position:absolute;left:-9999px",
                "text-decoration: line-through",
            )
        ),
    ],
)
def test_what_no_reader_sees_is_no_evidence(middle: str) -> None:
    found = text(page(middle))
    assert GONE[:-1] not in found
    assert "Some forty varieties" in found


def test_what_markdown_strikes_out_or_comments_is_no_evidence() -> None:
    written = f"{MILL} ~~{GONE}~~ It is `<!-- a -->`.\n\n<!-- {GONE}\n\n{GONE} -->\n"
    assert text(written, "a.md") == f"{MILL} It is <!-- a -->."


def test_items_of_markdown_keep_their_numbers() -> None:
    assert text("3. Oak\n4. **Ash**\n", "a.md") == "- 3. Oak\n- 4. Ash"


def test_a_gallery_that_scripts_will_show_is_read() -> None:
    slides = "".join(
        f"<div class=part hidden><p>{MILL.replace('mill', f'mill {n}')}</p></div>"
        for n in range(40)
    )
    first = slides[: slides.index("<div class=part", 1)]
    assert "mill 7" in text(page(slides))
    assert "mill 0" not in text(page(first))


@pytest.mark.parametrize(
    ("chapters", "kept"),
    [
        ((f"<p>One</p><div>{MILL}</div>{AROUND}",), MILL),
        (
            ("<div>The wheel is still,</div><div>the race is dry;</div>",),
            "The wheel is still,\n\nthe race is dry;",
        ),
        (
            (
                f"<p>{MILL}<a epub:type='noteref'>2</a> It</p>".replace(
                    "<a", "<a xmlns:epub='http://www.idpf.org/2007/ops'"
                ),
            ),
            f"{MILL}[2] It",
        ),
        ((f"<p>{MILL}<a role='doc-noteref' href='#n'>2</a><a href='#m'>3</a></p>",), f"{MILL}[2]3"),
        (("<p>The 10<a class='footnote-ref'><sup>3</sup></a> mills.</p>",), "The 10[3] mills."),
        (("<p>Lot 12.</p>", f"<p>{MILL}</p>"), MILL),
        (("<p>Caf&eacute;&nbsp;Mill.",), "Café Mill."),
        (
            (
                "<table><tr><th>Mill</th><th>Rebuilt</th></tr><tr><td>Lindal</td><td>1893</td></tr></table>",
            ),
            "Rebuilt 1893",
        ),
    ],
)
def test_a_chapter_is_read_whole(chapters: tuple[str, ...], kept: str) -> None:
    assert kept in text(book(*chapters), "a.epub")


def test_a_book_with_a_flaw_is_read() -> None:
    members: dict[str, str | bytes] = {
        "O__c0.xhtml": f"<html><body><p>{MILL}</p></body></html>",
    }
    assert text(epub("c0.xhtml", "absent.xhtml", **members), "a.epub") == MILL
    opf = (
        '<!DOCTYPE package><package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" '
        'href="capítulo.xhtml"/>'
    )
    opf += '</manifest><spine><itemref idref="a"/></spine></package>'
    parts = {
        "META-INF__container.xml": CONTAINER,
        "O__b.opf": opf,
        "O__capítulo.xhtml": f"<p>{MILL}</p>",
    }
    plain = zipped(**parts)
    assert text(plain, "a.epub") == MILL
    flagged = zipfile.ZipFile(io.BytesIO(plain)).getinfo("O/capítulo.xhtml").flag_bits
    assert flagged & 0x800
    assert text(plain.replace(b"\x00\x08\x08\x00", b"\x00\x00\x08\x00"), "a.epub") == MILL


UP = '<w:vertAlign w:val="superscript"/>'


def runs(*written: str | tuple[str, str]) -> str:
    """A paragraph of runs: texts, or texts with their properties."""
    pairs = [(each, "") if isinstance(each, str) else each for each in written]
    runs = [f"<w:r><w:rPr>{how}</w:rPr><w:t>{text}</w:t></w:r>" for text, how in pairs]
    return f"<w:p>{''.join(runs)}</w:p>"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("<w:p><w:r><w:t>38</w:t><w:noBreakHyphen/><w:t>40 m</w:t></w:r></w:p>", "38-40 m"),
        (runs("In 1934", ("7", UP)), "In 1934[7]"),
        (f"<w:sdt><w:sdtContent>{paragraph('Set.')}</w:sdtContent></w:sdt>", "Set."),
        (runs("10", ("6", UP)), "10^6"),
        (runs("A.", ("B", "<w:vanish/>")), "A."),
        (runs("A.", ("B", "<w:strike/>")), "A."),
        (runs(("B", '<w:strike w:val="0"/>')), "B"),
        (
            "<w:p><w:moveFrom><w:r><w:t>1936</w:t></w:r></w:moveFrom><w:moveTo><w:r><w:t>1937</w:t></w:r></w:moveTo></w:p>",
            "1937",
        ),
        (
            "<w:p><w:r><w:t>Q is </w:t></w:r><m:oMath "
            "xmlns:m='m'><m:sSup><m:e><m:r><m:t>10</m:t></m:r></m:e><m:sup><m:r>"
            "<m:t>6</m:t></m:r></m:sup></m:sSup></m:oMath></w:p>",
            "Q is 10^6",
        ),
        (
            "<w:p><w:r><w:t>A. </w:t></w:r><c:AlternateContent "
            "xmlns:c='c'><c:Choice><w:txbxContent>"
            + paragraph("Box.")
            + "</w:txbxContent></c:Choice><c:Fallback><w:txbxContent>"
            + paragraph("Box.")
            + "</w:txbxContent></c:Fallback></c:AlternateContent><w:r><w:t>B.</w:t></w:r></w:p>",
            "A. B.\n\nBox.",
        ),
    ],
)
def test_a_document_reads_as_its_reader_sees_it(body: str, found: str) -> None:
    assert text(docx(body), "a.docx") == found
    assert text(
        docx(body).replace(b"schemas.openxmlformats.org", b"purl.oclc.org/ooxml/strict"), "a.docx"
    )


def test_notes_stand_at_the_end_and_other_names_of_the_main_part_are_known() -> None:
    body = '<w:p><w:r><w:t>Oak</w:t><w:footnoteReference w:id="2"/><w:t>.</w:t></w:r></w:p>'
    parts = {
        "word__document2.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>",
        "word__footnotes.xml": f'<w:footnotes {W}><w:footnote w:id="0">{paragraph("-")}</w:footnote>'
        f'<w:footnote w:id="2">{paragraph("From Hollins.")}</w:footnote></w:footnotes>',
    }
    assert text(zipped(**parts), "a.docx") == "Oak[1].\n\n[1] From Hollins."


GRID = [
    ["City", "Inhabitants", "Area"],
    ["Graz", "290,000", "127 km²"],
    ["Linz", "212,000", "96 km²"],
]


def sheet(
    grid: Sequence[Sequence[object]], *formats: str, merged: str = "", name: str = "Sheet1"
) -> bytes:
    """A workbook with these values, the number formats of its last row, and merged cells."""
    import openpyxl

    workbook = openpyxl.Workbook()
    workbook.active.title = name
    for row in grid:
        workbook.active.append(row)
    for cell, form in zip(workbook.active[len(grid)], formats, strict=False):
        cell.number_format = form
    if merged:
        workbook.active.merge_cells(merged)
    out = io.BytesIO()
    workbook.save(out)
    return out.getvalue()


def table_in(kind: str, grid: list[list[str]]) -> bytes:
    """The same table as a file of this kind."""
    if kind == "xlsx":
        return sheet(grid)
    if kind == "docx":
        rows = ["".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in grid]
        return docx("<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in rows) + "</w:tbl>")
    if kind in ("html", "epub"):
        rows = ["".join(f"<td>{cell}</td>" for cell in row) for row in grid]
        made = "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"
        return book(made) if kind == "epub" else page(made).encode()
    if kind == "md":  # which has no more cells than its head
        width = max(map(len, grid))
        rows = [row + [""] * (width - len(row)) for row in grid]
        lines = [" | ".join(row) for row in (rows[0], ["---"] * width, *rows[1:])]
        return "\n".join(f"| {line} |" for line in lines).encode()
    return "\n".join({"csv": ";", "tsv": "\t"}[kind].join(row) for row in grid).encode()


KINDS = ("html", "epub", "docx", "md", "csv", "tsv", "xlsx")


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_is_read_with_the_heads_of_its_columns(kind: str) -> None:
    assert (
        "\n\nGraz: Inhabitants 290,000; Area 127 km²\n\nLinz: Inhabitants 212,000; Area 96 km²"
        in text(table_in(kind, GRID), f"a.{kind}")
    )


def test_the_heads_of_two_rows_are_joined() -> None:
    rows = (
        "<tr><th rowspan=2>City<th colspan=2>Visitors<tr><th>2022<th>2023<tr><td>Graz<td>10<td>20"
    )
    assert "Graz: Visitors 2022 10; Visitors 2023 20" in text(page(f"<table>{rows}</table>"))


@pytest.mark.parametrize(
    ("value", "form", "shown"),
    [
        (1234567.5, '#,##0.00 "€"', "€1,234,567.5"),
        (-5.5, '_("$"* #,##0.00_);_("$"* (#,##0.00)', "-$5.5"),
        (0.462, "0.0%", "46.2%"),
        (12.5, "General", "12.5"),
        (time(7, 40), "h:mm", "07:40"),
        (datetime(1990, 1, 2, 13, 30), "yyyy-mm-dd h:mm", "1990-01-02 13:30"),
        (date(1990, 1, 2), "d mmm", "1990-01-02"),
    ],
)
def test_a_cell_is_read_as_the_sheet_shows_it(value: object, form: str, shown: str) -> None:
    assert text(sheet([["Cost"], [value]], form), "a.xlsx").endswith(f"Cost\n\n{shown}")


WORDS = st.text("abcdefgh é", min_size=1, max_size=8).map(str.strip).filter(bool)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(WORDS, min_size=2, max_size=3), min_size=2, max_size=5),
    st.sampled_from(KINDS),
)
def test_no_word_of_a_table_is_lost(grid: list[list[str]], kind: str) -> None:
    found = read(table_in(kind, grid), f"a.{kind}").text
    words = {word for row in grid for cell in row for word in cell.split()}
    assert words <= set(re.split(r"[\s:;,]+", found))
