import ast
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import get_args
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.reports import cards
from attribution.reports import html as html_module
from attribution.reports.claim_rows import claim_rows
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
from attribution.types import (
    LABELS,
    RELATIONS,
    Claim,
    Evidence,
    Failure,
    Label,
    Page,
    Relation,
    Report,
    Verdict,
)
from tests.make import claim, evidence, page
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


def safe(source: str) -> _Tags:
    """Parsed; fails if anything is in it that our own nodes cannot hold."""
    seen = _Tags(source)
    assert seen.tags <= BLOCKS | INLINE
    assert {name for name, _ in seen.attributes} <= ATTRIBUTES
    for name, value in seen.attributes:
        assert name != "href" or (value or "").lower().startswith(("http://", "https://"))
    return seen


@pytest.mark.parametrize("text", TEXTS)
def test_text_and_attributes_are_escaped(text: str) -> None:
    seen = safe(html(el("p", text, el("span", text, title=text, aria_label=text), class_=text)))
    assert seen.text == text * 2
    assert [v for n, v in seen.attributes if n == "title"] == [text]


@given(st.text(), st.text())
def test_any_text_comes_back_as_it_was(text: str, attribute: str) -> None:
    seen = safe(html(el("p", text, title=attribute)))
    assert seen.text.replace("\r\n", "\n").replace("\r", "\n") == text.replace(
        "\r\n", "\n"
    ).replace("\r", "\n")
    assert dict(seen.attributes).get("title", "") == attribute


@pytest.mark.parametrize(
    "tag", ["script", "img", "iframe", "style", "svg", "object", "form", "P", "p onclick"]
)
def test_no_other_tag_can_be_made(tag: str) -> None:
    with pytest.raises(ValueError, match="not on the list"):
        el(tag)


@pytest.mark.parametrize(
    "name", ["onclick", "style", "src", "srcdoc", "formaction", "data_x", "id"]
)
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


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _colours(label: str, part: str) -> tuple[str, ...]:
    """Return the light and the dark colour of a verdict's ink or tint."""
    pair = rf"--{label}-{part}: light-dark\((#\w+), (#\w+)\);"
    match = re.search(pair, html_module.VERDICTS_CSS)
    assert match
    return match.groups()


@pytest.mark.parametrize("label", [k for k in LABELS if k != "not_checked"])
def test_ink_is_readable_on_its_tint(label: Label) -> None:
    for ink, tint in zip(_colours(label, "ink"), _colours(label, "tint"), strict=True):
        low, high = sorted((_luminance(ink), _luminance(tint)))
        assert (high + 0.05) / (low + 0.05) >= 6.3


# --- whole views ---


def _hostile_report(text: str) -> Report:
    source = page(f"Before. {text} After it.", url="javascript:window.pwned=1", title=text)
    c = claim(text)
    place = {
        "page_id": source.id,
        "text": source.text,
        "end": len(source.text),
        "sentence": (8, 8 + len(text)),
    }
    piece = evidence(c, 0.02, 0.9, "contradicted", **place, query=text, searcher=text)
    twin = piece.model_copy(update={"rank": 2})
    verdict = Verdict(claim_id=c.id, label="contradicted", confidence=0.9, reason=text)
    failure = Failure(stage=text, subject=text, kind="unreadable", message=text)
    return Report(
        id="x",
        created_at="2026-11-01T00:00:00+00:00",
        question=text,
        answer=text,
        settings={"threshold": 0.5},
        versions={"verifier": text},
        claims=(c,),
        pages=(source,),
        evidence=(piece, twin),
        verdicts=(verdict,),
        failures=(failure,),
    )


def _panel(report: Report, running: bool = False) -> str:
    (row,) = claim_rows(report, "pending" if running else "not_reached")
    return html(cards.panel(row, report, cards.CardSettings(is_running=running)))


def test_cards_show_hostile_text_as_text() -> None:
    text = "".join(TEXTS[:3])
    report = _hostile_report(text)
    drawn = _panel(report)
    safe(drawn)
    assert text in _Tags(drawn).text


def _report_of(of: Claim, piece: Evidence, source: Page, label: Label) -> Report:
    verdict = Verdict(claim_id=of.id, label=label, confidence=0.9, reason="")
    changes = {"claims": (of,), "evidence": (piece,), "pages": (source,), "verdicts": (verdict,)}
    return _hostile_report("x").model_copy(update=changes)


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("web", 'href="https://example.org/a#:~:text=The%20Nile%20is%20long."'),
        ("library", "data-at="),
    ],
)
def test_a_web_passage_opens_at_its_sentence_and_another_here(kind: str, wanted: str) -> None:
    source = page("The Nile is long. It flows north.").model_copy(update={"kind": kind})
    size = len(source.text)
    place = {"page_id": source.id, "text": source.text, "end": size, "sentence": (0, 17)}
    piece = evidence(claim(), 0.9, 0.05, "entailed", **place)
    assert wanted in _panel(_report_of(claim(), piece, source, "supported"))


@pytest.mark.parametrize(("running", "word"), [(True, "Being checked"), (False, "Not reached")])
def test_a_claim_without_a_verdict_says_why(running: bool, word: str) -> None:
    report = _hostile_report("x").model_copy(update={"verdicts": ()})
    assert word in _Tags(_panel(report, running)).text


def test_a_word_that_the_shown_passage_has_is_not_called_missing() -> None:
    source = page("It was made in 1884. The lamp burns oil. It weighs 4 kg.")
    lamp = claim("The lamp was made of brass in 1884.")
    start, end = source.text.index("The lamp"), source.text.index(" It weighs")
    place = {"start": start, "end": end, "sentence": (start, end), "page_id": source.id}
    piece = evidence(lamp, 0.3, 0.1, "no_relation", text=source.text[start:end], **place)
    drawn = _panel(_report_of(lamp, piece, source, "unclear"))
    assert "The closest passage doesn't mention “brass”." in _Tags(drawn).text
