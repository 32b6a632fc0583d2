import re

from tests.pages.browser.visits import (
    MARKS,
    PATIENCE,
    Page,
    analyse,
    claims,
    expect,
    field,
    menu,
    settled,
    unfold,
    write,
)

pytestmark = MARKS
RIVETS = (
    "The Eiffel Tower is made of 18,038 pieces of iron, held together by about 4.5 million rivets."
)
NILE = (
    "The Nile flows north into the Mediterranean. The Nile was measured by the Zorb survey in 1931."
)


def test_a_reload_keeps_a_draft_with_its_documents_and_an_answer_over_a_run(page: Page) -> None:
    menu(page, "Add documents")
    page.locator(".st-key-documents_menu, [data-testid=stPopoverBody]").locator(
        "input[type=file]"
    ).set_input_files(
        {
            "name": "nile.txt",
            "mimeType": "text/plain",
            "buffer": b"The Nile flows north into the Mediterranean.",
        }
    )
    expect(page.get_by_role("button", name="Documents (1)")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text("The built-in library is not searched beside them")).to_be_visible(
        timeout=PATIENCE
    )
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Sources: my documents")).to_be_visible()
    write(page, NILE)
    page.wait_for_timeout(2_000)
    page.reload()
    expect(page.get_by_role("button", name="Documents (1)")).to_be_visible(timeout=PATIENCE)
    expect(field(page, "Answer")).to_have_value(NILE, timeout=PATIENCE)
    expect(page.get_by_role("button", name="Sources: my documents")).to_be_visible()
    analyse(page)
    write(page, "The Nile flows south.")
    page.reload()
    expect(claims(page).first).to_be_visible(timeout=PATIENCE)
    unfold(page)
    expect(field(page, "Answer")).to_have_value("The Nile flows south.", timeout=PATIENCE)
    page.get_by_role("button", name="New check").click()
    expect(field(page, "Answer")).to_have_value("", timeout=PATIENCE)
    expect(claims(page)).to_have_count(0)
    expect(page.get_by_role("button", name="Documents (1)")).to_be_visible()


def test_pointing_at_a_claim_shows_its_deciding_sentence_and_a_verbatim_one_is_marked(
    page: Page,
) -> None:
    fire = "The Great Fire of London burned from Sunday 2 September to Thursday 6 September 1666 and destroyed most of"
    said = "The baker said: “The Great Fire of London burned from Monday 2 September to Friday 7 September 1666.”"
    write(page, f"The Nile flows south. {fire} the medieval City. {said}")
    analyse(page)
    tip = page.locator(".tip")
    expect(tip).to_be_hidden()
    claims(page).nth(1).hover()
    expect(tip).to_contain_text(fire)
    expect(claims(page).nth(1)).to_have_accessible_name(
        re.compile("Claim 2, (likely )?supported, word for word")
    )
    page.mouse.move(2, 2)
    expect(tip).to_be_hidden()
    expect(page.locator(".st-key-status")).to_contain_text("1 quotation: 1 altered")
    claims(page).last.click()
    expect(page.locator(".quotation .removed").first).to_have_text("Sunday")


def test_a_note_waits_for_its_verdict_and_outlives_an_edit(page: Page) -> None:
    write(page, f"{NILE} I like it.")
    analyse(page)
    note = page.get_by_label("Note on your verdict")
    claims(page).nth(1).click()
    note.fill("Ask the archive.")
    claims(page).nth(0).click()
    claims(page).nth(1).click()
    expect(note).to_have_value("Ask the archive.")
    page.locator(".st-key-stage .verdict", has_text="Contradicted").click()
    expect(page.locator(".chip", has_text="1 judged by you")).to_be_visible(timeout=PATIENCE)
    expect(note).to_have_value("Ask the archive.")
    claims(page).last.click()
    page.get_by_role("button", name=re.compile("^Drop claim")).click()
    expect(claims(page)).to_have_count(2, timeout=PATIENCE)
    settled(page)
    expect(page.locator(".chip", has_text="1 judged by you")).to_be_visible()


def test_a_correction_appears_in_the_card_and_the_revised_answer_reads_as_it_will(
    page: Page,
) -> None:
    write(page, f"## Towers\n\n{RIVETS}")
    analyse(page)
    claims(page).first.click()
    panel = page.get_by_label("Evidence of the selected claim")
    panel.get_by_role("button", name="Propose a correction").click()
    expect(panel.locator(".ax-correction, .reason", has_text="2.5 million")).to_be_visible(
        timeout=PATIENCE
    )
    expect(panel.get_by_role("button", name="Accept the correction")).to_be_in_viewport()
    panel.get_by_role("button", name="Accept the correction").click()
    expect(panel.get_by_role("button", name="Accepted: take it back")).to_be_visible(
        timeout=PATIENCE
    )
    page.get_by_role("tab", name="Revised answer").click()
    revised = page.locator(".ax-revised")
    expect(revised.get_by_role("heading", name="Towers")).to_be_visible(timeout=PATIENCE)
    expect(revised).to_contain_text("2.5 million")
    expect(revised).not_to_contain_text(re.compile(r"#|\*\*"))
