import signal
from collections.abc import Iterator

import pytest

from attribution.store.store import Store
from attribution.studies.annotation.project import Annotations
from attribution.studies.annotation.records import finished
from attribution.studies.annotation.tasks import Project, TaskTurn, make_task
from tests.pages.browser.test_accessibility import unbroken
from tests.pages.browser.visits import MARKS, PATIENCE, SIZE, Browser, Page, expect
from tests.pages.hostile import TEXTS
from tests.serve import Served, serving

pytestmark = MARKS
SECRET = "Zanzibar-7731"  # stands in every source, and nowhere else
FIRST, SECOND = "interpretable to you?", "fully supported by the source document?"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("annotate")) as served:
        yield served


def filled(server: Served, name: str, answers: list[str]) -> tuple[Annotations, Project]:
    kept = Annotations(Store.open(f"sqlite:///{server.database}").database)
    project = kept.create(name, overlap=2)
    question = TaskTurn(speaker="user", text="What is there?")
    kept.add_tasks(
        [
            make_task(
                project.id,
                text,
                f"The source {n} says {SECRET}. {TEXTS[0]}",
                [question],
                title=SECRET,
                system="s",
            )
            for n, text in enumerate(answers)
        ]
    )
    kept.add_members(project.id, ["ann", "bob"])
    return kept, project


def visit(browser: Browser, server: Served, query: str) -> tuple[Page, list[str]]:
    """A page in a browser of its own, and all that the server sends it."""
    page = browser.new_context(viewport=SIZE).new_page()
    page.set_default_timeout(PATIENCE)
    received: list[str] = []

    def listen(socket: object) -> None:
        socket.on("framereceived", lambda data: received.append(as_text(data)))

    page.on("websocket", listen)
    page.on(
        "response",
        lambda r: received.append(as_text(r.body())) if "_stcore" in r.url and r.ok else None,
    )
    page.goto(f"{server.url}/research?{query}")
    expect(page.get_by_text(FIRST)).to_be_visible(timeout=PATIENCE)
    return page, received


def as_text(data: object) -> str:
    return data if isinstance(data, str) else bytes(data).decode("utf-8", "replace")


def sees_no_source(page: Page, received: list[str]) -> None:
    """Type and flag before the first answer: nothing of the source has reached the browser."""
    page.keyboard.press("w")
    page.keyboard.type("yes, funny")  # keys do nothing while somebody types
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    page.keyboard.press("f")
    page.wait_for_timeout(500)
    assert any(word in "".join(received) for word in ("Sand", "Palm", "Nothing"))
    assert SECRET not in "".join(received)
    assert SECRET not in page.content()
    assert SECRET not in page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    expect(page.get_by_text(FIRST)).to_be_visible()


def test_two_annotators_a_hidden_source_and_a_killed_server(
    browser: Browser, server: Served
) -> None:
    answers = ["Sand and sea.", "Palm trees.", f"Nothing. {TEXTS[1]}"]
    kept, project = filled(server, "Two annotators", answers)
    visits = {
        name: visit(browser, server, f"project={project.id}&who={name}&view=Judge")
        for name in ("ann", "bob")
    }
    for page, received in visits.values():
        sees_no_source(page, received)
    (ann, seen), (bob, _) = visits["ann"], visits["bob"]
    ann.keyboard.press("y")
    expect(ann.get_by_text(SECOND)).to_be_visible(timeout=PATIENCE)
    expect(ann.get_by_role("region", name="Source")).to_contain_text(SECRET)
    assert SECRET in "".join(seen)  # the recording would have caught it
    assert ann.evaluate("window.pwned === undefined")
    assert ann.get_by_role("textbox", name="Justification").input_value() == "yes, funny"
    ann.keyboard.press("/")
    ann.keyboard.type("zanzibar")
    expect(ann.locator("mark")).to_have_count(1)
    server.end(signal.SIGKILL)
    ann.keyboard.press("Escape")
    ann.keyboard.press("n")  # nobody hears it
    bob.keyboard.press("n")
    expect(bob.get_by_text("python -m attribution serve")).to_be_visible(
        timeout=PATIENCE
    )  # in the project's words
    assert not bob.get_by_text("yourscript").is_visible()
    assert finished(kept.judgements(project.id)) == []
    server.start()
    expect(bob.get_by_text("1 done")).to_be_visible(
        timeout=PATIENCE
    )  # without a touch: the page finds the server again
    ann.goto(f"{server.url}/research?project={project.id}&who=ann&view=Judge")
    expect(ann.get_by_text("1 done")).to_be_visible(
        timeout=PATIENCE
    )  # also where the page was opened anew
    ann.reload()
    expect(ann.get_by_text(FIRST)).to_be_visible(timeout=PATIENCE)
    said = {j.annotator: j.content for j in finished(kept.judgements(project.id))}
    assert {name: content.answer for name, content in said.items()} == {
        "ann": "not_attributable",
        "bob": "not_interpretable",
    }
    assert said["ann"].justification == "yes, funny"
    assert 0 < said["ann"].seconds[0] < 120
    ann.keyboard.press("u")  # also after a reload
    expect(ann.get_by_text(SECOND)).to_be_visible(timeout=PATIENCE)
    ann.keyboard.press("y")
    expect(ann.get_by_text("1 done")).to_be_visible(timeout=PATIENCE)
    records = [j for j in kept.judgements(project.id) if j.annotator == "ann"]
    assert [j.content.answer for j in records] == [None, "not_attributable", None, "attributable"]
    assert kept.judgements(project.id, "bob")[0].content.answer == "not_interpretable"
    for page, _ in visits.values():
        page.context.close()


@pytest.mark.slow
def test_no_rule_of_axe_is_broken(browser: Browser, server: Served) -> None:
    kept, project = filled(server, "Under axe", ["Sand and sea.", "Palm trees."])
    page, _ = visit(browser, server, f"project={project.id}&who=ann&view=Judge")

    page.get_by_text("Guidelines, examples and keys").click()
    page.keyboard.press("f")
    page.keyboard.press("e")
    page.keyboard.type("Other words.")
    unbroken(page, "annotation")
    page.keyboard.press("Escape")
    page.keyboard.press("y")
    expect(page.get_by_text(SECOND)).to_be_visible(timeout=PATIENCE)
    unbroken(page, "annotation")
    page.keyboard.press("y")
    expect(page.get_by_text("1 done")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("radio", name="Results").click()
    expect(page.get_by_text("100.0 % of 1").first).to_be_visible(timeout=PATIENCE)
    unbroken(page, "annotation")
    page.get_by_role("radio", name="Project").click()
    expect(page.get_by_role("button", name="Export JSONL").first).to_be_visible(timeout=PATIENCE)
    unbroken(page, "annotation")
    page.context.close()
