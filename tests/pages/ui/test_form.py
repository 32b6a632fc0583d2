from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.jobs import text

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
