"""The small NLI model that is part of the project (training/README.md describes its training).

A cross-encoder reads claim and passage; a calibrated linear model combines its probabilities with
the share of the
claim that the passage covers. Passages that look decisive are read again sentence by sentence: a
passage on the claim's
subject that says something else is easily taken for a contradiction, a single sentence seldom is. A
claim that occurs
verbatim in the passage is entailed. Pairs are run one at a time: in a batch, int8 scales would
depend on the other
pairs, and on CPUs a batch is no faster.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NotRequired, TypedDict

from attribution.models.engine import OnnxModel, in_threads
from attribution.models.files import check_shipped
from attribution.models.loading import load_once
from attribution.policy import LOWEST_THRESHOLD
from attribution.settings import Settings
from attribution.text.sentences import sentences
from attribution.text.words import deciding_sentence, shared_words
from attribution.types import Judgement, Pair, Probabilities, Span
from attribution.verifiers.calibration import (
    Combiner,
    WindowOutput,
    combine,
    coverage,
    softmax,
    weight_of_length,
)
from attribution.verifiers.pairs import (
    check_claim_tokens,
    check_pairs,
    sharing,
    windows,
    word_for_word,
)

FOLDER = Path(__file__).parent / "small"
READING = "4"  # the version of the rules below, part of the verifier's version
WINDOW = 256  # tokens of claim and premise together
TITLE_TOKENS = 24


class _Config(TypedDict):
    version: str
    combiner: NotRequired[Combiner]


@cache
def _config(folder: Path) -> _Config:
    if folder == FOLDER:
        check_shipped(folder, "config.json")
    loaded: _Config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return loaded


class CrossEncoder(OnnxModel):
    """Three-way NLI on int8 ONNX; the logits are entailed, no relation, contradicted."""

    def read(self, premise: Sequence[int], claim: Sequence[int]) -> WindowOutput:
        """Run the network on the token ids of one window and a claim."""
        import numpy as np

        ids = np.array([[101, *premise, 102, *claim, 102]], dtype=np.int64)
        types = np.zeros_like(ids)
        types[0, len(premise) + 2 :] = 1
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": types}
        logits, vectors = self.run(feed)
        vectors = vectors[0] / np.maximum(np.linalg.norm(vectors[0], axis=1, keepdims=True), 1e-9)
        entailed, _, contradicted = softmax(logits[0])
        first = len(premise) + 2
        nearest = (
            (vectors[first:-1] @ vectors[1 : first - 1].T).max(axis=1, initial=0.0).clip(0.0, 1.0)
        )
        return WindowOutput(entailed, contradicted, tuple(claim), tuple(premise), nearest)


@load_once
def _encoder(folder: Path) -> CrossEncoder:
    if folder == FOLDER:
        check_shipped(folder)
    return CrossEncoder(folder / "model.onnx", saturates=True)


class EmbeddedSmall:
    """Verifier `embedded-small`; `folder` holds model.onnx, tokenizer.json and config.json."""

    def __init__(self, settings: Settings, folder: Path = FOLDER) -> None:
        self._folder = folder
        config = _config(folder)
        self._combiner = config.get("combiner")
        self._plain = settings.decision == "plain"
        self.version: str = f"embedded-small/{config['version']}.{READING}" + "/plain" * self._plain

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """Return one judgement for each pair. Raises BadInput for a claim or evidence that is empty
        or too long.
        """
        check_pairs(pairs)
        encoder = _encoder(self._folder)
        for claim in {pair[0] for pair in pairs}:  # before any pair is read
            check_claim_tokens(claim, len(encoder.encode(claim)[0]))
        return in_threads(lambda pair: self._verify_pair(encoder, *pair), pairs)

    def _verify_pair(
        self, encoder: CrossEncoder, claim: str, evidence: str, title: str = ""
    ) -> Judgement:
        if self._plain:
            signals, sentence = self.features(encoder, claim, evidence)
            return Judgement(combine(None, signals), sentence)
        if repeated := word_for_word(claim, evidence, sentences(evidence)):
            return repeated
        signals, sentence = self.features(encoder, claim, evidence, title)
        found = combine(self._combiner, signals)
        if max(found.entailed, found.contradicted) >= LOWEST_THRESHOLD:
            found, sentence, more = by_sentence(encoder, claim, evidence, found, sentence)
            signals |= more
        rounded = {name: round(value, 4) for name, value in signals.items()}
        return Judgement(found, sentence, rounded, rounded.get("sentence_contradicted"))

    def features(
        self, encoder: CrossEncoder, claim: str, evidence: str, title: str = ""
    ) -> tuple[dict[str, float], Span]:
        """Return the features of a pair by name, and the deciding sentence in characters of the
        evidence.

        The title precedes every window, since a passage from the middle of a page rarely names its
        subject.
        """
        claim_ids, _ = encoder.encode(claim)
        ids, offsets = encoder.encode(evidence)
        before = (
            encoder.encode(f"{title}.")[0][:TITLE_TOKENS]
            if title and not evidence.startswith(title)
            else []
        )
        spans = sentences(evidence)
        room = WINDOW - len(claim_ids) - len(before) - 3
        readings = [
            encoder.read([*before, *ids[a:b]], claim_ids) for a, b in windows(offsets, spans, room)
        ]
        passage = max(readings, key=lambda r: max(r.entailed, r.contradicted))
        features = {
            "passage_entailed": passage.entailed,
            "passage_contradicted": passage.contradicted,
            "long": weight_of_length(evidence),
            "words": shared_words(claim, f"{title}. {evidence}"),
            **coverage(readings),
        }
        return features, deciding_sentence(claim, evidence)


def by_sentence(
    encoder: CrossEncoder, claim: str, evidence: str, found: Probabilities, sentence: Span
) -> tuple[Probabilities, Span, dict[str, float]]:
    """Judge a passage by its single sentences as well; return probabilities, the deciding sentence
    and signals.

    Support is the mean of the passage's and its most supportive sentence's. A contradiction has to
    hold for a sentence,
    and counts less the more another one supports the claim.
    """
    spans = sentences(evidence)
    near = sharing(claim, evidence, spans)
    if len(spans) < 2 or not near:
        return found, sentence, {}
    claim_ids, _ = encoder.encode(claim)
    room = WINDOW - len(claim_ids) - 3
    readings = {
        span: encoder.read(encoder.encode(evidence[slice(*span)])[0][:room], claim_ids)
        for span in near
    }
    supporting = max(near, key=lambda span: readings[span].entailed)
    against = max(near, key=lambda span: readings[span].contradicted)
    support, opposition = readings[supporting].entailed, readings[against].contradicted
    entailed = (found.entailed + support) / 2
    contradicted = min(found.contradicted, opposition) * (1 - support)
    if max(entailed, contradicted) >= LOWEST_THRESHOLD:
        sentence = supporting if entailed >= contradicted else against
    return (
        Probabilities(
            entailed=entailed,
            contradicted=contradicted,
            no_relation=max(0.0, 1 - entailed - contradicted),
        ),
        sentence,
        {"sentence_entailed": support, "sentence_contradicted": opposition},
    )
