import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attribution.settings import Settings
from attribution.verifiers import VERIFIERS
from pages.ui import choices, fields
from tests.pages.jobs import until

NAME = "somebody/some-model"
GO_ON = threading.Event()


def script() -> None:
    from attribution.verifiers import VERIFIERS
    from pages.ui.fields import model_download

    model_download(VERIFIERS["deberta"])


@pytest.fixture(autouse=True)
def chosen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(choices, "settings", lambda: Settings(verifier_model=NAME))
    monkeypatch.setattr(fields, "_jobs", {})
    GO_ON.clear()
    yield
    GO_ON.set()


def getting(
    monkeypatch: pytest.MonkeyPatch, work: Callable[[Callable[[float, str], None]], None]
) -> None:
    def make(progress: Callable[[float, str], None], settings: Settings) -> Path:
        assert settings.verifier_model == NAME
        work(progress)
        return Path()

    assert VERIFIERS["deberta"].download
    monkeypatch.setattr(fields, "load", lambda target: make)


def opened() -> AppTest:
    return AppTest.from_function(script, default_timeout=60).run()


def text(at: AppTest) -> str:
    assert not at.exception
    return " ".join(h.body for h in at.get("html"))


def ended() -> None:
    until(lambda: not fields._jobs[NAME].running)


def test_a_download_shows_its_progress_to_all_and_is_stopped_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun = threading.Event()

    def work(progress: Callable[[float, str], None]) -> None:
        progress(0.25, "downloading, 1 of 4 MB")
        begun.set()
        assert GO_ON.wait(30)
        progress(0.5, "downloading, 2 of 4 MB")
        raise AssertionError("it was not stopped")

    getting(monkeypatch, work)
    at = opened()
    assert "It is not on this machine yet" in text(at)
    at.button[0].click().run()
    assert begun.wait(30)
    other = opened()
    assert "Downloading, 1 of 4 MB." in text(other)
    assert 'value="0.250"' in text(other)
    other.button[0].click().run()
    GO_ON.set()
    ended()
    assert fields._jobs[NAME].progress().error == ""
    assert [button.label for button in at.run().button] == ["Download"]  # it can be begun again
