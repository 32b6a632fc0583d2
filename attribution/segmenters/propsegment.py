"""A sequence-to-sequence segmenter from the Hugging Face hub.

By default SegmenT5 (Chen et al. 2024, Sub-Sentence Encoder).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from attribution.models import files
from attribution.models.engine import load_while_used
from attribution.segmenters import SEGMENTERS, WithoutLlm
from attribution.segmenters.alignment import Rewrite, replace_sentences
from attribution.segmenters.llm_segmenters import rewrite
from attribution.segmenters.sentence_by_sentence import Sentences
from attribution.settings import Settings
from attribution.types import Segmented

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

DEFAULT = next(iter(SEGMENTERS["propsegment"].models))
INPUT, SEPARATOR = "segment sentence: {}", "[sep]"  # the form of its training data
LONGEST_INPUT, LONGEST_OUTPUT, BATCH = 512, 256, 8  # tokens, tokens, sentences


@load_while_used
def _load(name: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    cuda = torch.cuda.is_available()
    with files.loading(name, "segmenter_model", "sentences"):
        tokenizer = AutoTokenizer.from_pretrained(name)
        model = AutoModelForSeq2SeqLM.from_pretrained(name)
    return model.to("cuda" if cuda else "cpu").eval(), tokenizer


class Output(NamedTuple):
    """The text that the model wrote for a sentence.

    Attributes:
        is_complete: The model ended it.
    """

    text: str
    is_complete: bool


class PropSegment(WithoutLlm):
    """Segmenter `propsegment`; `settings.segmenter_model` names another model, or a folder."""

    def __init__(self, settings: Settings) -> None:
        self.model = settings.segmenter_model or DEFAULT
        self.version = f"propsegment/{files.with_revision(self.model)}"
        self._sentences = Sentences(settings)

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Return claims in the order of the answer.

        A sentence for which the model writes nothing stays a claim as it is.
        """
        sentences = self._sentences.segment(question, answer).claims
        outputs = self._write([sentence.text for sentence in sentences], stop)
        rewrites: dict[str, Rewrite] = {}
        for sentence, output in zip(sentences, outputs, strict=True):
            written = output.text.split(SEPARATOR)
            rewrites[sentence.id] = rewrite(written, output.is_complete)
        claims, failures = replace_sentences(question, answer, sentences, rewrites)
        return Segmented(claims, failures, None, self.version)

    def decompose(self, sentences: Sequence[str]) -> list[list[str]]:
        """Return the claims of each sentence as the model writes them, empty ones included."""
        return [output.text.split(SEPARATOR) for output in self._write(sentences, None)]

    def _write(self, sentences: Sequence[str], stop: threading.Event | None) -> list[Output]:
        """Return the output of greedy decoding for each sentence; empty once `stop` is set."""
        import torch

        if not sentences:
            return []
        model, tokenizer = _load(self.model)
        order = sorted(range(len(sentences)), key=lambda n: len(sentences[n]))
        written: dict[int, Output] = {}
        for start in range(0, len(order), BATCH):
            if stop and stop.is_set():
                break
            numbers = order[start : start + BATCH]
            batch = tokenizer(
                [INPUT.format(sentences[n]) for n in numbers],
                return_tensors="pt",
                padding=True,
                truncation=True,
                max_length=LONGEST_INPUT,
            )
            names = ("input_ids", "attention_mask")
            inputs = {name: batch[name].to(model.device) for name in names}
            with torch.inference_mode():
                rows = model.generate(
                    **inputs, max_new_tokens=LONGEST_OUTPUT, num_beams=1, do_sample=False
                )
            for number, row in zip(numbers, rows.tolist(), strict=True):
                text = tokenizer.decode(row, skip_special_tokens=True)
                written[number] = Output(text, model.config.eos_token_id in row[1:])
        return [written.get(n, Output("", True)) for n in range(len(sentences))]
