import pytest

from attribution.llm.client import check_connection
from attribution.settings import Endpoint, Settings
from tests.llm_server import KEY, READY, completion, error, llm_server, llm_settings
from tests.servers import Answer, closed_port


def test_a_model_that_replies() -> None:
    with llm_server(lambda body: READY) as served:
        connection = check_connection(llm_settings(served))
    assert connection.ok
    assert connection.message.startswith("Connected: tiny at 127.0.0.1:")
    assert len(served.requests) == 1


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (error(401, f"Incorrect API key {KEY}"), "check the key"),
        ((200, {}, b'{"error": {"code": 402, "message": "Credits"}}'), "no credit left"),
        (error(400, "Incorrect API key provided"), "check the key"),
        (error(404, "model tiny not found"), "check the model and the address"),
        ((200, {"Content-Type": "text/html"}, b"<h1>Welcome</h1>"), "OpenAI-compatible"),
        (error(500, "out of memory"), "has a problem"),
        (completion("I would rather not."), "expected JSON with ready; try another model"),
    ],
)
def test_each_failure_says_what_to_do_and_keeps_the_servers_words_apart(
    reply: Answer, says: str
) -> None:
    with llm_server(lambda body: reply) as served:
        connection = check_connection(llm_settings(served))
    assert not connection.ok
    assert says in connection.message
    assert "OPENAI" not in connection.message
    assert KEY not in connection.message + connection.detail
    for words in ("Incorrect API key", "not found", "out of memory"):
        assert words not in connection.message


def test_an_address_without_a_key_that_asks_for_one_is_said() -> None:
    with llm_server(lambda body: error(401)) as served:
        connection = check_connection(llm_settings(served, endpoint=Endpoint(served.url("/v1"))))
    assert "none was given with this address" in connection.message


def test_what_is_missing_or_not_there() -> None:
    assert "No model" in check_connection(Settings()).message
    assert "No key" in check_connection(Settings(openai_model="m")).message
    connection = check_connection(llm_settings(f"http://127.0.0.1:{closed_port()}/v1"))
    assert "cannot be reached" in connection.message
    assert connection.detail
