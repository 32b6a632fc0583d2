"""Rewritten claim → the words of the answer it came from: by tokens, in order, numbers and names weighing more."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from attribution.text import lexical
from attribution.types import Claim, Span, content_id

Similarity = Callable[[str, Sequence[str]], Sequence[float]]  # of a text to each of others; cosines, for instance

FLOOR = 0.4  # share of a claim's weight that must be found; below, it is not in the answer
CLOSE = 0.1  # sentences whose shares differ by less are undecided
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")
MOST_WORDS = 400  # of a sentence or claim that are compared


@dataclass(frozen=True)
class Token:
    stem: str
    span: Span
    weight: float


@dataclass(frozen=True)
class Alignment:
    spans: tuple[Span, ...]  # empty: it fits nowhere
    sentence: Span | None
    confidence: float


def tokens(text: str, offset: int = 0) -> list[Token]:
    """Words with their places; spans are shifted by `offset`."""
    found = []
    for match in _WORD.finditer(text):
        word, first = match.group(), match.start() == 0
        folded = lexical.folded(word)
        if word[0].isdigit():
            stem, weight = folded.replace(",", ""), 3.0
        elif folded in lexical.STOP_WORDS:
            stem, weight = folded, 0.05
        else:
            stem, weight = lexical.stem(folded), 2.0 if word[0].isupper() and not first else 1.0
        found.append(Token(stem, (offset + match.start(), offset + match.end()), weight))
    return found[:MOST_WORDS]


def align(
    claim: str, answer: str, sentences: Sequence[Span], context: str = "", similarity: Similarity | None = None
) -> Alignment:
    """The words of one of these sentences that say what the claim says.

    Words that the claim took from elsewhere in the answer, or from `context` (the question), count little for or
    against a sentence. `similarity` decides between sentences that tokens leave undecided.
    """
    words = tokens(claim)
    if not words or not sentences:
        return Alignment((), None, 0.0)
    known = {t.stem for t in tokens(context)} | {t.stem for span in sentences for t in tokens(answer[slice(*span)])}
    bags = [({t.stem for t in tokens(answer[slice(*span)])}, span) for span in sentences]
    shares = sorted(((_share(words, bag, known), -span[0], span) for bag, span in bags), reverse=True)
    close = [span for share, _, span in shares if share >= shares[0][0] - CLOSE][:5]
    if len(close) > 1 and similarity is not None:
        scores = similarity(claim, [answer[slice(*span)] for span in close])
        best = close[max(range(len(close)), key=lambda i: scores[i])]
    else:
        best = shares[0][2]
    there = tokens(answer[slice(*best)], best[0])
    matched = _matched(words, there)
    confidence = _share(words, {words[i].stem for i, _ in matched}, known)
    spans = _spans(there, {j for _, j in matched})
    if not spans:  # nothing but function words
        return Alignment((), None, 0.0)
    if confidence < FLOOR:
        return Alignment((), None, round(confidence, 3))
    return Alignment(spans, best, round(confidence, 3))


def _share(words: Sequence[Token], found: set[str], known: set[str]) -> float:
    """The found part of the claim's weight, 0 to 1."""
    whole = sum(w.weight * (0.25 if w.stem in known and w.stem not in found else 1.0) for w in words)
    return min(1.0, sum(w.weight for w in words if w.stem in found) / whole)


def _matched(claim: Sequence[Token], sentence: Sequence[Token]) -> list[tuple[int, int]]:
    """Pairs of indices: the heaviest common subsequence, then content words that were moved."""
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
    left = {i for i in range(rows) if claim[i].weight >= 1} - {i for i, _ in pairs}
    free = {j for j in range(columns)} - {j for _, j in pairs}
    for i in sorted(left):
        moved = min((j for j in free if sentence[j].stem == claim[i].stem), default=None)
        if moved is not None:
            pairs.append((i, moved))
            free.discard(moved)
    return pairs


def _spans(sentence: Sequence[Token], matched: set[int]) -> tuple[Span, ...]:
    """Runs of matched words; function words alone are no run, and a few of them do not part two."""
    anchors = sorted(j for j in matched if sentence[j].weight >= 1)
    runs: list[list[int]] = []
    for j in anchors:
        if runs and all(sentence[k].weight < 1 for k in range(runs[-1][1] + 1, j)) and j - runs[-1][1] <= 4:
            runs[-1][1] = j
        else:
            runs.append([j, j])
    for run in runs:  # "in 1899" with its preposition
        while run[0] - 1 in matched and sentence[run[0] - 1].weight < 1:
            run[0] -= 1
    return tuple((sentence[a].span[0], sentence[b].span[1]) for a, b in runs)


def merged(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """In the answer's order, none empty; what is said twice is one claim with the spans of both."""
    found: dict[str, Claim] = {}
    for claim in claims:
        same = " ".join(claim.text.casefold().split()).rstrip(".")
        if not any(c.isalnum() for c in claim.text):
            continue
        if old := found.get(same):
            spans = tuple(sorted({*old.spans, *claim.spans}))
            sentence = old.sentence or claim.sentence
            alignment = max(old.alignment, claim.alignment)
            found[same] = old.model_copy(update={"spans": spans, "sentence": sentence, "alignment": alignment})
        else:
            found[same] = claim
    return tuple(
        c.model_copy(update={"id": content_id(c.text, str(c.spans[0] if c.spans else c.sentence))})
        for c in found.values()
    )
