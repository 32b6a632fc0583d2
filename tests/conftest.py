"""What all tests share: data folders of their own, and no network beyond this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from attribution.settings import Settings
from attribution.storage.store import Store

os.environ["HF_HUB_OFFLINE"] = "1"  # read once, when the hub's package is imported


@pytest.fixture(autouse=True)
def own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTRIBUTION_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("ATTRIBUTION_DATABASE_URL", raising=False)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def settings(own_data_folder: None) -> Settings:
    return Settings.from_environment()


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    opened = Store.open(settings.database_url)
    yield opened
    opened.close()
