"""Who judges which task, and in which order: a function of the project's seed, the same on every machine."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from attribution.evaluation.ais.tasks import Project, Stage


def in_order(tasks: Collection[str], seed: int, name: str = "") -> list[str]:
    """The tasks shuffled by the seed, differently for each name."""
    order = sorted(tasks)
    random.Random(f"{seed}/{name}").shuffle(order)
    return order


def pilot_tasks(project: Project, tasks: Collection[str]) -> list[str]:
    """The tasks that everybody judges first."""
    return in_order(tasks, project.seed, "pilot")[: project.pilot]


@lru_cache(maxsize=32)
def plan(tasks: tuple[str, ...], annotators: tuple[str, ...], overlap: int, seed: int) -> dict[str, tuple[str, ...]]:
    """So many annotators for each task; all get as many tasks as the others, or one more."""
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
    """The tasks of one annotator in their order, those that are done included.

    `begun` are the annotators of each task who have judged it, or have begun to: they keep it, and take the place of
    those who have not. After the pilot its tasks belong to nobody's queue.
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
    """The tasks that a lead judges too: a share of those that annotators have judged, drawn by the seed."""
    drawn = [task for task in judged if random.Random(f"{project.seed}/audit/{task}").random() < project.audit]
    return in_order(drawn, project.seed, "audit")
