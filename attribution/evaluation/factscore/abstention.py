"""Answers that decline to answer (Min et al. 2023, section 3.1): they count in the respond ratio and nowhere else."""

from __future__ import annotations

from attribution.claims.rules import compile_any
from attribution.text.passages import plain
from attribution.text.sentences import sentences

_NOT = r"(?:can(?:not|['’]t| not)|could(?:n['’]t| not)|do(?:n['’]t| not)|was(?:n['’]t| not) able to|am not able to)"
_KNOW = (
    r"(?:find|found|locate|have|provide|access|verify|confirm|answer|know|identify|determine|recall|tell|share|give)"
)
_OPENING = r"^\W*(?:(?:unfortunately|apologies|sorry|well)\b[,.!]?\s*(?:but\s+)?)*"
_ABSTAINS = compile_any(
    [
        _OPENING + rf"(?:I['’]?m|I am|we are|we['’]re)\s+(?:\w+\s+)?sorry\b.{{0,60}}\b"
        rf"(?:{_NOT}|unable|not able|no (?:information|knowledge|record))",
        _OPENING
        + r"(?:I['’]?m|I am|we are|we['’]re)\s+(?:\w+\s+)?(?:unable to|not able to|not (?:familiar|aware|sure))\b",
        _OPENING + rf"(?:I|we)\s+(?:\w+ly\s+)?{_NOT}\s+(?:\w+\s+)?{_KNOW}\b",
        _OPENING + r"(?:I|we)\s+have no (?:\w+ )?(?:information|knowledge|record|data)\b",
        _OPENING + r"(?:there (?:is|are)|there['’]s|(?:I|we) found)\s+(?:no|not enough|insufficient)\s+(?:\w+\s+){0,2}"
        r"(?:information|records?|details)\b",
        _OPENING
        + r"no (?:\w+ )?(?:information|records?|results?|data)\b.{0,60}\b(?:available|(?:be|was|were) found)\b",
        _OPENING
        + rf"as an? (?:AI|language model|assistant)\b.{{0,80}}\b(?:{_NOT}|unable|not able|no (?:access|information))",
        _OPENING + r"the (?:provided |given |search )?(?:passages?|sources?|documents?|context|results?)\s+"
        r"(?:(?:do(?:es)?|did)(?:n['’]t| not) (?:mention|contain|include|provide|say|cover|specify|give|state)"
        r"|(?:contains?|provides?|gives?) no)\b",
    ]
)
_GOES_ON = compile_any([r"[,;]\s*(?:but|however|though|although|yet)\b"])


def abstains(answer: str) -> bool:
    """Whether the first sentence of an answer in English says that it is not known, and nothing besides.

    “I don't have the exact date, but it was finished in 1889” answers; so does a text that is sorry for somebody.
    """
    text = " ".join(plain(answer).split())
    first = next((text[start:end] for start, end in sentences(text)), "")
    match = _ABSTAINS.search(first)
    return match is not None and not _GOES_ON.search(first, match.end())
