import re

import pytest

from tests.pages.browser.test_accessibility import unbroken
from tests.pages.browser.visits import (
    MARKS,
    PATIENCE,
    Browser,
    expect,
    field,
    write,
)

pytestmark = MARKS


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
