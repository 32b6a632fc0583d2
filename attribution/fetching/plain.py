"""Read files of text: plain, Markdown, separated values, captions, RTF and mail."""

from __future__ import annotations

import re
from collections.abc import Sequence
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default as modern
from functools import lru_cache
from typing import TYPE_CHECKING

from attribution.errors import FetchFailed
from attribution.fetching import table_text
from attribution.fetching.content_type import decode
from attribution.fetching.html_page import parse, read_html, read_text, remove_hidden
from attribution.fetching.page import Extracted
from attribution.text.lines import FRONT_MATTER

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


def read_plain(text: str) -> Extracted:
    """Read the text as it is; captions as running text."""
    return Extracted("", _without_repetition(text))


def read_csv(text: str) -> Extracted:
    """Read the rows of a table of comma- or tab-separated values."""
    return Extracted("", "\n\n".join(table_text.delimited(text)))


def read_rtf(content: bytes) -> Extracted:
    """Read the text of RTF."""
    from striprtf.striprtf import rtf_to_text

    text: str = rtf_to_text(content.decode("latin-1"), errors="replace")
    return Extracted("", text.replace("\n", "\n\n"))


# --- Markdown ---

_NOTE_MARKS = re.compile(  # of Obsidian
    r"""((?<!`)`[^`\n]+`(?!`))
      | %%(?:[^%]|%(?!%)){0,2000}%%                  # comment
      | !\[\[[^\[\]\n]*\]\]                          # embedded file
      | \[\[(?:[^\[\]|\n]*\|)?(?:[^\[\]|\n]*/)?([^\[\]|\n\#]*)(?:\#[^\[\]|\n]*)?\]\]  # link, alias
      | (?<!=)==(?!\s)([^=\n]{1,500})(?<!\s)==(?!=)  # highlight
      | [ \t]\^[\w-]{1,60}$                          # id of a block
      | ^```(?:dataview|query|mermaid)\b(?:(?!```)[^`]){0,2000}```""",
    re.VERBOSE | re.MULTILINE,
)
_PARAGRAPH = re.compile(r"(?:^[^\n]+\n?)+", re.MULTILINE)
_LABEL = re.compile(r"^[^\W\d_][^:|\n]{0,40}: [^\n]{1,60}$", re.MULTILINE)  # "Director: Anna Lind"
_FIELD = re.compile(  # of front matter in YAML
    r"""^(title|date|url(?=:[ \t]*["']?https?://)):(.*)""", re.MULTILINE
)
_CALLOUT = re.compile(r"^((?:>[ \t]?)+)\[!\w[\w-]{0,30}\][+-]?[ \t]*(.*)", re.MULTILINE)


def read_markdown(text: str) -> Extracted:
    """Read Markdown as the page that it makes; its front matter or first heading has the title."""
    text = text.replace("\r\n", "\n")
    front = FRONT_MATTER.match(text)
    metadata: dict[str, str] = {}
    if front:
        metadata = {key: value.strip(" \t\"'") for key, value in _FIELD.findall(front[1])}
        text = text[front.end() :]
    text = _CALLOUT.sub(r"\1\2\n\1", _NOTE_MARKS.sub(r"\1\2\3", text))
    text = _PARAGRAPH.sub(_with_hard_breaks, text)
    tree = parse(f"<body>{_markdown().render(text)}")
    remove_hidden(tree)
    return Extracted(
        metadata.get("title") or str(tree.xpath("string(//h1)")),
        read_text(tree),
        published=metadata.get("date", ""),
        url=metadata.get("url", ""),
    )


@lru_cache(1)
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    markdown.add_render_rule("list_item_open", _item)
    return markdown


def _item(renderer: object, tokens: Sequence[Token], number: int, *_: object) -> str:
    """Return the start of an item, with its number."""
    counted = tokens[number].info
    return f"<li>{counted}. " if counted else "<li>"


def _with_hard_breaks(paragraph: re.Match[str]) -> str:
    """Return a paragraph whose lines stay apart if two of them have a label."""
    labels = _LABEL.findall(paragraph[0])
    return paragraph[0].replace("\n", "  \n") if len(labels) > 1 else paragraph[0]


# --- captions ---

_CUE = re.compile(  # with its number
    r"(?:^\d{1,9}[ \t]*\r?\n)?(?:\d{1,3}:)?\d\d:\d\d[.,]\d{3}[ \t]+-->[^\n]*", re.MULTILINE
)
_CUE_END = re.compile(r"^(?:NOTE|STYLE|REGION)", re.MULTILINE)
_CUE_TAG = re.compile(r"</?[a-z][^<>\n]{0,80}>|<[\d:.]{9,12}>")


def _without_repetition(text: str) -> str:
    """Return the running text of captions, each line once; any other text as it is.

    Automatic captions roll: a cue repeats lines of the cue before it.
    """
    first, *cues = _CUE.split(text)
    is_vtt = first.startswith("WEBVTT")
    if len(cues) < 2 or not is_vtt and first.strip(" \r\n0123456789"):
        return text
    spoken: list[str] = []
    previous: list[str] = []
    for cue in cues:
        text = _CUE_TAG.sub("", _CUE_END.split(cue)[0])  # without notes and style sheets
        lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
        spoken += [line for line in lines if line not in previous]
        previous = lines or previous
    return "".join(f"\n{line}" if line.startswith("-") else f" {line}" for line in spoken)


# --- mail ---


def read_mail(content: bytes) -> Extracted:
    """Read a mail with its sender and date; attachments are named.

    Raises:
        FetchFailed: no_text where it has no text of its own.
    """
    message = message_from_bytes(content, policy=modern)
    assert isinstance(message, EmailMessage)
    body = message.get_body(("plain", "html"))
    if body is None:
        raise FetchFailed("no_text", "is a mail without a text; add what is attached to it")
    read = read_html if body.get_content_subtype() == "html" else read_plain
    content = bytes(body.get_payload(decode=True))  # Python doesn't know all charsets
    text = read(decode(content, str(body["Content-Type"]))).text
    head = [f"{field}: {message[field]}" for field in ("From", "To", "Date") if message[field]]
    attached = [part.get_filename() or "a message" for part in message.iter_attachments()]
    return Extracted(
        str(message.get("Subject", "")),
        "\n\n".join([*head, text]),
        published=str(message["Date"].datetime) if message["Date"] else "",
        unread=f"the attachments {', '.join(attached)}" if attached else "",
    )
