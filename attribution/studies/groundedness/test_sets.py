"""Make labelled test sets of grounded answers and their altered twins, by rule or with a language
model.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, ConfigDict, TypeAdapter

from attribution.errors import BadInput, LlmFailed
from attribution.files import Row
from attribution.llm import prompts
from attribution.llm.client import Llm, Question
from attribution.pipeline.experiment import Fields
from attribution.studies.groundedness.twins import (
    ERROR_TYPES,
    KINDS,
    TYPE_OF,
    Swap,
    Twin,
    apply,
    twins,
)
from attribution.studies.results import Saved
from attribution.text.sentences import sentences
from attribution.text.words import Diff
from attribution.types import Report, Span, content_id

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

    def fields(self) -> Fields:
        """The row as JSON: spans are [[start, end], …] in characters; those of `original` are in
        the grounded row.

        Both rows have the same group, so that no twin is tuned on whose answer is tested.
        """
        g = self.grounded
        context = list(g.passages) if len(g.passages) > 1 else g.context
        row: Fields = {"id": self.id, "group": g.id, "question": g.question, "context": context}
        if self.twin is None:
            return {**row, "response": g.response, "grounded": True}
        t = self.twin
        made = {
            "of": g.id,
            "kind": t.kind,
            "original": [list(s) for s in t.original],
            "made_by": t.version,
        }
        labels = {"error_type": self.error_type} if self.error_type else {}
        open_ = {"proposed": list(self.proposed)} if self.proposed else {}
        changed = {"changed": [list(s) for s in t.changed]}
        return {
            **row,
            "response": t.response,
            "grounded": False,
            **labels,
            **open_,
            **changed,
            **made,
        }


def read(row: Row) -> Grounded:
    """The grounded answer of a line. BadInput for one that is marked as not grounded, without
    context, or too long.
    """
    if row.error:
        raise BadInput(row.error)
    if row.fields.get("grounded") not in (None, True):
        raise BadInput(
            '"grounded" is not true: an error can be evoked only in an answer that its context supports'
        )
    question, response = (str(row.fields.get(name) or "") for name in ("question", "response"))
    given = row.fields.get("context")
    listed: list[object] = given if isinstance(given, list) else [given]
    passages = [p for p in listed if isinstance(p, str) and p.strip()]
    if not passages or len(passages) < len(listed):
        raise BadInput('"context" is no text and no list of texts')
    context = "\n\n".join(passages)
    for name, text in (("context", context), ("response", response)):
        if len(text) > LIMIT:
            raise BadInput(f'"{name}" has {len(text):,} characters; at most {LIMIT:,} can be used')
    own = row.fields.get("id")
    return Grounded(
        str(own) if own else content_id(question, context, response),
        question,
        tuple(passages),
        response,
    )


def of_report(report: Report) -> Grounded:
    """The supported sentences of a run, with the passages that support them as context. BadInput if
    there are none.
    """
    supported = {v.claim_id for v in report.verdicts if v.label == "supported"}
    claims = [c for c in report.claims if c.id in supported and c.spans]
    passages = [
        e.text for e in report.evidence if e.claim_id in supported and e.relation == "entailed"
    ]
    if not claims:
        raise BadInput(
            "this run has no supported claim: errors are evoked in statements that a source supports"
        )
    spans = sorted({c.sentence or c.spans[0] for c in claims})
    response = "\n".join(report.answer[a:b].strip() for a, b in spans)
    return Grounded(report.id, report.question, tuple(dict.fromkeys(passages)), response)


def make(
    grounded: Sequence[Grounded],
    kinds: Sequence[str] = tuple(KINDS),
    seed: int = 0,
    llm: Llm | None = None,
    judges: Sequence[Llm] = (),
    single: bool = False,
) -> Iterator[tuple[list[Made], list[str]]]:
    """For each answer its own row, then its twins, and what could not be made.

    By rule, or by `llm`. The label is that of the kind; with `judges` it is what all of them say,
    or none. `single`:
    one twin with one to three of the changes, so that there are about as many twins as answers (T24
    4.2).
    """
    for answer in grounded:
        problems: list[str] = []
        if llm:
            replies = LlmTwins(llm).twins(answer, kinds)
            found = [r for r in replies if isinstance(r, Twin)]
            failed = zip(kinds, replies, strict=True)
            problems += [
                f"{kind}: {reply}" for kind, reply in failed if isinstance(reply, LlmFailed)
            ]
        else:
            found = twins(answer.response, answer.context, kinds, seed)
            lacking = [kind for kind in kinds if kind not in {t.kind for t in found}]
            problems += [f"nothing to alter by rule: {', '.join(lacking)}"] * bool(lacking)
        if single and found:
            found = [together(answer.response, found, seed)]
        types = [
            ";".join(dict.fromkeys(TYPE_OF[kind] for kind in t.kind.split(";"))) for t in found
        ]
        rows = [
            Made(answer),
            *(Made(answer, t, named) for t, named in zip(found, types, strict=True)),
        ]
        if judges and found:
            asked = [(answer.context, sentence_around(t.response, t.changed)) for t in found]
            names = agreed_types(judges, asked)
            rows[1:] = [_labelled(answer, *row) for row in zip(found, names, strict=True)]
        yield rows, problems


def together(answer: str, found: Sequence[Twin], seed: int) -> Twin:
    """Join one to three twins of an answer, drawn by the seed, into one; changes that overlap are
    left out.
    """
    chance = random.Random(f"{seed}\x1f{answer}")
    chosen = chance.sample(found, min(len(found), chance.randint(1, 3)))
    edits: list[Swap] = []
    kinds = []
    for twin in chosen:
        pairs = zip(twin.original, twin.changed, strict=True)
        own = [Swap(start, end, twin.response[slice(*changed)]) for (start, end), changed in pairs]
        if all(one.end <= other.start or other.end <= one.start for one in edits for other in own):
            edits += own
            kinds.append(twin.kind)
    return apply(answer, edits, ";".join(kinds), chosen[0].version)


def _labelled(answer: Grounded, twin: Twin, names: tuple[str, ...]) -> Made:
    label = agreement(names)
    return Made(answer, twin, label, () if label else names)


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
        return replace(
            self, done=self.done + 1, made=(*self.made, *made), problems=(*self.problems, *problems)
        )

    def with_label(self, row_id: str, error_type: str) -> EvokedSet:
        """With a row's type given by hand."""
        return replace(
            self,
            made=tuple(
                replace(m, error_type=error_type) if m.id == row_id else m for m in self.made
            ),
        )


EVOKED = Saved("evoked", TypeAdapter(EvokedSet))
save, load = EVOKED.save, EVOKED.load


CONTEXT = 12_000  # characters of the source that are shown
LENGTHENED = 2  # times the length of its original: a longer sentence counts as a different one
_WORD = re.compile(r"\w+|[^\w\s]")


class Alteration(BaseModel):
    model_config = ConfigDict(extra="ignore")

    original: str
    altered: str


class SetError(BaseModel):
    model_config = ConfigDict(extra="ignore")

    error_type: str


class LlmTwins:
    """Makes twins with one language model, one request per kind."""

    def __init__(self, llm: Llm) -> None:
        self.llm, self._prompt = llm, prompts.load("evoked_error.v2")
        self.version = f"{self._prompt.version}/{llm.version}"

    def twins(self, answer: Grounded, kinds: Sequence[str]) -> list[Twin | LlmFailed]:
        """Make a twin for each kind, or say why there is none, in order."""
        inputs = {
            "question": answer.question,
            "context": answer.context[:CONTEXT],
            "answer": answer.response,
        }
        questions = [
            Question(self._prompt.render(**inputs, kind=KINDS[kind]), self._prompt.version)
            for kind in kinds
        ]
        replies = self.llm.map(questions, Alteration)
        return [
            reply
            if isinstance(reply, LlmFailed)
            else self._twin(answer.response, reply.value, kind)
            for kind, reply in zip(kinds, replies, strict=True)
        ]

    def _twin(self, answer: str, reply: Alteration, kind: str) -> Twin | LlmFailed:
        original, altered = reply.original.strip(), " ".join(reply.altered.split())
        if not original or not altered:
            return LlmFailed("the language model found nothing to alter")
        start = answer.find(original)
        if start < 0:
            return LlmFailed(
                f"the language model altered a sentence that is not in the answer: {original[:80]!r}"
            )
        if len(altered) > LENGTHENED * len(original) or not altered.isprintable():
            return LlmFailed("the language model wrote another text in place of the sentence")
        edits = [
            Swap(start + e.start, start + e.end, e.text) for e in word_edits(original, altered)
        ]
        if not edits:
            return LlmFailed("the language model changed nothing but spaces or capitals")
        return apply(answer, edits, kind, self.version)


def word_edits(before: str, after: str) -> list[Swap]:
    """Return the words that differ as edits of `before`; an inserted or deleted word takes a
    neighbour with it.
    """
    old, new = list(_WORD.finditer(before)), list(_WORD.finditer(after))
    matcher = Diff([m[0].casefold() for m in old], [m[0].casefold() for m in new])
    edits: list[Swap] = []
    for operation, a, b, c, d in matcher.get_opcodes():
        if operation == "equal":
            continue
        if (
            a == b or c == d
        ):  # an insertion or deletion: include the word before, or else the one after
            if a and c:
                a, c = a - 1, c - 1
            elif b < len(old) and d < len(new):
                b, d = b + 1, d + 1
            else:
                return []  # all of a text is new
        span = (old[a].start(), old[b - 1].end())
        if edits and span[0] < edits[-1].end:
            return [_whole(before, after)]
        edits.append(Swap(*span, after[new[c].start() : new[d - 1].end()]))
    return (
        edits
        if _applied(before, edits) == " ".join(after.split()) or not edits
        else [_whole(before, after)]
    )


def _whole(before: str, after: str) -> Swap:
    return Swap(0, len(before), after)


def _applied(before: str, edits: Sequence[Swap]) -> str:
    return " ".join(apply(before, edits, "scope").response.split())


def agreed_types(models: Sequence[Llm], rows: Sequence[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Name the error in each (source, sentence) by each model; empty where a model failed or made
    up a name.

    Two models that must agree stand in for the people of T24: a row whose names differ is for a
    person to settle.
    """
    prompt = prompts.load("error_type.v1")
    questions = [
        Question(prompt.render(context=c[:CONTEXT], sentence=s, types=ERROR_TYPES), prompt.version)
        for c, s in rows
    ]
    columns = []
    for llm in models:
        replies = llm.map(questions, SetError)
        names = (
            "" if isinstance(r, LlmFailed) else r.value.error_type.strip().lower() for r in replies
        )
        columns.append([name if name in ERROR_TYPES else "" for name in names])
    return list(zip(*columns, strict=True))


def agreement(names: Sequence[str]) -> str:
    """Return the name that all models gave; empty if they differ or one gave none."""
    return names[0] if names and names[0] and len(set(names)) == 1 else ""


def sentence_around(response: str, changed: Sequence[Span]) -> str:
    """Return the sentences of a twin that contain its changes."""
    spans = [(a, b) for a, b in sentences(response) if any(s < b and a < e for s, e in changed)]
    return response[spans[0][0] : spans[-1][1]] if spans else response
