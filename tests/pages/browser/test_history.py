import re
import shutil
import signal
import time
from pathlib import Path

import pytest

from attribution.store.store import Store
from tests.pages.browser.test_accessibility import unbroken
from tests.pages.browser.visits import (
    MARKS,
    PATIENCE,
    Browser,
    Page,
    analyse,
    expect,
    field,
    settled,
    visit,
    write,
)
from tests.serve import serving

pytestmark = MARKS
PAGES = "The Eiffel Tower was completed in {}."


def history(page: Page) -> None:
    page.get_by_role("link", name="History").click()
    expect(page.get_by_label("Search", exact=True)).to_be_visible(timeout=PATIENCE)
    settled(page)


def select(page: Page, *names: str) -> None:
    for name in names:
        page.get_by_label(f"Select {name}").click()
        settled(page)


def test_runs_are_found_described_compared_deleted_and_opened(
    browser: Browser, address: str
) -> None:
    page = visit(browser, address)
    history(page)
    expect(page.get_by_text("No runs yet")).to_be_visible()
    page.get_by_role("link", name="Check").click()
    for year in ("1889", "1925"):
        write(
            page,
            f"The Eiffel Tower was completed in {year}. Gustave Eiffel built it.",
            f"Which year? {year}",
        )
        analyse(page)
        settled(page)
    history(page)
    expect(page.locator("li.run .title")).to_have_text(["Which year? 1925", "Which year? 1889"])
    select(page, "Which year? 1889")
    page.get_by_role("button", name="Title, tags, note").click()
    page.get_by_label("Title", exact=True).fill("<b>The tower</b>")
    page.get_by_label("Note", exact=True).fill("Look again.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("li.run .title").last).to_have_text("<b>The tower</b>")
    unbroken(page, "the list of runs", ("light",))

    select(page, "Which year? 1925")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_text(re.compile(r"\d verdicts? changed"))).to_be_visible()
    unbroken(page, "two runs", ("dark",))
    page.get_by_role("button", name="Back to the list").click()

    page.get_by_label("Search", exact=True).fill("look AGAIN")
    page.get_by_label("Search", exact=True).press("Enter")
    expect(page.locator("li.run")).to_have_count(1)
    page.get_by_label("Search", exact=True).fill("")
    page.get_by_label("Search", exact=True).press("Enter")
    expect(page.locator("li.run")).to_have_count(2)
    select(page, "Which year? 1925")
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator("li.run")).to_have_count(1)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("li.run")).to_have_count(2)

    page.get_by_role("link", name="<b>The tower</b>").click()
    expect(page.get_by_role("button", name="Export", exact=True)).to_be_visible(timeout=PATIENCE)
    expect(field(page, "Question")).to_have_value("Which year? 1889")
    assert re.search(r"\?run=[0-9a-f]{16}$", page.url)
    assert page.events == []


@pytest.mark.slow
def test_a_run_survives_a_reload_and_a_killed_server(
    browser: Browser, tmp_path: Path, warm_database: Path
) -> None:
    (tmp_path / "data").mkdir()
    shutil.copy(warm_database, tmp_path / "data")
    store = Store.open(f"sqlite:///{tmp_path}/data/{warm_database.name}")
    answer = " ".join(PAGES.format(year) for year in range(1850, 1890))
    with serving(tmp_path) as served:
        page = visit(browser, served.url)
        write(page, answer)
        analyse(page, end=False)
        expect(page).to_have_url(re.compile(r"\?run=[0-9a-f]{16}$"), timeout=PATIENCE)
        url, run_id = page.url, page.url[-16:]
        page.reload()
        expect(page.get_by_role("button", name="Stop")).to_be_enabled(
            timeout=PATIENCE
        )  # it goes on
        end = time.monotonic() + 2 * PATIENCE / 1000
        while not ((known := store.runs.load_unfinished(run_id)) and known.verdicts):
            assert time.monotonic() < end
            assert store.runs.load(run_id) is None
            time.sleep(0.02)
        served.end(signal.SIGKILL)
        known = store.runs.load_unfinished(run_id)
        assert known is not None
        assert known.verdicts
        assert store.runs.load(run_id) is None
        page.close()
        served.start()
        page = page.context.new_page()
        page.goto(url)
        expect(page.get_by_text("This run was interrupted")).to_be_visible(timeout=PATIENCE)
        expect(
            page.get_by_text(f"{len(known.verdicts)} of 40 claims have a verdict.")
        ).to_be_visible()
        history(page)
        expect(page.get_by_text("Not finished", exact=True).last).to_be_visible()
        page.locator("li.run a.title").click()
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_text("This run was interrupted")).to_have_count(0)
        expect(page.get_by_role("button", name="Stop")).to_have_count(0, timeout=PATIENCE)
        expect(page.get_by_role("button", name="Export", exact=True)).to_be_visible(
            timeout=PATIENCE
        )
        page.close()
    report = store.runs.load(run_id)
    assert report is not None
    assert len(report.verdicts) == 40
    assert not report.stopped
    store.close()
