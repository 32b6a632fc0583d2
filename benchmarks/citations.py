"""Citations of the 224 answers of ExpertQA: recognised marks, precision and recall, agreement with people.

    python -m benchmarks.citations DATA [--verifier NAME] [--out docs/figures/citations.json]

DATA holds eval/expertqa_val.jsonl.gz. The passages that its people read stand in for the cited pages; nothing is
fetched, so that a source without a passage counts as unreachable.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attribution.pipeline.claims import annotate, segment
from attribution.review.citations import check
from attribution.review.marks import Cited, find
from attribution.review.support import CitationReport, CitedSources, support
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.text.passages import plain
from attribution.text.urls import canonical
from attribution.types import Page, Report, content_id
from attribution.verifiers import VERIFIERS, policy_of
from attribution.verifiers.pairs import CachedVerifier
from benchmarks import arguments, publish
from benchmarks.evaluation_sets import held_out, rows

EVIDENCE = re.compile(r"\[(\d+)\]\s+(\S+)\s*(.*)", re.DOTALL)
# Whatever could be a mark, found without the reader of marks: brackets with a figure or caret, raised figures,
# addresses, "(source …", "et al.", a name and a year in brackets, the heading of a list.
LOOKS_LIKE = re.compile(
    r"\[[^\[\]\n]{0,40}[\d^][^\[\]\n]{0,40}\]|[⁰¹²³⁴-⁹]+|【[^】\n]*】|https?://\S+|\bwww\.\S+"
    r"|\((?:sources?|refs?|via|see)\b[^)\n]*\)|\bet al\b|\([A-Z][^()\n]*\b(?:19|20)\d\d\)"
    r"|^\W*(?:sources?|references?|bibliography|works cited)\b[^\w\n]*(?:$|:)",
    re.IGNORECASE | re.MULTILINE,
)
POWER = re.compile(r"(?<![^\W\d_])(?:[^\W\d_]|[kcm]m)$")  # before a raised figure that is no mark: m², Z²


def unrecognised(answer: str, cited: Cited) -> list[str]:
    """Texts that look like a mark and are neither one nor part of a list, with the words around them."""
    found = []
    for match in LOOKS_LIKE.finditer(answer):
        known = any(m.start < match.end() and match.start() < m.end for m in cited.marks)
        power = match[0][0] in "²³" and POWER.search(answer[: match.start()])
        if not known and not cited.lists.holds(match.start()) and not power:
            found.append(answer[max(0, match.start() - 40) : match.end() + 20])
    return found


def pages_of(row: Mapping[str, Any]) -> tuple[Page, ...]:
    """A page for each address with passages: all that people were shown of it."""
    texts: dict[str, dict[str, None]] = defaultdict(dict)
    addresses: dict[str, str] = {}
    for claim in row["claims"]:
        for evidence in claim["evidence"]:
            match = EVIDENCE.match(evidence)
            if match and match[3].strip():
                texts[canonical(match[2])][match[3].strip()] = None
                addresses[canonical(match[2])] = match[2]
    made = []
    for key, passages in texts.items():
        text = "\n\n".join(passages)
        sha = hashlib.sha256(text.encode()).hexdigest()
        made.append(
            Page(id=content_id(key, sha), url=addresses[key], title="", site="", kind="web", fetched_at="", sha256=sha,
                 text=text)
        )  # fmt: skip
    return tuple(made)


def checked(row: Mapping[str, Any], settings: Settings, store: Store) -> tuple[Report, CitationReport]:
    """The answer's claims, and what came of its citations."""
    answer, question = row["answer"], row["question"]
    claims, _ = annotate(question, answer, segment(question, answer, settings).claims, [], None)
    report = Report(
        id="", created_at="", question=question, answer=answer, settings=settings.public(), versions={},
        claims=tuple(claims), pages=pages_of(row),
    )  # fmt: skip
    *_, result = check(report, settings, store, listed="\n".join(row["attribution_urls"]), save=False)
    assert isinstance(result, CitationReport)
    return report, result


def judged_by_people(row: Mapping[str, Any], report: Report, result: CitationReport) -> Iterator[tuple[str, bool]]:
    """(a person's label, whether the citations support the claim) for the claims whose sources could be read."""
    extents = {c.id: (min(a for a, _ in c.spans), max(b for _, b in c.spans)) for c in report.claims if c.spans}
    for claim in row["claims"]:
        start = report.answer.find(claim["claim"].strip())
        if start < 0 or not claim["label"] or not any("\n\n" in e for e in claim["evidence"]):
            continue
        end = start + len(claim["claim"].strip())
        inside = [
            c for c in result.claims
            if c.standing in ("cited_supported", "cited_not_supported")
            and start <= (extents[c.claim_id][0] + extents[c.claim_id][1]) / 2 < end
        ]  # fmt: skip
        if inside:
            yield claim["label"], all(c.together for c in inside)


def by_verifier(row: Mapping[str, Any], settings: Settings, verifier: CachedVerifier) -> Iterator[tuple[str, bool]]:
    """The same with people's own claims and passages: what the verifier alone says."""
    cited, labels = [], []
    for claim in row["claims"]:
        passages = [m[3].strip() for e in claim["evidence"] if (m := EVIDENCE.match(e)) and m[3].strip()]
        text = plain(claim["claim"]).strip()
        if claim["label"] and passages and any(map(str.isalnum, text)):
            labels.append(claim["label"])
            cited.append(CitedSources(text, tuple(((p, ""),) for p in passages)))
    for label, found in zip(labels, support(cited, verifier.verify, policy_of(settings)), strict=True):
        yield label, found.together


def agreement(pairs: Sequence[tuple[str, bool]]) -> dict[str, Any]:
    """Shares of people's labels that come out as supported; Complete counts as support."""
    counts, supported = Counter(label for label, _ in pairs), Counter(label for label, yes in pairs if yes)
    right = sum((label == "Complete") == yes for label, yes in pairs)
    yes = sum(supported.values())
    return {
        "claims": len(pairs),
        "agree": right / len(pairs) if pairs else None,
        "supported and Complete, of the supported": supported["Complete"] / yes if yes else None,
        "supported, by label": {k: f"{supported[k]} of {counts[k]}" for k in sorted(counts)},
    }


def alce(results: Sequence[CitationReport]) -> dict[str, Any]:
    """Means over answers, as ALCE reports them, and what they are means of."""

    def mean(values: Sequence[float | None]) -> float | None:
        known = [v for v in values if v is not None]
        return sum(known) / len(known) if known else None

    standing = Counter(c.standing for r in results for c in r.claims)
    strict = [sum(c.together for c in r.claims) / len(r.claims) for r in results if r.claims]
    every = [(r.figures.useful, len(r.citations)) for r in results if r.citations]
    return {
        "answers": len(results),
        "marks": sum(len(r.marks) for r in results),
        "marks on no factual claim": sum(len(r.unattached) for r in results),
        "factual claims": sum(len(r.claims) for r in results),
        "standing": dict(standing),
        "recall": mean([r.figures.recall for r in results]),
        "answers with recall": sum(r.figures.recall is not None for r in results),
        "precision": mean([r.figures.precision for r in results]),
        "answers with precision": sum(r.figures.precision is not None for r in results),
        "recall, sources without a passage counted against": mean(strict),
        "answers with that recall": len(strict),
        "precision, sources without a passage counted against": mean([a / b for a, b in every]),
        "answers with that precision": len(every),
    }


def main() -> None:
    p = arguments(__doc__, "eval/expertqa_val.jsonl.gz")
    p.add_argument("--verifier", default="auto", help="by default auto")
    p.add_argument("--work", type=Path, metavar="FILE", help="a database that keeps what was computed, to go on later")
    p.add_argument("--most", type=int, metavar="N", help="check the citations of the first N answers only")
    args = p.parse_args()
    answers = list(rows(args.data / "eval" / "expertqa_val.jsonl.gz"))
    missed = [words for row in answers for words in unrecognised(row["answer"], find(row["answer"]))]
    forms = Counter(mark.form for row in answers for mark in find(row["answer"]).marks)
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{args.work or Path(folder) / 'citations.sqlite3'}"
        settings = Settings(verifier=args.verifier, max_pages=0, database_url=database)
        store = Store.open(database)
        verifier = CachedVerifier(VERIFIERS.build(settings.verifier, settings), store)
        results, product, alone = [], dict[str, list[tuple[str, bool]]](), list[tuple[str, bool]]()
        for number, row in enumerate(answers[: args.most], 1):
            report, result = checked(row, settings, store)
            results.append(result)
            product[row["id"]] = list(judged_by_people(row, report, result))
            alone += by_verifier(row, settings, verifier)
            if number % 10 == 0:
                print(f"{number} of {len(answers)}", flush=True)
        store.close()
    publish(
        {
            "verifier": verifier.version,
            "marks in all answers, by form": dict(forms),
            "looks like a mark and is not recognised": missed,
            **alce(results),
            "agreement with people": agreement([pair for pairs in product.values() for pair in pairs]),
            "agreement, answers nothing was trained on": agreement(
                [pair for key, pairs in product.items() if held_out(key) for pair in pairs]
            ),
            "the verifier alone, on people's claims and passages": agreement(alone),
        },
        args.out,
    )


if __name__ == "__main__":
    main()
