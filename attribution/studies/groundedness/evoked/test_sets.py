"""Make labelled test sets of grounded answers and their twins, and keep them in the store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import TypeAdapter

from attribution.errors import BadInput, LlmFailed
from attribution.files import Row
from attribution.llm.client import Llm
from attribution.store.store import Store
from attribution.studies.groundedness.evoked.llm import LlmTwins, agreed_types, agreement, sentence_around
from attribution.studies.groundedness.evoked.rules import twins
from attribution.studies.groundedness.evoked.twin import KINDS, TYPE_OF, Twin
from attribution.types import Report, content_id

LIMIT = 200_000  # characters of a context or response


@dataclass(frozen=True)
class Grounded:
    """An answer that its context supports."""

    id: str
    question: str
    passages: tuple[str, ...]
    response: str

    @property
    def context(self) -> str:
        return "\n\n".join(self.passages)


@dataclass(frozen=True)
class Made:
    """One row of the set; a grounded answer has no twin."""

    grounded: Grounded
    twin: Twin | None = None
    error_type: str = ""
    proposed: tuple[str, ...] = ()  # by the models, where they were asked and differ

    @property
    def id(self) -> str:
        return f"{self.grounded.id}~{self.twin.kind}" if self.twin else self.grounded.id

    def fields(self) -> dict[str, Any]:
        """The row as JSON: spans are [[start, end], …] in characters; those of `original` are in the grounded row.

        Both rows have the same group, so that no twin is tuned on whose answer is tested.
        """
        g = self.grounded
        context = list(g.passages) if len(g.passages) > 1 else g.context
        row: dict[str, Any] = {"id": self.id, "group": g.id, "question": g.question, "context": context}
        if self.twin is None:
            return {**row, "response": g.response, "grounded": True}
        t = self.twin
        made = {"of": g.id, "kind": t.kind, "original": [list(s) for s in t.original], "made_by": t.version}
        labels = {"error_type": self.error_type} if self.error_type else {}
        open_ = {"proposed": list(self.proposed)} if self.proposed else {}
        changed = {"changed": [list(s) for s in t.changed]}
        return {**row, "response": t.response, "grounded": False, **labels, **open_, **changed, **made}


def read(row: Row) -> Grounded:
    """The grounded answer of a line. BadInput for one that is marked as not grounded, without context, or too long."""
    if row.error:
        raise BadInput(row.error)
    if row.fields.get("grounded") not in (None, True):
        raise BadInput('"grounded" is not true: an error can be evoked only in an answer that its context supports')
    question, response = (str(row.fields.get(name) or "") for name in ("question", "response"))
    given = row.fields.get("context")
    listed: list[Any] = given if isinstance(given, list) else [given]
    passages = [p for p in listed if isinstance(p, str) and p.strip()]
    if not passages or len(passages) < len(listed):
        raise BadInput('"context" is no text and no list of texts')
    context = "\n\n".join(passages)
    for name, text in (("context", context), ("response", response)):
        if len(text) > LIMIT:
            raise BadInput(f'"{name}" has {len(text):,} characters; at most {LIMIT:,} can be used')
    own = row.fields.get("id")
    return Grounded(str(own) if own else content_id(question, context, response), question, tuple(passages), response)


def of_report(report: Report) -> Grounded:
    """The supported sentences of a run, with the passages that support them as context. BadInput if there are none."""
    supported = {v.claim_id for v in report.verdicts if v.label == "supported"}
    claims = [c for c in report.claims if c.id in supported and c.spans]
    passages = [e.text for e in report.evidence if e.claim_id in supported and e.relation == "entailed"]
    if not claims:
        raise BadInput("this run has no supported claim: errors are evoked in statements that a source supports")
    spans = sorted({c.sentence or c.spans[0] for c in claims})
    response = "\n".join(report.answer[a:b].strip() for a, b in spans)
    return Grounded(report.id, report.question, tuple(dict.fromkeys(passages)), response)


def make(
    grounded: Sequence[Grounded],
    kinds: Sequence[str] = tuple(KINDS),
    seed: int = 0,
    llm: Llm | None = None,
    judges: Sequence[Llm] = (),
) -> Iterator[tuple[list[Made], list[str]]]:
    """For each answer its own row, then its twins, and what could not be made.

    By rule, or by `llm`. The label is that of the kind; with `judges` it is what all of them say, or none.
    """
    for answer in grounded:
        problems: list[str] = []
        if llm:
            replies = LlmTwins(llm).twins(answer.response, answer.context, kinds)
            found = [r for r in replies if isinstance(r, Twin)]
            failed = zip(kinds, replies, strict=True)
            problems += [f"{kind}: {reply}" for kind, reply in failed if isinstance(reply, LlmFailed)]
        else:
            found = twins(answer.response, answer.context, kinds, seed)
            lacking = [kind for kind in kinds if kind not in {t.kind for t in found}]
            problems += [f"nothing to alter by rule: {', '.join(lacking)}"] * bool(lacking)
        rows = [Made(answer), *(Made(answer, t, TYPE_OF[t.kind]) for t in found)]
        if judges and found:
            asked = [(answer.context, sentence_around(t.response, t.changed)) for t in found]
            names = agreed_types(judges, asked)
            rows[1:] = [_labelled(answer, t, said) for t, said in zip(found, names, strict=True)]
        yield rows, problems


def _labelled(answer: Grounded, twin: Twin, said: tuple[str, ...]) -> Made:
    label = agreement(said)
    return Made(answer, twin, label, () if label else said)


KIND = "evoked"  # of the saved result


@dataclass(frozen=True)
class EvokedSet:
    answers: tuple[Grounded, ...]
    kinds: tuple[str, ...]  # of errors
    seed: int
    by_llm: bool
    done: int = 0  # answers that were altered
    made: tuple[Made, ...] = ()
    problems: tuple[str, ...] = ()

    def with_answer(self, made: Iterable[Made], problems: Iterable[str]) -> EvokedSet:
        """With the rows of the next answer."""
        return replace(self, done=self.done + 1, made=(*self.made, *made), problems=(*self.problems, *problems))

    def with_label(self, row_id: str, error_type: str) -> EvokedSet:
        """With a row's type given by hand."""
        return replace(self, made=tuple(replace(m, error_type=error_type) if m.id == row_id else m for m in self.made))


_SET = TypeAdapter(EvokedSet)


def save(store: Store, result_id: str, made: EvokedSet) -> None:
    """Save the set in place of an earlier state of it."""
    store.save_result(KIND, result_id, _SET.dump_json(made).decode())


def load(store: Store, result_id: str) -> EvokedSet | None:
    """A saved set, finished or not. ValidationError for one of another version."""
    body = store.load_result(KIND, result_id)
    return None if body is None else _SET.validate_json(body)
