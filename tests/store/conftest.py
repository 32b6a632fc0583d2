"""The tests of this folder run twice: over SQLite and, where Debian's package is installed, a
PostgreSQL server.
"""

from collections.abc import Iterator

import pytest

from attribution.settings import Settings
from attribution.store import database
from tests.postgresql import new_database, server


@pytest.fixture(scope="package")
def postgresql() -> Iterator[str]:
    """The address of a server with an empty cluster."""
    with server() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def settings(request: pytest.FixtureRequest, settings: Settings) -> Iterator[Settings]:
    """With a new database of either kind."""
    if request.param == "sqlite":
        yield settings
        return
    url = new_database(request.getfixturevalue("postgresql"))
    yield settings.model_copy(update={"database_url": url})
    database._engine(url).dispose()  # the next test replaces it
