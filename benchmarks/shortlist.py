"""Verdicts that a shortlist changes: claims judged with a shortlist and with every chunk embedded.

    python -m benchmarks.shortlist DATA [--sizes 40 30 20] [--sets wice …] [--pools 0 1] [--out FILE]

wice: 25 cited articles in one pool with up to 40 of their claims; expertqa: the passages that 30 answers cite, and up
to 60 of their claims; examples: the library with the claims of the example answers; script: the claims and pages of
benchmarks.pipeline, 10 and 30 claims. Prints the share of claims with the same verdict, and the share of the passages
judged that are the same.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from attribution.evidence.matching import Matcher
from attribution.fetching.page import Extracted, make_page
from attribution.settings import ROOT, Settings
from attribution.store.store import Store
from attribution.types import Claim, Page
from attribution.verdicts import decide
from attribution.verifiers import policy_of
from benchmarks import arguments, publish, retrieval
from benchmarks.evaluation_sets import expertqa_claims
from benchmarks.examples import examples
from benchmarks.pipeline.workload import make

ARTICLES, ANSWERS = 25, 30  # in a pool
MOST = {"wice": 40, "expertqa": 60, "examples": 200, "script": 30}  # claims of a pool


class Pool(NamedTuple):
    name: str
    claims: Sequence[str]
    pages: Sequence[Page]


def page(number: int, text: str, title: str = "") -> Page:
    return make_page(f"https://page{number}.invalid/", "web", Extracted(title, text))


def wice(data: Path, numbers: Sequence[int]) -> Iterator[Pool]:
    cases: dict[str, list[retrieval.Case]] = {}
    for case in retrieval.cases(data, 349):
        cases.setdefault(case.page.id, []).append(case)
    articles = list(cases.values())
    for number in numbers:
        some = articles[number * ARTICLES : (number + 1) * ARTICLES]
        yield Pool("wice", [c.claim for of_page in some for c in of_page], [of_page[0].page for of_page in some])


def expertqa(data: Path, numbers: Sequence[int]) -> Iterator[Pool]:
    answers: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for answer, claim, passages, _ in expertqa_claims(data / "eval" / "expertqa_val.jsonl.gz"):
        answers.setdefault(answer, []).append((claim, passages))
    claims = list(answers.values())
    for number in numbers:
        some = [one for of_answer in claims[number * ANSWERS : (number + 1) * ANSWERS] for one in of_answer]
        texts = dict.fromkeys(text for _, passages in some for text in passages)
        yield Pool("expertqa", [claim for claim, _ in some], [page(n, text) for n, text in enumerate(texts)])


def library(data: Path, numbers: Sequence[int]) -> Iterator[Pool]:
    articles = sorted((ROOT / "examples" / "library").glob("*.md"))
    pages = [page(n, p.read_text(encoding="utf-8"), p.stem) for n, p in enumerate(articles)]
    yield Pool("examples", [claim["text"] for example in examples() for claim in example["claims"]], pages)


def script(data: Path, numbers: Sequence[int]) -> Iterator[Pool]:
    for count in (10, 30):
        made = make(count)
        yield Pool("script", made.claims, [page(n, "\n".join(p.paragraphs), p.title) for n, p in enumerate(made.pages)])


SETS = {"wice": wice, "expertqa": expertqa, "examples": library, "script": script}


def judged(pool: Pool, settings: Settings, store: Store) -> list[tuple[str, set[tuple[str, int]]]]:
    """The label of each claim and the places of its passages."""
    matcher = Matcher(settings, store, "")
    for one in pool.pages:
        matcher.add(one)
    texts = pool.claims[: MOST[pool.name]]
    claims = [Claim(id=f"c{n}", text=text, spans=((0, len(text)),)) for n, text in enumerate(texts)]
    evidence = [matcher.match([claim])[0] for claim in claims]
    return [
        (decide(claim, pieces, policy_of(settings)).label, {(e.page_id, e.start) for e in pieces})
        for claim, pieces in zip(claims, evidence, strict=True)
    ]


def main() -> None:
    p = arguments(__doc__, data="eval/")
    p.add_argument("--sizes", type=int, nargs="+", default=[40, 30, 20])
    p.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    p.add_argument("--pools", type=int, nargs="+", default=[0, 1], metavar="N", help="numbers of a set's pools")
    args = p.parse_args()
    table = []
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(f"sqlite:///{folder}/shortlist.sqlite3")
        for name in args.sets:
            pools = list(SETS[name](args.data, args.pools))
            everything = [one for pool in pools for one in judged(pool, Settings(shortlist=0), store)]
            row: dict[str, float | str] = {"set": name, "claims": len(everything)}
            for size in args.sizes:
                found = [one for pool in pools for one in judged(pool, Settings(shortlist=size), store)]
                pairs = list(zip(found, everything, strict=True))
                row[f"verdicts, {size}"] = sum(a[0] == b[0] for a, b in pairs) / len(pairs)
                shared, most = (sum(len(a[1] & b[1]) for a, b in pairs), sum(len(b[1]) for _, b in pairs))
                row[f"passages, {size}"] = shared / most
            table.append(row)
            print(row, flush=True)
        store.close()
    publish({"rows": table}, args.out)


if __name__ == "__main__":
    main()
