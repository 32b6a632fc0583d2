import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from attribution.reports.html import Node, html
from attribution.settings import ROOT
from pages.ui.help import GLOSSARY, demo_steps, explained, term, terms, texts
from tests.reports.test_cards import FEWER, RIVETS, judged

INPUTS = {
    "checkbox",
    "multiselect",
    "number_input",
    "selectbox",
    "segmented_control",
    "slider",
    "select_slider",
    "text_area",
    "text_input",
    "file_uploader",
    "radio",
    "toggle",
    "date_input",
    "pills",
    "popover",
}
BUTTONS = {"button", "download_button", "link_button", "form_submit_button"}
WORDS = 3  # of a button's label that say what it does
PLAIN = {"Undo", "Save", "Delete", "Cancel", "Change"}


def controls(path: Path) -> Iterator[ast.Call]:
    """Every call that draws something to use, in what appears with a result too."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in INPUTS | BUTTONS
        ):
            yield node


def words(label: ast.expr) -> int:
    """Of a label in the source; a part that is filled in, such as “3 answers”, counts as two."""
    if isinstance(label, ast.IfExp):
        return min(words(label.body), words(label.orelse))
    parts = label.values if isinstance(label, ast.JoinedStr) else [label]
    return sum(len(str(p.value).split()) if isinstance(p, ast.Constant) else 2 for p in parts)


SOURCES = sorted(path for path in (ROOT / "pages").rglob("*.py") if any(controls(path)))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_control_has_help_or_a_label_that_explains_it(path: Path) -> None:
    for call in controls(path):
        if call.args and not any(keyword.arg in ("help", None) for keyword in call.keywords):
            assert isinstance(call.func, ast.Attribute)
            if any(k.arg == "label_visibility" for k in call.keywords):
                continue  # its options are all that is shown
            label = ast.unparse(call.args[0]).strip("'")
            is_clear = label in PLAIN or words(call.args[0]) >= WORDS
            says_itself = call.func.attr in BUTTONS and is_clear
            assert says_itself, f"line {call.lineno}: {ast.unparse(call.args[0])} has no help"


def test_the_controls_are_found() -> None:
    assert sum(1 for path in SOURCES for _ in controls(path)) > 100


def test_terms_explain_themselves_and_an_unknown_one_is_found_here() -> None:
    assert (
        len(terms()) == len(re.findall(r"^\| \*\*", GLOSSARY.read_text("utf-8"), re.MULTILINE)) > 20
    )
    _, shown, _ = explained("The [claims] of it")
    assert isinstance(shown, Node)
    assert html(shown) == (
        '<span tabindex="0" class="ax-term">claims<span role="tooltip" class="ax-meaning">'
        f"{terms()['claim']}</span></span>"
    )
    assert html(term("passage")) != html(term("claim"))
    with pytest.raises(KeyError):
        explained("A [word] of no glossary")


def test_the_script_acts_on_every_key_of_the_sheet() -> None:
    script = (ROOT / "pages" / "ui" / "static" / "help.js").read_text("utf-8")
    block = script.split("const ACTIONS = {")[1].split("};")[0]
    acted = set(re.findall(r'(?:^|[\s,{])"?([a-z/])"?:', block)) - {"r"}
    listed = {key for keys, _ in texts()["shortcuts"] for key in keys.split()}
    assert acted | {"1", "2", "3", "4", "Esc", "?"} == listed


def test_the_demo_tells_of_claims_that_have_these_verdicts() -> None:
    report = judged(RIVETS, "contradicted", (FEWER, "contradicted"))
    steps = demo_steps(report)
    wrong = next(step for step in steps if step.title == "Wrong")
    assert wrong.action == "claim:1"
    assert "The source says 2.5 million, not 4.5 million." in wrong.text
    assert {step.title for step in steps}.isdisjoint({"OK", "No source", "For you to decide"})
    empty = report.model_copy(update={"claims": (), "verdicts": (), "evidence": ()})
    assert not any(step.action.startswith("claim:") for step in demo_steps(empty))
