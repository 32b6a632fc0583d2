"""A real server on localhost, in this process, with the small verifier."""

import threading
from collections.abc import Iterator

import httpx2
import pytest
import uvicorn

from attribution.fair_queue import Turns
from attribution.server.limits import Config
from attribution.server.middleware import host_names
from attribution.server.rest import Keys, create
from attribution.server.work import Work
from attribution.settings import Settings
from tests.serve import KEY, OTHER, until


class Server:
    """`url` of the running server, `turns` that its runs take."""

    def __init__(self, settings: Settings, waiting: int = 16) -> None:
        self.turns, self.settings = Turns(2, waiting=waiting), settings
        self.work = Work(self.turns)
        app = create(settings, Keys([KEY, OTHER]), host_names("127.0.0.1"), self.work)
        self.uvicorn = uvicorn.Server(
            Config(app, port=0, log_level="critical", timeout_graceful_shutdown=1)
        )
        self._thread = threading.Thread(target=self.uvicorn.run)
        self._thread.start()
        until(lambda: self.uvicorn.started)
        port = self.uvicorn.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"

    def client(self) -> httpx2.Client:
        headers = {"Authorization": f"Bearer {KEY}"}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=60)

    def close(self) -> None:
        self.uvicorn.should_exit = True
        self._thread.join(60)
        assert not self._thread.is_alive()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    database = tmp_path_factory.mktemp("server") / "attribution.sqlite3"
    settings = Settings(
        database_url=f"sqlite:///{database}", verifier="embedded-small", max_seconds=100
    )
    made = Server(settings)
    yield made
    made.close()


@pytest.fixture
def client(server: Server) -> Iterator[httpx2.Client]:
    with server.client() as made:
        yield made
