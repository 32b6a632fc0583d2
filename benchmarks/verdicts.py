"""The worth of a badge: claims with their passages → the claim's badge, beside people's judgements.

    python -m benchmarks.verdicts DATA [--verifier NAME …] [--sets NAME …] [--limit N]
        [--out FILE.json] [--held-out] [--addresses] [--judged FOLDER]

For each set and verifier: how many claims get each badge, how many of those are right, the harm
done (true claims shown as contradicted, unsupported ones as supported), and how precision falls as
coverage grows. Claims of answers that a verifier may have been trained on are reported apart from
the held-out ones. `--judged` writes the badges and whether they are right, a file for each
verifier, for `python -m attribution calibrate`.
"""

from __future__ import annotations

import argparse
import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from attribution.evidence.steps import PREPARATION, STEPS
from attribution.pipeline.judge import JudgedClaim, Passage, judge
from attribution.settings import ROOT, Settings
from attribution.types import LABELS, Claim, Label, Verdict
from attribution.verdicts import LOWEST_THRESHOLD, DecisionPolicy, counted, decide
from attribution.verifiers import VERIFIERS
from benchmarks.evaluation_sets import expertqa_claims, group, held_out, retrieved_passages, rows
from training.pairs import WRITTEN, document_of, is_held_out

LONG = 2_500  # characters: more is cut into passages, as in a run
MAX_CLAIM = 450  # characters of a claim, as in training
NAMES = ("prose", *PREPARATION, *STEPS, "thresholds", "weighing", "hearsay")
BADGES: tuple[Label, ...] = ("supported", "contradicted")
LOWEST = DecisionPolicy(LOWEST_THRESHOLD, LOWEST_THRESHOLD)
COLUMNS = (
    "supported right",
    "strong supported right",
    "contradicted right by stance",
    "contradicted right by truth",
    "true shown as contradicted",
    "false shown as supported",
)


@dataclass(frozen=True)
class LabelledClaim:
    """A claim with people's judgement of it; None where they did not give one."""

    text: str
    passages: Sequence[Passage | str]
    answer: str  # the id of the answer it is from
    supported: bool | None  # do the passages support it?
    refuted: bool | None  # do they refute it?
    true: bool | None  # is it true, whatever the passages say?


def factcheck_bench(folder: Path) -> Iterator[LabelledClaim]:
    """Claims of ChatGPT answers, five web passages each with its stance; supported: at least in
    part by one of them.
    """
    for row in rows(folder / "eval" / "factcheck_bench_dev.jsonl.gz"):
        for claim in row["claims"]:
            if claim["checkworthiness"] != "factual" or not claim["claim"].strip():
                continue
            found = zip(
                claim["evidence"], claim["evidence_urls"], claim["evidence_stance"], strict=True
            )
            stated = [(Passage(e, url), stance) for e, url, stance in found if e.strip()]
            if not stated:
                continue
            stances = {stance for _, stance in stated}
            yield LabelledClaim(
                claim["claim"].strip(),
                [passage for passage, _ in stated],
                row["id"],
                bool(stances & {"completely-support", "partially-support"}),
                "refute" in stances,
                claim["label"] if isinstance(claim["label"], bool) else None,
            )


def wice(folder: Path) -> Iterator[LabelledClaim]:
    """Claims of Wikipedia against the chunks of the cited article that a search would bring."""
    for row in rows(folder / "eval" / "wice_claim_dev.jsonl.gz"):
        passages = retrieved_passages(row["claim"], "\n".join(row["evidence"]))
        supported = row["label"] == "supported"
        yield LabelledClaim(row["claim"], passages, row["id"], supported, None, None)


def expertqa(folder: Path) -> Iterator[LabelledClaim]:
    """Claims of six systems' answers against the chunks of the pages they cite that a search would
    bring.
    """
    for answer, claim, passages, complete in expertqa_claims(
        folder / "eval" / "expertqa_val.jsonl.gz"
    ):
        if sum(len(p.text) for p in passages) > LONG:
            chunks = retrieved_passages(claim, "\n\n".join(p.text for p in passages))
            passages = tuple(
                Passage(c, next((p.url for p in passages if c in p.text), "")) for c in chunks
            )
        if passages:
            yield LabelledClaim(claim, passages, answer, complete, None, None)


def written(folder: Path) -> Iterator[LabelledClaim]:
    """Claims written by hand, each against the passages of its whole document that a search would
    bring; thresholds are chosen on those that aren't held out, whatever the folder.
    """
    documents: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for name in ("claims", "plain"):
        for row in rows(WRITTEN / f"{name}.jsonl.gz"):
            documents[document_of(row["id"])].append(row)
    for document, parts in documents.items():
        if not is_held_out(document):
            continue
        text = "\n\n".join(part["passage"] for part in parts)
        labels: dict[str, set[str]] = defaultdict(set)
        for part in parts:
            for label, _, claim in part["claims"]:
                labels[claim].add(label)
        for claim, found in labels.items():
            chunks = retrieved_passages(claim, text)
            passages = [Passage(chunk, "", parts[0]["title"]) for chunk in chunks]
            true = "E" in found
            refuted = not true and "C" in found
            known = true if true or refuted else None
            yield LabelledClaim(claim, passages, document, true, refuted, known)


def rumours(_folder: Path) -> Iterator[LabelledClaim]:
    """Invented rumours and facts, each on a page of some genre, whatever the folder.

    They were seen when the steps that tell genres apart were written.
    """
    for line in (ROOT / "tests" / "data" / "rumours.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        passages = [Passage(**passage) for passage in row["passages"]]
        true = row["true"]
        yield LabelledClaim(row["claim"], passages, passages[0].url, true, not true, true)


@dataclass(frozen=True)
class Pairs:
    """A set of claims with one passage each, and the meaning of its labels; rows with others are
    left out.
    """

    file: str
    supported: str
    neither: tuple[
        str, ...
    ]  # of the passage's silence, or, where the two are one class, also of its contradiction
    refuted: str = ""  # empty where that is no class of its own
    split: str = ""

    def __call__(self, folder: Path) -> Iterator[LabelledClaim]:
        for row in rows(folder / f"{self.file}.jsonl.gz"):
            label, claim = row["label"], row.get("claim") or row["hypothesis"]
            found = row.get("evidence") or row["premise"]
            text = found if isinstance(found, str) else " ".join(found)
            if label not in (self.supported, self.refuted, *self.neither) or self.split not in (
                "",
                row.get("split"),
            ):
                continue
            shared = group(Path(self.file).name, row["id"]) if "id" in row else text
            passages = (text,) if len(text) <= LONG else retrieved_passages(claim, text)
            if claim.strip() and len(claim) <= MAX_CLAIM and text.strip() and passages:
                refuted = label == self.refuted if self.refuted else None
                yield LabelledClaim(
                    claim.strip(),
                    passages,
                    shared,
                    label == self.supported,
                    refuted,
                    None,
                )


PUBLIC: dict[str, Callable[[Path], Iterator[LabelledClaim]]] = {
    "factcheck_bench_dev": factcheck_bench,
    "wice_claim_dev": wice,
    "expertqa_val": expertqa,
    "begin_dev": Pairs(
        "eval/begin_dev", "Fully attributable", ("Not fully attributable", "Generic")
    ),
    "q2_wow": Pairs("eval/q2_wow", "consistent", ("inconsistent",)),
    "faithdial_audit": Pairs("eval/faithdial_audit", "entailment", ("hallucination",)),
    "citation_integrity": Pairs("eval/citation_integrity", "SUPPORT", ("NEI",), "REFUTE"),
    "fever_nli": Pairs("nli/fever_nli", "entailment", ("neutral",), "contradiction", split="test"),
    "check_covid": Pairs("nli/check_covid", "entailment", ("neutral",), "contradiction"),
    "cg2c_doc": Pairs("nli/cg2c_doc", "entailment", ("not_entailment",)),
}
SETS = PUBLIC | {"rumours": rumours, "written": written}
WITH_PASSAGES = tuple(PUBLIC)[:3]  # as a run finds them


def figures(claims: Sequence[LabelledClaim], judged: Sequence[JudgedClaim]) -> dict[str, Any]:
    """The worth of the badges of one set."""
    pairs = list(zip(claims, (j.verdict for j in judged), strict=True))
    labels = Counter(v.label for _, v in pairs)
    supported = [c for c, v in pairs if v.label == "supported"]
    contradicted = [c for c, v in pairs if v.label == "contradicted"]
    graded = [(c, j) for c, j in zip(claims, judged, strict=True) if j.strength == "strong"]
    true = [v for c, v in pairs if c.true]
    found: dict[str, Any] = {
        "claims": len(pairs),
        "badges": {label: labels[label] for label in LABELS},
        "coverage": sum(labels[b] for b in BADGES) / max(1, len(pairs)),
        "supported right": _share([bool(c.supported) for c in supported]),
        "strong supported right": _share(
            [bool(c.supported) for c, j in graded if j.verdict.label == "supported"]
        ),
        "supports shown": _share([v.label == "supported" for c, v in pairs if c.supported]),
    }
    if any(c.refuted is not None for c in claims):
        found["contradicted right by stance"] = _share([bool(c.refuted) for c in contradicted])
    if true:
        found["contradicted right by truth"] = _share(
            [c.true is False for c in contradicted if c.true is not None]
        )
        found["true shown as contradicted"] = _share([v.label == "contradicted" for v in true])
        found["false shown as supported"] = _share(
            [v.label == "supported" for c, v in pairs if c.true is False]
        )
    found["risk and coverage"] = {badge: risk_and_coverage(pairs, badge) for badge in BADGES}
    return found


def _share(right: Sequence[bool]) -> dict[str, float]:
    return {
        "right": sum(right),
        "of": len(right),
        "share": round(sum(right) / len(right), 3) if right else 0.0,
    }


def risk_and_coverage(
    pairs: Sequence[tuple[LabelledClaim, Verdict]], badge: Label
) -> list[tuple[float, float]]:
    """(share of all claims that get the badge, share of those that are right), the surest first."""
    shown = sorted(
        (pair for pair in pairs if pair[1].label == badge), key=lambda pair: -pair[1].confidence
    )
    curve, right = [], 0
    for n, (claim, _) in enumerate(shown, 1):
        right += bool(claim.supported if badge == "supported" else claim.refuted)
        curve.append((round(n / len(pairs), 4), round(right / n, 4)))
    return curve


def judged_rows(
    name: str, version: str, claims: Sequence[LabelledClaim], judged: Sequence[JudgedClaim]
) -> Iterator[dict[str, Any]]:
    """Yield the input of `attribution calibrate`: every badge at the lowest thresholds, and is it
    right?
    """
    for claim, of_claim in zip(claims, judged, strict=True):
        verdict = redecided(of_claim, LOWEST)
        right = {"supported": claim.supported, "contradicted": claim.refuted}.get(verdict.label)
        yield {
            "set": name,
            "group": claim.answer,
            "claim": claim.text,
            "verifier": version,
            "label": verdict.label,
            "confidence": verdict.confidence,
            "right": right,
        }


def redecided(judged: JudgedClaim, thresholds: DecisionPolicy) -> Verdict:
    """The verdict on a judged claim with other thresholds."""
    claim = Claim(id=judged.verdict.claim_id, text="", spans=(), worthiness="factual")
    pieces = {e.page_id: e for e in judged.evidence}.values()
    moved = [piece.model_copy(update={"relation": counted(piece, thresholds)}) for piece in pieces]
    return decide(claim, moved, thresholds)


def judged_by(
    name: str, claims: Sequence[LabelledClaim], settings: Settings, without: str
) -> list[JudgedClaim]:
    verifier = VERIFIERS.build(name, settings)
    policy = replace(DecisionPolicy.of(dict(settings)), skipped_steps=(without,))
    bar = tqdm(claims, desc=name, unit="claim")
    return [judge(claim.text, claim.passages, verifier, policy) for claim in bar]


def table(found: dict[str, dict[str, dict[str, Any]]]) -> str:
    """The figures as Markdown, a line for each set, fold and verifier."""
    lines = [
        "| set, fold | verifier | claims | supported: right | strong ones: right "
        "| contradicted: right by stance, by truth | true shown as contradicted "
        "| false shown as supported | either badge |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for key, by_verifier in found.items():
        for verifier, f in by_verifier.items():
            cells = [
                f"{f[name]['right']} of {f[name]['of']}" if name in f else "–" for name in COLUMNS
            ]
            right, strong, by_stance, by_truth, harmed, passed = cells
            lines.append(
                f"| {key} | {verifier} | {f['claims']} | {right} | {strong} | {by_stance}, "
                f"{by_truth} "
                f"| {harmed} | {passed} | {f['coverage']:.0%} |"
            )
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder that holds eval/")
    parser.add_argument("--verifier", nargs="+", default=["embedded-base", "embedded-small"])
    parser.add_argument(
        "--sets",
        nargs="+",
        default=WITH_PASSAGES,
        choices=[*SETS, "all"],
        help="all: the public ones",
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="any setting"
    )
    parser.add_argument("--limit", type=int, help="claims of each set, drawn by a hash")
    parser.add_argument("--out", type=Path)
    parser.add_argument(
        "--addresses",
        action="store_true",
        help="give each passage its address, where a set has them",
    )
    parser.add_argument(
        "--held-out", action="store_true", help="only the claims that no verifier was trained on"
    )
    parser.add_argument(
        "--judged", type=Path, metavar="FOLDER", help="write VERIFIER.jsonl for `calibrate` there"
    )
    parser.add_argument("--without", default="", choices=NAMES, help="leave a step out")
    args = parser.parse_args(argv)
    settings = Settings.from_environment(**dict(pair.split("=", 1) for pair in args.set))
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for name in PUBLIC if "all" in args.sets else args.sets:
        claims = [c for c in SETS[name](args.data) if held_out(c.answer) or not args.held_out]
        if not args.addresses:
            texts = ([Passage.of(p).text for p in c.passages] for c in claims)
            claims = [replace(c, passages=some) for c, some in zip(claims, texts, strict=True)]
        if args.limit and len(claims) > args.limit:
            claims = sorted(claims, key=lambda c: zlib.crc32(c.text.encode()))[: args.limit]
        held = [held_out(claim.answer) for claim in claims]
        for verifier in args.verifier:
            judged = judged_by(verifier, claims, settings, args.without)
            version = VERIFIERS.build(verifier, settings).version
            if args.judged:
                with (args.judged / f"{verifier}.jsonl").open("a", encoding="utf-8") as out:
                    out.writelines(
                        json.dumps(row) + "\n" for row in judged_rows(name, version, claims, judged)
                    )
            for fold, chosen in (("all", [True] * len(claims)), ("held out", held)):
                part = [i for i, c in enumerate(chosen) if c]
                found.setdefault(f"{name}, {fold}", {})[verifier] = figures(
                    [claims[i] for i in part], [judged[i] for i in part]
                )
    print(table(found))
    if args.out:
        args.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
