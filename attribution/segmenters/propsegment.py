"""A sequence-to-sequence segmenter of the hub, by default SegmenT5 (Chen et al. 2023, Sub-Sentence Encoder)."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

from attribution.errors import LlmFailed, Unavailable
from attribution.segmenters.alignment import align, merged
from attribution.segmenters.llm import KEPT, cut_off, states, tidy
from attribution.segmenters.sentences import Sentences
from attribution.settings import Settings
from attribution.types import Claim, Failure, LlmUsage, Segmented

DEFAULT = "sihaochen/SegmenT5-large"
INPUT, SEPARATOR = "segment sentence: {}", "[sep]"  # what the model was trained on
LONGEST_INPUT, LONGEST_OUTPUT, BATCH = 512, 256, 8  # tokens, tokens, sentences


@cache
def _load(name: str) -> tuple[Any, Any]:
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    cuda = torch.cuda.is_available()
    try:
        tokenizer = AutoTokenizer.from_pretrained(name)
        model = AutoModelForSeq2SeqLM.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise Unavailable(
            f"the model {name} cannot be loaded ({str(error).splitlines()[0][:160]}): connect to the hub once, "
            f"or fetch it elsewhere with `hf download {name}` and give its folder as segmenter_model; "
            "`sentences` needs no download"
        ) from error
    return model.to("cuda" if cuda else "cpu").eval(), tokenizer


class PropSegment:
    """Segmenter `propsegment`; `settings.segmenter_model` names another model of the hub or a folder."""

    def __init__(self, settings: Settings) -> None:
        self.model = settings.segmenter_model or DEFAULT
        self.version = f"propsegment/{self.model}"
        self._sentences = Sentences(settings)

    def estimate(self, question: str, answer: str) -> LlmUsage | None:
        """None: no language model is used."""
        return None

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Claims in the order of the answer; a sentence for which the model writes nothing stays as it is."""
        sentences = self._sentences.segment(question, answer).claims
        asked = [s for s in sentences if states(s.text)]
        written = dict(zip((s.id for s in asked), self._write([s.text for s in asked]), strict=True))
        claims: list[Claim] = []
        failures: list[Failure] = []
        for sentence in sentences:
            if sentence.id not in written:
                claims.append(sentence)
                continue
            output, ended = written[sentence.id]
            texts = list(filter(None, map(tidy, output.split(SEPARATOR))))
            if not texts:
                failure = LlmFailed(f"the segmenter model wrote no claim; {KEPT}").as_failure("segment", sentence.text)
                claims, failures = [*claims, sentence], [*failures, failure]
                continue
            failures += [] if ended else [cut_off(sentence.text)]
            for text in texts:
                parts = [align(text, answer, [span], question) for span in sentence.spans]
                spans = tuple(s for p in parts for s in p.spans)
                sure = max(p.confidence for p in parts)
                claims.append(Claim(id="-", text=text, spans=spans, sentence=sentence.sentence, alignment=sure))
        return Segmented(merged(claims), tuple(failures), None, self.version)

    def _write(self, sentences: list[str]) -> list[tuple[str, bool]]:
        """For each sentence what the model writes, greedily, and whether it came to an end."""
        import torch

        if not sentences:
            return []
        model, tokenizer = _load(self.model)
        order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
        written: dict[int, tuple[str, bool]] = {}
        for start in range(0, len(order), BATCH):
            part = order[start : start + BATCH]
            texts = [INPUT.format(sentences[i]) for i in part]
            batch = tokenizer(texts, return_tensors="pt", padding=True, truncation=True, max_length=LONGEST_INPUT)
            inputs = {name: batch[name].to(model.device) for name in ("input_ids", "attention_mask")}
            with torch.inference_mode():
                rows = model.generate(**inputs, max_new_tokens=LONGEST_OUTPUT, num_beams=1, do_sample=False)
            for i, row in zip(part, rows.tolist(), strict=True):
                written[i] = (tokenizer.decode(row, skip_special_tokens=True), model.config.eos_token_id in row[1:])
        return [written[i] for i in range(len(sentences))]
