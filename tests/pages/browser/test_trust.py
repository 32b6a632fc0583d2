import re

import pytest

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


def test_sliders_leave_the_options_and_after_a_claim_is_dropped_the_next_one_is_shown(
    page: Page,
) -> None:
    menu(page, "Options")
    slider = page.get_by_role("slider", name="Minimum support score")
    settled(page)
    for _ in range(20):  # ten, and one more for each that a redraw swallows
        if slider.get_attribute("aria-valuetext") != "0.60":
            slider.press("ArrowRight")
    settled(page)
    expect(slider).to_have_attribute("aria-valuetext", "0.60")
    page.keyboard.press("Escape")
    expect(page.get_by_text("Changed: Minimum support score")).to_be_visible()
    write(page, ANSWER)
    analyse(page)
    page.get_by_role("tab", name="What if").click()
    expect(page.get_by_role("slider", name="Minimum support score")).to_have_attribute(
        "aria-valuetext", "0.60"
    )
    page.get_by_role("tab", name="Evidence").click()
    claims(page).nth(1).click()
    panel = page.get_by_label("Evidence of the selected claim")
    expect(panel.get_by_role("heading", name="Claim 2")).to_be_visible()
    panel.get_by_role("button", name=re.compile("^Drop")).click()
    expect(panel.get_by_text("The Berlin Wall fell in 1989.").first).to_be_visible(timeout=PATIENCE)
    expect(panel.get_by_role("heading", name="Claim 2")).to_be_visible()


@pytest.mark.slow
def test_retrieval_offers_the_runs_of_the_history(page: Page, address: str) -> None:
    write(page, ANSWER, "What is true of towers and rivers?")
    analyse(page)
    page.goto(f"{address}/retrieval")  # a new session
    expect(page.get_by_text("No run yet")).to_have_count(0)
    expect(page.get_by_role("combobox", name="Run")).to_have_value(
        "What is true of towers and rivers?", timeout=PATIENCE
    )
    expect(page.get_by_role("button", name="Compare", exact=True)).to_be_enabled(timeout=PATIENCE)
