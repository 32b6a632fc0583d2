"""Shared by all tests: each has its own data folder, and none reaches the network."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from xdist.scheduler import LoadFileScheduling

from attribution.settings import Settings
from attribution.store.store import Store

BROWSER = "tests/pages/browser/"
os.environ["HF_HUB_OFFLINE"] = "1"  # read once, when the hub's package is imported
hypothesis.settings.register_profile("untimed", deadline=None, max_examples=30)  # machines are noisy, runs are many
hypothesis.settings.load_profile("untimed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come first, since they wait."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is None)


class ByServer(LoadFileScheduling):
    """A file runs in one process, and all browser tests in one, since they share a server."""

    def _split_scope(self, nodeid: str) -> str:
        file = str(super()._split_scope(nodeid))
        return BROWSER if file.startswith(BROWSER) else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByServer:
    return ByServer(config, log)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where models are made that take seconds: once, for all tests."""
    return tmp_path_factory.mktemp("models")


@pytest.fixture(autouse=True)
def own_data_folder(tmp_path: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTRIBUTION_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ATTRIBUTION_MODELS", str(models))
    monkeypatch.delenv("ATTRIBUTION_DATABASE_URL", raising=False)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "ATTRIBUTION_HUB_MODELS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def settings(own_data_folder: None) -> Settings:
    """With the small verifier, which every machine has."""
    return Settings.from_environment(verifier="embedded-small")


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    opened = Store.open(settings.database_url)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def warm_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the vectors of the shipped library, which take seconds to compute."""
    from attribution.pipeline.warmup import warm_up

    path = tmp_path_factory.mktemp("warm") / "attribution.sqlite3"
    store = Store.open(f"sqlite:///{path}")
    warm_up(Settings(database_url=f"sqlite:///{path}", verifier="embedded-small"), store)
    store.close()
    return path


@pytest.fixture
def warm_library(own_data_folder: None, warm_database: Path, settings: Settings) -> None:
    """The test's own database starts as a copy of the warm one."""
    path = Path(settings.database_url.removeprefix("sqlite:///"))
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(warm_database, path)
