"""A client of the web app that is no browser: it sends whatever a page's fields could send, and
more.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect

PATIENCE = 60  # seconds


class Session:
    """One visit. `elements` are those that the last run of a page has drawn, `said` is all their
    text.
    """

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self.elements: list[Any] = []

    def run(self, page: str = "", query: str = "", **values: tuple[str, object]) -> None:
        """Run a page to its end; `values` are the kind and value of fields by their label (`_` for
        a space).
        """
        message = BackMsg()
        message.rerun_script.page_name, message.rerun_script.query_string = page, query
        for label, (kind, value) in values.items():
            element = self.field(label.replace("_", " "))
            state = message.rerun_script.widget_states.widgets.add(id=element.id)
            setattr(state, kind, value)
        self._connection.send(message.SerializeToString())
        self.elements = []
        while True:
            answer = ForwardMsg.FromString(bytes(self._connection.recv(PATIENCE)))
            if answer.WhichOneof("type") == "delta":
                kind = answer.delta.WhichOneof("type")
                if kind not in ("new_element", "add_block"):
                    continue
                drawn = getattr(answer.delta, kind)
                self.elements.append(getattr(drawn, drawn.WhichOneof("type") or "", drawn))
            if answer.WhichOneof("type") == "script_finished":
                return

    def field(self, label: str) -> Any:
        return next(
            e for e in self.elements if getattr(e, "label", None) == label and getattr(e, "id", "")
        )

    @property
    def said(self) -> str:
        return "\n".join(map(str, self.elements))


@contextmanager
def session(port: int) -> Iterator[Session]:
    with connect(f"ws://localhost:{port}/_stcore/stream", max_size=None) as connection:
        yield Session(connection)
