import re

from tests.pages.browser.visits import (
    MARKS,
    PATIENCE,
    Page,
    analyse,
    claims,
    expect,
    field,
    settled,
    write,
)

pytestmark = MARKS
ANSWER = (
    "The Eiffel Tower was completed in 1889. The Nile flows north. The Berlin Wall fell in 1989."
)


def test_a_typed_answer_outlives_a_reload(page: Page) -> None:
    box = field(page, "Answer")
    box.press_sequentially("The Nile is long and nobody pressed Analyse.")
    typed = box.input_value()
    page.reload()
    expect(box).to_have_value(typed, timeout=PATIENCE)
    settled(page)
    page.get_by_role("button", name="The discovery of Neptune").click()
    settled(page)
    example = box.input_value()
    page.reload()
    expect(box).not_to_have_value(typed, timeout=PATIENCE)  # an example was chosen after it
    assert example != typed


def test_after_a_claim_is_dropped_the_next_one_is_shown(page: Page) -> None:
    write(page, ANSWER)
    analyse(page)
    claims(page).nth(1).click()
    panel = page.get_by_label("Evidence of the selected claim")
    expect(panel.get_by_role("heading", name="Claim 2")).to_be_visible()
    panel.get_by_role("button", name=re.compile("^Drop")).click()
    expect(panel.get_by_text("The Berlin Wall fell in 1989.").first).to_be_visible(timeout=PATIENCE)
    expect(panel.get_by_role("heading", name="Claim 2")).to_be_visible()
