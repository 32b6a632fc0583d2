import re

import pytest

from attribution.settings import LISTED
from tests.pages.browser.test_accessibility import unbroken
from tests.pages.browser.visits import (
    MARKS,
    PATIENCE,
    Browser,
    Page,
    downloaded,
    expect,
    field,
    go_to,
    language_model,
    settled,
    write,
)

pytestmark = MARKS
SLOW = " ".join(
    f"The Nile was measured by {n} surveyors and was drawn by {n + 1} painters." for n in range(16)
)


def opened(page: Page) -> object:
    """The Compare page, and its button once it can be pressed."""
    go_to(page, "Compare")
    button = page.get_by_role("button", name="Compare", exact=True)
    expect(button).to_be_enabled(timeout=PATIENCE)
    return button


def file(page: Page, name: str) -> str:
    return downloaded(page, f"Download {name}").path().read_text("utf-8-sig")


@pytest.mark.slow
def test_compare_with_the_keyboard_alone_on_a_telephone(browser: Browser, address: str) -> None:
    """From the question to a claim's words by Tab and Enter, with a visible focus all the way."""
    page = browser.new_context(viewport={"width": 390, "height": 800}).new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"{address}/compare")
    expect(page.get_by_role("button", name="Compare", exact=True)).to_be_enabled(timeout=PATIENCE)
    write(page, "The Nile flows north and reaches the Mediterranean.")
    field(page, "Question").focus()
    seen = []
    look = """() => {
      let e = document.activeElement;
      while (e.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
      const s = getComputedStyle(e), border = (field) => field && getComputedStyle(field).borderTopColor;
      const box = e.closest('[data-testid$=RootElement]');  // a text field shows it by its frame
      const other = document.querySelector('[data-testid$=RootElement]:not(:focus-within)');
      return [e.innerText || e.ariaLabel || e.value || '', s.outlineStyle !== 'none' || s.boxShadow !== 'none'
        || (box && border(box) !== border(other)) || e.closest('[data-baseweb]') !== null || e.matches('.title')];
    }"""

    def tab_to(name: str) -> None:
        for _ in range(30):
            page.keyboard.press("Tab")
            text, visible = page.evaluate(look)
            seen.append((text, visible))
            if name in text:
                return
        raise AssertionError(f"{name} is not reached: {seen}")

    tab_to("Compare")
    page.keyboard.press("Enter")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_url("**/compare?comparison=*")
        expect(page.get_by_role("button", name="Download JSON")).to_be_visible(timeout=PATIENCE)
        tab_to("reaches the Mediterranean")
        expect(page.locator(".piece.lit").first).to_be_visible()
        page.keyboard.press("Enter")
        expect(page.locator(".item[open]")).to_have_count(1)
        tab_to("Download JSON")
        assert all(visible for _, visible in seen), [text for text, visible in seen if not visible]
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        unbroken(page, "a comparison", (scheme,))
        page.reload()
        expect(field(page, "Answer")).to_have_value(
            re.compile("^The Nile flows north"), timeout=PATIENCE
        )
        field(page, "Question").focus()
    page.context.close()


@pytest.mark.slow
def test_a_language_model_that_fails_is_named_above_a_comparison(page: Page) -> None:
    language_model(page, "http://127.0.0.1:9/v1")
    write(page, "The Nile flows north into the Mediterranean.")
    go_to(page, "Compare")
    page.get_by_role("button", name="FActScore", exact=True).click()
    settled(page)
    page.get_by_role("button", name="Compare", exact=True).click()
    notice = page.locator(".ax-note", has_text="The language model could not be used")
    expect(notice).to_contain_text(
        "1 sentence could not be split; checked whole instead.", timeout=PATIENCE
    )
    expect(notice).to_contain_text("Segmenters concerned: FActScore.")
    page.get_by_text(re.compile(r"What did not work")).click()
    expect(
        page.locator(".ax-table td", has_text=LISTED).first
    ).to_be_visible()  # the step that allows the address
