import csv
import re

import pytest

from tests.pages.browser.visits import (
    MARKS,
    PATIENCE,
    Browser,
    Page,
    add_files,
    analyse,
    choose,
    claims,
    downloaded,
    expect,
    field,
    finished,
    group,
    language_model,
    menu,
    panel,
    paste_source,
    settled,
    unfold,
    visit,
    write,
)
from tests.pages.hostile import FLAG, TEXTS
from tests.servers import pdf_bytes

pytestmark = MARKS
RIVETS = "The tower is made of 18,038 pieces of iron, held together by about 4.5 million rivets."
SOURCE = "The structure is made of 18,038 pieces of iron, held together by 2.5 million rivets."
ANSWER = "The Nile flows north into the Mediterranean. The Nile freezes in some winters. I like it."


def test_an_example_runs_to_cards_with_the_sentence_that_decides(page: Page) -> None:
    page.get_by_role("button", name="The Eiffel Tower").click()
    expect(field(page, "Answer")).not_to_have_value("", timeout=PATIENCE)
    estimate = page.get_by_text(re.compile(r"~\d+ claims · up to \d+ pages? · (\d+–)?\d+ s"))
    expect(estimate).to_be_visible(timeout=PATIENCE)
    analyse(page, end=False)
    expect(claims(page).first).to_be_visible(timeout=PATIENCE)
    drawn = page.locator(".answer").element_handle()
    finished(page)
    assert drawn.evaluate("node => node.isConnected")  # drawn anew it would lose place and focus
    expect(page.locator(".state")).to_have_text("0 of 11 reviewed")
    expect(panel(page).locator(".say")).not_to_be_empty()
    claims(page).filter(has_text="18,038").click()
    expect(panel(page).locator(".quote .differs")).to_contain_text("2.5 million")
    expect(panel(page).locator(".claim-text .differs")).to_contain_text("4.5 million")
    expect(panel(page).locator(".say")).to_contain_text("2.5 million")
    panel(page).get_by_text("More about this claim").click()
    panel(page).get_by_text("Why this verdict").click()
    steps = re.compile("In the answer.*Searched for.*Passages compared.*Rule", re.S)
    expect(panel(page).locator("dl").last).to_contain_text(steps)
    sentence = panel(page).locator(".deciding").first.inner_text()
    panel(page).get_by_role("button", name="Open at this sentence").first.click()
    expect(panel(page).locator(".source mark.here")).to_have_text(sentence)
    panel(page).get_by_role("button", name="Back to all sources").click()
    panel(page).locator(".uses button").first.click()  # back to a claim that the page speaks of
    expect(panel(page).locator(".say")).to_be_visible()
    page.goto(f"{page.url}#claim-2")
    expect(claims(page).nth(1)).to_have_attribute("aria-pressed", "true", timeout=PATIENCE)


def test_groups_filter_and_a_threshold_moves_claims_between_them(page: Page) -> None:
    write(page, ANSWER)
    analyse(page)
    group(page, "off").click()
    expect(page.locator("[data-claim].dim")).to_have_count(2)
    group(page, "off").click()
    expect(page.locator("[data-claim].dim")).to_have_count(0)
    unfold(page)
    menu(page, "Advanced")
    page.get_by_role("slider", name="Lowest probability of support").focus()
    page.keyboard.press("End")
    settled(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Close", exact=True).click()
    expect(group(page, "ok").locator("b")).to_have_text("0", timeout=PATIENCE)
    menu(page, "Export")
    made = downloaded(page, re.compile("^CSV")).path()
    rows = list(csv.DictReader(made.read_text("utf-8-sig").splitlines()))
    assert "Supported" not in [row["verdict"] for row in rows]


def test_the_assessment_decides_group_count_and_export_until_it_is_undone(page: Page) -> None:
    write(page, "The Zorb bridge was opened in 1931. The Nile is in Africa.")
    analyse(page)
    before = int(group(page, "wrong").locator("b").inner_text())
    claims(page).first.click()
    claims(page).first.press("c")
    expect(group(page, "wrong").locator("b")).to_have_text(str(before + 1), timeout=PATIENCE)
    expect(page.locator(".state")).to_have_text("1 of 2 reviewed")
    expect(claims(page).first).to_have_accessible_name(
        re.compile("Claim 1, contradicted, by the analyst")
    )
    expect(panel(page).locator(".head .model")).to_contain_text("model:")
    claims(page).first.press("m")
    note = panel(page).get_by_label("Your note")
    note.fill("It: flows <b>north</b>.")
    note.press("Enter")
    expect(panel(page).get_by_role("button", name="Edit the note")).to_be_focused()
    expect(panel(page).get_by_text("Note: It: flows <b>north</b>.")).to_be_visible(timeout=PATIENCE)
    menu(page, "Export")
    made = downloaded(page, re.compile("^CSV")).path()
    first = next(csv.DictReader(made.read_text("utf-8-sig").splitlines()))
    assert first["assessment"] == "Contradicted"
    assert first["verdict"] != "Contradicted"
    assert first["note"] == "It: flows <b>north</b>."
    page.keyboard.press("Escape")
    page.reload()
    expect(page.locator(".state")).to_have_text("1 of 2 reviewed", timeout=PATIENCE)
    claims(page).first.click()
    claims(page).first.press("x")
    expect(page.locator(".state")).to_have_text("0 of 2 reviewed", timeout=PATIENCE)
    claims(page).first.press("Control+z")
    expect(page.locator(".state")).to_have_text("1 of 2 reviewed", timeout=PATIENCE)
    for _ in ("the note", "the verdict"):
        settled(page)
        page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.locator(".state")).to_have_text("0 of 2 reviewed", timeout=PATIENCE)
    expect(page.get_by_role("button", name="Undo", exact=True)).to_have_count(0)


def test_assessments_pressed_in_quick_succession_are_all_kept(page: Page) -> None:
    write(
        page, "The Zorb bridge was opened in 1931. The Nile is in Africa. The Zorb bridge is red."
    )
    analyse(page)
    page.keyboard.type("nacnu")
    expect(page.locator(".claim-mark.own")).to_have_count(3)  # before the server has answered
    page.keyboard.type("mred")
    page.keyboard.press("Enter")
    expect(panel(page).get_by_label("Your note")).to_have_count(0)
    expect(panel(page).get_by_text("Note: red")).to_be_visible(timeout=PATIENCE)
    page.reload()
    expect(page.locator(".state")).to_have_text("3 of 3 reviewed", timeout=PATIENCE)


def test_a_citation_is_a_line_in_the_card_and_a_filter(page: Page) -> None:
    add_files(page, ("tower.txt", "text/plain", SOURCE.encode()))
    cited = f"{RIVETS[:-1]} [1]. It is in Paris.\n\nSources:\n[1] tower.txt\n"
    write(page, cited)
    analyse(page)
    claims(page).first.click()
    card = panel(page).locator(".why-line", has_text="Cites")
    expect(card).to_have_text(re.compile(r"^Cites \[1\]: (says otherwise|doesn't say so)\.$"))
    badge = panel(page).locator(".head .badge").first.inner_text()
    assert "Supported" not in badge
    page.locator(".group[data-group=cites]").click()
    expect(page.locator("[data-claim].dim")).not_to_have_count(0)
    expect(page.get_by_role("tab", name="Citations")).to_have_count(0)


def test_the_revised_answer_changes_no_claim(page: Page) -> None:
    paste_source(page, SOURCE)
    write(page, f"## Towers\n\n{RIVETS}")
    analyse(page)
    page.get_by_role("tab", name="Revised answer").click()
    revised = panel(page).locator(".revised")
    expect(revised.get_by_role("heading", name="Towers")).to_be_visible(timeout=PATIENCE)
    expect(revised).to_contain_text("4.5 million")
    expect(revised).not_to_contain_text(re.compile(r"#|\*\*"))
    panel(page).get_by_role("button", name="Sentences without a source: leave out").click()
    expect(revised.locator("p", has_text="4.5 million")).to_have_count(0, timeout=PATIENCE)


def test_a_contradicted_claim_is_corrected_to_the_value_of_its_source_and_undone(
    page: Page,
) -> None:
    paste_source(page, SOURCE)
    write(page, SOURCE.replace("2.5", "4.5"))
    analyse(page)
    correct = panel(page).get_by_role("button", name="Correct to 2.5 million")
    correct.click()
    supported = re.compile(
        "^Claim 1, (likely )?supported, edited by the analyst: .* 2.5 million rivets"
    )
    expect(claims(page).first).to_have_accessible_name(supported, timeout=PATIENCE)
    expect(correct).to_have_count(0)
    page.get_by_role("tab", name="Revised answer").click()
    revised = panel(page).locator(".revised")
    expect(revised.locator("p").first).to_contain_text("2.5 million", timeout=PATIENCE)
    expect(revised).not_to_contain_text("4.5 million")
    page.keyboard.press("Control+z")
    expect(revised.locator("p").first).to_contain_text("4.5 million", timeout=PATIENCE)
    page.get_by_role("tab", name="Claim", exact=True).click()
    expect(correct).to_be_visible(timeout=PATIENCE)


def test_the_demo_plays_to_its_end_and_back(page: Page) -> None:
    page.get_by_role("button", name="Five-minute demo").click()
    demo = page.get_by_role("region", name="The demo")
    expect(demo).to_contain_text("An answer with errors", timeout=PATIENCE)
    steps = int(re.search(r"1 of (\d+)", demo.inner_text())[1])
    for step in range(2, steps + 1):
        demo.get_by_role("button", name="Next step").click()
        expect(demo).to_contain_text(f"{step} of {steps}")
        number = re.search(r"Claim (\d+), ([a-z ]+):", demo.inner_text())
        if number:  # the card that it tells of is the one that is shown
            expect(panel(page).locator(".head").first).to_contain_text(f"Claim {number[1]} of")
            expect(panel(page).locator(".head .badge").first).to_contain_text(
                re.compile(number[2], re.IGNORECASE)
            )
    demo.get_by_role("button", name="Step before").click()
    expect(demo).to_contain_text(f"{steps - 1} of {steps}")
    demo.get_by_role("button", name="Next step").click()
    demo.get_by_role("button", name="End the demo").click()
    expect(demo).to_have_count(0)


def test_a_run_opened_by_its_address_has_its_own_form_and_back_returns(page: Page) -> None:
    choose(page, "Split the answer into", "Clauses")
    paste_source(page, "The Nile flows north. It is 6,650 km long.")
    write(page, "The Nile flows north into the Mediterranean.", "Where does the Nile flow?")
    analyse(page)
    first = page.url
    assert "?run=" in first
    page.get_by_role("button", name="New", exact=True).click()
    write(page, "The Nile is a river.", "What is it?")
    analyse(page)
    page.wait_for_url(lambda url: "?run=" in url and url != first)
    page.goto(first)
    expect(page.get_by_role("heading", name="Where does the Nile flow?")).to_be_visible(
        timeout=PATIENCE
    )
    unfold(page)
    expect(field(page, "Question")).to_have_value("Where does the Nile flow?")
    expect(field(page, "Answer")).to_have_value("The Nile flows north into the Mediterranean.")
    expect(page.get_by_role("button", name="Your documents: 1")).to_be_visible()
    menu(page, "Advanced")
    split = page.get_by_role("combobox", name="Split the answer into").first
    expect(split).to_have_value("Clauses")
    page.keyboard.press("Escape")
    page.go_back()
    expect(page.get_by_role("heading", name="What is it?")).to_be_visible(timeout=PATIENCE)


def test_by_keyboard_alone_and_bad_input_is_told_and_nothing_is_lost(page: Page) -> None:
    write(page, ANSWER)
    field(page, "Answer").press("Control+Enter")
    finished(page)
    inside = (
        "(e => { while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;"
        " return e?.dataset?.claim ?? '' })"
    )
    page.evaluate("document.activeElement.blur()")
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate(f"{inside}(document.activeElement)"):
            break
    else:
        raise AssertionError("the first claim is more than twelve presses of Tab away")
    claims(page).first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(claims(page).nth(1)).to_have_attribute("aria-pressed", "true")
    expect(panel(page).get_by_text("Claim 2 of 3")).to_be_visible()
    page.keyboard.press("Enter")  # into the card, and back
    page.keyboard.press("Escape")
    expect(claims(page).nth(1)).to_be_focused()
    bad = {"  ": "is empty", "word " * 5000: "at most 20,000", "\x01\x02\x03\x04" * 30: "not text"}
    for answer, words in bad.items():
        write(page, answer, "Why?")
        analyse(page, end=False)
        expect(page.get_by_text(words).first).to_be_visible(timeout=PATIENCE)
        expect(field(page, "Question")).to_have_value("Why?")
        expect(claims(page)).to_have_count(3)


def test_stop_keeps_what_is_there_and_the_run_can_be_continued(page: Page) -> None:
    sentences = (f"The Nile is {6000 + n} kilometres long and flows north." for n in range(60))
    write(page, " ".join(sentences))
    analyse(page, end=False)
    expect(page.locator(".state")).to_contain_text(re.compile("Claim [1-9]"), timeout=PATIENCE)
    page.keyboard.press("Escape")
    again = page.get_by_role("button", name="Continue", exact=True)
    expect(again).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text("Stopped: ")).to_be_visible()
    expect(claims(page)).to_have_count(60, timeout=PATIENCE)
    settled(page)
    address = page.url
    again.click()
    finished(page)
    expect(page.locator(".claim.v-not_reached")).to_have_count(0, timeout=PATIENCE)
    assert page.url == address
    expect(again).to_have_count(0)


def test_an_edit_is_marked_and_undone_by_key_after_a_reload(page: Page) -> None:
    write(page, "The Nile flows north into the Mediterranean. The Zorb bridge was opened in 1931.")
    analyse(page)
    claims(page).nth(1).click()
    panel(page).get_by_text("More about this claim").click()
    opener = page.get_by_role("button", name="Edit, split or merge claim 2")
    opener.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Checked as", exact=True)).to_have_value(re.compile("Zorb bridge"))
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(opener).to_be_focused()
    panel(page).get_by_role("button", name="Add a source").click()
    dialog.get_by_label("A web address", exact=True).fill("ftp://a.b/c")
    dialog.get_by_role("button", name="Check with this evidence").click()
    expect(page.get_by_text("is not a web address; expected")).to_be_visible(timeout=PATIENCE)
    expect(claims(page).nth(1)).not_to_have_accessible_name(re.compile("edited"))
    opener.click()
    dialog.get_by_role("tab", name="Source").click()
    evidence = "The Zorb bridge was opened in 1931 by the mayor of Zorb."
    dialog.get_by_label("A text", exact=True).fill(evidence)
    dialog.get_by_role("button", name="Check with this evidence").click()
    supported = re.compile("^Claim 2, (likely )?supported, edited by the analyst")
    expect(claims(page).nth(1)).to_have_accessible_name(supported, timeout=PATIENCE)
    page.reload()
    expect(claims(page).nth(1)).to_have_accessible_name(supported, timeout=PATIENCE)
    claims(page).nth(1).press("Control+z")
    expect(claims(page).nth(1)).not_to_have_accessible_name(supported, timeout=PATIENCE)


def test_claims_are_merged_and_an_undo_shows_them_again(page: Page) -> None:
    write(page, "Bees make honey. The Zorb bridge is long. It was opened in 1931.")
    analyse(page)
    dialog = page.get_by_role("dialog")
    edit_claim(page, 1)
    dialog.get_by_label("Checked as", exact=True).fill("Bees make wax.")
    dialog.get_by_role("button", name="Check this text").click()
    expect(claims(page).first).to_have_accessible_name(re.compile("edited"), timeout=PATIENCE)
    edit_claim(page, 2)
    other = dialog.get_by_role("combobox", name="Merge with")
    option = page.get_by_role("option", name="opened in 1931")
    for _ in range(30):  # a list that is open closes when the page is drawn again
        other.fill("opened")
        page.wait_for_timeout(1000)
        if option.is_visible():
            option.click()
        if other.input_value() == "The Zorb bridge was opened in 1931.":
            break
    dialog.get_by_role("button", name="Check this text").click()
    merged = panel(page).get_by_text("The Zorb bridge is long. The Zorb bridge was opened in 1931.")
    expect(merged.first).to_be_visible(timeout=PATIENCE)
    expect(page.locator("[aria-label^='Claim 3']")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("[aria-label^='Claim 3']")).not_to_have_count(0, timeout=PATIENCE)
    expect(panel(page).get_by_text("Claim 2 of 3")).to_be_visible()


def edit_claim(page: Page, number: int) -> None:
    """Open the dialog that changes a claim."""
    claims(page).nth(number - 1).click()
    panel(page).get_by_text("More about this claim").click()
    page.get_by_role("button", name=f"Edit, split or merge claim {number}").click()


def test_a_claim_without_a_source_is_searched_for_on_the_web(page: Page) -> None:
    paste_source(page, "Bees make honey.")
    write(page, "Zorbulon Qaxxifer founded the town of Wibblethorp in 1342.")
    analyse(page)
    claims(page).first.click()
    search = panel(page).get_by_role("button", name="Search the web")
    search.click()
    expect(search).to_have_count(0, timeout=PATIENCE)  # it was, though there is no web here


def test_unreadable_files_are_said_beside_the_form_and_above_the_result(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    cues = b"1\n00:00:01,000 --> 00:00:02,000\nThe Nile is long.\n"
    talks = [(f"talk{n}.srt", "application/x-subrip", cues) for n in range(3)]
    add_files(page, *talks, ("empty.txt", "text/plain", b""))
    expect(page.get_by_text("1 of 4 files could not be read")).to_be_visible(timeout=PATIENCE)
    write(page, "The Nile is long.")
    analyse(page)
    title = page.get_by_text("1 of 4 documents could not be read: empty.txt")
    expect(title).to_be_in_viewport(timeout=PATIENCE)


def test_on_a_phone_the_card_is_a_sheet_below_the_answer(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    write(page, ANSWER)
    analyse(page)
    expect(page.locator(".panel")).to_be_hidden()
    claims(page).nth(1).click()
    sheet = page.locator(".panel")
    expect(sheet.locator(".say")).to_be_in_viewport()
    expect(claims(page).nth(1)).to_be_in_viewport()
    box = sheet.bounding_box()
    assert box["y"] + box["height"] == pytest.approx(844, abs=2)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Show more or less of the card").click()
    expect(page.get_by_role("tab", name="Sources")).to_be_visible()
    page.get_by_role("button", name="Show more or less of the card").click()
    unfold(page)
    expect(sheet).to_be_hidden()


def test_a_link_to_a_claim_far_below_scrolls_to_it_on_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    write(page, "\n\n".join(["I like it.\n"] * 40 + ["The Nile flows north."]))
    analyse(page)
    address = page.url
    page.goto("about:blank")
    page.goto(f"{address}#claim-2")
    expect(panel(page).locator(".say")).to_be_in_viewport(timeout=PATIENCE)
    expect(claims(page).last).to_be_in_viewport()


def test_a_page_of_an_own_pdf_is_a_picture_with_its_sentence_boxed(page: Page) -> None:
    sentence = "The Zorb bridge was opened in 1931."
    pdf = pdf_bytes("A first page of no interest.", sentence)
    add_files(page, ("zorb.pdf", "application/pdf", pdf))
    write(page, sentence)
    analyse(page)
    panel(page).get_by_role("button", name="Open at this sentence").first.click()
    panel(page).get_by_role("button", name="Show page 2 as a picture").click(timeout=PATIENCE)
    picture = panel(page).get_by_alt_text("Page 2, with the sentence boxed")
    expect(picture).to_be_visible(timeout=PATIENCE)
    assert picture.evaluate("image => image.complete && image.naturalWidth > 800")
    panel(page).get_by_role("button", name="Show the text").click()
    expect(panel(page).locator("mark.here")).to_have_text(sentence, timeout=PATIENCE)


def test_a_language_model_that_fails_is_named_at_the_top(page: Page) -> None:
    language_model(page, "http://127.0.0.1:9/v1")
    choose(page, "Split the answer into", "FActScore")
    write(page, ANSWER)
    analyse(page)
    notice = page.locator(".ax-note", has_text="The language model could not be used")
    expect(notice).to_contain_text("could not be split; checked whole instead.")
    expect(notice).not_to_contain_text("OPENAI")


def test_a_draft_with_its_documents_outlives_a_reload(page: Page) -> None:
    add_files(page, ("nile.txt", "text/plain", b"The Nile flows north."))
    write(page, ANSWER)
    page.wait_for_timeout(2_000)
    page.reload()
    expect(field(page, "Answer")).to_have_value(ANSWER, timeout=PATIENCE)
    expect(page.get_by_role("button", name="Your documents: 1")).to_be_visible()
    page.reload()
    field(page, "Answer").fill("Pasted before the draft is back.")
    page.wait_for_timeout(4_000)
    expect(field(page, "Answer")).to_have_value("Pasted before the draft is back.")


def test_hostile_text_is_shown_and_runs_nothing(page: Page) -> None:
    lines = [t for t in TEXTS if "\x0b" not in t]
    answer = "\n\n".join(f"The Nile is {t} a river of Africa." for t in lines)
    source = "\n\n".join(f"The Nile is {t} a river of Africa. It is long." for t in lines)
    add_files(page, (f"<img src=x onerror={FLAG}>.txt", "text/plain", source.encode()))
    choose(page, "Verifier", "Embedded small model")  # the quicker one
    write(page, answer, f"<img src=x onerror={FLAG}> what?")
    analyse(page)
    article = page.get_by_label("The answer, with its claims marked")
    expect(article).to_contain_text(f"<script>{FLAG}</script>")
    expect(article).to_contain_text(f"<img src=x onerror={FLAG}>")
    for number in range(claims(page).count()):
        claims(page).nth(number).click()
    opener = panel(page).get_by_role("button", name="Open at this sentence").first
    expect(page.locator(".source-line strong").first).to_contain_text("onerror")
    opener.click()
    expect(page.locator(".panel .source")).to_contain_text(f"<script>{FLAG}</script>")
    page.wait_for_timeout(500)
    assert page.evaluate("window.pwned") is None


def test_two_visitors_never_see_each_other(browser: Browser, address: str) -> None:
    first, second = visit(browser, address), visit(browser, address)
    write(first, "Marie Curie lived in Atlantis for a year.")
    write(second, "Charles Darwin sailed to Lemuria in a canoe.")
    analyse(first, end=False)
    analyse(second)
    finished(first)
    for page, own, other in ((first, "Atlantis", "Lemuria"), (second, "Lemuria", "Atlantis")):
        expect(page.get_by_label("The answer, with its claims marked")).to_contain_text(own)
        assert other not in page.content()
        assert page.events == []
        page.context.close()
