import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attribution.errors import Unavailable
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
    assert "Downloading, 1 of 4 MB." in text(other) and 'value="0.250"' in text(other)
    other.button[0].click().run()
    GO_ON.set()
    ended()
    assert fields._jobs[NAME].progress().error == ""
    assert [button.label for button in at.run().button] == ["Download"]  # it can be begun again


def test_what_went_wrong_is_said_and_it_can_be_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(progress: Callable[[float, str], None]) -> None:
        raise Unavailable("the model <b>x</b> cannot be downloaded: check its name")

    getting(monkeypatch, work)
    at = opened()
    at.button[0].click().run()
    ended()
    at.run()
    assert "The model could not be made ready" in text(at) and "&lt;b&gt;x" in text(at)
    assert [button.label for button in at.button] == ["Download"]


def test_the_size_of_a_known_model_is_told_and_a_ready_one_has_no_button(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(choices, "settings", lambda: Settings())
    assert opened().button[0].label == "Download (MIT, 0.9 GB)"
    monkeypatch.setattr("pages.ui.fields.is_downloaded", lambda name, settings: True)
    monkeypatch.setattr("pages.ui.fields.is_ready", lambda name, settings: False)
    assert opened().button[0].label == "Make it faster"
    monkeypatch.setattr("pages.ui.fields.is_ready", lambda name, settings: True)
    at = opened()
    assert not at.button and "ready" in text(at)
