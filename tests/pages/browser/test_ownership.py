"""Two visitors, one run: whose it is edits it, the other reads it and makes a copy, in every tab
that is open.
"""

import re

import pytest

from tests.pages.browser.visits import (
    MARKS,
    PATIENCE,
    SIZE,
    Browser,
    Page,
    analyse,
    claims,
    expect,
    menu,
    panel,
    paste_source,
    settled,
    write,
)

pytestmark = MARKS
NILE = "The Nile flows north into the Mediterranean. The Nile freezes in some winters."
CHANGING = ("Undo", "Redo", "Edit, split or merge", "Supported, in your", "Make private")
READING = "You are reading somebody else's run."


def opened(browser: Browser, address: str) -> Page:
    """A run in a browser that has never been there."""
    page = browser.new_context(viewport=SIZE).new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    expect(claims(page).first).to_be_visible(timeout=PATIENCE)
    settled(page)
    return page


def select(page: Page, number: int) -> None:
    claims(page).nth(number - 1).click()
    expect(panel(page)).to_be_visible()


def offers(page: Page, name: str) -> object:
    return page.get_by_role("button", name=name, exact=True)


def test_a_stranger_reads_a_run_its_documents_if_they_are_shared_and_edits_a_copy(
    page: Page, browser: Browser
) -> None:
    paste_source(page, f"{NILE} {'Nobody else may read this. ' * 40}")
    write(page, NILE)
    analyse(page)
    original = page.url
    menu(page, "Export")
    expect(page.get_by_text("With the documents")).to_be_visible()
    stranger = opened(browser, original)
    expect(stranger.get_by_text(READING)).to_be_visible()
    stranger.get_by_role("tab", name="Sources").click()
    expect(stranger.get_by_text("Pasted text").locator("visible=true").first).to_be_visible(
        timeout=PATIENCE
    )
    assert "Nobody else may read" not in stranger.content()
    expect(stranger.locator("button[data-page]")).to_have_count(0)
    page.get_by_text("With the documents").click()
    settled(page)
    stranger.reload()
    stranger.get_by_role("tab", name="Sources").click()
    expect(stranger.locator("button[data-page]").first).to_be_visible(timeout=PATIENCE)
    select(stranger, 1)
    stranger.get_by_role("tab", name="Revised answer").click()
    expect(stranger.locator(".revised")).to_be_visible()
    for name in CHANGING:
        expect(stranger.get_by_role("button", name=re.compile(f"^{name}"))).to_have_count(0)
    select(stranger, 1)
    expect(panel(stranger).get_by_text("Open at this sentence").first).to_be_visible()
    expect(offers(stranger, "Export")).to_be_visible()
    claims(stranger).first.press("Control+z")  # the key is the owner's too
    settled(stranger)
    offers(stranger, "Make a copy").click()
    stranger.wait_for_url(lambda url: "?run=" in url and url != original)
    expect(stranger.get_by_text(READING)).to_have_count(0, timeout=PATIENCE)
    select(stranger, 2)
    judge = stranger.get_by_role("button", name=re.compile("^Supported, in your"))
    expect(judge).to_be_visible(timeout=PATIENCE)
    copy = stranger.url
    page.goto(copy)
    expect(page.get_by_text(READING)).to_be_visible(timeout=PATIENCE)
    stranger.context.close()


@pytest.mark.slow
def test_a_tab_that_was_open_shows_why_the_run_is_gone_once_it_is_private(
    page: Page, browser: Browser
) -> None:
    write(page, NILE)
    analyse(page)
    stranger = opened(browser, page.url)
    menu(page, "Export")
    offers(page, "Make private").click()
    expect(page.get_by_text("Only this browser can open this run.")).to_be_visible(timeout=PATIENCE)
    offers(stranger, "Make a copy").click()
    expect(stranger.get_by_text("it is private to the browser that started it")).to_be_visible(
        timeout=PATIENCE
    )
    expect(claims(stranger)).to_have_count(0)
    page.reload()  # the cookie of this browser still opens it
    expect(claims(page).first).to_be_visible(timeout=PATIENCE)
    menu(page, "Export")
    offers(page, "Share by link").click()
    expect(offers(page, "Make private")).to_be_visible(timeout=PATIENCE)
    stranger.goto(page.url)
    expect(claims(stranger).first).to_be_visible(timeout=PATIENCE)
    stranger.context.close()


def test_no_script_reads_the_cookie_that_marks_a_browsers_runs(page: Page) -> None:
    expect(offers(page, "Check the answer")).to_be_enabled(timeout=PATIENCE)
    (cookie,) = [c for c in page.context.cookies() if c["name"] == "attribution_browser"]
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    assert len(cookie["value"]) >= 32
    assert "attribution_browser" not in page.evaluate("document.cookie")
    assert cookie["value"] not in page.content()


def test_a_cookie_that_a_script_could_read_is_kept_and_closed(
    browser: Browser, address: str
) -> None:
    context = browser.new_context()
    context.add_cookies(
        [{"name": "attribution_browser", "value": "of-an-earlier-version", "url": address}]
    )
    page = context.new_page()
    page.goto(address)
    expect(offers(page, "Check the answer")).to_be_enabled(timeout=PATIENCE)
    (cookie,) = [c for c in context.cookies() if c["name"] == "attribution_browser"]
    assert cookie["value"] == "of-an-earlier-version"
    assert cookie["httpOnly"]
    context.close()
