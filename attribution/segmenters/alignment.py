"""From a rewritten claim back to the words of the answer: tokens matched in order, numbers and
names weigh more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from attribution.errors import LlmFailed
from attribution.text.words import STOP_WORDS, folded, stem
from attribution.types import Claim, Failure, Span, content_id

# share of a claim's weight that its sentence must have; below, the claim is not in the answer
FLOOR = 0.4
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")
MAX_WORDS = 400  # of a sentence or claim that are compared


@dataclass(frozen=True)
class Token:
    stem: str
    span: Span
    weight: float


@dataclass(frozen=True)
class Alignment:
    spans: tuple[Span, ...]  # empty: the claim is not in the answer
    sentence: Span | None
    confidence: float


@dataclass(frozen=True)
class Rewrite:
    """The claims that a model made of a sentence; none: the sentence stays as it is."""

    texts: tuple[str, ...]
    problem: str = ""  # what was wrong with the model's output
    detail: str = ""  # in the server's words


def tokens(text: str, offset: int = 0) -> list[Token]:
    """Words with their places; spans are shifted by `offset`."""
    words = []
    for match in _WORD.finditer(text):
        word, lower = match.group(), folded(match.group())
        if word[0].isdigit():
            key, weight = lower.replace(",", ""), 3.0
        elif lower in STOP_WORDS:
            key, weight = lower, 0.05
        else:
            key, weight = stem(lower), 2.0 if word[0].isupper() and match.start() else 1.0
        words.append(Token(key, (offset + match.start(), offset + match.end()), weight))
    return words[:MAX_WORDS]


def align(claim: str, answer: str, sentences: Sequence[Span], context: str = "") -> Alignment:
    """The words of one of these sentences that say what the claim says.

    Words that the claim took from elsewhere in the answer, or from `context` (the question), count
    little for or
    against a sentence.
    """
    words = tokens(claim)
    if not words or not sentences:
        return Alignment((), None, 0.0)
    stems = [{t.stem for t in tokens(answer[slice(*span)])} for span in sentences]
    known = {t.stem for t in tokens(context)}.union(*stems)
    best = max(
        zip(stems, sentences, strict=True),
        key=lambda pair: (_share(words, pair[0], known), -pair[1][0]),
    )[1]
    there = tokens(answer[slice(*best)], best[0])
    pairs = _match(words, there)
    confidence = _share(words, {words[i].stem for i, _ in pairs}, known)
    spans = _spans(there, {j for _, j in pairs})
    if not spans:  # function words alone
        return Alignment((), None, 0.0)
    return Alignment(
        spans if confidence >= FLOOR else (),
        best if confidence >= FLOOR else None,
        round(confidence, 3),
    )


def aligned_claim(text: str, answer: str, sentences: Sequence[Span], question: str) -> Claim:
    """A claim on the sentence of the answer that it fits best; `merge` gives it its id."""
    alignment = align(text, answer, sentences, question)
    return Claim(
        id="-",
        text=text,
        spans=alignment.spans,
        sentence=alignment.sentence,
        alignment=alignment.confidence,
    )


def replace_sentences(
    question: str, answer: str, sentences: Sequence[Claim], rewrites: Mapping[str, Rewrite]
) -> tuple[tuple[Claim, ...], tuple[Failure, ...]]:
    """The claims of each sentence that has a rewrite (by its id), aligned with its words; other
    sentences stay.
    """
    claims: list[Claim] = []
    failures: list[Failure] = []
    for sentence in sentences:
        rewrite = rewrites.get(sentence.id, Rewrite(()))
        for text in rewrite.texts:
            parts = [align(text, answer, [span], question) for span in sentence.spans]
            spans = tuple(s for p in parts for s in p.spans)
            confidence = max(p.confidence for p in parts)
            claims.append(
                Claim(
                    id="-", text=text, spans=spans, sentence=sentence.sentence, alignment=confidence
                )
            )
        if not rewrite.texts:
            claims.append(sentence)
        if rewrite.problem:
            message = (
                rewrite.problem
                if rewrite.texts
                else f"{rewrite.problem}; the sentence is kept as it is"
            )
            failure = LlmFailed(message, detail=rewrite.detail)
            failures.append(failure.as_failure("segment", sentence.text))
    return merge(claims), tuple(failures)


def _share(words: Sequence[Token], found: set[str], known: set[str]) -> float:
    """The share of the claim's weight whose stems are found, 0 to 1."""
    whole = sum(
        w.weight * (0.25 if w.stem in known and w.stem not in found else 1.0) for w in words
    )
    return min(1.0, sum(w.weight for w in words if w.stem in found) / whole)


def _match(claim: Sequence[Token], sentence: Sequence[Token]) -> list[tuple[int, int]]:
    """Pairs of indices: the heaviest common subsequence, then content words in another order."""
    rows, columns = len(claim), len(sentence)
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1])
            if claim[i].stem == sentence[j].stem:
                best[i][j] = max(best[i][j], best[i + 1][j + 1] + claim[i].weight)
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < rows and j < columns:
        if claim[i].stem == sentence[j].stem and best[i][j] == best[i + 1][j + 1] + claim[i].weight:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    free = set(range(columns)) - {j for _, j in pairs}
    for i in sorted(set(range(rows)) - {i for i, _ in pairs}):
        moved = min((j for j in free if sentence[j].stem == claim[i].stem), default=None)
        if moved is not None and claim[i].weight >= 1:
            pairs.append((i, moved))
            free.discard(moved)
    return pairs


def _spans(sentence: Sequence[Token], matched: set[int]) -> tuple[Span, ...]:
    """Runs of matched words; a run needs a content word, and a few function words do not interrupt
    it.
    """
    anchors = sorted(j for j in matched if sentence[j].weight >= 1)
    runs: list[list[int]] = []
    for j in anchors:
        if (
            runs
            and all(sentence[k].weight < 1 for k in range(runs[-1][1] + 1, j))
            and j - runs[-1][1] <= 4
        ):
            runs[-1][1] = j
        else:
            runs.append([j, j])
    for run in runs:  # "in 1899" with its preposition
        while run[0] - 1 in matched and sentence[run[0] - 1].weight < 1:
            run[0] -= 1
    return tuple((sentence[a].span[0], sentence[b].span[1]) for a, b in runs)


def merge(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """The claims without empty ones and with their ids; a repeated one is one claim with the spans
    of both.
    """
    repeated: dict[str, list[Claim]] = {}
    for claim in claims:
        if any(c.isalnum() for c in claim.text):
            repeated.setdefault(" ".join(claim.text.casefold().split()).rstrip("."), []).append(
                claim
            )
    return tuple(map(_merged, repeated.values()))


def _merged(same: Sequence[Claim]) -> Claim:
    spans = tuple(sorted({span for claim in same for span in claim.spans}))
    sentence = next((claim.sentence for claim in same if claim.sentence), None)
    place = str(spans[0] if spans else sentence)
    alignment = max(claim.alignment for claim in same)
    identity = content_id(same[0].text, place)
    return same[0].model_copy(
        update={
            "id": identity,
            "spans": spans,
            "sentence": sentence,
            "alignment": alignment,
            "times": sum(claim.times for claim in same),
        }
    )
