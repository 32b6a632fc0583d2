"""The loss of a judgement, by its label and by a teacher's opinion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from training import data


def losses(logits: Any, targets: Any) -> Any:
    """Cross-entropy per pair; where only one relation is ruled out, the sum of the other two is charged."""
    import torch

    logp = torch.log_softmax(logits.float(), dim=-1)
    not_entailed = torch.logsumexp(logp[:, 1:], dim=-1, keepdim=True)
    not_contradicted = torch.logsumexp(logp[:, :2], dim=-1, keepdim=True)
    return -torch.cat([logp, not_entailed, not_contradicted], dim=1).gather(1, targets[:, None])[:, 0]


def taught(logits: Any, targets: Any, teacher: Any) -> Any:
    """Cross-entropy per pair to what the teacher makes of it, less the relation that its target rules out."""
    import torch

    ruled_out = torch.zeros_like(logits, dtype=torch.bool)
    ruled_out[:, 0] = targets == data.NOT_ENTAILMENT
    ruled_out[:, 2] = targets == data.NOT_CONTRADICTION
    soft = torch.softmax(teacher.float().masked_fill(ruled_out, -torch.inf), dim=-1)
    return -(soft * torch.log_softmax(logits.float(), dim=-1)).sum(-1)


def temperature(logits: Any, pairs: Sequence[data.Pair]) -> float:
    """The temperature of least loss on these pairs (Guo et al. 2017, section 4.2). logits: (pairs, 3)"""
    import torch

    targets = torch.tensor([p.target for p in pairs])
    grid = [0.5 + 0.02 * i for i in range(126)]
    return min(grid, key=lambda t: float(losses(logits / t, targets).mean()))
