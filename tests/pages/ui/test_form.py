from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attribution.store.store import Store
from tests.pages.jobs import opened, text
from tests.serve import until

PAGE = 'from pages.ui import form, state\nstate.begin("check")\nform.language_model()'


def test_the_operators_prompts_are_named_by_folder_and_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = AppTest.from_string(PAGE, default_timeout=60).run()
    assert "Prompts of" not in text(at)
    (tmp_path / "direct.txt").write_text("{answer}")
    monkeypatch.setenv("ATTRIBUTION_PROMPTS", str(tmp_path))
    shown = text(at.run())
    assert f"Prompts of the operator: {tmp_path.name}@" in shown
    assert str(tmp_path.parent) not in shown


def test_why_an_answer_was_refused_is_said_until_it_is_changed(store: Store) -> None:
    at = opened("check", "owner")
    at.button(key="start").click().run()
    until(lambda: "The answer is empty" in text(at.run()))
    next(box for box in at.text_area if box.label == "Answer").set_value("It is long.").run()
    assert "The answer is empty" not in text(at)
