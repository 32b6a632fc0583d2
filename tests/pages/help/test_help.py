"""Every control explains itself, every term of a page is in the glossary, and every key does something."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from attribution.settings import ROOT
from pages.ui.help.glossary import GLOSSARY, explained, term, terms
from pages.ui.help.sheet import SHORTCUTS, sheet
from pages.ui.html.render import Node, html

PAGES = sorted(path.name for path in (ROOT / "pages").glob("*.py") if path.stem != "__init__")
INPUTS = {
    "button_group", "checkbox", "multiselect", "number_input", "selectbox", "slider", "text_area", "text_input",
    "file_uploader", "menu_button", "radio", "toggle", "date_input", "color_picker",
}  # fmt: skip
BUTTONS = {"button", "download_button", "link_button", "page_link"}
WORDS = 3  # of a button's label that say what it does


def widgets(node: Any) -> Iterator[Any]:
    """Every element of a page that can be used."""
    for child in getattr(node, "children", {}).values():
        yield from widgets(child)
    kind, proto = getattr(node, "type", ""), getattr(node, "proto", None)
    if kind in INPUTS | BUTTONS and proto is not None:
        yield kind, proto


@pytest.mark.parametrize("name", PAGES)
def test_every_control_has_help_or_a_label_that_explains_it(name: str) -> None:
    at = AppTest.from_file(str(ROOT / "pages" / name), default_timeout=120).run()
    assert not at.exception
    found = list(widgets(at._tree))
    assert len(found) > 1, "the page has no controls: has the test lost them?"
    for kind, proto in found:
        label = getattr(proto, "label", "")
        says_itself = kind in BUTTONS and len(label.split()) >= WORDS
        assert proto.help or says_itself, f"{name}: {kind} “{label}” has no help"


def test_terms_explain_themselves_and_an_unknown_one_is_found_here() -> None:
    assert len(terms()) == len(re.findall(r"^\| \*\*", GLOSSARY.read_text("utf-8"), re.MULTILINE)) > 20
    _, shown, _ = explained("The [claims] of it")
    assert isinstance(shown, Node)
    assert html(shown) == (
        '<span tabindex="0" class="ax-term">claims<span role="tooltip" class="ax-meaning">'
        "a statement taken from the answer, with the spans of the answer it comes from</span></span>"
    )
    assert html(term("passage")).endswith("a part of a page, long enough to judge a claim by</span></span>")
    with pytest.raises(KeyError):
        explained("A [word] of no glossary")


def test_the_script_acts_on_every_key_of_the_sheet() -> None:
    script = (ROOT / "pages" / "ui" / "help" / "help.js").read_text("utf-8")
    block = script.split("const ACTIONS = {")[1].split("};")[0]
    acted = set(re.findall(r'(?:^|[\s,{])"?([a-z/])"?:', block)) | {"?"}
    assert acted == {key for key, _ in SHORTCUTS}
    assert len(sheet()["tour"]) == 3
