from tests.pages.browser.visits import (
    MARKS,
    PATIENCE,
    Page,
    analyse,
    expect,
    go_to,
    menu,
    settled,
    write,
)

pytestmark = MARKS


def test_from_a_conversation_to_twins_and_cards(page: Page) -> None:
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

    go_to(page, "Lab", "Test sets")
    page.get_by_role("button", name="Make the set").click()
    expect(page.get_by_role("button", name="Download the test set")).to_be_visible(timeout=PATIENCE)
    expect(page.locator(".ax-twin del").first).to_be_visible()

    go_to(page, "Lab", "Methods")
    page.get_by_role("textbox", name="Search the cards").fill("negation")
    page.get_by_role("textbox", name="Search the cards").press("Enter")
    settled(page)
    expect(page.locator(".ax-card")).not_to_have_count(0)
    expect(
        page.get_by_role("heading", name="Cosine similarity").or_(
            page.get_by_role("heading", name="cos_sim")
        )
    ).to_be_visible()
