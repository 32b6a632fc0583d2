import pytest

from pages.ui.frame import PAGES
from tests.pages.browser.visits import MARKS, PATIENCE, Page, expect, go_to, settled

pytestmark = MARKS
ENTRY = "[data-testid=stTopNavLink]"


def places(page: Page) -> list[object]:
    return [link.bounding_box() for link in page.locator(ENTRY).all()]


@pytest.mark.parametrize(
    "width", [1440, *(pytest.param(width, marks=pytest.mark.slow) for width in (1280, 900))]
)
def test_the_bar_stays_in_its_place_and_marks_the_page_and_help_covers_no_entry(
    page: Page, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 720})
    page.wait_for_timeout(500)
    assert page.locator(ENTRY).all_inner_texts() == [*PAGES.values()]
    before = places(page)
    opener = page.get_by_role("button", name="Help: keys, badges and terms").bounding_box()
    assert opener
    assert all(box["x"] + box["width"] < opener["x"] for box in before)
    for entry in PAGES.values():
        go_to(page, entry)
        settled(page)
        for _ in range(30):  # a page that is still drawn may have no scroll bar for a moment
            if places(page) == before:
                break
            page.wait_for_timeout(100)
        assert places(page) == before, entry
        expect(page.get_by_role("heading", level=2).first).to_be_visible(timeout=PATIENCE)
        expect(page.locator(f"{ENTRY}[aria-current=page]")).to_have_text(entry)
