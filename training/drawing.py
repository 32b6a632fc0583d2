"""Draw the pairs of a pass: besides the pairs themselves, what a run meets — the evidence within a chunk of a page,
and chunks of the same page or of one near it that are silent about the claim."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from training.data import NOT_CONTRADICTION, NOT_ENTAILMENT, SOURCES, Pair, Source, normalised

CHUNK = 500  # characters
COMMON = 0.03  # a word in more premises than this share says little about what they are about
KNOWN = 0.6  # a passage with more of the claim's telling words may well support or contradict it
MENTIONED = 0.5  # a sentence of the same page with this share of them may, too


class Neighbours:
    """The premises of a source that share telling words with a claim, as a search would bring them."""

    def __init__(self, premises: Iterable[str]) -> None:
        self.premises = sorted(set(premises))
        self._words = [frozenset(normalised(text).split()) for text in self.premises]
        self._holding: dict[str, list[int]] = {}
        for i, words in enumerate(self._words):
            for word in words:
                self._holding.setdefault(word, []).append(i)

    def near(self, claim: str, premise: str, most: int = 8, known: float = KNOWN) -> list[str]:
        """At most `most` premises about something near, best first, without those that may decide the claim: with more
        than the share `known` of its telling words."""
        words = set(normalised(claim).split())
        few = max(3, COMMON * len(self.premises))
        telling = {w for w in words if len(self._holding.get(w, ())) <= few}
        scores: defaultdict[int, float] = defaultdict(float)
        for word in telling:
            for i in self._holding.get(word, ()):
                scores[i] += 1 / len(self._holding[word]) ** 0.5
        found = []
        for i, _ in sorted(scores.items(), key=lambda item: (-item[1], item[0])):
            text = self.premises[i]
            if text[:40] != premise[:40] and len(telling & self._words[i]) <= known * len(telling):
                found.append(text)
                if len(found) == most:
                    break
        return found

    def others(self, premise: str, most: int, rng: random.Random) -> list[str]:
        """Premises at random, none of them the given one."""
        drawn = (rng.choice(self.premises) for _ in range(most))
        return [text for text in drawn if text != premise]


def in_chunk(text: str, others: list[str], rng: random.Random) -> str:
    """The text set between others, of `CHUNK` characters or a little less."""
    parts, length = [text], len(text)
    for other in others:
        if length >= CHUNK:
            break
        cut = other[: CHUNK - length]
        parts.insert(rng.randint(0, len(parts)), cut if cut == other else cut.rsplit(" ", 1)[0])
        length += len(other) + 1
    return " ".join(parts)


class Pages:
    """The sentences of each page, put together from all premises taken from it."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self._sentences: dict[str, dict[str, frozenset[str]]] = defaultdict(dict)
        self._about: dict[str, set[str]] = defaultdict(set)  # of a claim: all sentences it is paired with
        for p in pairs:
            if p.page:
                own = sentences(p.premise)
                self._sentences[p.page] |= {s: frozenset(normalised(s).split()) for s in own}
                self._about[p.hypothesis].update(own)
        words = [w for page in self._sentences.values() for w in page.values()]
        counts = Counter(word for held in words for word in held)
        self._common = {word for word, n in counts.items() if n > max(3, COMMON * len(words))}

    def others(self, p: Pair) -> list[str]:
        """The sentences of the pair's page that the claim is not paired with, those that share most words first."""
        words = set(normalised(p.hypothesis).split()) - self._common
        held = self._sentences.get(p.page, {})
        return sorted(held.keys() - self._about[p.hypothesis], key=lambda s: (-len(words & held[s]), s))

    def silent(self, p: Pair) -> list[str]:
        """Those of `others` that say nothing of what the claim says."""
        telling = set(normalised(p.hypothesis).split()) - set(normalised(p.page).split()) - self._common
        held = self._sentences.get(p.page, {})
        return [s for s in self.others(p) if len(telling & held[s]) < MENTIONED * len(telling)]


def sentences(premise: str) -> list[str]:
    """The sentences of a premise, in order, without titles and other fragments."""
    return [s for s in re.split(r"(?<=[.!?])\s+(?=[A-Z\"(])", premise) if s.count(" ") >= 3]


def on_its_page(p: Pair, silent: list[str], rng: random.Random) -> Pair:
    """The premise among other sentences of its page."""
    title = f"{p.page}. " if p.premise.startswith(f"{p.page}. ") else ""
    return replace(p, premise=title + in_chunk(p.premise[len(title) :], rng.sample(silent, min(3, len(silent))), rng))


def elsewhere_on_its_page(p: Pair, silent: list[str], rng: random.Random) -> Pair:
    """The claim against a passage of the same page that is silent about it."""
    first, *others = rng.sample(silent, min(rng.randint(1, 4), len(silent)))
    return replace(p, premise=f"{p.page}. {in_chunk(first, others, rng)}", target=1)


# A page agrees with itself: what is entailed by one of its passages is not contradicted by another, and what is
# contradicted by one is entailed by none. So much is sure of passages that search finds near the claim's words.
RULED_OUT = {0: NOT_CONTRADICTION, 2: NOT_ENTAILMENT}


def nearest_on_its_page(p: Pair, others: list[str], rng: random.Random) -> Pair:
    """The claim against those other sentences of its page that share most words with it."""
    first, *more = others[: rng.randint(1, 3)]
    return replace(p, premise=f"{p.page}. {in_chunk(first, more, rng)}", target=RULED_OUT[p.target])


def in_part(p: Pair, rng: random.Random) -> Pair | None:
    """The claim against some of its premise's sentences; None where there is but one."""
    parts = sentences(p.premise)
    if len(parts) < 2:
        return None
    chosen = sorted(rng.sample(range(len(parts)), rng.randint(1, len(parts) - 1)))
    return replace(p, premise=" ".join(parts[i] for i in chosen), target=RULED_OUT[p.target])


@dataclass(frozen=True)
class Surroundings:
    """The other texts of the sources and pages of the pairs to draw from."""

    near: dict[str, Neighbours]
    pages: Pages


def surroundings(pairs: list[Pair]) -> Surroundings:
    """The surroundings of encyclopaedic sources: everyday scenes (SNLI, MNLI) are not what pages hold."""
    by_source: dict[str, list[str]] = defaultdict(list)
    for p in pairs:
        if "snli" not in p.source and "mnli" not in p.source:
            by_source[p.source].append(p.premise)
    return Surroundings({source: Neighbours(premises) for source, premises in by_source.items()}, Pages(pairs))


def one_pass(
    pairs: list[Pair],
    seed: int,
    around: Surroundings | None,
    longer: float = 0.2,
    strangers: float = 0.25,
    elsewhere: float = 0.4,
    partly: float = 0.3,
) -> list[Pair]:
    """The pairs of one pass: each source by its share, some premises within a chunk of others, and some claims of any
    label against a passage that is silent about them, of the same page or of one near it, or that tells only in part,
    so that neither a claim's wording nor a common subject decides anything."""
    rng = random.Random(seed)
    drawn = []
    for p in pairs:
        if rng.random() >= SOURCES.get(p.source, Source()).share:
            continue
        index = around.near.get(p.source) if around else None
        used = SOURCES.get(p.source, Source()).around
        if around is None or index is None or used == "none":
            drawn.append(p)
            continue
        silent = around.pages.silent(p)
        found = index.near(p.hypothesis, p.premise) if used == "near" else []
        others = index.others(p.premise, 2, rng)
        if found:
            others.insert(0, rng.choice(found))
        if len(p.premise) < CHUNK - 150 and rng.random() < longer:
            drawn.append(
                on_its_page(p, silent, rng) if silent else replace(p, premise=in_chunk(p.premise, others, rng))
            )
        else:
            drawn.append(p)
        if silent and rng.random() < elsewhere:
            drawn.append(elsewhere_on_its_page(p, silent, rng))
        if p.target in RULED_OUT:
            if (mates := around.pages.others(p)) and rng.random() < elsewhere:
                drawn.append(nearest_on_its_page(p, mates, rng))
            if rng.random() < partly and (part := in_part(p, rng)):
                drawn.append(part)
        if found and rng.random() < strangers:
            stranger = rng.choice(found)
            if rng.random() < 0.5:
                stranger = in_chunk(stranger, others[-2:], rng)
            drawn.append(replace(p, premise=stranger, target=1, weight=0.7 * p.weight))
    return drawn
