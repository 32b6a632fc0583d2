import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attribution.settings import Settings
from pages.ui import choices, fields
from tests.pages.jobs import ended, text

NAME = "somebody/some-model"


def script() -> None:
    from attribution.verifiers import VERIFIERS
    from pages.ui.fields import model_download

    model_download(VERIFIERS["deberta"])


def opened() -> AppTest:
    return AppTest.from_function(script, default_timeout=60).run()


def test_a_download_shows_its_progress_to_all_and_is_stopped_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def download(progress: Callable[[float, str], None], settings: Settings) -> Path:
        assert settings.verifier_model == NAME
        progress(0.25, "downloading, 1 of 4 MB")
        begun.set()
        assert go_on.wait(30)
        progress(0.5, "downloading, 2 of 4 MB")
        raise AssertionError("it was not stopped")

    monkeypatch.setattr(choices, "settings", lambda: Settings(verifier_model=NAME))
    monkeypatch.setattr(fields, "_jobs", {})
    monkeypatch.setattr(fields, "load", lambda target: download)
    at = opened()
    assert "It is not on this machine yet" in text(at)
    at.button[0].click().run()
    assert begun.wait(30)
    other = opened()
    assert "Downloading, 1 of 4 MB." in text(other)
    assert 'value="0.250"' in text(other)
    other.button[0].click().run()
    go_on.set()
    assert ended(fields._jobs[NAME]).error == ""
    assert [button.label for button in at.run().button] == ["Download"]  # it can be begun again
