"""Seconds from a key to the next question on the Annotate page, with 5,000 tasks, 20 annotators and half of the work
done, while another process saves a judgement every second; and seconds of the library behind each view.

python -m benchmarks.browser.annotation [--tasks 5000] [--annotators 20] [--keys 20] [--out FILE.json]
"""

from __future__ import annotations

import statistics
import tempfile
import threading
import time

from attribution.store.store import Store
from attribution.studies.annotation import figures
from attribution.studies.annotation.figures import agreement
from attribution.studies.annotation.project import Annotations, timestamp
from attribution.studies.annotation.records import Content, Judgement, by_task, decided, finished
from attribution.studies.annotation.tasks import Project, Turn, make_task
from benchmarks import arguments, publish
from benchmarks.browser import browser, seconds, serving

FIRST, SECOND = "interpretable to you?", "fully supported by the source document?"
SOURCE = "The river flows north through the desert and reaches the sea after a long way. " * 60


def fill(saved: Annotations, tasks: int, annotators: int) -> Project:
    """A project in which everybody has judged half of their queue."""
    project = saved.create("Speed", overlap=2)
    turns = [Turn(speaker="user", text="Where does the river flow?")]
    made = [
        make_task(project.id, f"It flows north, says answer {n}.", SOURCE, turns, system="ab"[n % 2], item=str(n // 2))
        for n in range(tasks)
    ]
    saved.add_tasks(made)
    names = saved.add_members(project.id, [f"annotator {n}" for n in range(annotators)])
    work = saved.work(project)
    for number, name in enumerate(names):
        queue = work.queue(name)
        judgements = []
        for place, task in enumerate(queue[: len(queue) // 2]):
            first = Judgement(
                task_id=task, annotator=name, revision=1, origin="o", made_at=timestamp(), stage="production",
                content=Content(interpretable=True, seconds=(4, 0)),
            )  # fmt: skip
            content = Content(interpretable=True, attributable=(place + number) % 3 > 0, seconds=(4, 9))
            changes = {"revision": 2, "follows": first.id, "parent": first.id, "content": content}
            judgements += [first, first.model_copy(update=changes | {"made_at": timestamp()})]
        saved.put_judgements(project.id, judgements)
    return project


def library(saved: Annotations, project: Project) -> dict[str, float]:
    """Seconds of what each view needs."""

    def results() -> None:
        judgements = finished(saved.judgements(project.id))
        answers, tasks = decided(by_task(judgements), {}), saved.tasks(project.id)
        figures.rows(tasks, answers)
        figures.differences(tasks, answers)
        agreement(judgements)

    def everybody() -> None:
        work = saved.work(project)
        for name in work.annotators:
            work.queue(name)

    return {
        "an annotator's queue, s": seconds(lambda: saved.work(project).queue("annotator 3")),
        "everybody's queue, s": seconds(everybody, 1),
        "all results, s": seconds(results, 3),
    }


def keys(folder: str, url: str, saved: Annotations, project: Project, count: int) -> list[float]:
    """Seconds from each key to the next question in Chromium, while others judge too."""
    over = threading.Event()

    def others() -> None:
        queue = [task for task in saved.work(project).queue("annotator 1") if task]
        for task in reversed(queue):
            if over.wait(1):
                return
            content = Content(interpretable=False, seconds=(3, 0))
            saved.step(project.id, task, "annotator 1", "annotation", "production", content, "")

    measured = []
    try:
        with serving(folder, url) as (address, _), browser() as chromium:
            page = chromium.new_page()
            page.goto(f"{address}/annotate?project={project.id}&who=annotator%203&view=Judge")
            page.get_by_text(FIRST).wait_for(timeout=60_000)
            page.wait_for_timeout(3000)
            threading.Thread(target=others, daemon=True).start()
            for number in range(count):
                started = time.perf_counter()
                page.keyboard.press("y")
                page.get_by_text(FIRST if number % 2 else SECOND).wait_for(timeout=60_000)
                measured.append(time.perf_counter() - started)
                page.wait_for_timeout(200)
    finally:
        over.set()
    return measured


def main(argv: list[str] | None = None) -> int:
    parser = arguments(__doc__)
    for name, default in (("tasks", 5000), ("annotators", 20), ("keys", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/speed.sqlite3"
        store = Store.open(url)
        saved = Annotations(store.database)
        project = fill(saved, args.tasks, args.annotators)
        measured = keys(folder, url, saved, project, args.keys)
        publish(
            {
                "tasks": args.tasks,
                "annotators": args.annotators,
                "judgements": len(saved.judgements(project.id)),
                "key to next question, median, s": statistics.median(measured),
                "key to next question, longest, s": max(measured),
                **library(saved, project),
            },
            args.out,
        )
        store.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
