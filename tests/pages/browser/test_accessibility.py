import itertools
import re
from collections.abc import Iterator, Sequence

import pytest

from pages.ui.frame import PAGES
from tests.pages.browser.visits import (
    MARKS,
    PATIENCE,
    Page,
    analyse,
    claims,
    expect,
    go_to,
    menu,
    panel,
    settled,
    unfold,
    write,
)

axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
)
pytestmark = MARKS
ANSWER = """# Hitchcock

Alfred Hitchcock directed ~~Psycho~~ in 1960.
The film [Psycho](https://en.wikipedia.org/wiki/Psycho_(1960_film)) is his.
He was born in London in 1899.

| | Year |
|---|---|
| Psycho | 1960 |

- **Vertigo**: It was released in 1958, starring [James Stewart](https://example.org) and Kim Novak.
"""
CITED = (
    ANSWER
    + "\nThe Nile flows north [1]. The Eiffel Tower has 4.5 million rivets.\n\nSources:\n[1] http://127.0.0.1:9/nile"
)
LONG = " ".join(f"The Nile was measured by {n} surveyors in {1000 + n}." for n in range(40))


STREAMLIT = {
    "presentation-role-conflict": {"enabled": False}
}  # in its file uploader; it is no rule of WCAG


def broken(page: Page) -> list[tuple[str, list[str]]]:
    """The rules of axe that the page breaks, with the elements concerned."""
    results = axe.Axe().run(page, options={"resultTypes": ["violations"], "rules": STREAMLIT})
    return [
        (v["id"], [node["html"] for node in v["nodes"]]) for v in results.response["violations"]
    ]


def unbroken(page: Page, where: str, schemes: Sequence[str] = ("light", "dark")) -> None:
    """No rule of axe is broken, in either theme."""
    page.mouse.move(0, 0)  # from a button, whose tooltip Streamlit draws outside of every landmark
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        drawn = "scheme => getComputedStyle(document.documentElement).colorScheme === scheme"
        page.wait_for_function(
            drawn, arg=scheme, timeout=PATIENCE
        )  # the server has drawn the page in that theme
        page.wait_for_timeout(500)  # colours change slowly
        assert broken(page) == [], f"{where}, {scheme}"


def states(page: Page) -> Iterator[str]:
    """Bring Check into each of its states with a result, and name it."""
    write(page, CITED, "Who was Alfred Hitchcock?")
    analyse(page)
    claims(page).first.click()
    claims(page).first.press("c")
    expect(page.locator(".head .badge.own")).to_be_visible(timeout=PATIENCE)
    panel(page).get_by_text("More about this claim").click()
    yield "a claim with an assessment, and its fold"
    menu(page, "Export")
    yield "the menu Export"
    page.keyboard.press("Escape")
    more = page.get_by_role("button", name="Show more or less of the card")
    if more.is_visible():  # on a phone the tabs are in the sheet, once it is drawn up
        more.click()
    for name, shown in (("Revised answer", ".revised"), ("Sources", ".sources .title")):
        page.get_by_role("tab", name=name).click()
        expect(page.locator(shown).first).to_be_visible(timeout=PATIENCE)
        settled(page)
        yield f"the tab {name}"
    page.locator(".sources .title").first.click()
    expect(page.locator("mark.here")).to_be_visible(timeout=PATIENCE)
    yield "a source beside the answer"
    if more.is_visible():
        more.click()  # the sheet covers the header
    unfold(page)
    yield "the form of a run"
    write(page, LONG)
    analyse(page, end=False)
    expect(page.locator(".state")).to_contain_text(re.compile("Claim [1-9]"), timeout=PATIENCE)
    yield "a run under way"
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Continue", exact=True)).to_be_visible(timeout=PATIENCE)
    settled(page)
    yield "a stopped run"


@pytest.mark.parametrize(
    ("width", "height", "schemes", "most"),
    [
        (1440, 900, ("light",), 3),
        pytest.param(1440, 900, ("light", "dark"), None, marks=pytest.mark.slow),
        pytest.param(1280, 720, ("light", "dark"), None, marks=pytest.mark.slow),
        pytest.param(390, 844, ("light", "dark"), None, marks=pytest.mark.slow),
    ],
)
def test_no_state_of_a_result_breaks_a_rule_of_axe(
    page: Page, width: int, height: int, schemes: Sequence[str], most: int | None
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    for where in itertools.islice(states(page), most):
        unbroken(page, where, schemes)


@pytest.mark.slow
def test_every_page_and_the_help_sheet_break_no_rule_of_axe(page: Page) -> None:
    for entry in PAGES.values():
        go_to(page, entry)
        settled(page)
        unbroken(page, entry)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Help")).to_be_visible()
    unbroken(page, "the help sheet")
    page.keyboard.press("Escape")
