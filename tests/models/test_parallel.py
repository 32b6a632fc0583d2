from __future__ import annotations

import threading

import pytest

from attribution.models import onnx


def test_results_stand_in_the_order_of_the_items(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx, "cores", lambda: 2)
    assert onnx.in_threads(lambda n: n * n, range(50)) == [n * n for n in range(50)]
    assert onnx.in_threads(str, []) == []


def test_one_pool_serves_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx, "cores", lambda: 2)
    before = threading.active_count()
    for _ in range(20):
        onnx.in_threads(str, range(10))
    assert threading.active_count() <= before + 2 or threading.active_count() <= before + onnx.cores()


def test_an_error_is_the_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx, "cores", lambda: 2)
    with pytest.raises(ZeroDivisionError):
        onnx.in_threads(lambda n: 1 // n, [1, 0, 1])
