import re

from tests.pages.browser.visits import (
    MARKS,
    PATIENCE,
    Page,
    analyse,
    claims,
    expect,
    menu,
    settled,
    write,
)
from tests.servers import pdf_bytes

pytestmark = MARKS


def select(page: Page, number: int) -> None:
    claims(page).nth(number - 1).click()
    expect(page.get_by_label("Evidence of the selected claim")).to_be_visible()


def test_a_claim_without_evidence_is_searched_for_on_the_web(page: Page) -> None:
    write(page, "Zorbulon Qaxxifer founded the town of Wibblethorp in 1342.")
    analyse(page)
    select(page, 1)
    panel = page.get_by_label("Evidence of the selected claim")
    panel.get_by_role("button", name="Search the web for this claim").click()
    expect(page.locator(".chip", has_text="edited")).to_be_visible(timeout=PATIENCE)
    settled(page)
    expect(
        page.get_by_text(re.compile(r"What did not work \(\d"))
    ).to_be_visible()  # there is no web here
    select(page, 1)
    expect(panel.get_by_role("button", name="Search the web for this claim")).to_have_count(0)


def test_the_answers_own_citations_are_held_against_their_sources(page: Page) -> None:
    cited = "The Nile flows north into the Mediterranean [1]. It is 6,650 km long.\n\nSources:\n[1] http://127.0.0.1:9/nile"
    write(page, cited)
    analyse(page)
    page.get_by_role("tab", name="Citations").click()
    page.get_by_role("button", name="Check 1 citation mark").click()
    row = page.locator(".ax-citations tbody tr").first
    expect(row).to_contain_text("Could not be read", timeout=PATIENCE)
    expect(page.locator(".ax-citations tbody tr").nth(1)).to_contain_text("Not cited")
    expect(page.get_by_role("button", name="Check again")).to_be_enabled()
    lines = page.locator(".ax-citations .badge").evaluate_all("""(badges) => badges.flatMap((badge) => {
      const range = document.createRange(), text = badge.lastChild.firstChild ?? badge.lastChild;
      return [...text.data.matchAll(/\\S+/g)].map(({ 0: word, index }) => {
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        return range.getClientRects().length;
      });
    })""")
    assert len(lines) > 4
    assert set(lines) == {1}
    page.reload()
    page.get_by_role("tab", name="Citations").click(timeout=PATIENCE)
    expect(page.locator(".ax-citations tbody tr").first).to_contain_text(
        "Could not be read", timeout=PATIENCE
    )


def test_a_page_of_an_own_pdf_is_a_picture_with_its_sentence_boxed(page: Page) -> None:
    pdf = pdf_bytes("A first page of no interest.", "The Zorb bridge was opened in 1931.")
    menu(page, "Add documents")
    file = {"name": "zorb.pdf", "mimeType": "application/pdf", "buffer": pdf}
    page.locator("input[type=file]").set_input_files(file)
    settled(page)
    page.keyboard.press("Escape")
    write(page, "The Zorb bridge was opened in 1931.")
    analyse(page)
    panel = page.get_by_label("Evidence of the selected claim")
    panel.get_by_role("button", name="Open at this sentence").first.click()
    panel.get_by_role("button", name="Show page 2 as a picture").click(timeout=PATIENCE)
    picture = panel.get_by_alt_text("Page 2, with the sentence boxed")
    expect(picture).to_be_visible(timeout=PATIENCE)
    assert picture.evaluate("image => image.complete && image.naturalWidth > 800")
    box, sheet = panel.locator(".boxed").bounding_box(), picture.bounding_box()
    assert sheet["x"] < box["x"]
    assert box["y"] < sheet["y"] + sheet["height"] / 4
    panel.get_by_role("button", name="Show the text").click()
    expect(panel.locator("mark.here")).to_have_text(
        "The Zorb bridge was opened in 1931.", timeout=PATIENCE
    )
