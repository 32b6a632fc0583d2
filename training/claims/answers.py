"""The thing that a question asks for, and the wording of an answer in its place."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

PREPOSITIONS = {
    *("in on at by during after since before between from around within near along over under until through".split()),
    *("throughout against behind across inside outside about to into".split()),
}
_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_DAY = re.compile(rf"(?:{_MONTH} \d{{1,2}}\b|\b\d{{1,2}} {_MONTH}|\b\w+day\b)")
_TIME = re.compile(rf"(?:\b1\d{{3}}\b|\b20\d\d\b|{_MONTH}|\bcentur|\b\d+ ?(?:BC|AD|BCE|CE)\b|\d0s\b|\w+day\b)")
UNITS = ("year", "decade", "century", "month", "day", "date")
_NUMBER = re.compile(
    r"^(?:(?:about|around|over|more than|nearly|approximately|almost|at least|up to) )?"
    r"(?:[\d.,]+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|hundreds?)"
    r"(?: (?:hundred|thousand|million|billion|trillion))?",
    re.I,
)


def written(tokens: Iterable[Any]) -> str:
    return "".join(t.text_with_ws for t in tokens).strip()


def truecased(question: str, passage: str) -> str:
    """A question in lower case with the names of its passage as they are written there."""
    if question != question.lower():
        return question
    forms: dict[str, set[str]] = defaultdict(set)
    for match in re.finditer(r"[A-Za-z][\w'’-]*", passage):
        before = passage[: match.start()].rstrip()
        if before and before[-1] not in '.!?:"“(':
            forms[match.group().lower()].add(match.group())

    def form(match: re.Match[str]) -> str:
        found = forms.get(match.group(), set())
        return next(iter(found)) if len(found) == 1 else match.group()

    made = re.sub(r"[a-z][\w'’-]*", form, question)
    return re.sub(r"\bi\b", "I", made[:1].upper() + made[1:])


def asked_for(question: Any) -> tuple[str, Any, int] | None:
    """(preposition before it, wh-phrase, index of what follows) of a question that begins with one."""
    at = 0
    preposition = ""
    if question[0].text.lower() in PREPOSITIONS and question[1].tag_ in ("WDT", "WP", "WRB"):
        preposition, at = question[0].text.lower(), 1
    word = question[at]
    lowered = word.text.lower()
    if lowered not in ("what", "which", "who", "whom", "when", "where", "how"):
        return None
    end = at + 1
    if lowered == "how":
        if question[end].text.lower() not in ("many", "much"):
            return None
        end += 1
    if lowered in ("what", "which", "how"):  # with its noun, up to the first verb
        while end < len(question) and question[end].pos_ not in ("AUX", "VERB") and question[end].text != "?":
            end += 1
    if end >= len(question) - 2 or end - at > 7:
        return None
    phrase = question[at:end]
    if lowered == "how" and len(phrase) == 2:
        return None
    return preposition, phrase, end


def filler(preposition: str, phrase: Any, answer: str) -> str | None:
    """The answer as it stands in the clause, with the preposition it needs; None where it does not fit."""
    words, lowered = answer.split(), written(phrase).lower()
    given = words[0].lower() in PREPOSITIONS
    if lowered == "when" or (phrase[-1].text.lower() in UNITS and len(phrase) <= 2):
        if not _TIME.search(answer) or len(words) > 6:
            return None
        article = "the " if re.match(r"(?:(?:mid|early|late)[- ])?(?:\d{3,4}s|\w+ century)", answer) else ""
        return answer if given else f"{'on' if _DAY.search(answer) else 'in'} {article}{answer}"
    if lowered == "where":
        if given:
            return answer
        return f"in {answer}" if words[-1][:1].isupper() and len(words) <= 5 else None
    if given and not preposition:
        return None
    if lowered.startswith("how"):
        if not _NUMBER.match(answer):
            return None
        noun = written(phrase[2:])
        if lowered.startswith("how much") and not re.search(r"[$€£%]|percent|dollars|euros|pounds", answer):
            return None
        bare = not re.search(r"[a-z]{3,}", _NUMBER.sub("", answer, count=1)) and not re.search(r"[$€£]", answer)
        made = f"{answer} {noun}" if bare and not re.search(r"%|percent$", answer) else answer
    elif lowered.startswith(("what percent", "which percent")):
        made = f"{answer} {written(phrase[2:])}".strip()
    elif lowered.startswith(("what type", "what kind", "what sort", "which type")):
        noun = written(phrase[3:]) if len(phrase) > 3 and phrase[2].text == "of" else ""
        if " of " in noun:
            return None
        made = f"{answer} {noun}" if noun and noun.split()[-1].lower()[:4] not in answer.lower() else answer
    else:
        made = answer
    if preposition and not given:
        made = f"{preposition} {made}"
    return made
