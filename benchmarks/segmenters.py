"""Decomposition of ExpertQA answers: how fine, how faithful, how complete (W24 3.1, 8).

python -m benchmarks.segmenters DATA [--segmenter NAME] [--verifier NAME] [--out FILE.json]

coverage    share of the content words of the answer's sentences that lie in a claim's spans
coherence   share of claims entailed by their own sentence, by the verifier; a whole sentence
            counts
divisible   share of claims that the same segmenter splits further
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from attribution.pipeline.judge import read_pairs
from attribution.segmenters import SEGMENTERS, Segmenter
from attribution.segmenters.english.drafts import CONTENT
from attribution.settings import Settings
from attribution.text.parse import parse
from attribution.text.passages import statements
from attribution.types import Claim, Span
from attribution.verdicts import DecisionPolicy
from attribution.verifiers import VERIFIERS, Verifier
from benchmarks import arguments, publish
from benchmarks.evaluation_sets import rows


@dataclass
class Tally:
    """Counts over all answers. `cut` counts the claims that are less than their whole sentence."""

    answers: int = 0
    sentences: int = 0
    whole: int = 0
    claims: list[str] = field(default_factory=list)
    words: int = 0
    covered: int = 0
    cut: int = 0
    coherent: int = 0
    divisible: int = 0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)
    incoherent: list[tuple[str, str]] = field(default_factory=list)  # claim, sentence

    def figures(self) -> dict[str, object]:
        claims = len(self.claims) or 1
        return {
            "answers": self.answers,
            "sentences": self.sentences,
            "claims": len(self.claims),
            "unique_claims": len({c.casefold() for c in self.claims}),
            "claims_per_sentence": round(len(self.claims) / max(1, self.sentences), 3),
            "sentences_left_whole": self.whole,
            "characters_per_claim": round(sum(map(len, self.claims)) / claims, 1),
            "coverage": round(self.covered / max(1, self.words), 4),
            "coherence": round((self.coherent + len(self.claims) - self.cut) / claims, 4),
            "coherence_of_cut": round(self.coherent / max(1, self.cut), 4),
            "divisible": round(self.divisible / claims, 4),
            "seconds": round(self.seconds, 1),
            "problems": self.problems,
        }


def sentences(answer: str) -> Iterator[tuple[str, Span, list[Span]]]:
    """Plain text of each sentence, its span in the answer, and the spans of its content words
    there.
    """
    for passage in statements(answer):
        for a, b in passage.sentences():
            words = [t for t in parse(passage.text[a:b]) if t.pos_ in CONTENT]
            yield (
                passage.text[a:b],
                passage.span(a, b),
                [passage.span(a + w.idx, a + w.idx + len(w.text)) for w in words],
            )


def faults(answer: str, claims: Sequence[Claim]) -> list[str]:
    """Empty claims, claims without a span or with one outside the answer, the same claim twice."""
    problems = [f"empty claim {c.id}" for c in claims if not any(x.isalnum() for x in c.text)]
    problems += [f"no span: {c.text!r}" for c in claims if not c.spans]
    problems += [
        f"span outside: {c.text!r}"
        for c in claims
        if any(not 0 <= a < b <= len(answer) for a, b in c.spans)
    ]
    texts = [" ".join(c.text.casefold().split()) for c in claims]
    return problems + [f"twice: {t!r}" for t in sorted({t for t in texts if texts.count(t) > 1})]


def measure(answer: str, segmenter: Segmenter, verifier: Verifier, tally: Tally) -> None:
    """Adds one answer to the tally."""
    started = time.perf_counter()
    claims = segmenter.segment("", answer).claims
    tally.seconds += time.perf_counter() - started
    tally.answers += 1
    tally.problems += faults(answer, claims)
    tally.claims += [c.text for c in claims]
    places = {i for c in claims for a, b in c.spans for i in range(a, b)}
    plain: dict[Span, str] = {}
    for text, span, words in sentences(answer):
        plain[span] = text
        tally.sentences += 1
        tally.words += len(words)
        tally.covered += sum(a in places and b - 1 in places for a, b in words)
    cut = [
        (c.text, plain[c.sentence])
        for c in claims
        if c.sentence in plain and c.text != plain[c.sentence]
    ]
    tally.cut += len(cut)
    tally.whole += len(claims) - len(cut)
    for pair, piece in zip(cut, read_pairs(cut, verifier, DecisionPolicy()), strict=True):
        p = piece.probabilities
        if p.entailed > max(p.contradicted, p.no_relation):
            tally.coherent += 1
        else:
            tally.incoherent.append(pair)
    tally.divisible += sum(len(segmenter.segment("", c.text).claims) > 1 for c in claims)


def main(argv: list[str] | None = None) -> int:
    parser = arguments(__doc__, data="eval/expertqa_val.jsonl.gz")
    parser.add_argument("--segmenter", default="clauses")
    parser.add_argument("--verifier", help="reads coherence; the default verifier if not given")
    args = parser.parse_args(argv)
    answers = [row["answer"] for row in rows(args.data / "eval" / "expertqa_val.jsonl.gz")]
    settings = Settings()
    segmenter = SEGMENTERS.build(args.segmenter, settings)
    verifier = VERIFIERS.build(args.verifier or settings.verifier, settings)
    parse("Loaded before the clock starts.")
    tally = Tally()
    for answer in answers:
        measure(answer, segmenter, verifier, tally)
        print(f"\r{tally.answers}/{len(answers)}", end="", file=sys.stderr)
    print(file=sys.stderr)
    figures = {"segmenter": args.segmenter, **tally.figures(), "incoherent": tally.incoherent}
    publish(figures, args.out)
    return bool(tally.problems)


if __name__ == "__main__":
    raise SystemExit(main())
