import csv
import re

import pytest

from tests.pages.browser.visits import (
    MARKS,
    PATIENCE,
    Browser,
    Page,
    analyse,
    choose,
    claims,
    downloaded,
    expect,
    field,
    finished,
    menu,
    settled,
    unfold,
    visit,
    write,
)
from tests.pages.hostile import FLAG, TEXTS

pytestmark = MARKS
ANSWER = "The Nile flows north into the Mediterranean. The Nile freezes in some winters. I think it is lovely."


def test_the_example_runs_to_verdicts_with_evidence_and_link(page: Page) -> None:
    page.get_by_role("button", name="The Eiffel Tower").click()
    expect(field(page, "Answer")).not_to_have_value("", timeout=PATIENCE)
    expect(page.get_by_text(re.compile(r"~\d+ claims · up to \d+ pages? · \d+ s"))).to_be_visible(
        timeout=PATIENCE
    )
    analyse(page, end=False)
    expect(claims(page).first).to_be_visible(timeout=PATIENCE)
    drawn = page.locator(".answer").element_handle()
    finished(page)
    assert drawn.evaluate(
        "node => node.isConnected"
    )  # it was not drawn anew, which would lose the place and the focus
    expect(claims(page)).not_to_have_count(0)
    panel = page.get_by_label("Evidence of the selected claim")
    worst = page.locator(".chip").first.get_attribute("class").split()[1]
    expect(page.locator(".claim.selected")).to_have_class(
        re.compile(worst)
    )  # an error or a doubt is shown first
    panel.get_by_role("button", name="All claims, errors and doubts first").click()
    expect(panel.locator(".overview > p").first.locator(".badge")).to_have_class(re.compile(worst))
    expect(panel.locator(".overview > details > summary").last).to_have_text(
        re.compile(r"^\d+ not checked$")
    )
    panel.locator(".overview > p button").last.click()
    expect(panel.locator(".panel-body > .head")).to_be_visible()
    supported = page.locator("[data-claim].v-supported[role=button]").first
    expect(supported).to_have_attribute(
        "aria-label", re.compile(r"^Claim \d+, (likely )?supported: .+")
    )
    supported.click()
    expect(supported).to_have_attribute("aria-pressed", "true")
    expect(panel.locator(".panel-body > .head .badge")).to_contain_text(
        re.compile("supported", re.I)
    )
    expect(panel.locator(".card .deciding").first).not_to_be_empty()
    expect(panel.locator(".card a.more").first).to_have_attribute("href", re.compile("^https://"))
    panel.get_by_text("Why this verdict").click()
    expect(panel.locator(".chain")).to_contain_text(
        re.compile("In the answer.*Searched for.*Passages compared.*Rule", re.S)
    )
    panel.get_by_text("Why this passage counts").first.click()
    expect(panel.locator(".card .why").first).to_contain_text(re.compile(r"SHA-256\s*[0-9a-f]{64}"))
    sentence = panel.locator(".card .deciding").first.inner_text()
    panel.get_by_role("button", name="Open at this sentence").first.click()
    expect(panel.locator(".source mark.here")).to_have_text(sentence)
    panel.locator(".margin button").first.click()  # back to a claim that the page speaks of
    expect(panel.locator(".panel-body > .head .badge")).to_be_visible()


def test_a_filter_a_threshold_and_a_reload(page: Page) -> None:
    write(page, ANSWER)
    analyse(page)
    chip = page.locator(".chip.v-not_checked")
    expect(chip).to_contain_text("1 not checked")
    chip.click()
    expect(page.locator("[data-claim].dim")).to_have_count(claims(page).count() - 1)
    unfold(page)
    menu(page, "Options")
    page.get_by_role("slider", name="Minimum support score").focus()
    page.keyboard.press("End")
    settled(page)
    page.keyboard.press("Escape")
    expect(page.locator(".chip.v-unclear")).to_contain_text("1 unclear", timeout=PATIENCE)
    expect(page.locator(".st-key-status")).to_contain_text("1 verdict changed by your thresholds")
    menu(page, "Export")
    made = downloaded(page, re.compile("^CSV")).path()
    rows = csv.DictReader(made.read_text("utf-8-sig").splitlines())
    assert [row["verdict"] for row in rows].count("Unclear") == 1
    page.keyboard.press("Escape")
    page.reload()  # the address names the run
    expect(claims(page)).to_have_count(3, timeout=PATIENCE)
    unfold(page)
    expect(field(page, "Answer")).to_have_value(ANSWER)


def test_by_keyboard_alone_and_bad_input_is_told_and_nothing_is_lost(page: Page) -> None:
    write(page, ANSWER)
    page.keyboard.press("Tab")
    for _ in range(12):
        if page.evaluate("document.activeElement.innerText") == "Analyse":
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    finished(page)
    inside = "(e => { while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement; return e?.dataset?.claim ?? '' })"
    page.evaluate("document.activeElement.blur()")
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate(f"{inside}(document.activeElement)"):
            break
    else:
        raise AssertionError("the first claim is more than twelve presses of Tab away")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(claims(page).nth(1)).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("heading", name="Claim 2")).to_be_visible()
    page.keyboard.press("Enter")  # into the evidence, and back
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press(" ")
    expect(claims(page).first).to_have_attribute("aria-pressed", "true")
    bad = {"  ": "is empty", "word " * 5000: "at most 20,000", "\x01\x02\x03\x04" * 30: "not text"}
    for answer, words in bad.items():
        write(page, answer, "Why?")
        analyse(page, end=False)
        expect(page.get_by_text(words)).to_be_visible(timeout=PATIENCE)
        expect(field(page, "Question")).to_have_value("Why?")
        expect(field(page, "Answer")).to_have_value(answer)
        expect(claims(page)).to_have_count(3)


def test_stop_keeps_what_is_there_and_the_run_can_be_continued(page: Page) -> None:
    write(
        page,
        " ".join(f"The Nile is {6000 + n} kilometres long and flows north." for n in range(60)),
    )
    analyse(page, end=False)
    stop = page.get_by_role("button", name="Stop", exact=True)
    expect(stop).to_be_enabled(timeout=PATIENCE)
    place = stop.bounding_box()
    expect(page.locator(".ax-status .now")).to_contain_text(
        re.compile(r"Checking claims [1-9]"), timeout=PATIENCE
    )
    assert stop.bounding_box() == place
    stop.click()
    expect(page.get_by_text("Stopped early")).to_be_visible(timeout=PATIENCE)
    expect(stop).to_have_count(0)
    expect(claims(page)).to_have_count(60, timeout=PATIENCE)
    again = page.get_by_role("button", name="Continue", exact=True)
    expect(again).to_be_visible(timeout=PATIENCE)
    settled(page)
    expect(page.locator(".chip.v-not_reached")).to_be_visible()
    address = page.url
    again.click()
    finished(page)
    expect(page.locator(".chip.v-not_reached")).to_have_count(0, timeout=PATIENCE)
    assert page.url == address
    expect(again).to_have_count(0)


def test_a_web_that_cannot_be_searched_offers_the_library(page: Page) -> None:
    write(page, ANSWER)
    menu(page, "Sources")
    for name in ("The web", "Built-in library"):
        page.locator(".st-key-sources_box").get_by_text(name, exact=True).click()
        settled(page)
    page.keyboard.press("Escape")
    analyse(page)
    expect(page.get_by_text("The web could not be searched")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text("What did not work")).to_be_visible()
    page.get_by_role("button", name="Check against the built-in library").click()
    expect(page.locator(".chip.v-supported")).to_be_visible(timeout=PATIENCE)


def test_unreadable_files_are_said_first_and_beside_the_closed_menu(page: Page) -> None:
    write(page, "The Nile is long. Old[cite: 1].")
    page.set_viewport_size({"width": 390, "height": 844})
    menu(page, "Add documents")
    cues = b"1\n00:00:01,000 --> 00:00:02,000\nThe Nile is long.\n\n2\n00:00:02,000 --> 00:00:03,000\nIt flows north."
    files = [(f"talk{n}.{kind}", cues) for n in range(4) for kind in ("srt", "vtt")] + [
        ("empty.txt", b"")
    ]
    page.locator("input[type=file]").set_input_files(
        [
            {"name": name, "mimeType": "application/x-subrip", "buffer": content}
            for name, content in files
        ]
    )
    expect(page.get_by_role("button", name="Documents (9) · 1 unreadable")).to_be_visible(
        timeout=PATIENCE
    )
    said = page.get_by_test_id("stPopoverBody").get_by_text("1 file cannot be read")
    expect(said).to_be_in_viewport()
    expect(page.get_by_text("files are not allowed")).to_have_count(0)
    page.keyboard.press("Escape")
    analyse(page)
    title = page.get_by_text("1 of 9 documents could not be read: empty.txt")
    expect(title).to_be_in_viewport(timeout=PATIENCE)
    assert title.evaluate("node => node.scrollWidth <= node.clientWidth")
    expect(page.locator("sup.cite")).to_have_css("margin-left", re.compile("[2-9]"))


def test_hostile_text_is_shown_and_runs_nothing(page: Page) -> None:
    lines = [t for t in TEXTS if "\x0b" not in t]
    answer = "\n\n".join(f"The Nile is {t} a river of Africa." for t in lines)
    source = "\n\n".join(f"The Nile is {t} a river of Africa. It is long." for t in lines)
    menu(page, "Add documents")
    page.locator("input[type=file]").set_input_files(
        {
            "name": f"<img src=x onerror={FLAG}>.txt",
            "mimeType": "text/plain",
            "buffer": source.encode(),
        }
    )
    expect(page.get_by_text("<img sr")).to_be_visible(timeout=PATIENCE)
    settled(page)
    page.keyboard.press("Escape")
    choose(page, "Verifier", "Embedded small model")  # the quicker one
    write(page, answer, f"<img src=x onerror={FLAG}> what?")
    analyse(page)
    article = page.get_by_label("The answer, with its claims marked")
    for words in (
        f"<script>{FLAG}</script>",
        f"<img src=x onerror={FLAG}>",
        "The Nile is press a river",
    ):
        expect(article).to_contain_text(words)
    for number in range(claims(page).count()):
        claims(page).nth(number).click()
    opener = page.get_by_role("button", name="Open at this sentence").first
    expect(page.locator(".card .title").first).to_contain_text("onerror")
    opener.click()
    expect(page.locator(".panel .source")).to_contain_text(f"<script>{FLAG}</script>")
    page.wait_for_timeout(500)
    assert page.evaluate("window.pwned") is None
    found = "(r => [...r.querySelectorAll('*')].flatMap(e => [e, ...(e.shadowRoot ? f(e.shadowRoot) : [])]))"
    count = page.evaluate(
        f"() => {{ const f = {found}; return f(document).filter(e => e.tagName === 'IFRAME' || e.onerror || e.onload"
        " || (e.tagName === 'IMG' && e.getAttribute('src') === 'x')"
        " || (e.href && !/^(https?:|blob:|data:image)/.test(e.href))).length }"
    )
    assert count == 0


@pytest.mark.slow
def test_two_visitors_never_see_each_other(browser: Browser, address: str) -> None:
    first, second = visit(browser, address), visit(browser, address)
    write(first, "Marie Curie lived in Atlantis for a year.")
    write(second, "Charles Darwin sailed to Lemuria in a canoe.")
    analyse(first, end=False)
    analyse(second)
    expect(first.get_by_role("button", name="Export", exact=True)).to_be_visible(timeout=PATIENCE)
    for page, own, other in ((first, "Atlantis", "Lemuria"), (second, "Lemuria", "Atlantis")):
        expect(page.get_by_label("The answer, with its claims marked")).to_contain_text(own)
        assert other not in page.content()
        assert other not in page.get_by_label("The answer, with").inner_text()
        assert page.events == []
    third = visit(browser, address)
    assert not re.search("Atlantis|Lemuria", third.content())
    for page in (first, second, third):
        page.context.close()
