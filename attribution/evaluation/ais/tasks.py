"""What people judge: an answer, a sentence or a claim, the conversation before it, and one source (R23, section 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from pydantic import Field, field_validator

from attribution.errors import BadInput
from attribution.text.json_lines import Row, parse_rows
from attribution.types import Frozen, content_id
from attribution.types import Turn as Said

Form = Literal["qa", "summary", "table"]
Unit = Literal["answer", "sentence", "claim"]
Stage = Literal["pilot", "review", "production"]
FORMS: dict[Form, str] = {"qa": "Conversational QA", "summary": "Summarisation", "table": "Table to text"}
STAGES: tuple[Stage, ...] = get_args(Stage)
UNITS: tuple[Unit, ...] = get_args(Unit)
MAX_NAME = 80  # characters of a name or code
MAX_TEXT = 2_000_000  # characters of an answer or a source
_TEXTS = ("question", "title", "url", "time", "system", "dataset", "item", "unit")


class Turn(Frozen):
    speaker: Literal["user", "system"]
    text: str


def split_turns(turns: Sequence[Turn]) -> tuple[str, tuple[Said, ...]]:
    """The user's last question, and the conversation before it, in the form that runs take."""
    last = max((n for n, turn in enumerate(turns) if turn.speaker == "user"), default=len(turns))
    before: list[Said] = [("user" if t.speaker == "user" else "assistant", t.text) for t in turns[:last]]
    return turns[last].text if last < len(turns) else "", tuple(before)


class Project(Frozen):
    """What stays the same while a project lasts."""

    id: str
    name: str = Field(min_length=1, max_length=MAX_NAME)
    created_at: str
    form: Form = "qa"
    overlap: int = Field(2, ge=1, le=20)  # annotators of a task, after the pilot
    pilot: int = Field(0, ge=0)  # tasks that everybody judges first, with a justification
    audit: float = Field(0.1, ge=0, le=1)  # share of the judged tasks that a lead judges too
    seed: int = 0  # of the order of tasks and of who gets which
    instructions: dict[Stage, str] = {}  # the project's own, for each stage


class Task(Frozen):
    """One item to judge. Its id is a hash of its content, so that importing it again changes nothing."""

    id: str
    project_id: str
    answer: str
    unit: Unit = "answer"
    turns: tuple[Turn, ...] = ()  # the conversation before it
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


def make_task(project_id: str, answer: str, source: str, turns: Sequence[Turn] = (), **fields: str) -> Task:
    """A task with its id. Without an `item`, all answers in one conversation to one source belong together."""
    spoken = [part for turn in turns for part in (turn.speaker, turn.text)]
    fields["unit"] = fields.get("unit") or "answer"
    fields["item"] = fields.get("item") or content_id(*spoken, source)
    names = ("unit", "time", "system", "dataset", "item", "title", "url")
    key = content_id(project_id, answer, source, *spoken, *(fields.get(name, "") for name in names))
    return Task.model_validate(
        {**fields, "id": key, "project_id": project_id, "answer": answer, "source": source, "turns": tuple(turns)}
    )


def identity(task: Task) -> str:
    """The id that belongs to its content."""
    return make_task(
        task.project_id,
        task.answer,
        task.source,
        task.turns,
        **task.model_dump(include={"unit", "time", "system", "dataset", "item", "title", "url"}),
    ).id


def parse_tasks(content: bytes, project_id: str) -> tuple[list[Task], list[str]]:
    """The tasks of a JSON Lines file, and what is wrong with the other lines, each with its number.

    A row has `answer` and `source` (a text or a list of texts) or `table` (a list of rows), and may have `context` (a
    list of turns, as texts or as objects with `speaker` and `text`) and the names in docs/annotation.md. Rows of a
    labelled set for the benchmark are read too: their `response` is the answer and their `context` the source.
    BadInput for a file that is empty or not UTF-8.
    """
    benchmark = b'"response"' in (first := content.lstrip().partition(b"\n")[0]) and b'"answer"' not in first
    tasks, problems = [], []
    for row in parse_rows(content, ["response" if benchmark else "answer"], _TEXTS):
        try:
            if row.error:
                raise BadInput(row.error)
            tasks.append(_task(_as_answer(row) if benchmark else row.fields, project_id))
        except (BadInput, ValueError) as error:
            problems.append(f"line {row.line}: {_reason(error)}")
    return tasks, problems


def _reason(error: Exception) -> str:
    """The first thing that pydantic found, in a line; other errors in their own words."""
    errors = getattr(error, "errors", None)
    if errors is None:
        return str(error)
    first = errors()[0]
    return f"“{'.'.join(map(str, first['loc']))}”: {first['msg'].removeprefix('Value error, ')}"


def _as_answer(row: Row) -> Mapping[str, Any]:
    fields = row.fields
    found = {name: fields[name] for name in _TEXTS if fields.get(name)}
    item = fields.get("id")
    own = {"item": str(item)} if item is not None and "item" not in found else {}
    return {**found, **own, "answer": fields["response"], "source": fields.get("context")}


def _task(fields: Mapping[str, Any], project_id: str) -> Task:
    texts = {name: str(fields[name]) for name in _TEXTS if fields.get(name)}
    if texts.get("unit", "answer") not in UNITS:
        raise BadInput(f'"unit" is {texts["unit"][:40]!r}; expected one of {", ".join(UNITS)}')
    turns = _turns(fields.get("context"))
    if question := texts.pop("question", ""):
        turns.append(Turn(speaker="user", text=question))
    return make_task(project_id, fields["answer"], _source(fields), turns, **texts)


def _turns(context: Any) -> list[Turn]:
    """Plain texts are turns of user and system by turns, the last of them the user's."""
    listed = [context] if isinstance(context, str) and context else context or []
    if not isinstance(listed, list):
        raise BadInput('"context" is not a list of turns')
    turns = []
    for number, turn in enumerate(listed):
        if isinstance(turn, str):
            turns.append(Turn(speaker="user" if (len(listed) - number) % 2 else "system", text=turn))
        elif isinstance(turn, dict) and isinstance(turn.get("text"), str) and turn.get("speaker") in ("user", "system"):
            turns.append(Turn(speaker=turn["speaker"], text=turn["text"]))
        else:
            raise BadInput(
                f'turn {number + 1} of "context" is neither a text nor {{"speaker": "user" or "system", "text": …}}'
            )
    return turns


def _source(fields: Mapping[str, Any]) -> str:
    source, table = fields.get("source"), fields.get("table")
    if table is not None:
        if not isinstance(table, list) or not table or not all(isinstance(r, list) and r for r in table):
            raise BadInput('"table" is not a list of rows, each a list of cells')
        about = f"{source}\n\n" if isinstance(source, str) and source.strip() else ""
        return about + as_markdown(table)
    if isinstance(source, list) and source and all(isinstance(text, str) for text in source):
        source = "\n\n".join(source)
    if not isinstance(source, str) or not source.strip():
        raise BadInput('"source" is missing or not text; without it, give the "table" as a list of rows')
    return source


def as_markdown(table: Sequence[Sequence[Any]]) -> str:
    """A table in Markdown; its first row holds the headings."""
    width = max(map(len, table))

    def line(cells: Sequence[Any]) -> str:
        texts = [" ".join(("" if cell is None else str(cell)).split()).replace("|", "\\|") for cell in cells]
        return f"| {' | '.join([*texts, *[''] * (width - len(texts))])} |"

    return "\n".join([line(table[0]), f"|{'---|' * width}", *map(line, table[1:])])
