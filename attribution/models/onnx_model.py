"""A model on ONNX with its tokenizer: what the embedded verifiers and the embedder share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attribution.errors import Unavailable
from attribution.types import Span

SLOW = ("SkipLayerNormFusion",)  # fused with the sum before it, a layer norm takes three times as long


class OnnxModel:
    """One text or pair at a time, on one thread: others are read in parallel, and none depends on the others."""

    def __init__(
        self,
        model: Path,
        tokenizer: Path | None = None,
        weights: Mapping[str, Any] | None = None,
        unfused: Sequence[str] = (),
        saturates: bool = False,
    ) -> None:
        """`model` is the path of the graph; tokenizer.json stands beside it unless another is named.

        `weights` are arrays by name for a graph that holds none, `unfused` the runtime's fusions that are left out.
        `saturates` says that its int8 weights use their whole range: sums of two products then overflow on x86 CPUs
        without VNNI, unless the runtime multiplies them more slowly.
        """
        import onnxruntime
        import tokenizers

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.enable_cpu_mem_arena = False  # a long passage would keep its memory
        if saturates:
            options.add_session_config_entry("session.x64quantprecision", "1")  # no effect where VNNI is
        if weights:
            values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in weights.values()]
            options.add_external_initializers(list(weights), values)
        try:
            self._session = onnxruntime.InferenceSession(
                str(model),
                options,
                providers=["CPUExecutionProvider"],
                disabled_optimizers=list(unfused),
            )
            self._tokenizer = tokenizers.Tokenizer.from_file(str(tokenizer or model.parent / "tokenizer.json"))
        except Exception as error:  # both packages have errors of their own for a file that they cannot read
            raise Unavailable(
                f"the model {model} cannot be loaded, though its files are whole: install onnxruntime and tokenizers "
                "again with `pip install --force-reinstall -r requirements.txt`",
                error,
            ) from error
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def encode(self, text: str) -> tuple[list[int], list[Span]]:
        """Token ids without special tokens, and the character span of each."""
        # a lone surrogate cannot be encoded
        encoding = self._tokenizer.encode(text.encode("utf-8", "replace").decode(), add_special_tokens=False)
        return encoding.ids, encoding.offsets
