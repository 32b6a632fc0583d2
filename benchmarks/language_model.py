"""The replies of the configured language model to every prompt, on one short answer, for a person to read.

OPENAI_BASE_URL=http://127.0.0.1:8081/v1 OPENAI_MODEL=local python -m benchmarks.language_model [NAME …] [--out FILE.md]

NAME is a segmenter that asks a language model, or worthiness, independence or enrichment. Nothing is cached.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from attribution.claims import enrichment, worthiness
from attribution.claims.context import check_independence
from attribution.claims.llm_annotation import LlmAnnotator
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.tables import LLM
from attribution.types import Claim, Failure

QUESTION = "Who designed the Sydney Opera House?"
ANSWER = (
    "The Sydney Opera House, which stands on Bennelong Point, was designed by the Danish architect Jørn Utzon. "
    "He won a competition in 1957, but resigned in 1966 and never saw the finished building. "
    "I think it is the loveliest theatre in the world."
)
STAGES = ("worthiness", "independence", "enrichment")
SEGMENTING = tuple(name for name, entry in SEGMENTERS.items() if LLM in entry.needs)


def segment(name: str, settings: Settings) -> Iterator[str]:
    result = SEGMENTERS.build(name, settings).segment(QUESTION, ANSWER)
    for claim in result.claims:
        words = " … ".join(ANSWER[a:b] for a, b in claim.spans) or "not in the answer"
        yield f"{claim.text} ({claim.alignment:.2f}: {words})"
    yield from summary(result.failures, result.usage)


def annotate(name: str, settings: Settings) -> Iterator[str]:
    """One stage by the language model, those before it by rules."""
    claims: Sequence[Claim] = SEGMENTERS.build("sentences", settings).segment(QUESTION, ANSWER).claims
    annotator = LlmAnnotator(settings, Store.open(settings.database_url), threading.Event())
    by_rules = check_independence(worthiness.classify(claims))
    if name == "worthiness":
        claims_by_llm, failures = annotator.worthiness(QUESTION, claims)
        lines = [f"{c.text} → {c.worthiness}: {c.worthiness_reason}" for c in claims_by_llm]
    elif name == "independence":
        claims_by_llm, failures = annotator.independence("", by_rules)
        lines = [f"{c.text} → {c.independent}: {c.independence_reason}" for c in claims_by_llm]
    else:
        claims_by_llm, failures = annotator.enrichment(QUESTION, ANSWER, by_rules)
        rules, _ = enrichment.enrich(QUESTION, ANSWER, by_rules)
        lines = [f"{c.text} → {c.enriched} (rules: {r.enriched})" for c, r in zip(claims_by_llm, rules, strict=True)]
    yield from lines
    yield from summary(failures, annotator.usage)


def summary(failures: Sequence[Failure], usage: object) -> Iterator[str]:
    yield from (f"FAILURE {f.message}" for f in failures)
    yield str(usage)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[[], *SEGMENTING, *STAGES], default=[], metavar="NAME")
    parser.add_argument("--out", type=Path, help="a Markdown file to add to")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one prompt")
    parser.add_argument("--tokens", type=int, default=400, help="the longest reply")
    args = parser.parse_args(argv)
    for name in args.names or [*SEGMENTING, *STAGES]:
        with tempfile.TemporaryDirectory() as folder:
            settings = Settings.from_environment(
                database_url=f"sqlite:///{folder}/cache.sqlite3", llm_workers=1, llm_retries=0,
                llm_timeout=args.timeout, llm_deadline=args.timeout, llm_tokens=args.tokens,
            )  # fmt: skip
            started = time.perf_counter()
            run: Callable[[str, Settings], Iterator[str]] = segment if name in SEGMENTING else annotate
            lines = [f"- {line}" for line in run(name, settings)]
            text = f"### {name} ({time.perf_counter() - started:.0f} s)\n\n" + "\n".join(lines) + "\n"
        print(text, flush=True)
        if args.out:
            with args.out.open("a", encoding="utf-8") as file:
                file.write(text + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
