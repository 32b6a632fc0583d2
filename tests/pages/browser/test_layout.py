import json
import re

import pytest

from tests.pages.browser.visits import (
    MARKS,
    PATIENCE,
    Page,
    analyse,
    claims,
    downloaded,
    expect,
    menu,
    settled,
    write,
)

pytestmark = MARKS
LONG = " ".join(
    f"The Nile is {6000 + n} kilometres long and flows north in the year {1900 + n}."
    for n in range(92)
)


# Keep where things stood in the last frame of the run, which may end between two looks of the test.
WATCH = """() => {
    const seek = (root, place) => root.querySelector(place) ??
        [...root.querySelectorAll("[data-testid=stBidiComponentIsolated]")]
            .filter(host => host.shadowRoot).map(host => seek(host.shadowRoot, place)).find(Boolean);
    const look = () => {
        const shown = [".answer", ".chips", ".st-key-folded"].map(place => [place, seek(document, place)]);
        if (document.querySelector("progress.ax-bar") && seek(document, "[data-claim]") && shown.every(([, at]) => at))
            window.lastPlaces = shown.map(([place, at]) => [place, at.getBoundingClientRect().y]);
        requestAnimationFrame(look);
    };
    look();
}"""


def panel(page: Page) -> object:
    return page.get_by_label("Evidence of the selected claim")


def top(page: Page, selector: str) -> float:
    return float(page.locator(selector).first.bounding_box()["y"])


@pytest.mark.parametrize(
    ("width", "height", "highest"),
    [(1440, 900, 200), pytest.param(1280, 720, 200, marks=pytest.mark.slow), (390, 844, 280)],
)
def test_the_answer_begins_at_the_top_and_nothing_moves_when_the_run_ends(
    page: Page, width: int, height: int, highest: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    write(
        page,
        " ".join(
            f"The Nile was measured by {width + n} surveyors in {1800 + n}." for n in range(6)
        ),
    )
    page.evaluate(WATCH)
    analyse(page)
    before = page.evaluate("window.lastPlaces")
    assert before, "the run ended before a frame showed its claims and its progress"
    assert top(page, ".answer > *") <= highest
    assert all(abs(top(page, selector) - y) <= 4 for selector, y in before), before
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if width == 1440:
        quote = page.locator(".panel blockquote").first.bounding_box()
        assert quote["y"] + quote["height"] <= height
        assert page.locator(".panel").bounding_box()["width"] >= 480


def test_the_bar_the_tabs_the_menus_and_a_source_work_by_the_keys_of_the_help_sheet(
    page: Page,
) -> None:
    write(
        page,
        "The Nile flows north into the Mediterranean. It is about 6,650 kilometres long. I think it is lovely.",
    )
    analyse(page)
    page.get_by_role("button", name="Skip to the answer").focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-claim][role=button]:focus")).to_have_count(1)
    segments = page.locator(".chip")
    segments.first.focus()
    page.keyboard.press("ArrowRight")
    expect(segments.nth(1)).to_be_focused()
    segments.last.focus()
    page.keyboard.press("Enter")
    expect(segments.last).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".claim.dim")).to_have_count(2)
    page.keyboard.press("Enter")
    for name in ("Share", "Export"):
        opener = page.get_by_role("button", name=name, exact=True)
        opener.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("stPopoverBody")).to_be_visible()
        page.keyboard.press("Tab")
        assert page.evaluate(
            "document.activeElement.closest('[data-testid=stPopoverBody]') !== null"
        ), name
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
        expect(opener).to_be_focused()
    page.get_by_role("tab", name="Evidence").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Sources")).to_be_focused()
    expect(panel(page).locator(".sources .uses").first).to_contain_text("supports")
    panel(page).locator(".sources .title").first.focus()
    page.keyboard.press("Enter")
    expect(panel(page).locator("mark.here")).to_be_visible(timeout=PATIENCE)
    margin = panel(page).locator(".margin button").first  # the claims that the page speaks of
    number = re.search(r"\d+", margin.inner_text())[0]
    margin.click()
    expect(panel(page).get_by_role("heading", name=f"Claim {number}")).to_be_visible()
    expect(claims(page).nth(int(number) - 1)).to_have_attribute("aria-pressed", "true")
    page.get_by_role("tab", name="Sources").click()  # the page is still open there
    panel(page).get_by_role("button", name="Back to all sources").click()
    expect(panel(page).locator(".sources")).to_be_visible(timeout=PATIENCE)


def test_the_analysts_verdict_by_key_with_a_note_survives_a_reload_and_is_undone(
    page: Page,
) -> None:
    write(page, "The Nile flows north into the Mediterranean. The Nile freezes in some winters.")
    analyse(page)
    claims(page).first.click()
    claims(page).first.press("c")
    pressed = panel(page).locator(".verdict[aria-pressed=true]")
    expect(pressed).to_have_text("Contradicted", timeout=PATIENCE)
    note = panel(page).get_by_label("Note on your verdict")
    note.fill("It: flows <b>north</b>.")
    note.press("Enter")
    settled(page)
    menu(page, "Export")  # the menus around the answer have the run with the verdict
    (judgement,) = json.loads(downloaded(page, "JSON The whole report").path().read_text("utf-8"))[
        "judgements"
    ]
    assert (judgement["label"], judgement["note"]) == ("contradicted", "It: flows <b>north</b>.")
    page.keyboard.press("Escape")
    menu(page, "⋯")
    expect(page.get_by_role("button", name="Undo")).to_be_enabled()
    page.reload()
    judged = page.locator(".chip", has_text="judged by you")
    expect(judged).to_contain_text("1", timeout=PATIENCE)
    expect(claims(page).first).to_have_accessible_name(re.compile("your verdict: contradicted"))
    claims(page).first.click()
    expect(note).to_have_value("It: flows <b>north</b>.")
    claims(page).first.press("a")
    expect(pressed).to_have_text("Agreed", timeout=PATIENCE)
    page.get_by_text("Your verdicts (1)").click()
    expect(page.get_by_text("The analyst agrees with")).to_be_visible(timeout=PATIENCE)
    claims(page).first.press("x")
    expect(judged).to_have_count(0, timeout=PATIENCE)
    claims(page).first.press("Control+z")
    expect(judged).to_contain_text("1", timeout=PATIENCE)


@pytest.mark.slow
def test_ninety_two_claims_scroll_filter_and_are_walked_without_a_pause(page: Page) -> None:
    write(page, LONG)
    analyse(page)
    expect(claims(page)).to_have_count(92, timeout=PATIENCE)
    page.evaluate(
        "() => { window.longest = 0; new PerformanceObserver((list) => { for (const entry of list.getEntries())"
        " window.longest = Math.max(window.longest, entry.duration); }).observe({ entryTypes: ['longtask'] }); }"
    )
    for segment in page.locator(".chip").all():
        segment.click()
    page.locator(".answer").hover()
    for _ in range(20):
        page.mouse.wheel(0, 400)
    for _ in range(10):
        page.keyboard.press("n")
    page.wait_for_timeout(500)
    assert page.evaluate("window.longest") <= 100  # milliseconds
