from tests.pages.browser.test_accessibility import unbroken
from tests.pages.browser.visits import (
    MARKS,
    PATIENCE,
    Page,
    expect,
    go_to,
    paste_source,
    settled,
    write,
)

pytestmark = MARKS
ANSWER = "The tram line has 11 stops and costs 486 million euros."


def test_two_segmenters_stand_side_by_side_and_keys_open_a_claim(page: Page) -> None:
    go_to(page, "Compare")
    write(page, ANSWER)
    paste_source(page, "The tram line has 11 stops. The tram line costs 468 million euros.")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_role("button", name="Change")).to_be_visible(timeout=PATIENCE)
    settled(page)
    unbroken(page, "the comparison", ("light",))
    assert page.locator(".totals h2").all_inner_texts() == [
        "Sentences\nin use",
        "Clauses\nUse these",
    ]
    cells = page.locator(".row .cell")
    assert [cell.locator(".claim").count() for cell in cells.all()] == [1, 2]
    first, second = cells.nth(1).locator(".claim").all()
    first.focus()
    page.keyboard.press("ArrowDown")
    expect(second).to_be_focused()
    page.keyboard.press("Enter")
    expect(second).to_have_attribute("aria-expanded", "true")
    expect(page.locator(".evidence")).to_contain_text("468 million euros")
    page.keyboard.press("Escape")
    expect(page.locator(".evidence")).to_have_count(0)
