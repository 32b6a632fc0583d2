"""Judge claims by passages: what the verifier reads, how much of it counts, and what speaks against
a passage.

The same steps follow every verifier. A claim is read sentence by sentence and beside variants of
itself, its roles and
values are compared with those of the passage, the probabilities are weighed by the passage's
relevance, and a passage
about another thing or another time, or one that only reports, gets a reservation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from attribution.evidence.about import in_anchor, is_about, other_subject, other_time
from attribution.evidence.factuality import only_reported
from attribution.evidence.rows import RowRelation, in_table, row_at
from attribution.policy import LOWEST_THRESHOLD, DecisionPolicy
from attribution.text.differences import (
    contrasts,
    difference,
    differing_spans,
    exchanged,
    measures_other,
    unmet,
    value_of_another,
    values_agree,
)
from attribution.text.sentences import sentences
from attribution.text.sums import computed
from attribution.text.urls import publisher
from attribution.text.value_reading import values
from attribution.text.values import compare, is_other_limit
from attribution.text.words import folded, plain, stem, terms
from attribution.types import (
    SILENT,
    Evidence,
    Judgement,
    Page,
    Pair,
    Part,
    Probabilities,
    Reservation,
    quoted,
)
from attribution.verdicts import counted
from attribution.verifiers.calibration import log_odds
from attribution.verifiers.contrast import contrast
from attribution.verifiers.pairs import Reads
from attribution.verifiers.roles import in_its_role
from attribution.verifiers.slots import VAGUE, settle

SUPPORTS = 0.5  # entailment from which on another value in the same slot is a contradiction
OF_ROW = 0.9  # probability of what the cell of a table says
MAX_CLAIM = 600  # characters of a claim of which relevance is asked
OPENING = 200  # characters of a page's first line
EXCLUDED = 5  # words after "only" that may say what it is
_ONLY = re.compile(
    r"(?<!not )\b(?:only|solely|exclusively)\b(?! (?:a|an|about|after|\d)\b)", re.IGNORECASE
)
_ALONE = re.compile(
    r"\b(?:only|sole(?:ly)?|exclusive(?:ly)?|alone|just|single|no other|nobody|none|nothing|no|not|never|"
    r"except|but|unique(?:ly)?|all)\b",
    re.IGNORECASE,
)
_ALL = re.compile(r"^(?:all|every|each)\b", re.IGNORECASE)
_AT_LEAST = {  # percent
    50.0: re.compile(
        r"\b(?:[Mm]ost (?:of|(?![a-z]*(?:ous|less)\b)[a-z]+s)|[Tt]he majority of|[Mm]ore than half of)\b"
    ),
    100.0: re.compile(r"\b(?:the|its|an?) (?:entire|whole)\b"),
}
_PARTLY = re.compile(
    r"\b(?:most|some|many|few|several|half|\d+ (?:out )?of)\b|\bof (?:the |its )?\d", re.IGNORECASE
)
_WHOLE = re.compile(r"\b(?:all|every|each|both|whole|entire|none|no|always)\b", re.IGNORECASE)
_WITHOUT = re.compile(r"\bwithout (?:an? |any |the )?([a-z]+)")
_LACKS = re.compile(r"\b(?:without|no|not|never|free|lacks?|nor|neither)\b|n['’]t\b", re.IGNORECASE)
# per part: fewer hardly make a statement; more likely an abbreviation was taken for a sentence end
MIN_WORDS = 4


class Judged(NamedTuple):
    """The judgement of a pair; `parts` are the sentences of a claim that has several."""

    judgement: Judgement
    parts: tuple[Part, ...] = ()


@lru_cache(maxsize=1024)
def parts_of(claim: str) -> tuple[str, ...]:
    """Return the sentences of a claim; the claim itself if it is a single statement."""
    parts = tuple(claim[slice(*span)] for span in sentences(claim))
    return (
        parts
        if len(parts) > 1 and all(len(part.split()) >= MIN_WORDS for part in parts)
        else (claim,)
    )


def judge_pairs(
    pairs: Sequence[Pair], verifier: Reads, readings: Reads | None = None
) -> list[Judged]:
    """Judge each pair, in order; `readings` reads claims with the passage's names or values in
    place of their own.

    Raises BadInput for pairs that the verifier rejects.
    """
    plainly: list[Pair] = [(plain(pair[0]), plain(pair[1]), *pair[2:]) for pair in pairs]
    read: list[Pair] = [(part, *pair[1:]) for pair in plainly for part in parts_of(pair[0])]
    by_statement: dict[str, list[int]] = {}
    for place, pair in enumerate(read):
        by_statement.setdefault(pair[0], []).append(place)
    found = verifier.verify(read)
    groups = list(by_statement.values())
    settled = contrast(
        [[(read[i], found[i]) for i in places] for places in groups], readings or verifier
    )
    for places, of_statement in zip(groups, settled, strict=True):
        for i, judgement in zip(places, of_statement, strict=True):
            found[i] = in_its_role(read[i], judgement)
    found = settle([*zip(read, found, strict=True)], readings or verifier)
    in_order = iter(found)
    return [_joined(pair, [next(in_order) for _ in parts_of(pair[0])]) for pair in plainly]


def read_plainly(pairs: Sequence[Pair], verifier: Reads) -> list[Judged]:
    """Judge each pair by one reading of claim and passage (V24 4.3). Raises BadInput as
    `judge_pairs` does.
    """
    return [Judged(found) for found in verifier.verify(pairs)]


def _joined(pair: Pair, judgements: Sequence[Judgement]) -> Judged:
    """Join the judgements of a claim's parts: that of a contradicted part, or else of the most
    confident one.
    """
    if len(judgements) == 1:
        return Judged(judgements[0])
    against = max(judgements, key=lambda j: j.probabilities.contradicted)
    if against.probabilities.contradicted < LOWEST_THRESHOLD:
        against = max(judgements, key=lambda j: j.probabilities.entailed)
    statements = parts_of(pair[0])
    parts = (
        Part(statement=s, probabilities=j.probabilities)
        for s, j in zip(statements, judgements, strict=True)
    )
    return Judged(against, tuple(parts))


# Chosen on folds 6 to 9 of Factcheck-Bench and 7 to 9 of ExpertQA (docs/measurements.md).
WEIGHT = 0.4  # of the logit of relevance
EXPECTED = 3.5  # the logit of a passage that leaves the probabilities as they are
WEIGHED_FROM = 0.15  # the least probability of a relation for which relevance is asked


def relevance(
    pairs: Sequence[Pair], judged: Sequence[Judged], reads: Reads | None
) -> list[float | None]:
    """Return the logit of relevance of each passage that may say something of its claim; None for
    the others.

    `reads` is None where the model is not installed.
    """
    likely = [
        i
        for i, (found, _) in enumerate(judged)
        if strongest(found.probabilities) >= WEIGHED_FROM and "rating" not in found.signals
    ]
    logits: list[float | None] = [None] * len(pairs)
    if reads is not None and likely:
        asked: list[Pair] = [(pairs[i][0][:MAX_CLAIM], pairs[i][1]) for i in likely]
        for i, judgement in zip(likely, reads.verify(asked), strict=True):
            logits[i] = judgement.signals["logit"]
    return logits


def strongest(probabilities: Probabilities) -> float:
    return max(probabilities.entailed, probabilities.contradicted)


def as_evidence(
    claim_id: str,
    page: Page,
    text: str,
    start: int,
    similarity: float,
    pair: Pair,
    judged: Judged,
    relevance: float | None,
    headings: tuple[str, ...],
    policy: DecisionPolicy,
) -> Evidence:
    """Return the evidence that a judged passage is; `text` begins at `start`, in characters of its
    page.
    """
    plain = policy.decision == "plain"
    row = None if plain or judged.parts else in_table(pair[0], page.text)
    opening = _opening(page) if start else ""
    if row:
        judged = _by_row(judged, row, start, len(text))
    elif not plain and not judged.parts:
        judged = _by_value(pair, judged, headings, opening)
    related, judged = not plain and is_related(pair, judged, relevance), weighed(judged, relevance)
    found, of_its_page = judged.judgement, None if plain else of_page(pair[0], page)
    related = related or not plain and page.genre == "fact check" and not of_its_page
    against = (
        None
        if plain
        else of_its_page
        or (
            None
            if page.genre == "fact check" or "row" in judged.judgement.signals
            else _of_other_row(judged, row, start, page.text)
            or reservation(pair, judged, headings, opening)
        )
    )
    first, last = found.sentence
    return Evidence(
        claim_id=claim_id,
        page_id=page.id,
        origin=page.origin,
        genre=page.genre,
        publisher="" if page.genre == "paper" else publisher(page.url),
        start=start,
        end=start + len(text),
        text=text,
        similarity=similarity,
        relation=counted(found.probabilities, against, policy),
        probabilities=found.probabilities,
        sentence=(start + first, start + last),
        about=related,
        relevance=relevance,
        reservation=against,
        signals=found.signals,
        parts=judged.parts,
        difference="" if plain else explain_difference(pair, judged),
        lacks=() if plain else lacking(pair, found, page),
    )


def _by_row(judged: Judged, row: RowRelation, start: int, length: int) -> Judged:
    """Return the judgement of a passage that has the row of a table that a claim is about."""
    found, (first, last) = judged.judgement, (place - start for place in row.row.span)
    if first < 0 or last > length:
        return judged
    probability = max(OF_ROW, getattr(found.probabilities, row.relation))
    sides = {
        "entailed": 0.0,
        "contradicted": 0.0,
        "no_relation": 1 - probability,
        row.relation: probability,
    }
    signals = found.signals | {"row": 1.0}
    return Judged(
        replace(
            found,
            probabilities=Probabilities(**sides),
            sentence=(first, last),
            signals=signals,
            difference=row.words,
        )
    )


def _by_value(pair: Pair, judged: Judged, headings: tuple[str, ...], opening: str) -> Judged:
    """Turn support by a sentence that has another value in a slot, of one subject and time, into a
    contradiction.
    """
    (claim, passage, title), found = (*pair, "")[:3], judged.judgement
    support = found.probabilities.entailed
    if support < SUPPORTS or "verbatim" in found.signals or VAGUE.search(claim):
        return judged
    difference = _other_value(claim, passage[slice(*found.sentence)], headings)
    if (
        not difference
        or other_subject(claim, f"{opening} {passage}", title, headings, strict=True)
        or other_time(claim, passage, found.sentence, title, strict=False)
    ):
        return judged
    against = Probabilities(entailed=0.0, contradicted=support, no_relation=1 - support)
    return Judged(replace(found, probabilities=against, difference=difference))


def _of_other_row(
    judged: Judged, row: RowRelation | None, start: int, text: str
) -> Reservation | None:
    """Say that the deciding sentence is another row of the table than the claim's."""
    first = start + judged.judgement.sentence[0]
    other = row and row_at(text, first)
    if not row or not other or other == row.row:
        return None
    return Reservation(
        relations=("entailed", "contradicted"), note=f"the row is about {other.label}"
    )


def lacking(pair: Pair, found: Judgement, page: Page) -> tuple[str, ...]:
    """Return the values of a claim for which a passage that may support it has none, nor its page's
    title.
    """
    claim, passage = pair[:2]
    if (
        found.probabilities.entailed < LOWEST_THRESHOLD
        or {"verbatim", "row"} & found.signals.keys()
    ):
        return ()
    lacked = unmet(claim, f"{page.title}. {_opening(page)}. {passage}")
    return tuple(
        claim[slice(*v.span)] for v in lacked if v.kind != "rank" or v.dimension in ("", "weekday")
    )


def of_page(claim: str, page: Page) -> Reservation | None:
    """Say why nothing on a page counts: it is a front page, or a fact check of another claim."""
    note = SILENT.get(page.genre, "")
    if page.genre == "fact check":
        note = (
            "" if is_about(claim, page.text, page.title) else "the fact check is of another claim"
        )
    return Reservation(relations=("entailed", "contradicted"), note=note) if note else None


def is_related(pair: Pair, judged: Judged, relevance: float | None) -> bool:
    """Return True if a passage is about the claim: by words, by relevance, or because the verifier
    nearly decides it.

    A passage may use none of the claim's names: "By the Normandy landings …" for "By D-Day …".
    """
    return (
        is_about(*pair)
        or judged.judgement.probabilities.entailed >= LOWEST_THRESHOLD
        or (relevance or -1.0) > 0
    )


def weighed(judged: Judged, relevance: float | None) -> Judged:
    """Return the judgement with its probabilities weighed by the passage's relevance, a logit."""
    if relevance is None:
        return judged
    parts = tuple(
        p.model_copy(update={"probabilities": weigh(p.probabilities, relevance)})
        for p in judged.parts
    )
    return Judged(
        replace(judged.judgement, probabilities=weigh(judged.judgement.probabilities, relevance)),
        parts,
    )


def weigh(probabilities: Probabilities, relevance: float | None) -> Probabilities:
    """Move the log odds of both relations by what relevance is beyond, or short of, the expected."""
    if relevance is None:
        return probabilities
    moved = [
        _moved(p, WEIGHT * (relevance - EXPECTED))
        for p in (probabilities.entailed, probabilities.contradicted)
    ]
    scale = 1 / max(1.0, sum(moved))
    entailed, contradicted = (round(p * scale, 6) for p in moved)
    return Probabilities(
        entailed=entailed,
        contradicted=contradicted,
        no_relation=max(0.0, round(1 - entailed - contradicted, 6)),
    )


def _moved(probability: float, by: float) -> float:
    return 1 / (1 + math.exp(-(log_odds(probability) + by)))


def _opening(page: Page) -> str:
    """The first line of a page, which names what all of it is about."""
    return page.text.lstrip().partition("\n")[0][:OPENING]


def reservation(
    pair: Pair, judged: Judged, headings: tuple[str, ...] = (), opening: str = ""
) -> Reservation | None:
    """Say what speaks against a passage that may support or contradict a claim; None where nothing
    does.

    The title of a pair may hold the heading of the passage's section too; `headings` are those
    above the claim, and
    `opening` is the first line of the passage's page.
    """
    (claim, passage, title), found = (*pair, "")[:3], judged.judgement
    if strongest(found.probabilities) < LOWEST_THRESHOLD:
        return None
    sentence = passage[slice(*found.sentence)]
    if found.probabilities.entailed >= found.probabilities.contradicted:
        if "verbatim" in found.signals:
            named = title if " " in title else ""  # a single word is the name of a file
            note = only_reported(claim, passage, found.sentence, named)
            return Reservation(relations=("entailed",), note=note) if note else None
        note = other_subject(claim, f"{opening} {passage}", title, headings)
        note = note or other_time(claim, passage, found.sentence, title, strict=False)
        if not note and measures_other(claim, sentence):
            note = "the number measures something else there"
        note = (
            note
            or _other_value(claim, sentence, headings)
            or _only(claim, sentence, f"{title} {passage}")
        )
        note = (
            note
            or _other_limit(claim, sentence)
            or only_reported(claim, passage, found.sentence, title)
        )
        return Reservation(relations=("entailed",), note=note) if note else None
    note = other_subject(claim, f"{opening} {passage}", title, headings, strict=True)
    note = note or other_time(claim, passage, found.sentence, title)
    if not note and (sums := computed(claim, sentence)):
        note = f"the claim's value may be computed: {sums}"
    if not note and not found.difference and values_agree(claim, sentence):
        note = "its values agree with the claim's"
    if not note and _differs_in_subject(claim, sentence):
        note = "the values that differ name what each is about"
    return Reservation(relations=("contradicted",), note=note) if note else None


def _other_value(claim: str, sentence: str, headings: tuple[str, ...]) -> str:
    """Say which value the deciding sentence has where the claim has another.

    The label of the claim's item may name what its value is of: "**Tropical hall:** it is 26 °C".
    """
    label = "".join(f"{heading.strip(' :')}: " for heading in headings[-1:] if not values(heading))
    if another := value_of_another(label + claim, sentence):
        return f"the claim says {quoted(another[0])}, the source {quoted(another[1])}"
    if both := exchanged(claim, sentence):
        written = claim[slice(*both[0].span)], sentence[slice(*both[1].span)]
        return f"the claim says {quoted(written[0])}, the source {quoted(written[1])}"
    if said := _other_share(claim, sentence):
        return said
    lacked = {claim[slice(*v.span)] for v in unmet(claim, sentence)}
    found = (
        c for c in contrasts(claim, sentence) if c.kind != "Name" and c.claim in lacked and c.source
    )
    return next(
        (f"the claim says {quoted(c.claim)}, the source {quoted(c.source)}" for c in found), ""
    )


def _other_share(claim: str, sentence: str) -> str:
    """Say which share the sentence has where the claim has more in words: “most of”, “the entire”."""
    shares = [v for v in values(sentence) if v.dimension == "%"]
    if len(shares) == 1 and not values(claim):
        for least, pattern in _AT_LEAST.items():
            if (
                shares[0].high < least
                and (words := pattern.search(claim))
                and not pattern.search(sentence)
            ):
                return f"the claim says {quoted(words[0])}, the source {quoted(sentence[slice(*shares[0].span)])}"
    return ""


def _other_limit(claim: str, sentence: str) -> str:
    """Say which limit the sentence has where the claim's does not follow: “below 25 °C” and “below
    25 °F”.
    """
    its = values(sentence)
    for own in values(claim):
        other = next((v for v in its if is_other_limit(own, v)), None)
        if other and not any(
            compare(own, v) == "equal" and not is_other_limit(own, v) for v in its
        ):
            return f"the claim says {quoted(claim[slice(*own.span)])}, the source {quoted(sentence[slice(*other.span)])}"
    return ""


def _only(claim: str, sentence: str, passage: str) -> str:
    """Say that the claim alone excludes all others, or none, or leaves something out: "only",
    "all", "without".
    """
    found = _ONLY.search(claim)
    if found and _ALONE.search(passage):
        of_it = terms(" ".join(["of", *claim[found.end() :].split()[:EXCLUDED]]))[0]
        others = _ONLY.search(sentence) and 2 * len(of_it & terms(sentence)[0]) <= len(of_it)
        found = found if others and of_it else None
    found = found or (
        None if _WHOLE.search(sentence) or not _PARTLY.search(sentence) else _ALL.search(claim)
    )
    for text, other in ((claim, sentence), (sentence, claim)):
        left_out = _WITHOUT.search(text)
        if left_out and stem(folded(left_out[1])) in terms(other)[0] and not _LACKS.search(other):
            return f"only the {'claim' if text is claim else 'source'} says {quoted(left_out[0])}"
    return f"only the claim says {quoted(found[0])}" if found else ""


def _differs_in_subject(claim: str, sentence: str) -> bool:
    """Return True if what differs is a part of what the claim is about: "version 5", "in the Danish
    cohort".
    """
    starts = [start for start, _ in differing_spans(claim, sentence)[0]]
    numbers = {value.start for value in values(claim)}
    held = [start for start in starts if in_anchor(claim, start)]
    return bool(held) and (len(held) == len(starts) or any(start in numbers for start in held))


def explain_difference(pair: Pair, judged: Judged) -> str:
    """Describe the values in the same slot that differ between the claim and the deciding sentence."""
    found = judged.judgement
    return found.difference or difference(
        pair[0], pair[1][slice(*found.sentence)], found.probabilities
    )
