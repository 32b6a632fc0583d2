"""Decontextualise claims by rules (V24 5.1.1), and make a conversation's question stand alone (R23
3.3).

Only where question and answer leave one candidate; a wrong name is worse than a pronoun.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

from attribution.claims.coreference import POSSESSIVE, PRONOUNS, Context, outward_pronouns
from attribution.errors import BadInput, StageFailure
from attribution.files import PROBLEM, has_half_pair
from attribution.settings import LIMITS
from attribution.text.parse import MAX_SENTENCES, lower_initial, parse, root
from attribution.text.passages import AnswerPassage
from attribution.text.sentences import is_english
from attribution.text.sentences import sentences as split
from attribution.text.words import Diff
from attribution.types import Claim, Failure, Span, Speaker, Turn

if TYPE_CHECKING:
    from spacy.tokens import Doc

_LEAD_IN = re.compile(r"\b(?:includes?|included|including|such as)\s*:$", re.IGNORECASE)
_OPEN = re.compile(r"(?:this|these|those|some|examples?|others?)\b", re.IGNORECASE)
_WORD, _LETTERS = re.compile(r"\w+|[^\w\s]"), re.compile(r"\w+")
_POINTERS = {*PRONOUNS, "the", "a", "an", "this", "that", "these", "those"}


def enrich(
    question: str, answer: str, claims: Sequence[Claim], stop: threading.Event | None = None
) -> tuple[list[Claim], list[Failure]]:
    """The claims, with `enriched` set on factual, dependent ones whose references are certain.
    English only.

    Nothing is sought in sentences behind the first MAX_SENTENCES: a failure says so.
    """
    if not is_english(answer) or not any(map(_is_open, claims)):
        return list(claims), []
    context = Context(question, answer)
    result = []
    for claim in claims:
        if _is_open(claim) and not (stop and stop.is_set()):
            text = _enriched(context, claim)
            claim = claim.model_copy(update={"enriched": text if text != claim.text else None})
        result.append(claim)
    return result, _left_out(context)


def _is_open(claim: Claim) -> bool:
    return (
        claim.worthiness == "factual"
        and claim.independent is False
        and bool(claim.spans)
        and not claim.enriched
    )


def _left_out(context: Context) -> list[Failure]:
    if not context.unread:
        return []
    message = (
        f"{len(context.unread):,} sentences were not searched for what pronouns refer to: rules read the first "
        f"{MAX_SENTENCES:,} of question and answer. Analyse the answer in parts."
    )
    return [StageFailure("left_out", message).as_failure("enrichment", "sentences")]


def added_words(claim: Claim) -> tuple[Span, ...]:
    """The spans in `claim.enriched` of the words that enrichment added; capitals make no
    difference.
    """
    return _new_words(claim.text, claim.enriched) if claim.enriched is not None else ()


def removed_words(claim: Claim) -> tuple[Span, ...]:
    """The spans in `claim.text` of the words that enrichment removed, except pronouns and
    determiners.
    """
    removed = _new_words(claim.enriched, claim.text) if claim.enriched is not None else ()
    return tuple(
        (a, b) for a, b in removed if set(_LETTERS.findall(claim.text[a:b].casefold())) - _POINTERS
    )


def _new_words(before: str, after: str) -> tuple[Span, ...]:
    """The characters of `after` whose words a word diff does not find in `before`."""
    old, new = [m.group().casefold() for m in _WORD.finditer(before)], list(_WORD.finditer(after))
    opcodes = Diff(old, [m.group().casefold() for m in new]).get_opcodes()
    return tuple(
        (new[a].start(), new[b - 1].end())
        for kind, _, _, a, b in opcodes
        if kind in ("insert", "replace")
    )


def rewrite_within(before: str, text: str) -> str:
    """The text with its references to what was said before replaced; sentences where that is
    uncertain stay.
    """
    context = Context("", f"{before}\n\n{text}")
    first = len(before) + 2
    sentences = [
        (a, b) for block in context.blocks if block.start >= first for a, b in _places(block)
    ]
    for start, end in reversed(sentences):
        sentence = text[start - first : end - first]
        number = next(i for i, b in enumerate(context.blocks) if b.start <= start < b.end)
        if new := _rewrite(context, sentence.replace("’", "'"), number, start):
            text = text[: start - first] + new + text[end - first :]
    return text


def _places(block: AnswerPassage) -> list[Span]:
    """The place of each of its sentences, as written."""
    return [(block.places[a][0], block.places[b - 1][1]) for a, b in split(block.text)]


def _enriched(context: Context, claim: Claim) -> str | None:
    """The text of the claim with its references replaced; None where that is not certain."""
    place = min(a for a, _ in claim.spans)
    number = next((i for i, b in enumerate(context.blocks) if b.start <= place < b.end), None)
    if (
        number is None
        or context.blocks[number].kind in ("row", "code")
        or not claim.text.isascii()
        and _foreign(claim.text)
    ):
        return None
    return _rewrite(
        context, claim.text.replace("’", "'") if "’" in claim.text else claim.text, number, place
    )


def _rewrite(context: Context, text: str, number: int, place: int) -> str | None:
    block = context.blocks[number]
    labelled = text.startswith(block.label + ":") or (
        block.body and place == block.places[block.body][0]
    )
    if (
        block.label
        and labelled
        and (joined := _joined(context, text.removeprefix(block.label + ":"), block.label))
    ):
        return joined
    doc = parse(text)
    if not len(doc):
        return None
    before = context.before(number, place)
    changes: list[tuple[int, int, str]] = []
    settled: set[str] = set()
    for token in list(outward_pronouns(doc)):
        form = PRONOUNS[token.lower_]
        if form in settled:
            continue
        settled.add(form)
        mention = context.antecedent(token, form, before, number)
        if mention is None:
            return None  # half a repair would hide what is still open
        name = (
            _possessive(mention, form)
            if token.lower_ in POSSESSIVE and token.dep_ == "poss"
            else mention
        )
        contracted = token.i + 1 < len(doc) and doc[token.i + 1].text.startswith("'")
        if (
            contracted
            or token.lower_ in ("hers", "theirs")
            or (token.lower_ == "his" and token.dep_ != "poss")
        ):
            return None
        changes.append((token.idx, token.idx + len(token.text), name))
    for chunk in doc.noun_chunks:
        if full := context.full_name(chunk, doc, before, number):
            bare = chunk[0].lower_ == "the" and not full.lower().startswith("the ")
            changes.append((chunk.start_char, chunk.end_char, f"the {full}" if bare else full))
    if changes:
        return _replaced(text, changes)
    return _under_lead_in(context, text, doc, number, place)


def _joined(context: Context, rest: str, label: str) -> str | None:
    """ "Solar power: uses no fuel" and "Solar power: It uses no fuel" → "Solar power uses no fuel"."""
    rest = rest.strip()
    words = rest.split()
    if not words or not context.is_topic_label(label, "it"):
        return None
    head = parse(label)
    plural = any(t.tag_ in ("NNS", "NNPS") and t == root(head) for t in head)
    if (
        words[0].lower() == ("they" if plural else "it")
        and next(outward_pronouns(parse(rest)), None) is not None
    ):
        return f"{label} {' '.join(words[1:])}"
    joined = parse(f"{label} {rest}")
    verb = joined[len(head)]
    subject = any(t.dep_ in ("nsubj", "nsubjpass") and t.i < len(head) for t in joined)
    finite = verb.tag_ == ("VBP" if plural else "VBZ") and not words[0][:1].isupper()
    return joined.text if finite and subject and root(joined).i >= len(head) else None


def _under_lead_in(context: Context, text: str, doc: Doc, number: int, place: int) -> str | None:
    """ "Notable works include:" and the item "Guernica" → "Notable works include Guernica"."""
    block = context.blocks[number]
    lead = next((i for i in range(number - 1, -1, -1) if context.blocks[i].kind != "item"), None)
    if (
        block.kind != "item"
        or lead is None
        or context.blocks[lead].kind != "text"
        or place > block.start + 3
        or ":" in text
    ):
        return None
    if root(doc).pos_ not in ("NOUN", "PROPN") or any(
        t.dep_ in ("nsubj", "nsubjpass") for t in root(doc).children
    ):
        return None
    raw = context.raw(context.blocks[lead])
    sentences = context.sentences(raw)
    announced = sentences[-1][0].text if sentences else ""
    if not _LEAD_IN.search(announced):
        return None
    head = announced.rstrip(": ")
    if next(outward_pronouns(parse(head)), None) is not None:
        head = _rewrite(context, head, lead, context.place(lead, announced)) or ""
    if not head or _OPEN.match(head):
        return None
    title = len(doc) > 1 and doc[1].text[:1].isupper()
    small = doc[0].pos_ in ("DET", "NOUN", "ADJ") and doc[0].text.istitle() and not title
    return f"{head} {lower_initial(text) if small else text}"


def _possessive(name: str, form: str) -> str:
    return name + ("'" if form == "they" and name.endswith("s") else "'s")


def _foreign(text: str) -> bool:
    return sum(c.isalpha() and not c.isascii() for c in text) > len(text) // 4


def _replaced(text: str, changes: list[tuple[int, int, str]]) -> str:
    """The text with the changes made, and capitals adapted to their place."""
    for start, end, name in sorted(changes, reverse=True):
        opens = start == 0 or text[:start].rstrip().endswith((".", "!", "?"))
        article = name.startswith(("The ", "A ", "An "))
        if opens:
            name = name[0].upper() + name[1:]
        elif article:
            name = name[0].lower() + name[1:]
        text = text[:start] + name + text[end:]
    return text


LIMIT, TURNS = LIMITS.text, LIMITS.turns  # characters of all turns together; turns
_NAMES: dict[str, Speaker] = {
    **dict.fromkeys(("user", "human", "question", "q"), "user"),
    **dict.fromkeys(("assistant", "ai", "bot", "system", "model", "answer", "a"), "assistant"),
}
_MARK = re.compile(
    r"^[ \t]*[*_]*(" + "|".join(_NAMES) + r")[*_]*:[*_]*(?:[ \t]+|$)", re.IGNORECASE | re.MULTILINE
)


def read_turns(text: str) -> tuple[Turn, ...]:
    """Earlier turns from text: “User: …” and “Assistant: …”, each on a new line, or JSON (a list,
    or one turn a line)
    of objects with "speaker" or "role" and "text" or "content". No turns for an empty text.

    BadInput for text before the first speaker, unknown speakers, and conversations that are too
    long.
    """
    text = text.strip()
    turns = _of_json(text) if text[:1] in ("[", "{") else _of_lines(text)
    return check_turns(turns)


def turns_of(given: object) -> tuple[Turn, ...]:
    """The turns in a row's field: text with speakers, or a list of turns; none if it is empty.
    BadInput as above.
    """
    return read_turns(given if isinstance(given, str) else json.dumps(given)) if given else ()


def check_turns(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns without empty ones. BadInput for too many, for too many characters, and for what is
    no text.
    """
    if has_half_pair(turns):
        raise BadInput(f"the earlier turns: {PROBLEM}")
    spoken = tuple(
        (speaker, utterance.strip()) for speaker, utterance in turns if utterance.strip()
    )
    size = sum(len(utterance) for _, utterance in spoken)
    if len(spoken) > TURNS or size > LIMIT:
        raise BadInput(
            f"the conversation has {len(spoken)} earlier turns with {size:,} characters; at most {TURNS} turns and "
            f"{LIMIT:,} characters can be used: keep the latest ones"
        )
    return spoken


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
        rows = (
            json.loads(text)
            if text.startswith("[")
            else [json.loads(x) for x in text.splitlines() if x.strip()]
        )
    except (ValueError, RecursionError):
        raise BadInput(
            "the earlier turns are not JSON: expected a list of turns, or one turn on each line"
        ) from None
    return [_turn(number, row) for number, row in enumerate(rows, 1)]


def _turn(number: int, row: object) -> Turn:
    if isinstance(row, list) and len(row) == 2:
        row = {"speaker": row[0], "text": row[1]}
    fields = row if isinstance(row, dict) else {}
    speaker = _NAMES.get(str(fields.get("speaker") or fields.get("role") or "").lower())
    utterance = fields.get("text", fields.get("content"))
    if speaker is None or not isinstance(utterance, str):
        raise BadInput(
            f'turn {number}: expected an object with "speaker" ({" or ".join(get_args(Speaker))}) and "text"'
        )
    return speaker, utterance


def as_text(turns: Sequence[Turn]) -> str:
    """The turns in the form that `read_turns` reads, one after the other."""
    return "\n".join(f"{speaker.capitalize()}: {utterance}" for speaker, utterance in turns)


def transcript(question: str, turns: Sequence[Turn]) -> str:
    """The question as a language model is shown it: after its conversation, if there is one."""
    return as_text([*turns, ("user", question)]) if turns else question


def standalone_question(question: str, turns: Sequence[Turn]) -> str:
    """The question as it would be asked without the conversation: “When was it built?” → “When was
    the Eiffel Tower
    built?”. By the rules of enrichment, English only; what is not certain stays as it is.

    A question that names nothing of its own (“And its height?”) follows the last one that does.
    """
    if not turns or not is_english(" ".join([*(utterance for _, utterance in turns), question])):
        return question
    before: list[str] = []
    asked = ""  # the last question that names something
    for speaker, utterance in [*turns, ("user", question)]:
        resolved = (
            rewrite_within("\n\n".join(before), utterance)
            if before and speaker == "user"
            else utterance
        )
        if speaker == "user":
            named = bool(Context(resolved, "").question)
            asked = resolved if named or not asked else f"{asked} {resolved}"
        before.append(resolved)
    return asked
