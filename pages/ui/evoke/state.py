"""The test set of one session: making it, and the labels given by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from attribution.errors import BadInput, NotYours
from attribution.evaluation.evoked_errors.saved import EvokedSet, load, save
from attribution.evaluation.evoked_errors.test_set import Grounded, Made, make, of_report, read
from attribution.llm.client import Llm
from attribution.storage.runs import new_run_id
from attribution.text.json_lines import parse_rows
from pages.ui import state
from pages.ui.edit import state as edit_state
from pages.ui.evoke.job import MakeJob, MakeProgress
from pages.ui.form import choices
from pages.ui.run import state as run_state
from pages.ui.slot import Slot, store

LIMIT = 1000  # answers of one file
RESULT = Slot[MakeJob, MakeProgress]("evoke")
is_running, notice = RESULT.is_running, RESULT.notice


def of_last_run() -> Grounded | None:
    """The supported sentences of the session's last run; None where there are none."""
    now = run_state.current()
    if now is None or now.running or not now.report.id:
        return None
    try:
        return of_report(edit_state.shown(now.report))
    except BadInput:
        return None


def of_file(content: bytes) -> tuple[list[Grounded], list[str]]:
    """The grounded answers of a file, and what is wrong with its other lines. BadInput for a file without lines."""
    answers: list[Grounded] = []
    problems: list[str] = []
    rows = parse_rows(content, ["response"], ["question"])
    if len(rows) > LIMIT:
        raise BadInput(f"the file has {len(rows):,} answers, and one set takes {LIMIT:,}: split the file")
    for row in rows:
        try:
            answers.append(read(row))
        except BadInput as error:
            problems.append(f"line {row.line}: {error}")
    return answers, problems


def llm_ready() -> bool:
    """Whether a language model is configured in this session."""
    current = choices.endpoint()
    return not isinstance(current, str) and current.has_llm


def start(answers: Sequence[Grounded], kinds: Sequence[str], seed: int, by_llm: bool) -> None:
    """Make the set."""
    if not is_running():
        _begin(new_run_id(), EvokedSet(tuple(answers), tuple(kinds), seed, by_llm))


def go_on() -> None:
    """Alter the answers that are missing, as it was begun."""
    if (now := current()) and not is_running():
        _begin(_shown_id(), now.set)


def _begin(id: str, begun: EvokedSet) -> None:
    settings = choices.endpoint()
    if isinstance(settings, str):
        return
    database = store()

    def work(grounded: Sequence[Grounded]) -> Iterator[tuple[list[Made], list[str]]]:
        return make(grounded, begun.kinds, begun.seed, Llm(settings, database) if begun.by_llm else None)

    RESULT.start(MakeJob(id, begun, work, partial(save, database, id)))


def show(id: str) -> None:
    """Show the set in the address, saved or in progress."""
    if not RESULT.running(id) and (found := RESULT.saved(lambda database: load(database, id))):
        RESULT.show(MakeProgress(set=found, running=False))


def owns() -> bool:
    return RESULT.owns("evoked")


def copy() -> None:
    RESULT.copy("evoked", show)


def current() -> MakeProgress | None:
    """The set to show: the one started last, else the one in the address."""
    job = RESULT.job()
    if job is None:
        return RESULT.shown()
    state.show_address(evoked=job.id)
    now = job.progress()
    if not now.running:  # from here on it can be labelled
        RESULT.start(None)
        RESULT.show(now)
    return now


def label(row_id: str, error_type: str) -> None:
    """Give a row its type by hand, and keep it."""
    if (now := current()) and not now.running:
        labelled = now.set.with_label(row_id, error_type)
        try:
            save(store(), _shown_id(), labelled)
        except NotYours as error:
            RESULT.refuse(str(error))
            return
        RESULT.show(replace(now, set=labelled))


def _shown_id() -> str:
    return str(state.address("evoked").get("evoked") or new_run_id())
