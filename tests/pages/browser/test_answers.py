import re
from collections.abc import Iterator

import pytest

from tests.pages.browser.test_accessibility import unbroken
from tests.pages.browser.visits import (
    MARKS,
    PATIENCE,
    Browser,
    Page,
    downloaded,
    expect,
    go_to,
    paste_source,
    settled,
    visit,
)

pytestmark = MARKS
SEPARATOR = "\n\n===\n\n"
MEMO = "The forecast of the tram line is 468 million euros. It has 11 stops."
FIRST, SECOND = "The forecast is 486 million euros.", "The forecast is 468 million euros."


def rows(page: Page) -> object:
    return page.locator("li.grid")


def select(page: Page, *names: str) -> None:
    for name in names:
        page.get_by_role("checkbox", name=f"Select {name}").click()


def paste_answers(page: Page, *answers: str) -> object:
    """Paste answers into the dialog that adds many; return the field."""
    page.get_by_role("button", name="Add many").click()
    page.get_by_text("Paste", exact=True).click()
    box = page.get_by_role("textbox", name="Pasted answers")
    box.fill(SEPARATOR.join(answers))
    return box


@pytest.fixture
def answers(browser: Browser, address: str) -> Iterator[Page]:
    """Two answers, pasted and checked in the queue against a pasted source."""
    page = visit(browser, address)
    go_to(page, "Answers")
    expect(page.get_by_text("No answers yet")).to_be_visible(timeout=PATIENCE)
    paste_answers(page, FIRST, SECOND).press("Control+Enter")
    settled(page)
    paste_source(page, MEMO)
    page.get_by_role("button", name="Check 2 answers").click()
    expect(page.locator("li.grid .counts")).to_have_count(2, timeout=PATIENCE)
    yield page
    page.context.close()


def test_pasted_answers_fill_in_are_compared_tagged_exported_and_deleted(answers: Page) -> None:
    page = answers
    expect(page.get_by_text("2 answers, 0 of 2 claims reviewed")).to_be_visible(timeout=PATIENCE)
    unbroken(page, "the list of answers")
    select(page, FIRST, SECOND)
    page.get_by_role("button", name="Tag the selected answers").click()
    tags = page.get_by_role("combobox", name="Tags")
    tags.fill("pilot")
    tags.press("Enter")
    tags.press("Tab")  # the menu closes
    page.get_by_role("button", name="Add the tags").click()
    expect(page.locator("li.grid .tag")).to_have_count(2, timeout=PATIENCE)
    page.get_by_role("button", name="Export the selected answers").click()
    sheet = downloaded(page, "CSV").path().read_text("utf-8-sig")
    assert FIRST in sheet
    assert SECOND in sheet
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Compare the two selected").click()
    expect(page.get_by_text("The two disagree on 1 point")).to_be_visible(timeout=PATIENCE)
    expect(page.locator(".diff").first).to_contain_text("million")
    unbroken(page, "two answers")
    go_to(page, "Answers")
    select(page, FIRST)
    page.get_by_role("button", name="Delete the selected answers").click()
    page.get_by_role("button", name="Delete 1 answer").click()
    expect(rows(page)).to_have_count(1, timeout=PATIENCE)


def test_the_dialog_keeps_its_text_when_the_queue_ends_and_the_sources_of_last_time(
    answers: Page,
) -> None:
    page = answers
    more = [f"The tram line has {number} stops." for number in range(8)]
    paste_answers(page, *more).press("Control+Enter")
    page.get_by_role("button", name="Check 8 answers").click()
    box = paste_answers(page, "Another.")
    expect(page.locator("li.grid .counts")).to_have_count(10, timeout=PATIENCE)
    page.wait_for_timeout(2_500)
    expect(box).to_have_value("Another.")


def test_the_next_claim_to_review_opens_by_a_key_and_rows_by_arrows(answers: Page) -> None:
    page = answers
    first, second = page.locator("li.grid .open").all_inner_texts()
    page.get_by_role("checkbox", name="Select all").focus()
    page.keyboard.press("j")
    expect(page.locator(".open:focus")).to_have_text(first)
    page.keyboard.press("ArrowDown")
    expect(page.locator(".open:focus")).to_have_text(second)
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile(r"/(check)?\?run=[0-9a-f]{16}"), timeout=PATIENCE)


@pytest.mark.slow
def test_answers_are_found_by_their_words_and_get_a_title(answers: Page) -> None:
    page = answers
    page.get_by_role("textbox", name="Search", exact=True).fill("486")
    page.get_by_role("textbox", name="Search", exact=True).press("Enter")
    expect(rows(page)).to_have_count(1, timeout=PATIENCE)
    page.get_by_role("button", name="Title, tags, note").click()
    page.get_by_role("textbox", name="Title", exact=True).fill("<b>The tram</b>")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".open")).to_have_text("<b>The tram</b>", timeout=PATIENCE)
