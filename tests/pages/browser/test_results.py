import re

from tests.pages.browser.visits import (
    MARKS,
    PATIENCE,
    Page,
    analyse,
    choose,
    claims,
    expect,
    field,
    language_model,
    menu,
    settled,
    unfold,
    write,
)

pytestmark = MARKS
NILE = "The Nile flows north into the Mediterranean. The Nile flows south into the Indian Ocean."


def ended(page: Page) -> None:
    expect(page.get_by_role("button", name="Stop")).to_have_count(0, timeout=PATIENCE)
    expect(page.get_by_role("button", name="New check")).to_be_enabled(timeout=PATIENCE)


def test_a_language_model_that_fails_is_named_at_the_top_and_can_be_tested(page: Page) -> None:
    language_model(page, "http://127.0.0.1:9/v1")
    menu(page, "Options")
    page.get_by_role("button", name="Test connection").click()
    expect(page.get_by_text("It does not work")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text("Check “Address”.")).to_be_visible()
    page.keyboard.press("Escape")
    choose(page, "Split the answer into", "FActScore")
    write(page, NILE)
    analyse(page)
    notice = page.locator(".ax-note", has_text="The language model could not be used")
    expect(notice).to_contain_text("2 sentences could not be split; checked whole instead.")
    expect(notice).to_contain_text("Check Address, Model and Key")
    expect(notice).not_to_contain_text("OPENAI")


def test_the_address_restores_the_whole_form_and_every_run_has_its_own(page: Page) -> None:
    choose(page, "Split the answer into", "Clauses")
    menu(page, "Sources")
    for name in ("My documents", "Built-in library"):
        page.locator(".st-key-sources_box").get_by_text(name, exact=True).click()
        settled(page)
    page.keyboard.press("Escape")
    menu(page, "Add documents")
    page.get_by_label("Pasted text", exact=True).fill("The Nile flows north. It is 6,650 km long.")
    page.get_by_label("Pasted text", exact=True).press("Control+Enter")
    settled(page)
    page.keyboard.press("Escape")
    write(page, NILE, "Where does the Nile flow?")
    analyse(page)
    first = page.url
    assert "?run=" in first
    menu(page, "Share")
    expect(
        page.get_by_text(re.compile(r"Checked with .* against my documents, \d+ \w+ 20\d\d"))
    ).to_be_visible()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == first
    page.reload()
    expect(claims(page).first).to_be_visible(timeout=PATIENCE)
    unfold(page)
    menu(page, "Options")
    expect(page.get_by_role("combobox", name="Split the answer into").first).to_have_value(
        "Clauses"
    )
    page.keyboard.press("Escape")
    menu(page, "Sources")
    expect(page.get_by_role("checkbox", name="My documents")).to_be_checked()
    expect(page.get_by_role("checkbox", name="Built-in library")).not_to_be_checked()
    page.keyboard.press("Escape")
    expect(field(page, "Question")).to_have_value("Where does the Nile flow?")
    choose(page, "Split the answer into", "Sentences")
    analyse(page, end=False)
    page.wait_for_url(lambda url: "?run=" in url and url != first)
    ended(page)
    assert page.url != first


def test_an_edit_opens_on_the_selected_claim_is_marked_and_is_undone_by_key_after_a_reload(
    page: Page,
) -> None:
    write(page, "The Nile flows north into the Mediterranean. The Zorb bridge was opened in 1931.")
    analyse(page)
    claims(page).nth(1).click()
    opener = page.get_by_role("button", name="Edit claim 2")
    opener.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Checked as", exact=True)).to_have_value(re.compile("Zorb bridge"))
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(opener).to_be_focused()
    opener.click()
    dialog.get_by_role("tab", name="Evidence").click()
    dialog.get_by_label("A text", exact=True).fill(
        "The Zorb bridge was opened in 1931 by the mayor of Zorb."
    )
    dialog.get_by_role("button", name="Check with this evidence").click()
    corrected = page.locator(".chip", has_text="1 edited")
    expect(corrected).to_be_visible(timeout=PATIENCE)
    expect(claims(page).nth(1)).to_have_accessible_name(
        re.compile("^Claim 2, (likely )?supported, edited by hand")
    )
    corrected.click()
    expect(page.locator("[data-claim].dim")).to_have_count(1)
    page.reload()
    expect(corrected).to_be_visible(timeout=PATIENCE)
    unfold(page)
    field(page, "Answer").press("Control+z")  # the text field's own
    page.wait_for_timeout(1000)
    expect(corrected).to_be_visible()
    claims(page).nth(1).press("Control+z")
    expect(corrected).to_have_count(0, timeout=PATIENCE)
    expect(claims(page).nth(1)).not_to_have_accessible_name(re.compile("supported"))


def test_an_answer_in_a_language_of_no_source_says_why_nothing_was_compared(page: Page) -> None:
    write(
        page, "Der Nil fließt nach Norden in das Mittelmeer. Er ist ungefähr 6650 Kilometer lang."
    )
    analyse(page)
    expect(page.locator(".ax-note", has_text="Not every part reads German")).to_contain_text(
        "worth checking"
    )
    notice = page.locator(".ax-note", has_text="No claim could be compared with the sources")
    expect(notice).to_contain_text(
        "The answer is in German, and no source is: add sources in that language."
    )
