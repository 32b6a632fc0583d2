"""What the tests in Chromium do on every page."""

import os
import re

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
Browser, Context, Page, expect = (
    sync_api.Browser,
    sync_api.BrowserContext,
    sync_api.Page,
    sync_api.expect,
)
Download = sync_api.Download
CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking "
    "--disable-component-update --disable-sync"
)
PATIENCE = 150_000  # milliseconds; a first run loads its models, and the machine may be busy
MARKS = [
    pytest.mark.browser,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        not os.path.exists(CHROMIUM), reason=f"{CHROMIUM} is missing: apt-get install chromium"
    ),
]


SIZE = {"width": 1440, "height": 900}


def visit(browser: Browser, address: str, **options: object) -> Page:
    """The page in a browser that has never been there."""
    return tab(browser.new_context(viewport=SIZE, **options), address)


def tab(context: Context, address: str) -> Page:
    """The page in a new tab, and with it in a new session; any dialog or request to another host
    fails the test.
    """
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.events = []
    page.on(
        "dialog", lambda dialog: (page.events.append(f"dialog {dialog.message}"), dialog.dismiss())
    )
    page.on(
        "request",
        lambda r: (
            page.events.append(r.url) if not re.match(rf"{address}|data:|blob:", r.url) else None
        ),
    )
    page.on("pageerror", lambda error: page.events.append(f"error {error}"))
    return start(page, address)


def reused(page: Page, address: str) -> Page:
    """The tab of another test as if it were new: a load in the same tab takes half the time of one
    in a new tab, which compiles every script again."""
    page.evaluate("sessionStorage.clear()")
    page.mouse.move(0, 0)
    page.set_viewport_size(SIZE)
    page.emulate_media(color_scheme="light")
    page.events.clear()
    return start(page, address)


def start(page: Page, address: str) -> Page:
    page.goto(address)
    expect(page.get_by_role("button", name="Check the answer")).to_be_enabled(timeout=PATIENCE)
    return page


def go_to(page: Page, entry: str) -> None:
    """Open a page by its entry in the bar."""
    page.get_by_test_id("stTopNavLink").get_by_text(entry, exact=True).click()


def settled(page: Page) -> None:
    """Wait until the server has answered the last input."""
    page.wait_for_timeout(150)  # until then it may not have begun
    expect(page.locator("[data-test-script-state=notRunning]")).to_have_count(1, timeout=PATIENCE)


def menu(page: Page, name: str) -> None:
    """Open a menu of the page, which stays open until Escape: “Paste a text”, “Add links”,
    “Advanced”, “Export”.
    """
    page.get_by_role("button", name=re.compile(f"^{name}")).click()
    page.wait_for_timeout(300)


def unfold(page: Page) -> None:
    """Open the form where a run stands in its place."""
    settled(page)  # the button of the page before would be clicked
    edit, start = (page.locator(f".st-key-{key} button:visible") for key in ("edit_form", "start"))
    expect(edit.or_(start).first).to_be_visible(timeout=PATIENCE)
    if not start.count():
        edit.first.click()
        expect(start.first).to_be_visible(timeout=PATIENCE)
        settled(page)


def add_files(page: Page, *files: tuple[str, str, bytes]) -> None:
    """Add files by name, type and content to the sources."""
    payload = [{"name": n, "mimeType": kind, "buffer": content} for n, kind, content in files]
    page.locator(".st-key-add_sources input[type=file]").set_input_files(payload)
    expect(page.get_by_role("button", name=re.compile("^Your documents"))).to_be_visible(
        timeout=PATIENCE
    )
    settled(page)


def paste_source(page: Page, text: str) -> None:
    """Paste a text as a source."""
    menu(page, "Paste a text")
    box = page.get_by_role("textbox", name="Pasted text", exact=True)
    box.fill(text)
    box.press("Control+Enter")
    settled(page)
    page.keyboard.press("Escape")


def field(page: Page, label: str) -> object:
    """A text field; while the server fills in another text, the field before stays in the page,
    hidden.
    """
    return page.locator(
        f'[data-testid=stElementContainer]:not([data-retained]) [aria-label="{label}"]'
    )


def write(page: Page, answer: str, question: str = "") -> None:
    unfold(page)
    for label, text in (("Question", question), ("Answer", answer)):
        box = field(page, label)
        box.fill(text)
        box.press("Tab")  # Control+Enter would start the run
    settled(page)


def analyse(page: Page, end: bool = True) -> None:
    page.locator(".st-key-start button:visible").click()
    if end:
        finished(page)


def finished(page: Page) -> None:
    """Wait for the end of a run."""
    expect(page.get_by_role("button", name="Export", exact=True)).to_be_visible(timeout=PATIENCE)
    settled(page)


def downloaded(page: Page, name: str) -> Download:
    """Press a button for a file. While the page is drawn anew, its file is another one, and the
    press would be lost.
    """
    settled(page)
    with page.expect_download() as waiting:
        page.get_by_role("button", name=name).click()
    return waiting.value


def claims(page: Page) -> object:
    return page.locator("[data-claim][role=button], .claim-mark[role=button]")


def panel(page: Page) -> object:
    return page.get_by_label("Evidence of the selected claim")


def group(page: Page, name: str) -> object:
    """One of the four groups: wrong, check, none, ok."""
    return page.locator(f".group[data-group={name}]")


def choose(page: Page, label: str, option: str) -> None:
    """Choose a method under *Advanced*."""
    menu(page, "Advanced")
    box = page.get_by_test_id("stSelectbox").filter(has_text=label).locator("input")
    box.click()
    box.fill(option)
    page.get_by_role("option", name=option).first.click()
    settled(page)
    page.keyboard.press("Escape")


def language_model(page: Page, endpoint: str) -> None:
    menu(page, "Advanced")
    page.get_by_text("Language model", exact=True).click()
    for label, value in (("Address", endpoint), ("Model", "tiny")):
        field(page, label).last.fill(value)
        field(page, label).last.press("Enter")
        settled(page)
    page.keyboard.press("Escape")
