"""From a rewritten claim back to the words of the answer.

Tokens are matched in order; numbers and names weigh more than other words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from attribution.errors import LlmFailed
from attribution.text.words import STOP_WORDS, folded, stem
from attribution.types import Claim, Failure, Span, content_id

# Share of a claim's weight that its sentence must have; below, the claim is not in the answer.
FLOOR = 0.4
KNOWN = 0.25  # weight of a word that is elsewhere in the answer, or in the question
MAX_WORDS = 400  # of a sentence or claim that are compared
MAX_GAP = 4  # words from one matched word to the next in a span
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")


@dataclass(frozen=True)
class Token:
    stem: str
    span: Span
    weight: float

    @property
    def is_content(self) -> bool:
        return self.weight >= 1


@dataclass(frozen=True)
class Alignment:
    """Where a claim stands in an answer; without spans, it is not in it."""

    spans: tuple[Span, ...]
    sentence: Span | None
    confidence: float


@dataclass(frozen=True)
class Rewrite:
    """The claims that a model made of a sentence; none: the sentence stays as it is."""

    texts: tuple[str, ...]
    problem: str = ""  # what was wrong with the model's output
    detail: str = ""  # in the server's words


def tokens(text: str, offset: int = 0) -> list[Token]:
    """Return words with their places; spans are shifted by `offset`."""
    words: list[Token] = []
    for match in _WORD.finditer(text):
        word = match.group()
        key, weight = stem(folded(word)), 1.0
        if word[0].isdigit():
            key, weight = word.replace(",", ""), 3.0
        elif folded(word) in STOP_WORDS:
            key, weight = folded(word), 0.05
        elif word[0].isupper() and match.start():
            weight = 2.0
        words.append(Token(key, (offset + match.start(), offset + match.end()), weight))
    return words[:MAX_WORDS]


def align(claim: str, answer: str, sentences: Sequence[Span], context: str = "") -> Alignment:
    """Find the words of one of these sentences that say what the claim says.

    Words that the claim took from elsewhere in the answer, or from `context` (the question), count
    little for or against a sentence.
    """
    words = tokens(claim)
    known = {token.stem for token in tokens(context)}
    read = [tokens(answer[start:end], start) for start, end in sentences]
    for sentence in read:
        known.update(token.stem for token in sentence)
    shares = [_share(words, {token.stem for token in sentence}, known) for sentence in read]
    if not words or not shares:
        return Alignment((), None, 0.0)
    best = shares.index(max(shares))
    pairs = _match(words, read[best])
    spans = _spans(read[best], set(pairs.values()))
    if not spans:  # function words alone
        return Alignment((), None, 0.0)
    confidence = round(_share(words, {words[i].stem for i in pairs}, known), 3)
    if confidence < FLOOR:
        return Alignment((), None, confidence)
    return Alignment(spans, sentences[best], confidence)


def aligned_claim(text: str, answer: str, sentences: Sequence[Span], question: str) -> Claim:
    """Make a claim on the sentence of the answer that it fits best; `merge` gives it its id."""
    found = align(text, answer, sentences, question)
    return Claim(
        id="-", text=text, spans=found.spans, sentence=found.sentence, alignment=found.confidence
    )


def replace_sentences(
    question: str, answer: str, sentences: Sequence[Claim], rewrites: Mapping[str, Rewrite]
) -> tuple[tuple[Claim, ...], tuple[Failure, ...]]:
    """Return the claims of each sentence that has a rewrite (by its id), aligned with its words;
    other sentences stay.
    """
    claims: list[Claim] = []
    failures: list[Failure] = []
    for sentence in sentences:
        rewrite = rewrites.get(sentence.id, Rewrite(()))
        for text in rewrite.texts:
            found = [align(text, answer, [span], question) for span in sentence.spans]
            spans = tuple(span for alignment in found for span in alignment.spans)
            confidence = max(alignment.confidence for alignment in found)
            update = {"id": "-", "text": text, "spans": spans, "alignment": confidence, "times": 1}
            claims.append(sentence.model_copy(update=update))
        if not rewrite.texts:
            claims.append(sentence)
        if rewrite.problem:
            kept = "" if rewrite.texts else "; the sentence is kept as it is"
            failure = LlmFailed(rewrite.problem + kept, detail=rewrite.detail)
            failures.append(failure.as_failure("segment", sentence.text))
    return merge(claims), tuple(failures)


def _share(words: Sequence[Token], found: set[str], known: set[str]) -> float:
    """Return the share of the claim's weight whose stems are found, 0 to 1."""
    whole = matched = 0.0
    for word in words:
        if word.stem in found:
            matched += word.weight
            whole += word.weight
        else:
            whole += word.weight * (KNOWN if word.stem in known else 1.0)
    return min(1.0, matched / whole) if whole else 0.0


def _match(claim: Sequence[Token], sentence: Sequence[Token]) -> dict[int, int]:
    """Match indices of the claim with the sentence's: the heaviest common subsequence, then content
    words in another order.
    """
    rows, columns = len(claim), len(sentence)
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1])
            if claim[i].stem == sentence[j].stem:
                best[i][j] = max(best[i][j], best[i + 1][j + 1] + claim[i].weight)
    pairs: dict[int, int] = {}
    i = j = 0
    while i < rows and j < columns:
        is_same = claim[i].stem == sentence[j].stem
        if is_same and best[i][j] == best[i + 1][j + 1] + claim[i].weight:
            pairs[i] = j
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    free = [j for j in range(columns) if j not in pairs.values()]
    for i, word in enumerate(claim):
        moved = [j for j in free if sentence[j].stem == word.stem]
        if i not in pairs and moved and word.is_content:
            pairs[i] = moved[0]
            free.remove(moved[0])
    return pairs


def _spans(sentence: Sequence[Token], matched: set[int]) -> tuple[Span, ...]:
    """Return runs of matched words; a run needs a content word, and a few function words don't
    interrupt it.
    """
    runs: list[list[int]] = []
    for j in sorted(j for j in matched if sentence[j].is_content):
        last = runs[-1][1] if runs else -MAX_WORDS
        between = sentence[last + 1 : j] if j - last <= MAX_GAP else sentence[j : j + 1]
        if any(token.is_content for token in between):
            runs.append([j, j])
        else:
            runs[-1][1] = j
    for run in runs:  # "in 1899" with its preposition
        while run[0] - 1 in matched and not sentence[run[0] - 1].is_content:
            run[0] -= 1
    return tuple((sentence[first].span[0], sentence[last].span[1]) for first, last in runs)


def merge(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Return the claims without empty ones and with their ids.

    A repeated one is one claim with the spans of both, unless it has another context.
    """
    repeated: dict[tuple[str, ...], list[Claim]] = {}
    for claim in claims:
        if any(c.isalnum() for c in claim.text):
            words = " ".join(claim.text.casefold().split()).rstrip(".")
            repeated.setdefault((words, *claim.context), []).append(claim)
    return tuple(map(_merged, repeated.values()))


def _merged(same: Sequence[Claim]) -> Claim:
    spans = tuple(sorted({span for claim in same for span in claim.spans}))
    sentence = next((claim.sentence for claim in same if claim.sentence), None)
    update = {
        "id": content_id(same[0].text, str(spans[0] if spans else sentence)),
        "spans": spans,
        "sentence": sentence,
        "alignment": max(claim.alignment for claim in same),
        "times": sum(claim.times for claim in same),
    }
    return same[0].model_copy(update=update)
