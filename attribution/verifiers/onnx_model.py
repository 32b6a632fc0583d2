"""A cross-encoder on ONNX with its tokenizer: what the embedded verifiers share."""

from __future__ import annotations

from pathlib import Path

from attribution.types import Span


class OnnxModel:
    """`model` is the path of the graph; tokenizer.json stands beside it."""

    def __init__(self, model: Path) -> None:
        import onnxruntime
        import tokenizers

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # pairs run in parallel instead
        options.enable_cpu_mem_arena = False  # a long passage would keep its memory
        self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self._tokenizer = tokenizers.Tokenizer.from_file(str(model.parent / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def encode(self, text: str) -> tuple[list[int], list[Span]]:
        """Token ids without special tokens, and the character span of each."""
        # a lone surrogate cannot be encoded
        encoding = self._tokenizer.encode(text.encode("utf-8", "replace").decode(), add_special_tokens=False)
        return encoding.ids, encoding.offsets
