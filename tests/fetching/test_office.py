"""What Office and OpenDocument show, beyond the words that stand in their files."""

import pytest

from tests.fetching.test_formats import W, read, zipped
from tests.fetching.test_formats_kept import sheet

ODF = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "table", "style", "fo", "draw")
)


def level(number: int, form: str, text: str) -> str:
    return (
        f'<w:lvl w:ilvl="{number}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


def numbered(text: str, depth: int = 0, style: str = "") -> str:
    place = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="1"/></w:numPr>'
    properties = f'<w:pStyle w:val="{style}"/>' if style else place
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def contract(body: str, *levels: str) -> bytes:
    """A document with a list of these levels, which the style Clause has too."""
    abstract = f'<w:abstractNum w:abstractNumId="0">{"".join(levels)}</w:abstractNum>'
    number = '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    style = (
        '<w:style w:styleId="Clause"><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'
        "</w:style>"
    )
    return zipped(
        **{
            "word__document.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>",
            "word__numbering.xml": f"<w:numbering {W}>{abstract}{number}</w:numbering>",
            "word__styles.xml": f"<w:styles {W}>{style}</w:styles>",
        }
    )


@pytest.mark.parametrize(
    ("levels", "body", "text"),
    [
        (
            (level(0, "decimal", "Article %1"), level(1, "decimal", "%1.%2")),
            numbered("Rent")
            + numbered("It is due in May.", 1)
            + numbered("Keys")
            + numbered("There are two.", 1)
            + numbered("Both are lent.", 1),
            "Article 1 Rent\n\n1.1 It is due in May.\n\nArticle 2 Keys\n\n2.1 There are two.\n\n"
            "2.2 Both are lent.",
        ),
        (
            (level(0, "upperRoman", "§ %1"),),
            numbered("A.") * 3 + numbered("Four."),
            "§ I A.\n\n§ II A.\n\n§ III A.\n\n§ IV Four.",
        ),
        ((level(0, "lowerLetter", "%1)"),), numbered("A.") + numbered("B."), "a) A.\n\nb) B."),
        ((level(0, "bullet", "•"),), numbered("Oak") + numbered("Ash"), "- Oak\n- Ash"),
        ((level(0, "decimal", "%1."),), numbered("Rent", style="Clause"), "1. Rent"),
    ],
)
def test_automatic_numbers_are_read(levels: tuple[str, ...], body: str, text: str) -> None:
    assert read(contract(body, *levels), "a.docx").text == text


SLIDE = '<p:sld xmlns:p="p" xmlns:a="a"><p:cSld><p:spTree>{}</p:spTree></p:cSld></p:sld>'


def shape(text: str, kind: str = "body") -> str:
    place = f'<p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>'
    return f"<p:sp>{place}<p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"


def test_slides_are_read_by_their_numbers_with_notes_and_without_footers() -> None:
    members = {
        "slides__slide10.xml": SLIDE.format(shape("Last.")),
        "slides__slide9.xml": SLIDE.format(shape("First.") + shape("7", "sldNum")),
        "notesSlides__notesSlide1.xml": SLIDE.format(shape("Say more.")),
    }
    content = zipped(**{f"ppt__{name}": text for name, text in members.items()})
    assert read(content, "a.pptx").text == "First.\n\nLast.\n\nSay more."


def opendocument(body: str) -> bytes:
    return zipped(
        **{
            "content.xml": f"<office:document-content {ODF}><office:body>{body}</office:body>"
            "</office:document-content>"
        }
    )


CELL = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<text:h>Mill</text:h><text:p>Built<text:s/>in 1893.</text:p>", "Mill\n\nBuilt in 1893."),
        (
            "<text:p>Oak<text:note><text:note-citation>1</text:note-citation><text:note-body>"
            "<text:p>By Moss.</text:p></text:note-body></text:note>.</text:p>",
            "Oak.",
        ),
        (
            "<table:table>"
            + f"<table:table-row>{CELL.format('', 'Mill')}{CELL.format('', 'Men')}</table:table-row>"
            + f"<table:table-row>{CELL.format('', 'Lindal')}{CELL.format('', '12')}</table:table-row>"
            + "</table:table>",
            "Mill | Men\n\nLindal: Men 12",
        ),
    ],
)
def test_opendocument_is_read(body: str, text: str) -> None:
    assert read(opendocument(body), "a.odt").text == text


@pytest.mark.parametrize(("name", "title"), [("Budget", "Budget"), ("Tabelle 1", "")])
def test_a_sheet_that_has_a_name_is_its_title(name: str, title: str) -> None:
    assert read(sheet([["Item", 2024], ["Oars", 40]], name=name), "a.xlsx").title == title


def test_formulas_that_were_never_calculated_are_named() -> None:
    found = read(sheet([["Item", 2024], ["Oars", 40], ["Sum", "=SUM(B2:B2)"]]), "a.xlsx")
    assert found.text.endswith("Oars: 2024 40\n\nSum")
    assert found.unread == "the results of formulas that were never calculated, as in B3"


def test_each_table_of_a_sheet_has_its_own_heads() -> None:
    rows: list[list[object]] = [
        ["Crew", "Men"],
        ["Alder", 12],
        [None],
        ["Coast", "Boat", "Oars"],
        ["East", "Rowan", 6],
        [None, "Hazel", 8],
    ]
    assert read(sheet(rows, merged="A5:A6"), "a.xlsx").text == (
        "Crew | Men\n\nAlder: Men 12\n\nCoast | Boat | Oars\n\n"
        "East: Boat Rowan; Oars 6\n\nEast: Boat Hazel; Oars 8"
    )
