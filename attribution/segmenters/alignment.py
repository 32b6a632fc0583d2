"""From a rewritten claim back to the words of the answer.

Tokens are matched in order; numbers and names weigh more than other words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from rapidfuzz.distance import LCSseq

from attribution.errors import LlmFailed
from attribution.text.words import STOP_WORDS, folded, stem
from attribution.types import Claim, Failure, Span, content_id

# Share of a claim's weight that its sentence must have; below, the claim is not in the answer.
FLOOR = 0.4
KNOWN = 0.25  # weight of a word that is elsewhere in the answer, or in the question
NUMBER, NAME, WORD, FUNCTION_WORD = 3.0, 2.0, 1.0, 0.05  # weights of words
MAX_WORDS = 400  # of a sentence or claim that are compared
MAX_GAP = 4  # words from one matched word to the next in a span
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")


@dataclass(frozen=True)
class Token:
    """A word to compare.

    Attributes:
        stem: What it has in common with its inflections.
        span: Its place.
        weight: How much it counts: numbers most, then names, function words hardly.
    """

    stem: str
    span: Span
    weight: float

    @property
    def is_content(self) -> bool:
        return self.weight >= WORD


@dataclass(frozen=True)
class Alignment:
    """Where a claim stands in an answer; without spans, it is not in it.

    Attributes:
        spans: Its words in the answer.
        sentence: The sentence that has most of them.
        confidence: The share of the claim's weight that is found there, 0 to 1.
    """

    spans: tuple[Span, ...] = ()
    sentence: Span | None = None
    confidence: float = 0.0


@dataclass(frozen=True)
class Rewrite:
    """The claims that a model made of a sentence; none: the sentence stays as it is.

    Attributes:
        problem: What was wrong with the model's output.
        detail: The problem in the server's words.
    """

    texts: tuple[str, ...]
    problem: str = ""
    detail: str = ""


def tokens(text: str, offset: int = 0) -> list[Token]:
    """Return words with their places and weights.

    Args:
        text: A sentence or a claim; at most MAX_WORDS are read.
        offset: Where the text begins in the answer.
    """
    words: list[Token] = []
    for match in islice(_WORD.finditer(text), MAX_WORDS):
        word = match.group()
        span = (offset + match.start(), offset + match.end())
        if word[0].isdigit():
            words.append(Token(word.replace(",", ""), span, NUMBER))
        elif folded(word) in STOP_WORDS:
            words.append(Token(folded(word), span, FUNCTION_WORD))
        else:
            is_name = word[0].isupper() and match.start() > 0
            words.append(Token(stem(folded(word)), span, NAME if is_name else WORD))
    return words


def align(claim: str, answer: str, sentences: Sequence[Span], context: str = "") -> Alignment:
    """Find the words of one of these sentences that say what the claim says.

    Args:
        claim: The claim, in a model's words.
        answer: The answer that it was made of.
        sentences: The spans of its sentences.
        context: The question. Words that the claim took from it, or from elsewhere in the answer,
            count little for or against a sentence.
    """
    words = tokens(claim)
    read = [tokens(answer[start:end], start) for start, end in sentences]
    stems = [{token.stem for token in sentence} for sentence in read]
    known = {token.stem for token in tokens(context)}.union(*stems)
    shares = [_share(words, of_sentence, known) for of_sentence in stems]
    if not words or not shares:
        return Alignment()
    best = shares.index(max(shares))
    pairs = _match(words, read[best])
    spans = _spans(read[best], set(pairs.values()))
    if not spans:  # function words alone
        return Alignment()
    matched = {words[i].stem for i in pairs}
    confidence = round(_share(words, matched, known), 3)
    if confidence < FLOOR:
        return Alignment(confidence=confidence)
    return Alignment(spans, sentences[best], confidence)


def aligned_claim(text: str, answer: str, sentences: Sequence[Span], question: str) -> Claim:
    """Make a claim on the sentence of the answer that it fits best; `merge` gives it its id."""
    place = align(text, answer, sentences, question)
    return Claim(
        id="-",
        text=text,
        spans=place.spans,
        sentence=place.sentence,
        alignment=place.confidence,
    )


def replace_sentences(
    question: str, answer: str, sentences: Sequence[Claim], rewrites: Mapping[str, Rewrite]
) -> tuple[tuple[Claim, ...], tuple[Failure, ...]]:
    """Return the claims of each sentence that has a rewrite, aligned with its words.

    Args:
        question: The question of the run.
        answer: The answer.
        sentences: Its sentences; those without a rewrite stay claims as they are.
        rewrites: By the id of the sentence.

    Returns:
        The claims, and a failure for each rewrite with a problem.
    """
    claims: list[Claim] = []
    failures: list[Failure] = []
    for sentence in sentences:
        rewrite = rewrites.get(sentence.id, Rewrite(()))
        for text in rewrite.texts:
            claims.append(_rewritten(sentence, text, answer, question))
        if not rewrite.texts:
            claims.append(sentence)
        if rewrite.problem:
            kept = "" if rewrite.texts else "; the sentence is kept as it is"
            failure = LlmFailed(rewrite.problem + kept, detail=rewrite.detail)
            failures.append(failure.as_failure("segment", sentence.text))
    return merge(claims), tuple(failures)


def _rewritten(sentence: Claim, text: str, answer: str, question: str) -> Claim:
    """Return a claim in place of a sentence, aligned with each occurrence of the sentence."""
    spans: list[Span] = []
    confidence = 0.0
    for occurrence in sentence.spans:
        alignment = align(text, answer, [occurrence], question)
        spans += alignment.spans
        confidence = max(confidence, alignment.confidence)
    update = {
        "id": "-",
        "text": text,
        "spans": tuple(spans),
        "alignment": confidence,
        "times": 1,
    }
    return sentence.model_copy(update=update)


def _share(words: Sequence[Token], found: set[str], known: set[str]) -> float:
    """Return the share of a claim's weight whose stems are found, 0 to 1.

    Args:
        words: Those of the claim.
        found: The stems that count as found.
        known: Stems of other sentences and of the question. A word with one of them counts little
            if it is not found.
    """
    whole = matched = 0.0
    for word in words:
        if word.stem in found:
            matched += word.weight
            whole += word.weight
        else:
            whole += word.weight * (KNOWN if word.stem in known else 1.0)
    return min(1.0, matched / whole) if whole else 0.0


def _match(claim: Sequence[Token], sentence: Sequence[Token]) -> dict[int, int]:
    """Match words of the claim with the sentence's; return their indices.

    They are the longest common subsequence, then content words in another order.
    """
    pairs: dict[int, int] = {}
    blocks = LCSseq.opcodes([word.stem for word in claim], [word.stem for word in sentence])
    for block in blocks.as_matching_blocks():
        for place in range(block.size):
            pairs[block.a + place] = block.b + place
    free = [j for j in range(len(sentence)) if j not in pairs.values()]
    for i, word in enumerate(claim):
        if i in pairs or not word.is_content:
            continue
        moved = [j for j in free if sentence[j].stem == word.stem]
        if moved:
            pairs[i] = moved[0]
            free.remove(moved[0])
    return pairs


def _spans(sentence: Sequence[Token], matched: set[int]) -> tuple[Span, ...]:
    """Return runs of matched words.

    A run needs a content word, and a few function words don't interrupt it.
    """
    runs: list[list[int]] = []
    for j in sorted(matched):
        if not sentence[j].is_content:
            continue
        last = runs[-1][1] if runs else -MAX_WORDS
        is_near = j - last <= MAX_GAP
        if is_near and not any(token.is_content for token in sentence[last + 1 : j]):
            runs[-1][1] = j
        else:
            runs.append([j, j])
    spans: list[Span] = []
    for first, last in runs:
        while first - 1 in matched and not sentence[first - 1].is_content:
            first -= 1  # "in 1899" with its preposition
        spans.append((sentence[first].span[0], sentence[last].span[1]))
    return tuple(spans)


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
