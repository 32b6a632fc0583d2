import ast
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import get_args
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.reports import html as html_module
from attribution.reports.html import (
    ATTRIBUTES,
    BLOCKS,
    INLINE,
    el,
    html,
    link_to_sentence,
    safe_url,
)
from attribution.reports.looks import LOOKS, PENDING, look
from attribution.reports.looks import RELATIONS as RELATION_LOOKS
from attribution.settings import ROOT
from attribution.types import LABELS, RELATIONS, Label, Relation
from tests.pages.hostile import ADDRESSES, TEXTS

UI = ROOT / "pages" / "ui"


class _Tags(HTMLParser):
    """Collects what a browser would see."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


ANY = st.text() | st.sampled_from(TEXTS)


def safe(source: str) -> _Tags:
    """Parsed; fails if anything is in it that our own nodes cannot hold."""
    seen = _Tags(source)
    assert seen.tags <= BLOCKS | INLINE
    assert {name for name, _ in seen.attributes} <= ATTRIBUTES
    for name, value in seen.attributes:
        assert name != "href" or (value or "").lower().startswith(("http://", "https://"))
    return seen


@given(ANY, ANY)
def test_any_text_comes_back_as_it_was(text: str, attribute: str) -> None:
    seen = safe(html(el("p", text, title=attribute)))
    assert seen.text.splitlines() == text.splitlines()
    assert dict(seen.attributes).get("title", "") == attribute


@pytest.mark.parametrize(
    "tag", ["script", "img", "iframe", "style", "svg", "object", "form", "P", "p onclick"]
)
def test_no_other_tag_can_be_made(tag: str) -> None:
    with pytest.raises(ValueError, match="not on the list"):
        el(tag)


@pytest.mark.parametrize("name", ["onclick", "style", "src", "srcdoc", "formaction", "data_x"])
def test_no_other_attribute_can_be_made(name: str) -> None:
    with pytest.raises(ValueError, match="not on the list"):
        el("p", **{name: "x"})


def test_the_script_knows_the_same_lists() -> None:
    script = (html_module.STATIC / "nodes.js").read_text("utf-8")
    tags, attributes = script.split("const ATTRIBUTES")
    words = re.compile(r'"([a-z0-9 -]+)"\.split')
    assert set(" ".join(words.findall(tags)).split()) == BLOCKS | INLINE
    assert set(" ".join(words.findall(attributes)).split()) == ATTRIBUTES


@pytest.mark.parametrize("name", sorted(path.relative_to(UI) for path in UI.rglob("*.js")), ids=str)
def test_scripts_make_no_markup_of_text(name: Path) -> None:
    script = (UI / name).read_text("utf-8")
    for way in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "DOMParser",
        "eval(",
        "srcdoc",
    ):
        assert way not in script


def test_pages_show_html_of_the_renderer_alone() -> None:
    """So that text is escaped on every page, as the tests above show."""
    calls = [
        ast.unparse(node)
        for path in (ROOT / "pages").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "st.html"
    ]
    styles = [call for call in calls if "<style>" in call]
    assert set(calls) - set(styles) == {"st.html(html.html(node))"}
    assert len(styles) == 2
    assert not [
        path for path in (ROOT / "pages").rglob("*.py") if "unsafe_allow" in path.read_text("utf-8")
    ]


# --- addresses ---


@pytest.mark.parametrize("url", ADDRESSES)
def test_unsafe_addresses_become_no_link(url: str) -> None:
    assert safe_url(url) is None
    assert link_to_sentence(url, "A sentence.") is None
    assert "href" not in html(el("a", "x", href=url))


@pytest.mark.parametrize(
    "url", ["https://example.org", "http://example.org:80/a?b=c&d#e", "https://xn--e1afmkfd.org/ü"]
)
def test_web_addresses_are_kept(url: str) -> None:
    assert safe_url(url) == url


@pytest.mark.parametrize(
    ("url", "sentence", "link"),
    [
        ("https://e.org/Hobson's", "One.", "https://e.org/Hobson%27s#:~:text=One."),
        ("https://e.org/#top", "One.", "https://e.org/#top:~:text=One."),
        ("https://e.org/#top:~:text=old", "One.", "https://e.org/#top:~:text=One."),
        ("https://e.org/a", "A-B, & 5%.", "https://e.org/a#:~:text=A%2DB%2C%20%26%205%25."),
        ("https://e.org/a", "", "https://e.org/a"),
    ],
)
def test_a_link_opens_at_a_sentence(url: str, sentence: str, link: str) -> None:
    assert link_to_sentence(url, sentence) == link


def test_a_long_sentence_is_given_by_its_ends() -> None:
    sentence = " ".join(f"word{n}" for n in range(60))
    link = link_to_sentence("https://example.org/", sentence)
    assert link is not None
    start, end = link.split("text=")[1].split(",")
    assert sentence.startswith(unquote(start))
    assert sentence.endswith(unquote(end))


@given(st.text(min_size=1))
def test_any_sentence_makes_one_directive(sentence: str) -> None:
    link = link_to_sentence("https://example.org/a", sentence.encode("utf-8", "replace").decode())
    assert link is not None
    assert link.count("#") <= 1
    assert re.fullmatch(r"[\x21-\x7e]+", link)


# --- verdicts ---


def test_every_verdict_has_a_look_of_its_own() -> None:
    assert set(LOOKS) == set(LABELS) == set(get_args(Label))
    assert set(RELATION_LOOKS) == set(RELATIONS) == set(get_args(Relation))
    for part in ("icon", "word", "help"):
        assert len({getattr(v, part) for v in LOOKS.values()}) == len(LABELS)
    assert look(None) is look("unheard of") is PENDING
