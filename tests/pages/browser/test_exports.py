from pathlib import Path

import pytest

from attribution.reports import Exported, export
from tests.pages.browser.visits import MARKS, Browser
from tests.pages.hostile import TEXTS
from tests.reports.runs import hostile, run

axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
)
pytestmark = MARKS


def test_a_file_opens_offline_and_runs_nothing(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "run.html").write_bytes(export("html", Exported(run(), note="A note")))
    for number, text in enumerate(TEXTS):
        (tmp_path / f"{number}.html").write_bytes(export("html", hostile(text)))
    size = {"width": 1024, "height": 800}
    with browser.new_context(viewport=size, bypass_csp=True, reduced_motion="reduce") as context:
        page = context.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("dialog", lambda dialog: pytest.fail(dialog.message))
        for number in range(
            len(TEXTS)
        ):  # the policy of the file is off here: escaping alone has to hold
            page.goto((tmp_path / f"{number}.html").as_uri())
            assert page.evaluate("window.pwned === undefined")
        address = (tmp_path / "run.html").as_uri()
        page.goto(address)
        page.get_by_role("link", name="Claim 1, supported: to its evidence").click()
        assert page.url == f"{address}#claim-1"
        assert page.locator("#claim-1").is_visible()
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            results = axe.Axe().run(page, options={"resultTypes": ["violations"]})
            assert results.violations_count == 0, results.generate_report()
        page.emulate_media(media="print")
        assert page.locator(".panels").is_visible()
        assert not page.locator(".fold").first.is_visible()
        assert all(url.startswith("file://") for url in asked)
