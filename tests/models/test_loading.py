import gc
import threading
import time
import weakref
from pathlib import Path

from attribution.models.engine import (
    MODELS,
    load_once,
    load_while_used,
    loading_seconds,
    working_time,
)

LONG = 0.3  # seconds


def test_the_clock_stands_still_while_something_is_loaded() -> None:
    @load_once
    def part() -> str:
        time.sleep(LONG)
        return "part"

    @load_once
    def model(name: str) -> str:
        time.sleep(LONG)
        return f"{name} with its {part()}"

    wall, started, loaded = time.perf_counter(), working_time(), loading_seconds()
    assert model("a") == model("a") == "a with its part"
    elapsed = time.perf_counter() - wall
    assert 2 * LONG <= loading_seconds() - loaded <= elapsed  # the part is not counted twice
    assert working_time() - started < time.perf_counter() - wall - LONG


def test_others_wait_for_what_one_thread_loads() -> None:
    calls: list[int] = []

    @load_once
    def model() -> int:
        calls.append(1)
        time.sleep(LONG)
        return 7

    seen: list[tuple[int, bool]] = []

    def use() -> None:
        seen.append((model(), loading_seconds() >= LONG / 2))

    threads = [threading.Thread(target=use) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls == [1]
    assert seen == [(7, True)] * 3


def test_a_folder_is_loaded_again_once_its_adapter_has_changed(tmp_path: Path) -> None:
    weights = tmp_path / "adapter_model.safetensors"

    @load_while_used
    def model(folder: str) -> list[str]:
        return [Path(folder, weights.name).read_text("utf-8")]

    weights.write_text("before", "utf-8")
    first = model(str(tmp_path))
    assert model(str(tmp_path)) is first
    weights.write_text("retrained", "utf-8")
    assert model(str(tmp_path)) == ["retrained"]


class Model:
    """Something that can be seen to be released."""


def test_only_the_models_used_last_stay_in_memory() -> None:
    load = load_while_used(lambda _: Model())
    models = {}
    for number in range(MODELS + 1):
        models[number] = weakref.ref(load(f"model-{number}"))
        load("model-0")  # the first is used all the time
    gc.collect()
    assert [ref() is not None for ref in models.values()] == [True, False, True]
