"""The earlier turns of a conversation: how they are read, checked and written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import get_args

from attribution.errors import BadInput
from attribution.settings import LIMITS
from attribution.text_files import PROBLEM, has_half_pair
from attribution.types import Speaker, Turn

_NAMES: dict[str, Speaker] = {
    **dict.fromkeys(("user", "human", "question", "q"), "user"),
    **dict.fromkeys(("assistant", "ai", "bot", "system", "model", "answer", "a"), "assistant"),
}
_MARK = re.compile(
    r"^[ \t]*[*_]*(" + "|".join(_NAMES) + r")[*_]*:[*_]*(?:[ \t]+|$)", re.IGNORECASE | re.MULTILINE
)


def turns_of(given: object) -> tuple[Turn, ...]:
    """Read the earlier turns of a conversation; none if there is nothing.

    Args:
        given: “User: …” and “Assistant: …”, each on a new line, or a list of objects with "speaker"
            or "role" and "text" or "content".

    Raises:
        BadInput: Text before the first speaker, an unknown speaker, or too long a conversation.
    """
    if not given:
        return ()
    if isinstance(given, str):
        return check_turns(_of_lines(given.strip()))
    if isinstance(given, list):
        return check_turns([_turn(number, row) for number, row in enumerate(given, 1)])
    raise BadInput("the earlier turns are neither text nor a list")


def check_turns(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return the turns without empty ones.

    Raises BadInput for too many, and for what is no text.
    """
    if has_half_pair(turns):
        raise BadInput(f"the earlier turns: {PROBLEM}")
    spoken = tuple((speaker, said.strip()) for speaker, said in turns if said.strip())
    size = sum(len(said) for _, said in spoken)
    if len(spoken) > LIMITS.turns or size > LIMITS.text:
        raise BadInput(
            f"the conversation has {len(spoken)} earlier turns with {size:,} characters; at most "
            f"{LIMITS.turns} turns and {LIMITS.text:,} characters can be used: keep the latest ones"
        )
    return spoken


def _of_lines(text: str) -> list[Turn]:
    before, *parts = _MARK.split(text)
    if before.strip():
        raise BadInput(
            f"the earlier turns begin with {text[:40]!r}: expected “User: …” and “Assistant: …”, "
            "each on a new line"
        )
    return [
        (_NAMES[name.lower()], said) for name, said in zip(parts[::2], parts[1::2], strict=True)
    ]


def _turn(number: int, row: object) -> Turn:
    if isinstance(row, list) and len(row) == 2:
        row = {"speaker": row[0], "text": row[1]}
    fields = row if isinstance(row, dict) else {}
    speaker = _NAMES.get(str(fields.get("speaker") or fields.get("role")).lower())
    said = fields.get("text", fields.get("content"))
    if speaker is None or not isinstance(said, str):
        speakers = " or ".join(get_args(Speaker))
        raise BadInput(f'turn {number}: expected an object with "speaker" ({speakers}) and "text"')
    return speaker, said


def as_text(turns: Sequence[Turn]) -> str:
    """Write turns in the form that `turns_of` reads, one after the other."""
    return "\n".join(f"{speaker.capitalize()}: {utterance}" for speaker, utterance in turns)


def transcript(question: str, turns: Sequence[Turn]) -> str:
    """Return the question as a language model is shown it: after its conversation, if any."""
    return as_text([*turns, ("user", question)]) if turns else question
