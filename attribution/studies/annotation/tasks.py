"""Make annotation tasks (R23 4.1) from finished runs, and assign them to annotators in a fixed
order.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal, get_args

from pydantic import Field, ValidationError, field_validator

from attribution.claims.context import check_independence
from attribution.claims.enrichment import enrich, standalone_question
from attribution.errors import BadInput
from attribution.evidence.near_duplicates import deciding_evidence, group_evidence
from attribution.files import Row, parse_rows
from attribution.text.sentences import sentences
from attribution.types import Claim, Frozen, Page, Report, Turn, content_id


def tasks_of_run(
    report: Report, project_id: str, unit: Unit, system: str = "", dataset: str = ""
) -> Iterator[Task]:
    """Yield the answer, its sentences or its checked claims as tasks; the report must have the
    pages' texts.

    The source of a claim is the page of its best evidence; that of a sentence or an answer is all
    such pages of its
    claims. Claims without evidence have no source to be judged by, and are left out.
    """
    pages = {page.id: page for page in report.pages if page.text}
    best: dict[str, Page] = {}
    for claim in report.claims:
        evidence = [e for e in report.evidence if e.claim_id == claim.id and e.page_id in pages]
        if claim.checked and evidence:
            piece = deciding_evidence(evidence, pages) or group_evidence(evidence, pages)[0].best
            best[claim.id] = pages[piece.page_id]
    spoken = [*report.context, *([("user", report.question)] if report.question.strip() else [])]
    question = [
        TaskTurn(speaker="user" if speaker == "user" else "system", text=text)
        for speaker, text in spoken
    ]
    within = [*question, TaskTurn(speaker="system", text=report.answer)]
    groups: dict[str, list[Claim]] = {}
    for claim in report.claims:
        if claim.id in best:
            place = claim.sentence or (claim.spans[0] if claim.spans else None)
            whole = report.answer[slice(*place)] if place else claim.text
            text = {"claim": claim.text, "sentence": whole, "answer": report.answer}[unit]
            groups.setdefault(text, []).append(claim)
    for text, claims in groups.items():
        used = list({page.id: page for page in (best[claim.id] for claim in claims)}.values())
        yield make_task(
            project_id,
            text,
            _joined(used),
            question if unit == "answer" else within,
            unit=unit,
            time=report.created_at[:10],
            system=system,
            dataset=dataset,
            item=content_id(
                *(part for turn in report.context for part in turn),
                report.question,
                text if unit != "answer" else "",
            ),
            title="; ".join(page.cited for page in used),
            url=(used[0].reference or used[0].url) if len(used) == 1 else "",
        )


def _joined(pages: Sequence[Page]) -> str:
    if len(pages) == 1:
        return pages[0].text
    return "\n\n\n".join(
        f"{page.cited}\n{page.reference or page.url}\n\n{page.text}" for page in pages
    )


def explicature(task: Task) -> str:
    """Decontextualise the answer by rules (V24 5.1.1); references that are not certain stay as they
    are.
    """
    question, before = split_turns(task.turns)
    last = task.turns[-1].text if task.turns and task.turns[-1].speaker == "system" else ""
    whole = last if task.unit != "answer" and task.answer in last else task.answer
    offset = whole.index(task.answer)
    claims = [
        Claim(
            id=str(start),
            text=task.answer[start:end],
            spans=((offset + start, offset + end),),
            worthiness="factual",
        )
        for start, end in sentences(task.answer)
    ]
    text = task.answer
    enriched, _ = enrich(standalone_question(question, before), whole, check_independence(claims))
    for claim in reversed(enriched):
        start, end = int(claim.id), int(claim.id) + len(claim.text)
        text = text[:start] + claim.statement + text[end:]
    return text


def in_order(tasks: Collection[str], seed: int, name: str = "") -> list[str]:
    """Shuffle the tasks by the seed, differently for each name."""
    order = sorted(tasks)
    random.Random(f"{seed}/{name}").shuffle(order)
    return order


def pilot_tasks(project: Project, tasks: Collection[str]) -> list[str]:
    """Return the tasks that everybody judges first."""
    return in_order(tasks, project.seed, "pilot")[: project.pilot]


@lru_cache(maxsize=32)
def plan(
    tasks: tuple[str, ...], annotators: tuple[str, ...], overlap: int, seed: int
) -> dict[str, tuple[str, ...]]:
    """Assign `overlap` annotators to each task; all get as many tasks as the others, or one more."""
    chance = random.Random(f"{seed}/plan")
    load = dict.fromkeys(sorted(annotators), 0)
    planned = {}
    for task in in_order(tasks, seed, "plan"):
        chosen = sorted(load, key=lambda name: (load[name], chance.random()))[:overlap]
        for name in chosen:
            load[name] += 1
        planned[task] = tuple(chosen)
    return planned


def queue(
    project: Project,
    stage: Stage,
    tasks: Sequence[str],
    annotators: Collection[str],
    begun: Mapping[str, Collection[str]],
    name: str,
) -> list[str]:
    """Return the tasks of one annotator in order, including those that are done.

    `begun` are the annotators of each task who have judged it, or have begun to: they keep it, and
    take the place of
    those who have not. After the pilot, its tasks are in nobody's queue.
    """
    pilot = pilot_tasks(project, tasks)
    if stage != "production":
        return in_order(pilot, project.seed, name)
    rest = tuple(sorted(set(tasks) - set(pilot)))
    planned = plan(rest, tuple(sorted(annotators)), project.overlap, project.seed)
    own = []
    for task in rest:
        there = begun.get(task, ())
        if name in there:
            own.append(task)
        elif len(there) < project.overlap:
            waiting = [other for other in planned[task] if other not in there]
            if name in waiting[: project.overlap - len(there)]:
                own.append(task)
    return in_order(own, project.seed, name)


def audit_tasks(project: Project, judged: Collection[str]) -> list[str]:
    """Return the tasks that a lead judges too: a share of those that annotators have judged, drawn
    by the seed.
    """
    drawn = [
        task
        for task in judged
        if random.Random(f"{project.seed}/audit/{task}").random() < project.audit
    ]
    return in_order(drawn, project.seed, "audit")


Form = Literal["qa", "summary", "table", "property", "relation"]
Unit = Literal["answer", "sentence", "claim"]
Stage = Literal["pilot", "review", "production"]
FORMS: dict[Form, str] = {
    "qa": "Conversational QA",
    "summary": "Summarisation",
    "table": "Table to text",
    "property": "A property of a claim",
    "relation": "Relation of claim and passage",
}
PROPERTIES = {  # V24 4.1; the data set of a task names its property
    "atomic": "Does the claim contain a single fact?",
    "independent": "Can the claim be verified without further context?",
    "useful": "Is the claim useful for the question?",
    "errorless": "Is the claim free of faults of form, such as a broken or empty sentence?",
    "repetition": "Does the claim repeat another claim of the list?",
}
STAGES: tuple[Stage, ...] = get_args(Stage)
UNITS: tuple[Unit, ...] = get_args(Unit)
MAX_NAME = 80  # characters of a name or code
MAX_TEXT = 2_000_000  # characters of an answer or a source
_IDENTITY = (
    "unit",
    "time",
    "system",
    "dataset",
    "item",
    "title",
    "url",
)  # fields of which the id is made, too
_TEXTS = ("question", *_IDENTITY)


class TaskTurn(Frozen):
    speaker: Literal["user", "system"]
    text: str


def split_turns(turns: Sequence[TaskTurn]) -> tuple[str, tuple[Turn, ...]]:
    """Return the user's last question, and the conversation before it, in the form that runs take."""
    last = max((n for n, turn in enumerate(turns) if turn.speaker == "user"), default=len(turns))
    before: list[Turn] = [
        ("user" if t.speaker == "user" else "assistant", t.text) for t in turns[:last]
    ]
    return turns[last].text if last < len(turns) else "", tuple(before)


class Project(Frozen):
    """The settings of a project, which stay the same while it lasts."""

    id: str
    name: str = Field(min_length=1, max_length=MAX_NAME)
    created_at: str
    form: Form = "qa"
    overlap: int = Field(2, ge=1, le=20)  # annotators of a task, after the pilot
    pilot: int = Field(0, ge=0)  # tasks that everybody judges first, with a justification
    audit: float = Field(0.1, ge=0, le=1)  # share of the judged tasks that a lead judges too
    seed: int = 0  # for the order of the tasks and their assignment
    instructions: dict[Stage, str] = {}  # the project's own, for each stage


class Task(Frozen):
    """One item to judge. Its id is a hash of its content, so importing it again changes nothing."""

    id: str
    project_id: str
    answer: str
    unit: Unit = "answer"
    turns: tuple[TaskTurn, ...] = ()  # the conversation before it
    time: str = ""  # when it was said: “yesterday” means something else on another day
    system: str = ""
    dataset: str = ""
    item: str = ""  # answers of several systems to one item are compared in pairs
    title: str = ""
    url: str = ""  # of the source
    source: str = ""  # empty where it was left out

    @field_validator("answer", "source")
    @classmethod
    def _not_too_long(cls, text: str) -> str:
        if len(text) > MAX_TEXT:
            raise ValueError(f"has {len(text):,} characters; at most {MAX_TEXT:,} are allowed")
        return text


def make_task(
    project_id: str, answer: str, source: str, turns: Sequence[TaskTurn] = (), **fields: str
) -> Task:
    """Make a task with its id. Without an `item`, all answers in one conversation to one source
    belong together.
    """
    spoken = [part for turn in turns for part in (turn.speaker, turn.text)]
    fields["unit"] = fields.get("unit") or "answer"
    fields["item"] = fields.get("item") or content_id(*spoken, source)
    key = content_id(
        project_id, answer, source, *spoken, *(fields.get(name, "") for name in _IDENTITY)
    )
    return Task.model_validate(
        {
            **fields,
            "id": key,
            "project_id": project_id,
            "answer": answer,
            "source": source,
            "turns": tuple(turns),
        }
    )


def identity(task: Task) -> str:
    """Return the id that matches the content of a task."""
    own = task.model_dump(include=set(_IDENTITY))
    return make_task(task.project_id, task.answer, task.source, task.turns, **own).id


def parse_tasks(content: bytes, project_id: str) -> tuple[list[Task], list[str]]:
    """Parse the tasks of a JSON Lines file, and say what is wrong with the other lines, each with
    its number.

    A row has `answer` and `source` (a text or a list of texts) or `table` (a list of rows), and may
    have `context` (a
    list of turns, as texts or as objects with `speaker` and `text`) and the names in
    docs/annotation.md. Rows of a
    labelled set for the benchmark are read too: their `response` is the answer and their `context`
    the source.
    Raises BadInput for a file that is empty or not UTF-8.
    """
    benchmark = (
        b'"response"' in (first := content.lstrip().partition(b"\n")[0])
        and b'"answer"' not in first
    )
    tasks, problems = [], []
    for row in parse_rows(content, ["response" if benchmark else "answer"], _TEXTS):
        try:
            if row.error:
                raise BadInput(row.error)
            tasks.append(_task(_as_answer(row) if benchmark else row.fields, project_id))
        except ValidationError as error:
            problems.append(f"line {row.line}: {first_error(error)}")
        except BadInput as error:
            problems.append(f"line {row.line}: {error}")
    return tasks, problems


def first_error(error: ValidationError) -> str:
    """Return the first problem that pydantic found, on one line."""
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))
    return f"“{place}”: {first['msg'].removeprefix('Value error, ')}"


def _as_answer(row: Row) -> Mapping[str, object]:
    fields = row.fields
    found = {name: fields[name] for name in _TEXTS if fields.get(name)}
    item = fields.get("id")
    own = {"item": str(item)} if item is not None and "item" not in found else {}
    return {**found, **own, "answer": fields["response"], "source": fields.get("context")}


def _task(fields: Mapping[str, object], project_id: str) -> Task:
    texts = {name: str(fields[name]) for name in _TEXTS if fields.get(name)}
    if texts.get("unit", "answer") not in UNITS:
        raise BadInput(f'"unit" is {texts["unit"][:40]!r}; expected one of {", ".join(UNITS)}')
    turns = _turns(fields.get("context"))
    if question := texts.pop("question", ""):
        turns.append(TaskTurn(speaker="user", text=question))
    return make_task(project_id, str(fields["answer"]), _source(fields), turns, **texts)


def _turns(context: object) -> list[TaskTurn]:
    """Parse the turns. Plain texts alternate between user and system; the last is the user's."""
    listed = [context] if isinstance(context, str) and context else context or []
    if not isinstance(listed, list):
        raise BadInput('"context" is not a list of turns')
    turns = []
    for number, turn in enumerate(listed):
        if isinstance(turn, str):
            turns.append(
                TaskTurn(speaker="user" if (len(listed) - number) % 2 else "system", text=turn)
            )
        elif (
            isinstance(turn, dict)
            and isinstance(turn.get("text"), str)
            and turn.get("speaker") in ("user", "system")
        ):
            turns.append(TaskTurn(speaker=turn["speaker"], text=turn["text"]))
        else:
            raise BadInput(
                f'turn {number + 1} of "context" is neither a text nor {{"speaker": "user" or "system", "text": …}}'
            )
    return turns


def _source(fields: Mapping[str, object]) -> str:
    source, table = fields.get("source"), fields.get("table")
    if table is not None:
        if (
            not isinstance(table, list)
            or not table
            or not all(isinstance(r, list) and r for r in table)
        ):
            raise BadInput('"table" is not a list of rows, each a list of cells')
        about = f"{source}\n\n" if isinstance(source, str) and source.strip() else ""
        return about + as_markdown(table)
    if isinstance(source, list) and source and all(isinstance(text, str) for text in source):
        source = "\n\n".join(source)
    if not isinstance(source, str) or not source.strip():
        raise BadInput(
            '"source" is missing or not text; without it, give the "table" as a list of rows'
        )
    return source


def as_markdown(table: Sequence[Sequence[object]]) -> str:
    """Write a table in Markdown; its first row holds the headings."""
    width = max(map(len, table))

    def line(cells: Sequence[object]) -> str:
        texts = [
            " ".join(("" if cell is None else str(cell)).split()).replace("|", "\\|")
            for cell in cells
        ]
        return f"| {' | '.join([*texts, *[''] * (width - len(texts))])} |"

    return "\n".join([line(table[0]), f"|{'---|' * width}", *map(line, table[1:])])
