"""The share of the machine's measured peak that embedding and NLI reach, with one thread and with all cores.

The peak is that of one large matrix product by the same runtime and in the same arithmetic: int8 by onnxruntime. An
operation is a multiplication or an addition; those of a network are counted from its size and the tokens it reads.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from attribution.embedders import minilm
from attribution.models.onnx import cores
from attribution.verifiers import embedded_base
from benchmarks.pipeline.workload import library, make

ROWS, SIZE, REPEATS = 512, 1024, 40
TEXTS, LENGTH = 60, 500  # characters


def operations(tokens: int, layers: int, width: int) -> float:
    """The operations of an encoder whose inner width is four times its width: its matrices, and attention."""
    return layers * (2 * 12 * width * width * tokens + 4 * width * tokens * tokens)


def operations_of_base(tokens: int) -> float:
    """Operations of the base verifier: its last layer has keys and values of all tokens, the rest of the first."""
    layers, width = 12, 768
    return operations(tokens, layers - 1, width) + 2 * width * width * (2 * tokens + 10) + 4 * width * tokens


def rate(work: Callable[[], float], threads: int) -> float:
    """Billions of operations a second where so many threads do the same work; the best of three."""
    best = 0.0
    for _ in range(3):
        with ThreadPoolExecutor(threads) as pool:
            started = time.perf_counter()
            done = sum(pool.map(lambda _: work(), range(threads)))
            best = max(best, done / (time.perf_counter() - started) / 1e9)
    return best


def int8_product() -> Callable[[], float]:
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    draw = np.random.default_rng(0)
    weights = numpy_helper.from_array(draw.integers(-64, 65, (SIZE, SIZE), np.int8), "weights")
    middle = numpy_helper.from_array(np.array(128, np.uint8), "middle")
    node = helper.make_node("MatMulInteger", ["x", "weights", "middle"], ["y"])
    x = helper.make_tensor_value_info("x", TensorProto.UINT8, [ROWS, SIZE])
    y = helper.make_tensor_value_info("y", TensorProto.INT32, [ROWS, SIZE])
    graph = helper.make_graph([node], "product", [x], [y], [weights, middle])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    values = draw.integers(0, 256, (ROWS, SIZE), np.uint8)

    def work() -> float:
        for _ in range(REPEATS):
            session.run(None, {"x": values})
        return 2.0 * REPEATS * ROWS * SIZE * SIZE

    return work


def embedding() -> Callable[[], float]:
    encoder = minilm._model()
    text = " ".join(library())
    texts = [text[n * LENGTH : (n + 1) * LENGTH] for n in range(TEXTS)]
    tokens = [min(minilm.TOKENS, len(encoder.encode(t)[0]) + 2) for t in texts]

    def work() -> float:
        for t in texts:
            encoder.vector(t)
        return sum(operations(n, 6, 384) for n in tokens)

    return work


def entailment() -> Callable[[], float]:
    reader = embedded_base.reader()
    claim, _ = reader.encode(make(10).claims[0])
    premises = [reader.encode(sentence)[0] for sentence in library()[:TEXTS]]

    def work() -> float:
        for premise in premises:
            reader.read(premise, claim)
        return sum(operations_of_base(len(premise) + len(claim) + 4) for premise in premises)

    return work


def shares() -> dict[str, Any]:
    """Billions of operations a second, and shares of the peak, by number of threads."""
    figures: dict[str, Any] = {}
    made = {"int8 product": int8_product(), "embedding": embedding(), "NLI": entailment()}
    for threads in sorted({1, cores()}):
        rates = {name: rate(work, threads) for name, work in made.items()}
        peak = rates["int8 product"]
        figures[f"{threads} threads"] = {
            "GOP/s": rates,
            "share of the peak": {name: value / peak for name, value in rates.items() if name != "int8 product"},
        }
    return figures
