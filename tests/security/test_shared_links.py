"""Whoever opens a link loads nothing from elsewhere and gets no search instance of whoever made it."""

from __future__ import annotations

import re
import urllib.request
from pathlib import Path

import pytest

from attribution.settings import Settings
from attribution.store.store import Store
from pages.ui import choices
from pages.ui.frame import as_label
from tests.make import claim, report
from tests.pages.browser.conftest import free_port, serving
from tests.security.raw_session import session

NILE = claim("The Nile is long.")
IMAGE = "![x](https://evil.example/p.png) :red[y] $z$"
SOURCES = (f"searxng:https://evil.example/{IMAGE}", f"collection:{IMAGE}", "library")


def test_a_shared_run_loads_no_image_and_fills_in_no_instance(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    store = Store.open(f"sqlite:///{tmp_path}/data/attribution.sqlite3", by="whoever made the link")
    store.runs.save(report(NILE.text, settings=Settings(sources=SOURCES).public(), claims=(NILE,)))
    store.close()
    with serving(tmp_path, port := free_port()) as (address, _), session(port) as visit:
        with urllib.request.urlopen(address) as reply:
            assert "img-src 'self' data: blob:;" in reply.headers["content-security-policy"]
        visit.run(query=f"run={'0' * 16}")
        assert "The Nile is long." in visit.said
        labels = [str(element.label) for element in visit.elements if hasattr(element, "label")]
        labels += [element.popover.label for element in visit.elements if hasattr(element, "popover")]
        assert any(label.startswith("Sources") for label in labels)
        assert not any("![x]" in label or " :red[" in label for label in labels)
        assert "searxng:https" not in "".join(labels) and "evil" not in "".join(labels)


@pytest.mark.parametrize("sources", [SOURCES[:1], SOURCES])
def test_no_run_fills_in_an_instance(sources: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    filled: dict[str, object] = {}
    monkeypatch.setattr(choices.state, "fill", lambda **values: filled.update(values))
    choices.fill_sources(sources)
    assert filled["instance"] == "" and filled["web"] is False


def test_a_label_is_text() -> None:
    assert as_label(IMAGE).replace("\\", "") == IMAGE
    assert re.findall(r"(?<!\\)[!\[\]:$]", as_label(IMAGE)) == []
