import re

from tests.pages.browser.visits import MARKS, PATIENCE, Page, downloaded, expect, go_to, settled

pytestmark = MARKS
METHODS = (
    "Cosine similarity",
    "This project's pipeline",
)


def test_responses_are_read_and_the_address_keeps_the_result(page: Page) -> None:
    go_to(page, "Research")
    page.get_by_role("button", name="Open groundedness").click()
    measure = page.get_by_role("button", name="Measure")
    expect(measure).to_be_enabled(timeout=PATIENCE)
    for name in METHODS:  # QUIP alone needs no model
        page.get_by_role("button", name=name, exact=True).click()
        settled(page)
    measure.click()
    download = page.get_by_role("button", name="Download scores (JSONL)")
    expect(download).to_be_visible(timeout=PATIENCE)
    expect(page).to_have_url(re.compile(r"benchmark=[0-9a-f]{16}"))
    row = page.locator(".ax-behind > details").first
    row.locator("summary").press("Enter")
    expect(row.locator("blockquote").first).to_be_visible()
    scores = downloaded(page, "Download scores (JSONL)").path()
    assert len(scores.read_text("utf-8").splitlines()) == 28
    page.reload()
    expect(page.locator(".ax-behind > details").first).to_be_visible(timeout=PATIENCE)
