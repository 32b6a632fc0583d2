import pytest

from attribution.llm.client import check_connection
from attribution.settings import Endpoint, Settings
from tests.llm_server import KEY, READY, completion, error, llm_server, llm_settings
from tests.servers import Answer, closed_port


def test_a_model_that_replies() -> None:
    with llm_server(lambda body: READY) as served:
        connection = check_connection(llm_settings(served))
    assert connection.ok
    assert connection.seconds > 0
    assert connection.field == ""
    assert connection.message.startswith("Connected: tiny at 127.0.0.1:")
    assert len(served.requests) == 1


@pytest.mark.parametrize(
    ("reply", "field", "says"),
    [
        (error(401, f"Incorrect API key {KEY}"), "key", "check the key"),
        ((200, {}, b'{"error": {"code": 402, "message": "Credits"}}'), "key", "no credit left"),
        (error(400, "Incorrect API key provided"), "key", "check the key"),
        (error(404, "model tiny not found"), "model", "check the model and the address"),
        (error(302, location="https://elsewhere.example/"), "address", "redirects"),
        ((200, {"Content-Type": "text/html"}, b"<h1>Welcome</h1>"), "address", "OpenAI-compatible"),
        (error(500, "out of memory"), "", "has a problem"),
        (completion("I would rather not."), "model", "didn't reply in JSON"),
    ],
)
def test_each_failure_names_its_field_and_keeps_the_servers_words_apart(
    reply: Answer, field: str, says: str
) -> None:
    with llm_server(lambda body: reply) as served:
        connection = check_connection(llm_settings(served))
    assert not connection.ok
    assert connection.field == field
    assert says in connection.message
    assert "OPENAI" not in connection.message
    assert KEY not in connection.message + connection.detail
    for words in ("Incorrect API key", "not found", "out of memory"):
        assert words not in connection.message


def test_an_address_without_a_key_that_asks_for_one_is_said() -> None:
    with llm_server(lambda body: error(401)) as served:
        connection = check_connection(llm_settings(served, endpoint=Endpoint(served.url("/v1"))))
    assert connection.field == "key"
    assert "none was given with this address" in connection.message


def test_what_is_missing_or_not_there() -> None:
    assert check_connection(Settings()).field == "model"
    assert check_connection(Settings(openai_model="m")).field == "key"
    connection = check_connection(llm_settings(f"http://127.0.0.1:{closed_port()}/v1"))
    assert connection.field == "address"
    assert "cannot be reached" in connection.message
    assert connection.detail
