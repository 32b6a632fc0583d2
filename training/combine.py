"""Fit the linear model that joins the cross-encoder's probabilities with lexical signals, and calibrate it.

    python -m training.combine --data FOLDER --model FOLDER [--exclude EVALUATION_FOLDER]

--model is the exported folder (model.onnx, tokenizer.json); config.json is written there. Fitted on the development
pairs that the cross-encoder was not trained on: as they are, set within a chunk of other text, and against the
passage of another pair, so that the result is calibrated on what a run meets.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from attribution.settings import Settings
from attribution.verifiers.calibration import FEATURES, expand
from attribution.verifiers.embedded_small import CrossEncoder, EmbeddedSmall
from training import data, drawing
from training.losses import losses

STRANGERS = 2  # passages about something else, for each that is about the claim
OWN, STRANGER = 2.0, 1.0  # weights of the two beside pairs as they are; chosen on the choosing halves


def in_chunks(pairs: list[data.Pair], seed: int) -> list[data.Pair]:
    """Draw pairs as a run meets them: premises of encyclopaedic sources within a chunk of their page or of others, and
    chunks that are silent about the claim, of the same page or of one near it, as a search would bring them."""
    rng = random.Random(seed)
    around, made = drawing.surroundings(pairs), []
    for p in pairs:
        index = around.near.get(p.source)
        if index is None or len(p.premise) > drawing.CHUNK:
            continue
        silent, others = around.pages.silent(p), index.others(p.premise, 6, rng)
        own = replace(p, premise=drawing.in_chunk(p.premise, others, rng))
        made.append(replace(drawing.on_its_page(p, silent, rng) if silent else own, weight=OWN))
        if silent:
            made.append(replace(drawing.elsewhere_on_its_page(p, silent, rng), weight=STRANGER))
        for text in index.near(p.hypothesis, p.premise)[: STRANGERS - bool(silent)]:
            made.append(replace(p, premise=drawing.in_chunk(text, others, rng), target=1, weight=STRANGER))
    return made


def fit(x: Any, targets: Any, weights: Any, penalty: float = 1e-3) -> tuple[Any, Any]:
    """Multinomial logistic regression with the mixed two- and three-way loss: weights (3, n) and bias (3)."""
    import torch

    mean, scale = x.mean(0), x.std(0).clamp_min(1e-6)
    z = (x - mean) / scale
    w, b = torch.zeros(3, x.shape[1], requires_grad=True), torch.zeros(3, requires_grad=True)
    optimizer = torch.optim.LBFGS([w, b], max_iter=300, line_search_fn="strong_wolfe")

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (losses(z @ w.T + b, targets) * weights).sum() / weights.sum() + penalty * (w**2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)  # type: ignore[no-untyped-call]
    with torch.no_grad():
        raw = w / scale
        return raw, b - raw @ mean


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--exclude", type=Path)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--most", type=int, default=6000, help="pairs to fit on, at most")
    args = parser.parse_args(argv)

    import torch
    from tqdm import tqdm

    _, dev = data.load(args.data, data.evaluation_keys(args.exclude))
    version = hashlib.sha256((args.model / "model.onnx").read_bytes()).hexdigest()[:8]
    config: dict[str, Any] = {"version": version, "labels": list(data.LABELS)}
    (args.model / "config.json").write_text(json.dumps(config), encoding="utf-8")
    dev = [replace(p, weight=1.0) for p in dev]
    chunks = in_chunks(dev, args.seed)
    for part in (dev, chunks):
        random.Random(args.seed).shuffle(part)
    pairs = dev[: args.most // 3] + chunks[: args.most - args.most // 3]
    encoder, verifier = CrossEncoder(args.model / "model.onnx"), EmbeddedSmall(Settings(), args.model)

    def features(p: data.Pair) -> dict[str, float]:
        return expand(verifier.features(encoder, p.hypothesis, p.premise)[0])

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = list(tqdm(pool.map(features, pairs), total=len(pairs), file=sys.stderr))
    x = torch.tensor([[row[name] for name in FEATURES] for row in rows])
    targets = torch.tensor([p.target for p in pairs])
    weights = torch.tensor([p.weight for p in pairs])
    counts = torch.bincount(targets, weights=weights, minlength=4).clamp_min(1)
    raw, bias = fit(x, targets, weights * (counts**-0.5)[targets])
    config["version"] = f"{version}.{hashlib.sha256(raw.numpy().tobytes()).hexdigest()[:4]}"
    config["combiner"] = {
        "features": list(FEATURES),
        "weights": [[round(v, 5) for v in row] for row in raw.tolist()],
        "bias": [round(v, 5) for v in bias.tolist()],
    }
    (args.model / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    for name in ("passage", "joined"):
        logits = x @ raw.T + bias if name == "joined" else torch.stack([x[:, 0], torch.zeros(len(x)), x[:, 1]], 1)
        right = [g == t or (t == 3 and g > 0) for g, t in zip(logits.argmax(1).tolist(), targets.tolist(), strict=True)]
        print(
            f"{name}: loss {float(losses(logits, targets).mean()):.3f}, accuracy {sum(right) / len(right):.3f} "
            f"on {len(right)} pairs it was fitted on"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
