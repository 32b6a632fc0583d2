"""The turns before a question (R23, sections 3 and 4): read, shown to language models, resolved into the question."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, get_args

from attribution.claims.coreference import Context
from attribution.claims.enrichment import rewrite_within
from attribution.errors import BadInput
from attribution.text.characters import PROBLEM, has_half_pair
from attribution.text.language import is_english
from attribution.types import Speaker, Turn

LIMIT, TURNS = 20_000, 50  # characters of all turns together; turns
_NAMES: dict[str, Speaker] = {
    **dict.fromkeys(("user", "human", "question", "q"), "user"),
    **dict.fromkeys(("assistant", "ai", "bot", "system", "model", "answer", "a"), "assistant"),
}
_MARK = re.compile(r"^[ \t]*[*_]*(" + "|".join(_NAMES) + r")[*_]*:[*_]*(?:[ \t]+|$)", re.IGNORECASE | re.MULTILINE)


def read_turns(text: str) -> tuple[Turn, ...]:
    """Earlier turns from text: “User: …” and “Assistant: …”, each on a new line, or JSON (a list, or one turn a line)
    of objects with "speaker" or "role" and "text" or "content". No turns for an empty text.

    BadInput for text before the first speaker, unknown speakers, and conversations that are too long.
    """
    text = text.strip()
    turns = _of_json(text) if text[:1] in ("[", "{") else _of_lines(text)
    return check_turns(turns)


def turns_of(given: Any) -> tuple[Turn, ...]:
    """The turns in a row's field: text with speakers, or a list of turns; none if it is empty. BadInput as above."""
    return read_turns(given if isinstance(given, str) else json.dumps(given)) if given else ()


def check_turns(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns without empty ones. BadInput for too many, for too many characters, and for what is no text."""
    if has_half_pair(turns):
        raise BadInput(f"the earlier turns: {PROBLEM}")
    kept = tuple((speaker, said.strip()) for speaker, said in turns if said.strip())
    size = sum(len(said) for _, said in kept)
    if len(kept) > TURNS or size > LIMIT:
        raise BadInput(
            f"the conversation has {len(kept)} earlier turns with {size:,} characters; at most {TURNS} turns and "
            f"{LIMIT:,} characters can be used: keep the latest ones"
        )
    return kept


def _of_lines(text: str) -> list[Turn]:
    marks = list(_MARK.finditer(text))
    if text and (not marks or marks[0].start()):
        raise BadInput(
            f"the earlier turns begin with {text[:40]!r}: expected “User: …” and “Assistant: …”, each on a new line"
        )
    ends = [m.start() for m in marks[1:]] + [len(text)] * bool(marks)
    return [(_NAMES[m[1].lower()], text[m.end() : end]) for m, end in zip(marks, ends, strict=True)]


def _of_json(text: str) -> list[Turn]:
    try:
        rows = json.loads(text) if text.startswith("[") else [json.loads(x) for x in text.splitlines() if x.strip()]
    except (ValueError, RecursionError):
        raise BadInput("the earlier turns are not JSON: expected a list of turns, or one turn on each line") from None
    return [_turn(number, row) for number, row in enumerate(rows, 1)]


def _turn(number: int, row: Any) -> Turn:
    if isinstance(row, list) and len(row) == 2:
        row = {"speaker": row[0], "text": row[1]}
    fields = row if isinstance(row, dict) else {}
    speaker = _NAMES.get(str(fields.get("speaker") or fields.get("role") or "").lower())
    said = fields.get("text", fields.get("content"))
    if speaker is None or not isinstance(said, str):
        raise BadInput(
            f'turn {number}: expected an object with "speaker" ({" or ".join(get_args(Speaker))}) and "text"'
        )
    return speaker, said


def as_text(turns: Sequence[Turn]) -> str:
    """The turns in the form that `read_turns` reads, one after the other."""
    return "\n".join(f"{speaker.capitalize()}: {said}" for speaker, said in turns)


def transcript(question: str, turns: Sequence[Turn]) -> str:
    """The question as a language model is shown it: after its conversation, if there is one."""
    return as_text([*turns, ("user", question)]) if turns else question


def standalone_question(question: str, turns: Sequence[Turn]) -> str:
    """The question as it would be asked without the conversation: “When was it built?” → “When was the Eiffel Tower
    built?”. By the rules of enrichment, English only; what is not certain stays as it is.

    A question that names nothing of its own (“And its height?”) follows the last one that does.
    """
    if not turns or not is_english(" ".join([*(said for _, said in turns), question])):
        return question
    before: list[str] = []
    asked = ""  # the last question that names something
    for speaker, said in [*turns, ("user", question)]:
        resolved = rewrite_within("\n\n".join(before), said) if before and speaker == "user" else said
        if speaker == "user":
            named = bool(Context(resolved, "").question)
            asked = resolved if named or not asked else f"{asked} {resolved}"
        before.append(resolved)
    return asked
