import json
import subprocess
import sys
import textwrap
from pathlib import Path

from attribution import events
from attribution.pipeline.run import run
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Document, Report
from tests import make
from tests.llm_server import llm_server, llm_settings
from tests.make import comparable

QUESTION = "When was the Eiffel Tower finished?"
SENTENCES = (
    "The Eiffel Tower was completed in 1889.",
    "The Eiffel Tower was built by the company of Gustave Eiffel.",
    "The Eiffel Tower stands in Rome.",
    "Gustave Eiffel was an engineer.",
    "The Eiffel Tower is made of iron.",
    "The Eiffel Tower has three levels for visitors.",
)
ANSWER = " ".join((*SENTENCES, "I hope this helps!"))
NOTE = Document(
    "tower.txt",
    b"The Eiffel Tower in Paris was completed in 1889. It was built by Gustave Eiffel's company.",
)
RUN = "0123456789abcdef"
SCRIPT = f"""
    import json, sys, time
    from attribution import events
    from attribution.pipeline.run import run
    from attribution.settings import Settings
    from attribution.types import Document

    settings = Settings(**json.loads(sys.argv[1]))
    note = Document("tower.txt", {NOTE.content!r})
    stage = ""
    for event in run({QUESTION!r}, {ANSWER!r}, settings, documents=[note], run_id={RUN!r}):
        if isinstance(event, events.StageStarted):
            stage = event.stage
        if isinstance(event, events.VerdictReady):
            print(event.verdict.model_dump_json(), flush=True)
            if stage == "verify":
                print("half way", flush=True)
                time.sleep(600)
"""


def finished(settings: Settings, store: Store, run_id: str) -> Report:
    return make.finished(run(QUESTION, ANSWER, settings, store, [NOTE], run_id=run_id))


def timeless(report: Report) -> str:
    """A report for comparison; a document counts as fetched when it is read."""
    pages = tuple(page.model_copy(update={"fetched_at": ""}) for page in report.pages)
    return comparable(report.model_copy(update={"pages": pages}))


def test_a_killed_process_loses_no_verdict(
    settings: Settings, store: Store, tmp_path: Path
) -> None:
    settings = settings.model_copy(update={"sources": ("documents",)})
    choices = json.dumps(settings.model_dump(mode="json", exclude_none=True))
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), choices]
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if line.startswith("half way"):
                break
            lines.append(line)
        child.kill()
    assert child.returncode == -9
    assert lines

    known = store.runs.load(RUN, unfinished=True)
    assert known is not None
    assert store.runs.load(RUN) is None
    assert {json.loads(line)["claim_id"] for line in lines} <= {v.claim_id for v in known.verdicts}
    assert len(known.claims) == 7
    assert len(known.verdicts) == 2  # of the first group of one, and of what is no claim
    assert known.pages[0].text == NOTE.content.decode()
    supported = next(v for v in known.verdicts if v.label == "supported")
    assert any(e.claim_id == supported.claim_id for e in known.evidence)

    events_of_second = run(QUESTION, ANSWER, settings, store, [NOTE], run_id=RUN)
    assert any(isinstance(event, events.ClaimsReady) for event in events_of_second)
    events_of_second.close()  # interrupted again, before any verdict
    again = store.runs.load(RUN, unfinished=True)
    assert again is not None
    assert again.verdicts == known.verdicts
    assert again.evidence == known.evidence

    continued = finished(settings, store, RUN)
    assert continued.created_at == known.created_at
    assert continued.usage.cached_pairs > 0
    assert store.runs.load(RUN) == continued
    assert store.runs.load(RUN, unfinished=True) is None
    assert store.runs.shown_version(RUN) == 1

    undisturbed = Store.open(f"sqlite:///{tmp_path}/undisturbed.sqlite3")
    other = settings.model_copy(
        update={"database_url": f"sqlite:///{tmp_path}/undisturbed.sqlite3"}
    )
    assert timeless(continued) == timeless(finished(other, undisturbed, ""))
    undisturbed.close()


def test_replies_of_the_first_part_of_a_run_are_not_asked_for_again(store: Store) -> None:
    with llm_server(lambda _: '{"worthiness": "factual"}') as served:
        chosen = llm_settings(served, worthiness="llm", sources=("documents",))
        for event in run(QUESTION, ANSWER, chosen, store, [NOTE], run_id=RUN):
            if isinstance(event, events.PageReady):
                break  # interrupted after the claims
        continued = finished(chosen, store, RUN)
        assert len(served.requests) == len(continued.claims)
    assert continued.usage.llm["worthiness"].calls == len(continued.claims)
