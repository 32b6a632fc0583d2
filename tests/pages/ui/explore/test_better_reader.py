from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attribution.events import Finished
from attribution.pipeline import run as pipeline
from tests.llm_server import llm_server
from tests.pipeline.test_second_reader import ANSWER, STATED, made, model


def page(path: str) -> None:
    from attribution.types import Report
    from pages.ui import state
    from pages.ui.explore.better_reader import offer

    state.begin("explore")
    with open(path, encoding="utf-8") as file:
        offer(Report.model_validate_json(file.read()))


@pytest.mark.parametrize(
    ("answer", "with_model"), [(ANSWER, True), (ANSWER, False), (STATED, True)]
)
def test_it_is_offered_for_doubtful_claims_with_its_cost(
    answer: str, with_model: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with llm_server(model("entailed")) as served:
        *_, last = pipeline.run("", answer, made(served, tmp_path))
        assert isinstance(last, Finished)
        (tmp_path / "report.json").write_text(last.report.to_json(), encoding="utf-8")
        if with_model:
            monkeypatch.setenv("OPENAI_BASE_URL", served.url("/v1"))
            monkeypatch.setenv("OPENAI_MODEL", "tiny")
        app = AppTest.from_function(
            page, args=(str(tmp_path / "report.json"),), default_timeout=60
        ).run()
        assert not app.exception and not served.requests
    asked = [button for button in app.button if button.key == "read_again_llm"]
    if with_model and answer == ANSWER:
        assert asked[0].label == "Ask tiny about 1 claim" and asked[0].help.startswith(
            "At most 1 prompt"
        )
        assert asked[0].help.endswith("its time not known yet")
    else:
        assert not asked
