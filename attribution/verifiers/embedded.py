"""The small NLI model that is part of the project (training/README.md describes its training).

A cross-encoder reads claim and passage; a calibrated linear model combines its probabilities with the share of the
claim that the passage covers. Pairs are run one at a time: in a batch, int8 scales would depend on the other pairs, and
on CPUs a batch is no faster.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from attribution.errors import BadInput, Unavailable
from attribution.settings import Settings
from attribution.text.lexical import deciding_sentence, shared_words
from attribution.text.loading import load_once
from attribution.text.sentences import sentences
from attribution.types import Judgement, Pair, Span
from attribution.verifiers.calibration import Reading, combine, coverage, softmax, weight_of_length

FOLDER = Path(__file__).parent / "model"
WINDOW = 256  # tokens of claim and premise together
CLAIM_TOKENS = 160  # a longer claim leaves too little room for the premise
CLAIM_CHARACTERS = 10 * CLAIM_TOKENS  # checked before tokenising
EVIDENCE_CHARACTERS = 200_000
TITLE_TOKENS = 24


@cache
def _config(folder: Path) -> dict[str, Any]:
    try:
        loaded: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except OSError as error:
        raise Unavailable(
            f"the embedded model is missing from {folder}: restore it with `git checkout -- {folder}`"
        ) from error
    return loaded


class CrossEncoder:
    """Three-way NLI on int8 ONNX; its logits are entailed, no relation, contradicted."""

    def __init__(self, folder: Path) -> None:
        import onnxruntime
        import tokenizers

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # pairs run in parallel instead
        options.enable_cpu_mem_arena = False  # a long passage would keep its memory
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def encode(self, text: str) -> tuple[list[int], list[Span]]:
        """Token ids without special tokens, and the character span of each."""
        # a lone surrogate cannot be encoded
        encoding = self._tokenizer.encode(text.encode("utf-8", "replace").decode(), add_special_tokens=False)
        return encoding.ids, encoding.offsets

    def read(self, premise: Sequence[int], claim: Sequence[int]) -> Reading:
        """Run the network on the token ids of one window and a claim."""
        import numpy as np

        ids = np.array([[101, *premise, 102, *claim, 102]], dtype=np.int64)
        types = np.zeros_like(ids)
        types[0, len(premise) + 2 :] = 1
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": types}
        logits, vectors = self._session.run(None, feed)
        vectors = vectors[0] / np.maximum(np.linalg.norm(vectors[0], axis=1, keepdims=True), 1e-9)
        entailed, _, contradicted = softmax(logits[0])
        first = len(premise) + 2
        return Reading(entailed, contradicted, tuple(claim), tuple(premise), vectors[first:-1], vectors[1 : first - 1])


@load_once
def _encoder(folder: Path) -> CrossEncoder:
    return CrossEncoder(folder)


def windows(offsets: Sequence[Span], spans: Sequence[Span], room: int) -> list[tuple[int, int]]:
    """Token ranges of at most `room` that together cover all tokens; `offsets` and `spans` are of tokens and sentences.

    A range ends after a sentence where one fits, and the next begins with that sentence again, so that neighbouring
    sentences are read together.
    """
    if len(offsets) <= room:
        return [(0, len(offsets))]
    starts, token = [], 0
    for first, _ in spans:
        while token < len(offsets) and offsets[token][0] < first:
            token += 1
        starts.append(token)
    ranges: list[Span] = []
    start = 0
    while True:
        end = start + room
        if end >= len(offsets):
            return [*ranges, (start, len(offsets))]
        inside = [s for s in starts if start < s <= end]
        end = inside[-1] if inside else end
        ranges.append((start, end))
        start = inside[-2] if len(inside) > 1 else end


class Embedded:
    """Verifier `embedded`; `folder` holds model.onnx, tokenizer.json and config.json."""

    usage = None

    def __init__(self, settings: Settings, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._config = _config(folder)
        self.version: str = f"embedded/{self._config['version']}"

    def estimate(self, pairs: Sequence[Pair]) -> None:
        return None

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """One judgement for each pair. BadInput for a claim or evidence that is empty or too long."""
        for number, pair in enumerate(pairs, 1):
            for name, text, most in (
                ("claim", pair[0], CLAIM_CHARACTERS),
                ("evidence", pair[1], EVIDENCE_CHARACTERS),
            ):
                if not text.strip():
                    raise BadInput(f"pair {number}: the {name} is empty; expected text")
                if len(text) > most:
                    raise BadInput(
                        f"pair {number}: {len(text):,} characters of {name}, at most {most:,} can be read: split it"
                    )
        encoder = _encoder(self._folder)
        threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        if len(pairs) < 2 or threads < 2:
            return [self._verify_pair(encoder, *pair) for pair in pairs]
        with ThreadPoolExecutor(threads, thread_name_prefix="nli") as pool:
            return list(pool.map(lambda pair: self._verify_pair(encoder, *pair), pairs))

    def _verify_pair(self, encoder: CrossEncoder, claim: str, evidence: str, title: str = "") -> Judgement:
        features, sentence = self.features(encoder, claim, evidence, title)
        return Judgement(combine(self._config, features), sentence, {n: round(v, 4) for n, v in features.items()})

    def features(
        self, encoder: CrossEncoder, claim: str, evidence: str, title: str = ""
    ) -> tuple[dict[str, float], Span]:
        """The features of a pair by name, and the deciding sentence in characters of the evidence.

        The title precedes every window, since a passage from the middle of a page rarely names its subject.
        """
        claim_ids, _ = encoder.encode(claim)
        if len(claim_ids) > CLAIM_TOKENS:
            raise BadInput(
                f"the claim {claim[:40]!r}… has {len(claim_ids)} tokens, at most {CLAIM_TOKENS} fit: segment it first"
            )
        ids, offsets = encoder.encode(evidence)
        before = encoder.encode(f"{title}.")[0][:TITLE_TOKENS] if title and not evidence.startswith(title) else []
        spans = sentences(evidence)
        room = WINDOW - len(claim_ids) - len(before) - 3
        readings = [encoder.read([*before, *ids[a:b]], claim_ids) for a, b in windows(offsets, spans, room)]
        passage = max(readings, key=lambda r: max(r.entailed, r.contradicted))
        features = {
            "passage_entailed": passage.entailed,
            "passage_contradicted": passage.contradicted,
            "long": weight_of_length(evidence),
            "words": shared_words(claim, f"{title}. {evidence}"),
            **coverage(readings),
        }
        return features, deciding_sentence(claim, evidence)
