"""Takes the pictures of the documentation from the running app.

`make screenshots` takes all, `make screenshots SHOTS="check compare"` these.

The steps and their seconds are printed; each has a time limit.
"""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from attribution.cli.serve import free_port

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
STYLES = ("pages/ui/static", "attribution/reports/static")
ARGUMENTS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking "
    "--disable-component-update --disable-sync"
)
SIZE: ViewportSize = {"width": 1440, "height": 900}
STEP, WHOLE = 120, 900  # seconds for one step, and for everything
BEGAN = time.monotonic()
QUESTION = "Who discovered insulin, and who was honoured for it?"
ANSWER = (
    "Insulin was isolated in Toronto in 1921 and 1922. The first patient was Leonard Thompson, a "
    "boy of 14, who was "
    "injected on 11 January 1922. The Nobel Prize of 1923 went to Banting and Macleod. Banting "
    "shared his prize money "
    "with Best. They sold it to the university for one dollar each.\n\nHumulin was first approved "
    "in the United States "
    "in October 1992. It is one of the great stories of medicine."
)
OTHER = ANSWER.replace("1923", "1922").replace("Macleod", "Best").replace("14", "12")
REWORDED = "Best and Collip sold the patent to the university for one dollar each."


def main(names: list[str]) -> None:
    """Take the pictures of these pages, or of all."""
    signal.signal(signal.SIGALRM, _too_long)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))  # stops the server too
    signal.alarm(WHOLE)
    pages = names or list(PARTS)
    with (
        tempfile.TemporaryDirectory() as folder,
        _served(folder) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=ARGUMENTS.split()
        )
        for name in pages:
            PARTS[name](_open(browser, address))
        browser.close()
    signal.alarm(0)
    if not names:
        (IMAGES / "styles.sha256").write_text(f"{styles()}\n")


def styles() -> str:
    """Return the digest of the style sheets and scripts that the pictures show."""
    files = sorted(path for folder in STYLES for path in (ROOT / folder).rglob("*.*"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def _check(page: Page) -> None:
    """The example about the Eiffel Tower, checked."""
    _check_example(page)
    page.locator(".claim:is(.g-wrong, .g-check)").first.click()
    _take(page, "check-1440-light")


def _check_example(page: Page) -> None:
    page.get_by_role("button", name="The Eiffel Tower").first.click()
    page.wait_for_timeout(1500)
    page.get_by_role("button", name="Check the answer").click()
    page.get_by_role("button", name="Export", exact=True).wait_for(timeout=1000 * WHOLE)


def _compare(page: Page) -> None:
    """The same example, split by two segmenters."""
    _check_example(page)
    page.get_by_role("link", name="Compare").click()
    page.get_by_role("button", name="Compare", exact=True).click()
    page.locator(".ax-context").wait_for()
    page.get_by_role("button", name="Change").wait_for(timeout=1000 * WHOLE)
    _take(page, "compare-1440-light")


def _benchmark(page: Page) -> None:
    """The methods that are selected at first, measured on the example set."""
    page.get_by_role("link", name="Research", exact=True).click()
    page.get_by_role("button", name="Open groundedness").click()
    page.get_by_role("button", name="Measure").click()
    page.get_by_role("button", name="Download tables (CSV)").wait_for(timeout=1000 * WHOLE)
    page.locator(".ax-behind summary").first.click()
    _take(page, "benchmark-1440-light", whole=True, chart=True)


def _answers(page: Page) -> None:
    """Two answers that disagree, checked in the queue and selected in the list."""
    page.get_by_role("link", name="Answers", exact=True).click()
    page.get_by_role("button", name="Add many").click()
    page.get_by_text("Paste", exact=True).click()
    box = page.get_by_label("Pasted answers", exact=True)
    box.fill(f"{ANSWER}\n\n===\n\n{OTHER}")
    box.press("Control+Enter")
    page.get_by_role("button", name="Check 2 answers").click()
    rows = page.locator("li.grid")
    rows.nth(1).locator(".counts").wait_for(timeout=1000 * WHOLE)
    rows.first.locator(".counts").wait_for(timeout=1000 * WHOLE)
    for number in range(2):
        rows.nth(number).get_by_role("checkbox").click()
    _take(page, "answers-1440-light")


def _walkthrough(page: Page) -> None:
    """The steps of docs/walkthrough.md: a contradicted claim, why, and a claim that is checked in
    other words.
    """
    for label, text in (("Question", QUESTION), ("Answer", ANSWER)):
        page.get_by_label(label, exact=True).fill(text)
        page.get_by_label(label, exact=True).press("Tab")
    page.wait_for_timeout(1500)
    page.get_by_role("button", name="Check the answer").click()
    page.get_by_role("button", name="Export", exact=True).wait_for(timeout=1000 * WHOLE)
    page.locator("[data-claim]", has_text="Humulin").first.click()
    _take(page, "walkthrough-contradicted")
    page.get_by_text("More about this claim").click()
    page.get_by_text("Why this verdict", exact=True).first.click()
    page.locator(".scroll").evaluate("panel => { panel.scrollTop = panel.scrollHeight; }")
    _take(page, "walkthrough-why")
    page.get_by_role("button", name="Open at this sentence").first.click()
    page.locator(".panel .here").first.wait_for()
    _take(page, "walkthrough-source")
    page.locator("[data-claim]", has_text="one dollar").first.click()
    page.get_by_text("More about this claim").click()
    page.get_by_role("button", name="Edit, split or merge").first.click()
    page.get_by_label("Checked as", exact=True).fill(REWORDED)
    _take(page, "walkthrough-reword")
    page.get_by_role("button", name="Check this text").click()
    page.get_by_text("edited by the analyst").wait_for(timeout=1000 * WHOLE)
    _take(page, "walkthrough-corrected")
    page.get_by_role("button", name="Export", exact=True).click()
    _take(page, "walkthrough-export")
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Answers", exact=True).click()
    page.get_by_text(QUESTION).first.wait_for()
    _take(page, "walkthrough-history")


PARTS = {
    "check": _check,
    "answers": _answers,
    "compare": _compare,
    "benchmark": _benchmark,
    "walkthrough": _walkthrough,
}


def _too_long(*_: object) -> None:
    raise TimeoutError(f"the pictures took more than {WHOLE} seconds")


@contextmanager
def _served(folder: str) -> Iterator[str]:
    """The app on a free port with this data folder, stopped at the end."""
    port = free_port(8600)
    command = [sys.executable, "-m", "pages.ui.server", "--host", "127.0.0.1", "--port", str(port)]
    environment = {**os.environ, "ATTRIBUTION_DATA": folder, "HF_HUB_OFFLINE": "1"}
    with open(Path(folder) / "server.log", "w") as log:
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        try:
            address = f"http://127.0.0.1:{port}"
            _wait(f"{address}/_stcore/health", server)
            yield address
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()


def _wait(url: str, server: subprocess.Popen[Any]) -> None:
    until = time.monotonic() + STEP
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.5)
    raise TimeoutError(
        f"{url} did not answer in {STEP} seconds, or its server ended with {server.poll()}"
    )


def _open(browser: Browser, address: str) -> Page:
    """The page as a new visitor sees it, ready for use."""
    page = browser.new_context(viewport=SIZE, color_scheme="light").new_page()
    page.set_default_timeout(1000 * STEP)
    page.goto(address)
    page.get_by_role("button", name="Check the answer", disabled=False).wait_for()
    return page


def _take(page: Page, name: str, whole: bool = False, chart: bool = False) -> None:
    """A picture of the visible part or of the whole page, in 192 colours; `chart` says whether the
    page has one.
    """
    assert page.viewport_size
    page.mouse.move(
        page.viewport_size["width"] - 9, 3
    )  # away from anything that reacts to the mouse
    if chart:
        page.locator("[data-testid=stPlotlyChart] svg").first.wait_for()
    page.wait_for_timeout(1500)  # the page has come to rest
    if whole:
        height = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
        page.set_viewport_size({"width": 1440, "height": min(height, 2200)})
        page.wait_for_timeout(1500)
    path = IMAGES / f"{name}.png"
    page.screenshot(path=str(path), timeout=1000 * STEP)
    Image.open(path).convert("RGB").quantize(192, dither=Image.Dither.NONE).save(
        path, optimize=True
    )
    size, seconds = path.stat().st_size // 1000, time.monotonic() - BEGAN
    print(f"{path.name}: {size} kB, after {seconds:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
