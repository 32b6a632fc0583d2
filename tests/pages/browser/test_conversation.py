from tests.pages.browser.visits import (
    MARKS,
    Page,
    analyse,
    expect,
    menu,
    settled,
    write,
)

pytestmark = MARKS


def test_earlier_turns_resolve_what_the_answer_refers_to(page: Page) -> None:
    menu(page, "Options")
    page.get_by_text("Earlier turns", exact=True).click()
    turns = page.get_by_role("textbox", name="The conversation before the question")
    turns.fill("What is the Eiffel Tower?")
    turns.press("Control+Enter")
    settled(page)
    expect(page.get_by_text("The earlier turns cannot be read")).to_be_visible()
    turns.fill("User: What is the Eiffel Tower?")
    turns.press("Control+Enter")
    settled(page)
    page.keyboard.press("Escape")
    write(page, "It was completed in 1889.", "When was it built?")
    analyse(page)
    page.locator(".st-key-below").get_by_text("Details", exact=True).click()
    expect(page.get_by_text("1 earlier turn", exact=True)).to_be_visible()
    expect(page.get_by_text("The Eiffel Tower", exact=True).first).to_be_visible()
