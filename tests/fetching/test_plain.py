"""Text files whose words are not all text: captions, notes, mail, RTF and separated values."""

from email.message import EmailMessage

import pytest

from attribution.fetching.table_text import lines
from tests.fetching.test_formats import read

SRT = """1
00:00:01,000 --> 00:00:03,000
the mill was built

2
00:00:02,000 --> 00:00:04,000
the mill was built
in 1893 of oak

3
00:00:03,000 --> 00:00:05,000
in 1893 of oak
by 12 men
"""
VTT = """WEBVTT
Kind: captions

NOTE made by a machine

STYLE
::cue { color: red }

00:01.000 --> 00:02.000 align:start
<v Ann>we are at the <c>mill</c>

00:02.000 --> 00:02.010
we are at the mill

00:02.010 --> 00:04.000
we are at the mill
again<00:00:03.000><c> and again</c>

NOTE the end

00:04.000 --> 00:05.000
again
"""


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("a.srt", SRT, "the mill was built in 1893 of oak by 12 men"),
        ("a.vtt", VTT, "we are at the mill again and again again"),
        ("a.txt", SRT, "the mill was built in 1893 of oak by 12 men"),
    ],
)
def test_each_line_of_rolling_captions_is_read_once(name: str, content: str, text: str) -> None:
    assert read(content, name).text == text


@pytest.mark.parametrize(
    ("note", "text"),
    [
        ("Built in [[1893]].", "Built in 1893."),
        ("By [[Ada Crossley|Ada]] and [[people/Ida Moss#Life]].", "By Ada and Ida Moss."),
        ("It turns. %%Not in\n\n1850.%% Slowly.", "It turns. Slowly."),
        ("![[plan.pdf]]\nThe wheel is of oak.", "The wheel is of oak."),
        ("It grinds ==40 sacks== a day. ^grist", "It grinds 40 sacks a day."),
        ("> [!note]- Old figure\n> It ground 30 sacks.", "Old figure\n\nIt ground 30 sacks."),
        ("```dataview\nTABLE x\n```\nThe race is dry.", "The race is dry."),
        ("Oak Ltd\nMill 1\nTel: 12\nOwner: Ann", "Oak Ltd\nMill 1\nTel: 12\nOwner: Ann"),
        ("It was\nNote: once\nlong.", "It was Note: once long."),
        ("`%%a%%` and `[[b]]`, a == b or c == d.", "%%a%% and [[b]], a == b or c == d."),
    ],
)
def test_notes_are_read_as_they_are_shown(note: str, text: str) -> None:
    assert read(note, "a.md").text == text


def test_front_matter_names_title_date_and_address() -> None:
    front = (
        "---\ntitle: The mill\ndate: 2020-05-04T10:00:00\nurl: https://mill.example/\ntags: "
        "[a]\n---\n"
    )
    found = read(f"{front}It turns.", "a.md")
    assert (found.title, found.text) == ("The mill", "It turns.")
    assert (found.published, found.url) == ("2020-05-04", "https://mill.example/")


def mail(html: str = "", attached: str = "") -> bytes:
    message = EmailMessage()
    message["From"] = "Ada Crossley <ada@mill.example>"
    message["Subject"] = "Mühle"
    message["Date"] = "Mon, 04 May 2020 10:00:00 +0000"
    message.set_content("The mill – rebuilt in 1893 – turns = grinds.", cte="quoted-printable")
    if html:
        message.add_alternative(html, subtype="html")
    if attached:
        message.add_attachment(b"%PDF-", "application", "pdf", filename=attached)
    return message.as_bytes()


@pytest.mark.parametrize("html", ["", "<p>The <b>mill</b></p>"])
def test_a_mail_is_decoded_with_its_sender_and_date(html: str) -> None:
    found = read(mail(html), "a.eml")
    assert found.title == "Mühle"
    assert found.published == "2020-05-04"
    assert found.text.startswith("From: Ada Crossley <ada@mill.example>")
    assert found.text.endswith("The mill – rebuilt in 1893 – turns = grinds.")


def test_a_mail_in_a_charset_of_an_unknown_name_is_read() -> None:
    sent = mail().replace(b'charset="utf-8"', b'charset="unknown-8bit"')
    assert b"unknown-8bit" in sent
    assert "rebuilt in 1893 – turns" in read(sent, "a.eml").text


def test_what_is_attached_to_a_mail_is_named() -> None:
    assert read(mail(attached="plan.pdf"), "a.eml").unread == "the attachments plan.pdf"


def test_rtf_is_read() -> None:
    content = r"{\rtf1\ansi{\fonttbl{\f0 Times;}}\f0 The mill in \b L\'fcbeck\b0  turns.\par It is of oak.}"
    assert read(content, "a.rtf").text == "The mill in Lübeck turns.\n\nIt is of oak."


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("sep=;\nMill;Men\nLindal;12\nTarn;7", "Mill | Men\n\nLindal: Men 12\n\nTarn: Men 7"),
        (
            (
                "Mills of the county\nSource: county, "
                "2020\n\nMill,Men,Built\nLindal,12,1893\nTarn,7,1901"
            ),
            "Mills of the county\n\nSource: county, 2020\n\nMill | Men | Built\n\n"
            "Lindal: Men 12; Built 1893\n\nTarn: Men 7; Built 1901",
        ),
    ],
)
def test_the_head_of_separated_values_is_found(content: str, text: str) -> None:
    assert read(content, "a.csv").text == text


@pytest.mark.parametrize(
    ("caption", "grid", "row"),
    [
        (
            "Income ($ in thousands)",
            [["", "2024"], ["Revenue", "4,212"]],
            "Revenue: 2024 $4,212 thousand",
        ),
        (
            "(in millions of euros)",
            [["", "2024"], ["Loss", "(42)"]],
            "Loss: 2024 -42 million euros",
        ),
        (
            "",
            [["", "Sales ($m)", "Men"], ["Wind", "9", "40"]],
            "Wind: Sales ($m) $9 million; Men 40",
        ),
        (
            "In millions",
            [["", "2024"], ["Earnings per share", "1.2"]],
            "Earnings per share: 2024 1.2",
        ),
        ("($ in millions)", [["", "2024"], ["Margin", "12%"]], "Margin: 2024 12%"),
        ("The town of a million trees", [["", "Men"], ["Lindal", "12"]], "Lindal: Men 12"),
    ],
)
def test_figures_have_the_scale_that_their_table_names(
    caption: str, grid: list[list[str]], row: str
) -> None:
    assert lines(grid, 1, caption)[-1] == row
