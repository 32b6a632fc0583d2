import threading

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


def test_a_download_is_shown_to_all_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def download(settings: Settings) -> None:
        assert settings.verifier_model == NAME
        begun.set()
        assert go_on.wait(30)

    monkeypatch.setattr(choices, "settings", lambda: Settings(verifier_model=NAME))
    monkeypatch.setattr(fields, "_jobs", {})
    monkeypatch.setattr(fields, "load", lambda target: download)
    at = opened()
    assert "It is not on this machine yet" in text(at)
    at.button[0].click().run()
    assert begun.wait(30)
    assert f"Downloading {NAME}" in text(opened())
    go_on.set()
    assert ended(fields._jobs[NAME]).error == ""
    assert [button.label for button in at.run().button] == ["Download"]  # it can be begun again
