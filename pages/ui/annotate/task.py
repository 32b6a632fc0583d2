"""Show one task to an annotator."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.reports import answer, html
from attribution.reports.html import el
from attribution.studies.annotation.records import ANSWERS, FLAGS, Content, Judgement, Role
from attribution.studies.annotation.tasks import Project, Stage, Task

FIRST = "Is all of the information relayed by the system response interpretable to you?"
SECOND = "Is all of the information provided by the system response fully supported by the source document?"
FIRST_TEST = "Read it with the conversation above it. Do you know what each part of it says, of whom, and of when?"
SECOND_TEST = "Put “According to the source, …” before it, with all that you know from the conversation. Is that true?"
UNITS = {"answer": "System response", "sentence": "Sentence of a response", "claim": "Claim of a response"}
SPEAKERS = {"user": "User", "system": "System"}
FORM_NOTES = {"qa": "", "summary": "This is a summary of a document.", "table": "This is a description of a table."}


def view(
    project: Project,
    stage: Stage,
    task: Task,
    name: str,
    role: Role,
    last: Judgement | None,
    *,
    place: str,
    others: Sequence[Judgement] = (),
    notice: str = "",
    handled: str = "",
    proposal: str = "",
) -> dict[str, object]:
    """Return plain data for the component, with the source only once the answer was judged interpretable.

    `handled` is the id of the action that the notice replies to.
    """
    content = last.content if last else Content()
    reading = content.interpretable is True and not content.flags
    return {
        "key": f"{role}/{name}/{task.id}",
        "follows": last.id if last else "",
        "stage": 2 if reading else 1,
        "place": place,
        "turns": [[SPEAKERS[turn.speaker], turn.text] for turn in task.turns],
        "time": task.time,
        "unit": UNITS[task.unit] if project.form == "qa" else FORM_NOTES[project.form],
        "answer": [html.data(node) for node in answer.parse(task.answer)],
        "plain": task.answer,
        "question": SECOND if reading else FIRST,
        "test": SECOND_TEST if reading else FIRST_TEST,
        "said": f"You said: {ANSWERS[content.answer].lower()}." if content.answer else "",
        "content": content.model_dump(include={"interpretable", "attributable", "justification", "explicature"}),
        "flags": [[flag, label] for flag, label in FLAGS.items()],
        "required": stage == "pilot" and role == "annotation",
        "instructions": project.instructions.get(stage, ""),
        "others": [
            [j.annotator, ANSWERS[j.content.answer], j.content.justification] for j in others if j.content.answer
        ],
        "notice": notice,
        "handled": handled,
        "proposal": proposal,
        "source": _source(project, task) if reading else None,
    }


def _source(project: Project, task: Task) -> dict[str, object]:
    link = el("p", el("a", task.url, href=task.url, target="_blank", rel="noopener noreferrer"), class_="hint")
    tree = answer.parse(task.source) if project.form == "table" else [el("pre", task.source, dir="auto")]
    return {
        "title": task.title,
        "link": html.data(link) if task.url.startswith(("http://", "https://")) else None,
        "tree": [html.data(node) for node in tree],
    }


def end_of_queue(place: str, text: str, notice: str = "") -> dict[str, object]:
    """Return plain data for the end of a queue."""
    return {"key": "", "follows": "", "place": place, "answer": None, "finished": text, "notice": notice}
