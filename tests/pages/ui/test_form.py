from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

PAGE = 'from pages.ui import form, state\nstate.begin("check")\nform.language_model()'


def test_the_operators_prompts_are_named_by_folder_and_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = AppTest.from_string(PAGE, default_timeout=60).run()
    assert not at.exception
    assert "Prompts of" not in "".join(h.body for h in at.get("html"))
    (tmp_path / "direct.txt").write_text("{answer}")
    monkeypatch.setenv("ATTRIBUTION_PROMPTS", str(tmp_path))
    shown = "".join(h.body for h in at.run().get("html"))
    assert f"Prompts of the operator: {tmp_path.name}@" in shown
    assert str(tmp_path.parent) not in shown
