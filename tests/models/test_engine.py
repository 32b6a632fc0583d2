import pytest

from attribution.models import engine


def test_results_stand_in_the_order_of_the_items(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "cores", lambda: 2)
    assert engine.in_threads(lambda n: n * n, range(50)) == [n * n for n in range(50)]
    assert engine.in_threads(str, []) == []


def test_an_error_is_the_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "cores", lambda: 2)
    with pytest.raises(ZeroDivisionError):
        engine.in_threads(lambda n: 1 // n, [1, 0, 1])
