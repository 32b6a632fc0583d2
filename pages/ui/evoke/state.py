"""The test set of one session: making it, and the labels given by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from attribution.errors import BadInput
from attribution.evaluation.evoked_errors.test_set import Grounded, Made, make, of_report, read
from attribution.llm.client import Llm
from attribution.storage.store import Store
from attribution.text.json_lines import parse_rows
from pages.ui import state
from pages.ui.edit import state as edit_state
from pages.ui.evoke.job import MakeJob, MakeProgress
from pages.ui.form import choices
from pages.ui.run import state as run_state
from pages.ui.slot import Slot

LIMIT = 1000  # answers of one file
LABELS = "evoke_labels"
RESULT = Slot[MakeJob, MakeProgress]("evoke")
stop, is_running = RESULT.stop, RESULT.is_running


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
    settings = choices.endpoint()
    if isinstance(settings, str) or is_running():
        return
    store = Store.open(settings.database_url)

    def work(grounded: Sequence[Grounded]) -> Iterator[tuple[list[Made], list[str]]]:
        return make(grounded, kinds, seed, Llm(settings, store) if by_llm else None)

    state.put(LABELS, {})
    RESULT.start(MakeJob(answers, work))


def current() -> MakeProgress | None:
    """The set with the labels given by hand."""
    job = RESULT.job()
    if job is None:
        return None
    now, labels = job.progress(), state.get(LABELS) or {}
    return replace(now, made=tuple(replace(m, error_type=labels.get(m.id, m.error_type)) for m in now.made))


def label(row_id: str, error_type: str) -> None:
    """Give a row its type by hand."""
    state.put(LABELS, {**(state.get(LABELS) or {}), row_id: error_type})
