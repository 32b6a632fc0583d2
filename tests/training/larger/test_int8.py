"""The frozen matrices in int8: nearly the same answers and gradients, for any batch."""

import pytest
import torch
from torch import nn

from training.larger import int8


class Small(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(64, 128), nn.Linear(128, 32, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.nn.functional.gelu(self.first(x)))


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> nn.Module:
    monkeypatch.setattr(int8.shutil, "which", lambda name: None)  # compiling takes longer than the test
    from peft import LoraConfig, get_peft_model  # here, since every process of the tests collects this file

    torch.manual_seed(3)
    adapted = get_peft_model(Small(), LoraConfig(r=4, lora_alpha=8, target_modules=["first", "second"]))
    for name, parameter in adapted.named_parameters():
        if "lora_B" in name:  # zero at first, so that nothing reaches A
            nn.init.normal_(parameter, std=0.1)
    return adapted


def gradients(model: nn.Module, x: torch.Tensor) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    model.zero_grad()
    out = model(x)
    (out**2).mean().backward()
    return out.detach(), {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}


def test_outputs_and_gradients_are_nearly_those_of_float32(model: nn.Module) -> None:
    x = torch.randn(5, 7, 64)
    out, exact = gradients(model, x)
    assert int8.quantise(model) == 2
    quick_out, quick = gradients(model, x)
    assert torch.nn.functional.cosine_similarity(out.flatten(), quick_out.flatten(), 0) > 0.999
    assert quick.keys() == exact.keys() and len(exact) == 4
    for name, gradient in exact.items():
        assert torch.nn.functional.cosine_similarity(gradient.flatten(), quick[name].flatten(), 0) > 0.99, name
        assert 0.95 < quick[name].norm() / gradient.norm() < 1.05, name


def test_a_row_does_not_depend_on_its_neighbours(model: nn.Module) -> None:
    int8.quantise(model)
    x = torch.randn(9, 64)
    x[3] *= 1000
    together = model(x)
    assert torch.allclose(model(x[5:6]), together[5:6], atol=1e-5)


def test_a_row_of_zeros_stays_finite(model: nn.Module) -> None:
    int8.quantise(model)
    out, found = gradients(model, torch.zeros(2, 64))
    assert torch.isfinite(out).all() and all(torch.isfinite(g).all() for g in found.values())
