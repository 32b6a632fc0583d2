"""Shared by all tests: each has its own data folder, and none reaches the network."""

import gc
import itertools
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from xdist.scheduler import LoadFileScheduling

from attribution.settings import Settings
from attribution.store.store import Store

BROWSER = "tests/pages/browser/"
NOTHING_MISSING = "ATTRIBUTION_TEST_ALL"  # set where a skipped test is a failure, as .ci/run does
OPTIONAL = ("Ray is not installed", "another server's disk is not known")
COUNTER = itertools.count()
gc.set_threshold(50_000, 20, 50)  # to look through all that is imported takes a tenth of the time
os.environ["HF_HUB_OFFLINE"] = "1"  # read once, when the hub's package is imported
hypothesis.settings.register_profile(  # machines are noisy, runs are many, CI repeats itself
    "untimed", deadline=None, max_examples=30, derandomize=NOTHING_MISSING in os.environ
)
hypothesis.settings.load_profile("untimed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come first, since they wait."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is None)


def fail_if_skipped(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Let a test that lacks a program, package or model fail where none may be missing."""
    reason = str(report.longrepr)
    is_optional = hasattr(report, "wasxfail") or any(words in reason for words in OPTIONAL)
    if report.skipped and NOTHING_MISSING in os.environ and not is_optional:
        report.outcome = "failed"
        report.longrepr = f"{reason}, and {NOTHING_MISSING} is set"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    fail_if_skipped(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    fail_if_skipped(report)
    return report


class ByServer(LoadFileScheduling):
    """A file runs in one process, and all browser tests in one, since they share a server."""

    def _split_scope(self, nodeid: str) -> str:
        file = str(super()._split_scope(nodeid))
        return BROWSER if file.startswith(BROWSER) else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByServer:
    return ByServer(config, log)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where models are made that take seconds: once, for all processes of this run of the tests."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "models"


@pytest.fixture(autouse=True)
def own_data_folder(
    tmp_path_factory: pytest.TempPathFactory, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name for the test's data folder. Who saves makes the folder: to make one for each test
    would take seconds.
    """
    monkeypatch.setenv(
        "ATTRIBUTION_DATA", str(tmp_path_factory.getbasetemp() / f"data{next(COUNTER)}")
    )
    monkeypatch.setenv("ATTRIBUTION_MODELS", str(models))
    monkeypatch.delenv("ATTRIBUTION_DATABASE_URL", raising=False)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "ATTRIBUTION_HUB_MODELS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def no_long_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that fails is asked again at once."""
    monkeypatch.setattr("attribution.retry.FIRST_PAUSE", 0.01)


@pytest.fixture
def settings(own_data_folder: None) -> Settings:
    """With the small verifier, which every machine has."""
    return Settings.from_environment(verifier="embedded-small")


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    opened = Store.open(settings.database_url)
    yield opened
    opened.close()
